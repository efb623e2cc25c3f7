"""Options of analysis, export, plots and trajectories: what is of the wrong kind is refused in a sentence that names it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as dal

pytest.importorskip("matplotlib")

ARM = dal.robots.two_link_planar()
T = np.linspace(0.0, 1.0, 5)
ROWS = np.ones((5, 2))
WRONG = {
    "None": None,
    "0": 0,
    "3": 3,
    "-1": -1,
    "2.5": 2.5,
    "'a'": "a",
    "b'a'": b"a",
    "[]": [],
    "{}": {},
    "['a']": ["a"],
    "[None]": [None],
    "object": object(),
    "nan": float("nan"),
    "inf": float("inf"),
    "lambda": lambda *arguments: 1,
    "Robot": ARM,
    "True": True,
    "'1'": "1",
    "set": {1},
    "array": np.zeros((2, 3)),
    "10**400": 10**400,
    "1j": 1j,
}
CODE = dict.fromkeys(("formulation", "link", "frame", "angles", "wrenches", "moving_base", "parameters"))
FILE = {"name": None, "path": None, "dtype": "float64", **CODE, "symbols": None}


@cache
def made(what: str) -> object:
    """Results that figures are drawn of."""
    return {
        "comparison": lambda: dal.compare(ARM, samples=3, time=False),
        "model": lambda: dal.simplify_model(ARM, samples=50),
        "parts": lambda: dal.contributions(ARM, ROWS, ROWS, ROWS),
    }[what]()


def calls() -> dict[str, tuple[object, dict[str, object]]]:
    """Each function with arguments that are right; a string after '=' is made when needed."""
    return {
        "simplify_model": (
            dal.simplify_model,
            {"system": ARM, "trajectory": None, "workspace": None, "tolerance": 0.01, "form": "auto", "samples": 50, "rng": None},
        ),
        "compare": (dal.compare, {"system": ARM, "samples": 3, "rng": None, "time": False}),
        "complexity": (dal.complexity, {"system": ARM}),
        "properties": (dal.properties, {"system": ARM, "samples": 5, "rng": None}),
        "Workspace": (dal.Workspace, {key: [0.0, 0.0] for key in ("lower", "upper", "velocity", "acceleration")}),
        "Workspace.of": (dal.Workspace.of, {"robot": ARM}),
        "Workspace.sample": (dal.Workspace.of(ARM).sample, {"rng": np.random.default_rng(0), "count": 3}),
        "export_code": (dal.export_code, {"system": ARM, "quantity": "inverse_dynamics", "language": "c", **FILE}),
        "export_code, jacobian": (dal.export_code, {"system": ARM, "quantity": "jacobian", "language": "python", **FILE}),
        "equations": (dal.equations, {"system": ARM, "quantity": "g", "symbols": "all", "form": None, "progress": None}),
        "plots.torques": (dal.plots.torques, {"t": T, "tau": ROWS, "names": None, "units": "N m", "ax": None}),
        "plots.motion": (
            dal.plots.motion,
            {"t": T, "q": ROWS, "qd": ROWS, "qdd": ROWS, "tau": ROWS, "names": None, "units": "N m", "axes": None},
        ),
        "plots.contributions": (
            dal.plots.contributions,
            {"t": T, "parts": "=parts", "by": "cause", "names": None, "units": None, "axes": None},
        ),
        "plots.comparison": (dal.plots.comparison, {"result": "=comparison", "axes": None}),
        "plots.simplification": (dal.plots.simplification, {"model": "=model", "axes": None}),
        "trapezoidal": (
            dal.trajectory.trapezoidal,
            {"start": [0, 0], "end": [1, 1], "duration": 1.0, "acceleration_time": 0.2},
        ),
        "triangular": (dal.trajectory.triangular, {"start": [0, 0], "end": [1, 1], "duration": 1.0}),
        "duration_at": (
            dal.trajectory.duration_at,
            {"start": [0, 0], "end": [1, 1], "velocity": 1.0, "acceleration_time": 0.2},
        ),
    }


RIGHT = {  # those of the values that mean something
    **{key: {"Robot"} for key in ("system", "robot")},
    "complexity(system)": {"Robot", "3"},
    **{key: {"None"} for key in ("trajectory", "workspace", "rng", "path", "form", "ax", "axes", "names")},
    **{key: {"None"} for key in ("formulation", "link", "frame", "angles")},
    "simplify_model(form)": set(),
    "plots.motion(tau)": {"None"},
    "Workspace.sample(rng)": set(),
    "samples": {"3"},
    "count": {"0", "3"},
    "time": {"True"},
    "name": {"None", "'a'", "'1'"},
    "units": {"None", "'a'", "'1'"},
    "moving_base": {"None", "True"},
    "parameters": {"None", "True"},
    "export_code, jacobian(moving_base)": {"None"},
    "export_code, jacobian(parameters)": {"None"},
    "export_code, jacobian(wrenches)": {"None"},
    "wrenches": {"None", "[]"},
    "symbols": {"None", "[]"},
    "equations(symbols)": {"[]"},
    "progress": {"None", "lambda"},
    **{key: {"3", "2.5"} for key in ("duration", "velocity", "acceleration_time")},
    **{key: set() for key in ("Workspace(velocity)", "Workspace(acceleration)", "trapezoidal(acceleration_time)")},
}


@pytest.mark.parametrize(("name", "option"), [(name, option) for name, (_, given) in calls().items() for option in given])
def test_what_is_of_the_wrong_kind_is_refused_in_a_sentence(name, option):
    from matplotlib import pyplot

    function, given = calls()[name]
    right = RIGHT.get(f"{name}({option})", RIGHT.get(option, set()))
    arguments = {key: made(x[1:]) if isinstance(x, str) and x.startswith("=") else x for key, x in given.items()}
    accepted, sentences = set(), []
    with pyplot.rc_context():
        pyplot.switch_backend("agg")
        for label, value in WRONG.items():
            try:
                function(**arguments | {option: value})
                accepted.add(label)
            except dal.DalembertError as error:
                sentences.append(str(error))
            pyplot.close("all")
    assert accepted == right
    assert all(len(sentence) < 600 and sentence.endswith((".", "?")) for sentence in sentences)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("rng", 3, "rng: 3 found, a numpy.random.Generator is expected. Try numpy.random.default_rng(seed)."),
        ("samples", 2.5, "samples: 2.5 found; a whole number from 1 to 10000000 is expected."),
        ("tolerance", "1%", "tolerance: '1%' found; a share of the largest torque, such as 0.01, is expected."),
        ("trajectory", 3, "trajectory: 3 found; q, qd, qdd of shape (..., 2) are expected."),
    ],
)
def test_a_refusal_names_the_option_and_what_is_expected(option, value, message):
    with pytest.raises(dal.DalembertError) as refused:
        dal.simplify_model(ARM, **{option: value})
    assert str(refused.value) == message
