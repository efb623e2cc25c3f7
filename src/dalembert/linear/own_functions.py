"""Functions of position and velocity that users write over scalars: loads, controllers, outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import DalembertError, ExprError
from ..expr import Expr
from ..simulate.fingerprint import fingerprint
from ..simulate.laws import symbols


class OwnFunction:
    """A user's function of (q, qd); equal to others that do the same, where that can be known, so that it is compiled once."""

    def __init__(self, subject: str, function: Callable[[Any, Any], Any]) -> None:
        self.subject, self.function, self._key = subject, function, fingerprint(function)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, OwnFunction) and self._key is not None and self._key == other._key)

    def __hash__(self) -> int:
        return hash(OwnFunction) if self._key is not None else id(self)

    def __call__(self, q: Sequence[Any], qd: Sequence[Any]) -> list[Any]:
        """What it returns for symbols; a refusal with a way out if it cannot be traced."""
        try:
            returned = self.function(symbols(q), symbols(qd))
            found = list(np.asarray(returned, dtype=object).ravel()) if np.ndim(returned) else [returned]
            return [x if isinstance(x, Expr) else float(x) for x in found]
        except (DalembertError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise ExprError(
                f"{self.subject}: the function could not be traced ({error}). Write it over scalars with arithmetic and "
                "dalembert.expr.ops, as a function of (q, qd)."
            ) from error

    def forces(self, q: Sequence[Any], qd: Sequence[Any]) -> list[Any]:
        """The same, one for each coordinate."""
        found = self(q, qd)
        if len(found) != len(q):
            raise ExprError(
                f"{self.subject}: the function returned {len(found)} forces; one for each of {len(q)} coordinates is expected."
            )
        return found


__all__ = ["OwnFunction"]
