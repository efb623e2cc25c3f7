"""Packages whose names are loaded when they are first asked for (a module `__getattr__`)."""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # nothing is imported here that takes time
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def load_later(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package that offers names of its modules, or, where the home is "", modules themselves.

    A name that was found stays in the package, so that asking again costs nothing.
    """
    offered = vars(sys.modules[package])

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not homes[name]:
            return importlib.import_module(f".{name}", package)
        found = offered[name] = getattr(importlib.import_module(f".{homes[name]}", package), name)
        return found

    return find, lambda: sorted({*offered, *homes})
