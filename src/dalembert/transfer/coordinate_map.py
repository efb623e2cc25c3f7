"""Maps given as functions: a user's u = f(q) over scalars, its values and its influence coefficients, traced and compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..checks import FloatArray, whole_number
from ..codegen import Kernel
from ..dynamics import Influence
from ..dynamics.compile import kernel
from ..dynamics.derived import by_each
from ..dynamics.recipes_kinematics import ORDERS
from ..errors import ShapeError
from ..expr.differentiate import jacobian


class CoordinateMap:
    """New coordinates u = f(q) as a function of n scalars, with exact influence coefficients of any order up to the third.

    Each order is compiled when it is first asked for, and takes batches as every kernel does.

    Parameters
    ----------
    function : callable
        Takes a list of n scalars and returns a list of r. It is traced: write it with arithmetic and `dalembert.expr.ops`.
    n : int
        The number of old coordinates.

    Examples
    --------
    Polar coordinates of a point:

    >>> from dalembert import transfer
    >>> from dalembert.expr import ops
    >>> polar = transfer.CoordinateMap(lambda p: [ops.sqrt(p[0] * p[0] + p[1] * p[1]), ops.atan2(p[1], p[0])], 2)
    >>> polar([3.0, 4.0])[0], polar.influence([3.0, 4.0]).G
    (np.float64(5.0), array([[ 0.6 ,  0.8 ],
           [-0.16,  0.12]]))
    """

    def __init__(self, function: Callable[[Any], Sequence[Any]], n: int) -> None:
        if not callable(function):
            raise ShapeError(f"function: {type(function).__name__} found; a function of a list of n scalars is expected.")
        self.function = function
        self.n = whole_number("n", n, 1)
        self._kernels: dict[int, Kernel] = {}

    def __call__(self, q: ArrayLike) -> FloatArray:
        """The new coordinates, shape (..., r), of old ones of shape (..., n)."""
        return self._kernel(0)(q)

    def influence(self, q: ArrayLike, *, order: int = 2) -> Influence:
        """G, H, D of the new coordinates over the old ones, as far as `order` says: of shape (..., r, n), (..., r, n, n), ..."""
        order = whole_number("order", order, 1, 3)
        found = self._kernel(order)(q)
        return Influence(*(found if order > 1 else (found,)))

    def _kernel(self, order: int) -> Kernel:
        if order not in self._kernels:
            outputs = tuple(ORDERS[:order]) if order else ("u",)
            self._kernels[order] = kernel(lambda q: self._traced(q, order), {"q": (self.n,)}, outputs=outputs)
        return self._kernels[order]

    def _traced(self, q: Any, order: int) -> Any:
        u = self.function(q)
        if not isinstance(u, (list, tuple)) or not u or any(isinstance(entry, (list, tuple)) for entry in u):
            raise ShapeError("function: a list of one scalar for each new coordinate is expected as its result.")
        if order == 0:
            return list(u)
        found = [jacobian(list(u), q)]
        for _ in range(order - 1):
            found.append([by_each(row, q) for row in found[-1]])
        return found if order > 1 else found[0]

    def __repr__(self) -> str:
        return f"CoordinateMap({getattr(self.function, '__name__', 'function')}, n={self.n})"


__all__ = ["CoordinateMap"]
