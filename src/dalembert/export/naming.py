"""Identifiers for exported code: letters, digits and underscores, none twice, none that the language keeps for itself."""

from __future__ import annotations

import re
from collections.abc import Iterable


def identifier(text: str, fallback: str = "robot") -> str:
    """The text as an identifier of C and of Python: `wrenches['tool']` becomes `wrenches_tool`."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    if not plain:
        return fallback
    return f"{fallback}_{plain}" if plain[0].isdigit() else plain


class Names:
    """Names handed out once each."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)

    def fresh(self, wanted: str) -> str:
        """The name wanted, with underscores behind it while it is taken."""
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted
