"""The processor kernels are compiled for: its name, features and lane count; and compiling and loading through llvmlite.

llvmlite is imported on first use: `import dalembert` starts no compiler.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import CompileError

_lock = threading.Lock()  # LLVM's global state is initialised, and objects are linked, by one thread at a time
_engines: list[Any] = []  # loaded machine code lives as long as the process
# Characters of a module from which LLVM works at level 1: its time at level 2 is quadratic in the stores of a function, which
# for large programs is a factor of three, and the code is 1 to 3 % faster (docs/develop/decisions.md).
_LARGE = 1_500_000


@cache
def binding() -> Any:
    """llvmlite.binding, initialised."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm


def available() -> bool:
    """Whether kernels can be compiled here: llvmlite is installed and not switched off."""
    if os.environ.get("DALEMBERT_BACKEND", "llvm") == "numpy":
        return False
    return _importable()


@cache
def _importable() -> bool:
    try:
        binding()
    except (ImportError, OSError):
        return False
    return True


@dataclass(frozen=True)
class Host:
    """A processor as LLVM names it, and the number of doubles in one of its vector registers."""

    triple: str
    cpu: str
    features: str
    lanes: int
    compiler: str

    @property
    def x86(self) -> bool:
        """Whether it is of the x86 family."""
        return self.triple.startswith(("x86_64", "i386", "i686"))


@cache
def host() -> Host:
    """The processor of this process."""
    llvm = binding()
    features = llvm.get_host_cpu_features()
    import llvmlite

    lanes = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    triple = llvm.get_process_triple()
    return Host(triple, llvm.get_host_cpu_name(), features.flatten(), lanes, f"llvmlite {llvmlite.__version__}")


def compile_object(ir: str) -> bytes:
    """Machine code of a module, as an object file."""
    llvm = binding()
    where = host()
    with _lock:
        try:
            module = llvm.parse_assembly(ir)
        except RuntimeError as error:
            raise CompileError(f"kernel: LLVM refused the generated code ({error}). Please report this.") from error
        machine = llvm.Target.from_triple(where.triple).create_target_machine(
            cpu=where.cpu, features=where.features, opt=1 if len(ir) > _LARGE else 2, reloc="pic", codemodel="small"
        )
        return bytes(machine.emit_object(module))


def load_object(code: bytes, *symbols: str) -> list[int]:
    """Link an object file into this process; the addresses of its symbols."""
    llvm = binding()
    with _lock:
        machine = llvm.Target.from_triple(host().triple).create_target_machine(jit=True)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        addresses = [int(engine.get_function_address(s) or engine.get_global_value_address(s)) for s in symbols]
        _engines.append(engine)
    for symbol, address in zip(symbols, addresses, strict=True):
        if not address:
            raise CompileError(f"kernel: compiled code has no function {symbol!r}. Please report this.")
    return addresses
