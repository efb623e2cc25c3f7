"""Options and arrays of the wrong kind: every public function of dynamics and simulation answers with a sentence of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError, ShapeError, UnknownNameError
from tests.robots import fresh

Q, QD, QDD = np.array([0.3, -0.4]), np.array([0.5, 0.2]), np.array([0.1, 0.7])
STATE = {"q": Q, "qd": QD, "qdd": QDD}
MOTION = {"q0": Q, "qd0": QD}

CALLS: dict[str, dict[str, Any]] = {
    "inverse_dynamics": STATE,
    "forward_dynamics": {"q": Q, "qd": QD, "tau": QDD},
    "mass_matrix": {"q": Q},
    "gravity_torque": {"q": Q},
    "bias": {"q": Q, "qd": QD},
    "energy": {"q": Q, "qd": QD},
    "friction_torque": {"qd": QD},
    "link_wrenches": STATE,
    "forward_kinematics": {"q": Q},
    "jacobian": {"q": Q},
    "jacobian_dot": {"q": Q, "qd": QD},
    "analytical_jacobian": {"q": Q},
    "coriolis_matrix": {"q": Q, "qd": QD},
    "christoffel": {"q": Q},
    "regressor": STATE,
    "parameters": {},
    "parameter_names": {},
    "derivatives": STATE,
    "parameter_derivatives": STATE,
    "second_derivatives": STATE,
    "torque_rate": {**STATE, "qddd": QD},
    "energy_gradient": {"q": Q, "qd": QD},
    "influence": {"q": Q},
    "link_motion": {"q": Q, "qd": QD},
    "applied_torque": {"q": Q, "qd": QD},
    "terms": {**STATE, "formulation": "screw"},
    "recursion": STATE,
    "contributions": STATE,
    "evaluate": {"names": ["M", "h"], "q": Q, "qd": QD},
    "kernel": {"what": ["M"]},
    "progressive": {},
    "simulate": {**MOTION, "t_end": 0.01, "max_steps": 20},
    "rollout": {**MOTION, "tau": None, "dt": 1e-3, "steps": 2},
}

WRONG: dict[str, Callable[[], Any]] = {
    "3": lambda: 3,
    "-1": lambda: -1,
    "2.5": lambda: 2.5,
    "nan": lambda: float("nan"),
    "'a'": lambda: "a",
    "b'a'": lambda: b"a",
    "''": lambda: "",
    "[]": list,
    "[[]]": lambda: [[]],
    "{}": dict,
    "{'a': 'b'}": lambda: {"a": "b"},
    "object()": object,
    "an array": lambda: np.zeros((3, 5)),
    "an array of text": lambda: np.array(["a", "b"]),
    "a function": lambda: lambda *given: given,
    "a set": lambda: {1},
    "a robot": lambda: fresh("pendulum"),
    "a type": lambda: int,
}

# What a wrong value happens to mean something for: a number that is a tolerance, nothing where nothing will do, and so on.
RIGHT: dict[str, set[str]] = {
    "wrenches": {"{}"},
    "springs": {"[]"},
    "dampers": {"[]"},
    "link": {"[]", "{}"},  # poses of no links
    "fixed": {"{}"},
    "inputs": {"{}"},
    "signals": {"{}"},
    "states": {"{}"},
    "outputs": set(WRONG),  # of a function only; a robot's quantities have their names
    "progress": {"a function", "a type"},
    "tau": {"a function"},
    "threads": {"3"},
    "order": {"3"},
    "every": set(),
    "steps": {"3"},
    "max_steps": {"3"},
    "rtol": {"3", "2.5"},
    "atol": {"3", "2.5"},
    "dt": {"3", "2.5"},
    "max_step": {"3", "2.5"},
    "t_start": {"-1", "3", "2.5"},
    "t_end": {"3", "2.5"},
    "point": set(),
    "events": {"[]"},
    "stops": {"{}"},
}
ROBOTS = {(place, "a robot") for place in ("system", "robot", "source")}


def cases() -> Iterator[tuple[str, str, str]]:
    for name in CALLS:
        for option in inspect.signature(getattr(dal, name)).parameters:
            for wrong in WRONG:
                if wrong not in RIGHT.get(option, ()) and (option, wrong) not in ROBOTS:
                    yield name, option, wrong


def _call(name: str, arguments: dict[str, Any]) -> Any:
    first = next(iter(inspect.signature(getattr(dal, name)).parameters))
    return getattr(dal, name)(**({first: ARM} | arguments))


ARM = fresh("two_link_planar")


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")


@pytest.mark.parametrize("name", CALLS)
def test_the_right_arguments_are_right(name: str) -> None:
    assert _call(name, CALLS[name]) is not None


def _answer(name: str, option: str, wrong: str) -> str:
    try:
        _call(name, CALLS[name] | {option: WRONG[wrong]()})
    except DalembertError as error:
        text = str(error)
        return "a sentence" if ": " in text and len(text) < 1500 else f"an unclear message: {text[:200]}"
    except Exception as error:
        return repr(error)[:200]
    return "silence"


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_value_gets_a_sentence(name: str) -> None:
    answers = {(option, wrong): _answer(name, option, wrong) for which, option, wrong in cases() if which == name}
    assert answers
    assert {case: answer for case, answer in answers.items() if answer != "a sentence"} == {}


@pytest.mark.parametrize("name", ["inverse_dynamics", "regressor", "applied_torque", "terms", "simulate", "rollout", "evaluate"])
def test_none_where_something_is_needed_gets_a_sentence(name: str) -> None:
    for option in {"q", "qd", "q0", "qd0", "formulation", "rotor", "gravity", "names", "dt", "rtol", "every"}:
        needed = option in inspect.signature(getattr(dal, name)).parameters
        if needed and (name, option) not in {("applied_torque", "qd"), ("terms", "qd"), ("terms", "names")}:
            with pytest.raises(DalembertError, match=": "):
                _call(name, CALLS[name] | {option: None})


STRANGE = {
    "text": np.array(["0.1", "0.2"]),
    "bytes": np.array([b"0.1", b"0.2"]),
    "date": np.array(["2020-01-01", "2020-01-02"], "datetime64[s]"),
    "time span": np.array([1, 2], "timedelta64[s]"),
    "complex": np.array([0.1, 0.2j]),
    "object": np.array([0.1, None], object),
    "structured": np.zeros(2, [("a", float)]),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_arrays_of_anything_but_real_numbers_are_refused_everywhere(kind: str) -> None:
    arrays = {"q", "qd", "qdd", "tau", "q0", "qd0", "point", "t_eval", "tau_times", "qddd", "base_velocity", "parameters"}
    for name, right in CALLS.items():
        for option in arrays & set(inspect.signature(getattr(dal, name)).parameters):
            more = {"tau": np.zeros((2, 2))} if option == "tau_times" else {}
            more |= {"qdd": None} if name in ("derivatives", "parameter_derivatives") and option == "tau" else {}
            more |= {"names": ["qdd"], "tau": QD} if name == "evaluate" and option == "tau" else {}
            more |= {"qdd": QDD} if option == "qddd" else {}
            with pytest.raises(ShapeError, match=rf"{option}: {kind} entries found, real numbers expected"):
                _call(name, right | more | {option: STRANGE[kind]})


def test_inputs_that_a_result_does_not_depend_on_are_looked_at_too() -> None:
    with pytest.raises(ShapeError, match=r"qd: shape \(3,\) found, \(\.\.\., 2\) expected"):
        dal.applied_torque(ARM, Q, np.zeros(3), gravity=True)
    assert dal.applied_torque(ARM, Q, np.zeros((4, 2)), gravity=True).shape == (4, 2)
    with pytest.raises(ShapeError, match=r"q: shape \(3,\) found, \(\.\.\., 2\) expected"):
        dal.evaluate(ARM, ["friction"], np.zeros(3), QD)
    with pytest.raises(UnknownNameError, match="tau_between: 'cubic' is not known"):
        dal.simulate(ARM, Q, QD, t_end=1.0, tau_between="cubic")


@pytest.mark.parametrize("shape", [(), (3,), (4, 25), (1000,)])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_torque", "bias"])
def test_parameters_of_another_shape_are_refused(name: str, shape: tuple[int, ...]) -> None:
    count = len(dal.parameter_names(ARM))
    with pytest.raises(ShapeError, match=rf"parameters: shape .* found, \(\.\.\., {count}\) expected"):
        _call(name, CALLS[name] | {"parameters": np.zeros(shape)})


def test_applied_torque_and_energy_write_where_they_are_told() -> None:
    out = np.empty((3, 2))
    assert dal.applied_torque(ARM, np.ones((3, 2)), gravity=True, out=out) is out
    np.testing.assert_array_equal(out, dal.applied_torque(ARM, np.ones((3, 2)), gravity=True))
    earlier = dal.energy(ARM, Q, QD)
    again = dal.energy(ARM, QD, Q, out=earlier)
    assert again.kinetic is earlier.kinetic
    assert again == dal.energy(ARM, QD, Q)
    names = {"kinetic": earlier.kinetic, "M": np.empty((2, 2))}
    found = dal.evaluate(ARM, list(names), Q, QD, out=names)
    assert all(found[name] is names[name] for name in names)
    assert found["kinetic"] == dal.energy(ARM, Q, QD).kinetic


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ([np.empty((2, 2))], r"out: list found, a mapping such as \{'M': np\.empty\(\.\.\.\)\} expected"),
        ({}, "out: arrays for nothing found; one for each of M is expected"),
        ({3: 1}, "out: arrays for 3 found; one for each of M is expected"),
        ({"M": [1]}, r"out: list found, a NumPy array of float64 and of shape \(2, 2\) expected"),
    ],
)
def test_outs_by_name_that_do_not_fit_are_refused(out: Any, sentence: str) -> None:
    with pytest.raises(ShapeError, match=sentence):
        dal.evaluate(ARM, ["M"], Q, out=out)


OWN: dict[str, dict[str, Any]] = {
    "kernel: a function needs its inputs as a mapping": {"what": ["v"]},
    "inputs: 3 found as a name; text expected": {"what": {3: (2,)}},
    "inputs: 2 found as the shape of 'v'": {"what": {"v": 2}},
    r"inputs: \(2\.5,\) found as the shape of 'v'": {"what": {"v": (2.5,)}},
    r"inputs: \(-1,\) found as the shape of 'v'": {"what": {"v": (-1,)}},
    "outputs: 3 found, names of outputs expected": {"outputs": 3},
    "outputs: no name found": {"outputs": ()},
    "outputs: 2 names found, but the function returns 1": {"outputs": ("a", "b")},
    "fixed: list found, a mapping": {"fixed": [1]},
    "fixed: 'w' is not known": {"fixed": {"w": 1}},
    "dtype: 'float16' is not known": {"dtype": "float16"},
    "outputs: a nest of lists of unequal lengths found for 'y'": {"source": lambda v: [[v[0], 1.0], [2.0]]},
    "outputs: NoneType found in 'y'": {"source": lambda v: None},
    r"kernel: the function could not be traced \(.* positional arguments": {"source": lambda: 1.0},
    r"kernel: the function could not be traced \(list index out of range\)": {"source": lambda v: v[7]},
    "kernel: int found; a Robot or a function of scalars is expected": {"source": 3},
}


@pytest.mark.parametrize("sentence", OWN)
def test_a_function_of_ones_own_that_cannot_be_compiled_gets_a_sentence(sentence: str) -> None:
    with pytest.raises(DalembertError, match=sentence):
        dal.kernel(**({"source": lambda v: v[0], "what": {"v": (2,)}} | OWN[sentence]))
