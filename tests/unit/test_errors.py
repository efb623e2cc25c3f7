"""Errors and warnings: their fields, their text, and their way through pickle."""

from __future__ import annotations

import copy
import pickle
import time

import numpy as np
import pytest

from dalembert import wording
from dalembert.errors import (
    DalembertError,
    DalembertWarning,
    FormatError,
    MissingExtraError,
    ModelError,
    Part,
    Place,
    UnknownNameError,
    reading,
)

ARM = Part("link", "arm")


def test_the_text_is_put_together_from_file_line_and_sentence():
    error = FormatError("link 'arm': no.", part=ARM, place=Place("f.urdf", 3))
    assert (error.part, error.file, error.line, error.sentence) == (ARM, "f.urdf", 3, "link 'arm': no.")
    assert str(error) == "f.urdf:3: link 'arm': no."
    assert str(FormatError("no.", place=Place("f.urdf"))) == "f.urdf: no."
    assert str(ModelError("no.")) == "no."
    assert (ModelError("no.").part, ModelError("no.").file, ModelError("no.").line) == (None, None, None)


@pytest.mark.parametrize("kind", [DalembertError, ModelError, FormatError, UnknownNameError, MissingExtraError])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_every_field_survives_copying_and_pickling(kind, copied):
    error = kind("no.", part=ARM, place=Place("f.urdf", 3))
    again = copied(error)
    assert (type(again), str(again), again.part, again.file, again.line) == (kind, "f.urdf:3: no.", ARM, "f.urdf", 3)


def test_a_warning_keeps_its_fields_too():
    with reading(lambda part, sentence: Place("f.urdf", 3 if part == ARM else None)):
        warning = DalembertWarning("heavy.", "heavy", part=ARM)
        assert str(DalembertWarning("light.")) == "f.urdf: light."
    again = pickle.loads(pickle.dumps(warning))
    assert (str(again), again.code, again.part, again.line) == ("f.urdf:3: heavy.", "heavy", ARM, 3)
    assert str(DalembertWarning("heavy.")) == "heavy."


def test_a_message_is_cut_in_its_middle():
    error = ModelError(f"start {'x' * 10_000_000} end")
    assert len(str(error)) < 2100
    assert str(error).startswith("start x")
    assert str(error).endswith("x end")


def test_nothing_in_a_message_reaches_the_terminal_as_a_command():
    error = FormatError("known: \x1b[31mred\x07, \ud800.", place=Place("a\x1b\n.urdf", 1))
    assert str(error).encode()
    assert str(error) == "a\\x1b\\n.urdf:1: known: \\x1b[31mred\\x07, \\ud800."


def test_an_unknown_name_among_many_long_ones_is_refused_at_once_and_shortly():
    known = [f"{'x' * 5000}{i}" for i in range(3000)]
    start = time.process_time()
    message = str(UnknownNameError.among("link", f"{'x' * 5000}y", known))
    assert time.process_time() - start < 1.0
    assert len(message) < 2100


def test_of_many_names_the_first_are_listed():
    message = str(UnknownNameError.among("link", "l7x", [f"l{i}" for i in range(100)]))
    assert message.startswith("link: 'l7x' is not known; did you mean 'l7'? Known: l0, l1,")
    assert message.endswith("l39 and 60 more.")


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError


ANYTHING = {
    "digits": 10**5000,
    "bits": -(1 << 100_000),
    "deep": nested(100_000),
    "long": "x" * 10**6,
    "many": list(range(10**6)),
    "array": np.zeros((500, 500)),
    "refuses": Unprintable(),
}


@pytest.mark.parametrize("kind", ANYTHING)
def test_any_value_is_shown_shortly_on_one_line(kind):
    text = wording.shown(ANYTHING[kind])
    assert len(text) < 300
    assert "\n" not in text


def test_ordinary_values_are_shown_as_python_writes_them():
    values = [3, -2.5, "it's", [1, 2, 3], {"a": 1}, True, None]
    assert [wording.shown(value) for value in values] == [repr(value) for value in values]


def test_a_missing_package_is_named_for_itself():
    message = str(MissingExtraError.for_extra("equations", "sympy", "symbolic"))
    assert message == (
        "equations needs sympy, which is not installed. Try: pip install sympy, or install dalembert with its extra 'symbolic'."
    )
