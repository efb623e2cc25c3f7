"""The two kinds of number a kernel works on, as LLVM and NumPy name them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Real:
    """A floating-point type: LLVM's name, NumPy's name and number, bytes."""

    name: str
    dtype: str
    number: int
    bytes: int

    @property
    def integer(self) -> str:
        """LLVM's integer of the same size."""
        return f"i{8 * self.bytes}"

    def vector(self, lanes: int) -> str:
        """LLVM's type of several side by side."""
        return f"<{lanes} x {self.name}>"

    def intrinsic(self, name: str, lanes: int) -> str:
        """LLVM's function on vectors, such as @llvm.sqrt.v4f64."""
        return f"@llvm.{name}.v{lanes}f{8 * self.bytes}"


DOUBLE = Real("double", "float64", 12, 8)
SINGLE = Real("float", "float32", 11, 4)
REALS = {real.dtype: real for real in (DOUBLE, SINGLE)}
