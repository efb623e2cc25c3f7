"""Coercion at the boundary: what counts as a number, an array, a name."""

from __future__ import annotations

import decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dalembert import checks
from dalembert.errors import ModelError, ShapeError


@pytest.mark.parametrize(
    "value",
    [4, 4.0, np.float32(4), np.int64(4), np.longdouble(4), np.array(4.0), Fraction(8, 2), decimal.Decimal(4), np.ma.array(4.0)],
)
def test_a_real_number_of_any_kind_is_a_number(value: Any) -> None:
    found = checks.number("mass", value)
    assert found == 4.0
    assert type(found) is float


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("4", "^mass: '4' is not a number.$"),
        ("４", "^mass: '４' is not a number.$"),
        (b"4", "^mass: b'4' is not a number.$"),
        (True, "^mass: True is not a number.$"),
        (np.True_, "^mass: .*True.* is not a number.$"),
        (None, "^mass: None is not a number.$"),
        (4j, "^mass: 4j is not a number.$"),
        ([4], r"^mass: \[4\] is not a number.$"),
        (np.array([4.0]), r"^mass: array\(\[4.\]\) is not a number.$"),
        (np.array("4"), "^mass: .* is not a number.$"),
        (np.ma.masked, "^mass: masked is not a number.$"),
        (np.timedelta64(4, "s"), "^mass: .*timedelta64.* is not a number.$"),
        (float, "^mass: <class 'float'> is not a number.$"),
        (float("nan"), "^mass: nan found; a finite number is expected.$"),
        (float("inf"), "^mass: inf found; a finite number is expected.$"),
        (1e200, r"^mass: 1e\+200 found, which is beyond 1e\+30. Products of such numbers overflow; is the unit"),
        (10**400, r"^mass: the integer is too large, beyond 1e\+30."),
        ("4" * 10_000_000, "^mass: '4444.{,200} is not a number.$"),
    ],
)
def test_what_is_not_a_finite_real_number_is_refused(value: Any, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        checks.number("mass", value)


@pytest.mark.parametrize(
    "value",
    [[1, 2, 3], (1.0, 2, np.float32(3)), np.arange(1, 4), np.longdouble([1, 2, 3]), [Fraction(1), 2, 3], np.ma.arange(1, 4)],
)
def test_real_numbers_of_any_kind_make_an_array(value: Any) -> None:
    assert checks.array("com", value, (3,)).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (["1", 2, 3], r"^com: \['1', 2, 3\] is not numeric; shape \(3,\) of numbers is expected.$"),
        ([True, 2, 3], r"^com: \[True, 2, 3\] is not numeric"),
        (np.array([True, False, True]), "^com: array.* is not numeric"),
        ([1j, 2, 3], "^com: .* is not numeric"),
        (np.array(["2026-01-01"] * 3, dtype="datetime64[D]"), "^com: array.* is not numeric"),
        ([1.0, np.ma.masked, 3.0], "^com: .* is not numeric"),
        (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "^com: masked_array.* is not numeric"),
        ([1, None, 3], "^com: None is not a number.$"),
        ([1, 10**400, 3], "^com: the integer is too large"),
        ([[1], [2, 3]], r"^com: \[\[1\], \[2, 3\]\] is not numeric"),
        (lambda: 0, "^com: <function.* is not numeric"),
        ([1, 2], r"^com: shape \(2,\) found, \(3,\) expected.$"),
        ([1, 2, np.nan], "^com: .* contains NaN or infinity; a model needs finite numbers.$"),
        (np.longdouble(["1e4000", "0", "0"]), "^com: .* contains NaN or infinity"),
        ([1e200, 0, 0], r"^com: .* contains a number beyond 1e\+30. Products"),
    ],
)
def test_what_is_not_an_array_of_numbers_is_refused(value: Any, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        checks.array("com", value, (3,))


def test_an_array_is_a_copy_that_stays_read_only() -> None:
    given = np.array([1.0, -0.0, 3.0])
    found = checks.array("com", given, (3,))
    given[0] = 7.0
    assert found.tolist() == [1.0, 0.0, 3.0]
    assert not np.signbit(found).any()
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 7.0
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        found.flags.writeable = True


def test_an_empty_array_can_be_frozen() -> None:
    assert checks.array("none", np.zeros((0, 3)), (0, 3)).shape == (0, 3)


def test_numbers_of_any_shape_take_the_error_asked_for() -> None:
    assert checks.numbers("t", [[1, 2]]).shape == (1, 2)
    with pytest.raises(ShapeError, match="^t: 'abc' is not numeric; numbers are expected.$"):
        checks.numbers("t", "abc", error=ShapeError)


@pytest.mark.parametrize("value", ["arm", "Ellbogen-Gelenk", "肘", "a b", "elbow/1", "👩‍🔧", np.str_("arm")])
def test_a_name_is_any_text_that_prints(value: str) -> None:
    found = checks.name("link", value)
    assert found == value
    assert type(found) is str


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "^link: None found; each needs a non-empty name.$"),
        ("", "^link: '' found; each needs a non-empty name.$"),
        (b"arm", "^link: b'arm' found; each needs a non-empty name.$"),
        (0xFFF, "^link: 4095 found"),
        ("\x1b[31mred", r"^link: '\\x1b\[31mred' contains a control character or half a character. Leave it out.$"),
        ("two\nlines", r"^link: 'two\\nlines' contains a control character"),
        ("\x9b", r"^link: '\\x9b' contains a control character"),
        ("\ud800", r"^link: '\\ud800' contains a control character or half a character"),
        ("n" * 256, "^link: 'nnn.* has 256 characters, more than 255. Shorten it.$"),
    ],
)
def test_what_is_no_name_is_refused(value: Any, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        checks.name("link", value)


@pytest.mark.parametrize("value", [0, 101, True, 2.5, float("nan"), "3", None, np.timedelta64(3, "s")])
def test_a_whole_number_is_within_its_bounds_and_no_other_kind(value: Any) -> None:
    with pytest.raises(ModelError, match=r"^n: .* found; a whole number from 1 to 100 is expected.$"):
        checks.whole_number("n", value, 1, 100)
    assert checks.whole_number("n", np.int32(7), 1, 100) == 7
    assert type(checks.whole_number("n", 1e5, 1)) is int


def test_parts_and_flags_name_what_is_expected() -> None:
    with pytest.raises(ModelError, match=r"^bodies: 3 found; a sequence of str\(...\) is expected.$"):
        checks.parts("bodies", 3, str)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"^bodies: 3 found; a str\(...\) is expected.$"):
        checks.parts("bodies", ["a", 3], str)
    with pytest.raises(ModelError, match="^virtual: 1 found; True or False is expected.$"):
        checks.flag("virtual", 1)
