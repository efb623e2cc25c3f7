"""Springs and dampers as records."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal


def test_ends_are_links_or_points_of_links() -> None:
    spring = dal.Spring(10, between=("tool", ["world", np.array([1, 0, 0])]), rest=0.2)
    assert spring.between == (("tool", (0.0, 0.0, 0.0)), ("world", (1.0, 0.0, 0.0)))
    assert spring == dal.Spring(10.0, between=(("tool", (0, 0, 0)), ("world", (1, 0, 0))), rest=0.2)
    assert hash(spring) == hash(spring.replace())
    assert spring != spring.replace(rest=0.3)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: dal.Spring(1.0), "spring: neither joint nor between found"),
        (lambda: dal.Damper(1.0, joint="a", between=("b", "c")), "damper: both joint and between found"),
        (lambda: dal.Damper(1.0, between="tool"), "damper: between 'tool' found; two ends expected"),
        (lambda: dal.Damper(1.0, between=("tool",)), "two ends expected"),
        (lambda: dal.Damper(1.0, between=("tool", 3)), "damper: between: 3 found; a link's name expected"),
        (lambda: dal.Spring(1.0, between=("tool", ("world", (1, 2)))), "point of 'world': shape"),
        (lambda: dal.Spring(1.0, between=("tool", "world"), rest=-1), "rest length -1 m found"),
        (lambda: dal.Spring("stiff", joint="a"), "spring: stiffness: 'stiff' is not a number"),
        (lambda: dal.Damper(np.nan, joint="a"), "damper: coefficient: nan found"),
    ],
)
def test_what_has_no_meaning_is_refused_by_a_sentence(make, message: str) -> None:
    with pytest.raises(dal.DalembertError, match=message):
        make()
