"""Whatever is passed for one argument of a function of the transfer, it answers with arrays or with a sentence."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert import transfer

MAP = dal.Influence(np.array([[1.0, 0.5], [0.2, 1.0]]), np.ones((2, 2, 2)), np.ones((2, 2, 2, 2)))
MODEL = transfer.DynamicModel(np.eye(2), np.zeros((2, 2, 2)), np.zeros(2))
PAIR = [1.0, 2.0]
GOOD: dict[str, Any] = {
    **dict.fromkeys(("influence", "outer", "inner", "u", "back", "maps"), MAP),
    **dict.fromkeys(("G", "A", "D", "P"), MAP.G),
    **dict.fromkeys(("a", "b", "qd", "qdd", "ud", "q"), PAIR),
    "C": MAP.H,
    "model": MODEL,
    "state": (np.eye(4), np.eye(4)),
    "which": [0],
    "mass": 1.0,
    "inertia": np.eye(3),
    "system": dal.robots.pelican(),
}
ODD: list[Any] = [
    *(None, "x", b"x", 3, True, 1j, np.nan, -1, 2**70, [], (), {}, [[]], range(3), object(), len, PAIR, [[1, 2], [3]]),
    *(np.zeros(shape) for shape in ((0, 2), (0, 2, 2), (2, 0), (2, 2), (5, 2, 2))),
    *(np.full((2, 2), x) for x in (np.nan, np.inf, 1e300, 1e-320)),
    *(np.array(["a", "b"]), np.eye(2, dtype=np.float32), np.eye(2, dtype=object), np.ma.masked_equal(np.eye(2), 0)),
    *((np.eye(2),), (np.eye(2), None), (None, np.eye(2)), [np.eye(2)], MAP, MODEL, dal.robots.pelican()),
]
FUNCTIONS = {name: getattr(transfer, name) for name in transfer.__all__ if name.islower()}


def answers(function: Any, target: str, odd: Any) -> bool:
    """Whether a call with one odd argument ends as it may."""
    args, options = [], {}
    for name, parameter in inspect.signature(function).parameters.items():
        value = odd if name == target else GOOD.get(name)
        if parameter.kind is parameter.KEYWORD_ONLY:
            options |= {name: value} if name == target else {}
        elif name == target or parameter.default is parameter.empty:
            args.append(value)
    try:
        function(*args, **options)
    except dal.DalembertError as error:
        return str(error).endswith((".", "?"))
    return True


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_odd_argument_is_taken_or_refused_by_a_sentence(name: str) -> None:
    targets = inspect.signature(FUNCTIONS[name]).parameters
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", dal.DalembertWarning)
        assert [(target, odd) for target in targets for odd in ODD if not answers(FUNCTIONS[name], target, odd)] == []
