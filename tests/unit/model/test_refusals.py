"""Whatever is passed to the model layer, it either makes sense or is refused by a sentence of our own."""

from __future__ import annotations

import datetime
import inspect
import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError
from dalembert.model import combinations
from dalembert.model.dh import COLUMNS, DEGREES
from dalembert.model.motors import MOTOR_FIELDS
from dalembert.trajectory import (
    b_spline,
    blended,
    circle,
    cubic,
    double_s,
    duration_at,
    faded,
    follow,
    fourier,
    line,
    quintic,
    sampled,
    septic,
    spline,
    stacked,
    synchronised,
    through_poses,
    trapezoidal,
    triangular,
)

ARM = dal.robots.pelican()
ODD: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "3": lambda: 3,
    "-1": lambda: -1,
    "2.5": lambda: 2.5,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "a fraction": lambda: Fraction(1, 3),
    "a huge integer": lambda: 10**400,
    "an integer beyond printing": lambda: 10**5000,
    "complex": lambda: 1j,
    "text": lambda: "a",
    "bytes": lambda: b"a",
    "empty text": lambda: "",
    "wide digits": lambda: "４",
    "an escape sequence": lambda: "\x1b[31mred",
    "half a character": lambda: "\ud800",
    "long text": lambda: "n" * 1_000_000,
    "a list": list,
    "a list of three": lambda: [1, "2", None],
    "a ragged list": lambda: [[1], [2, 3]],
    "a dict": dict,
    "a dict of numbers": lambda: {"joint1": 1},
    "a set": lambda: {1, 2, 3},
    "an object": object,
    "a class": lambda: dal.Link,
    "a function": lambda: lambda: 0,
    "a generator": lambda: (x for x in (1, 2, 3)),
    "a date": lambda: datetime.datetime(2026, 1, 1),
    "datetime64": lambda: np.datetime64("2026-01-01"),
    "timedelta64": lambda: np.timedelta64(3, "s"),
    "longdouble": lambda: np.longdouble("1e400"),
    "masked": lambda: np.ma.masked,
    "a masked array": lambda: np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]),
    "a masked entry": lambda: [1.0, np.ma.masked, 3.0],
    "an array": lambda: np.zeros((2, 2)),
    "an array of text": lambda: np.array(["1", "2", "3"]),
    "an array of objects": lambda: np.array([None, 1, object()]),
    "an array of records": lambda: np.zeros(3, dtype=[("x", float)]),
    "a complex array": lambda: np.array([1j, 0, 0]),
    "a boolean array": lambda: np.array([True, False, True]),
    "a large array": lambda: np.full((300, 300), np.nan),
    "an empty array": lambda: np.zeros((0, 3)),
    "a scalar of text": lambda: np.array("1"),
    "a robot": lambda: ARM,
    "a link": lambda: dal.Link("a"),
}
POSE, LINK = np.eye(4), dal.Link("arm", 1.0, inertia=np.eye(3))
JOINT = dal.Joint("j", "revolute", "base", "arm")
STRUCTURE, PARAMETERS = ARM.structure, ARM.parameters
MOVE = quintic([0.0], [1.0], duration=1.0)
PLANAR = dal.robots.two_link_planar()
PATH = line(dal.forward_kinematics(PLANAR, [0.1, 0.9]), dal.forward_kinematics(PLANAR, [0.2, 1.0]), duration=1.0)
CALLS: dict[Callable[..., Any], dict[str, Any]] = {
    dal.Limits: {"lower": -1, "upper": 1, "velocity": 2, "effort": 3},
    dal.Mimic: {"joint": "j", "multiplier": 1.0, "offset": 0.0},
    dal.Joint: {
        "name": "j",
        "type": "revolute",
        "parent": "base",
        "child": "arm",
        "origin": POSE,
        "axis": (0, 0, 1),
        "child_origin": POSE,
        "home": 0.0,
        "limits": dal.Limits(),
        "mimic": None,
    },
    dal.Body: {"name": "b", "mass": 1.0, "com": (0, 0, 0), "inertia": np.eye(3)},
    dal.Link: {"name": "b", "mass": 1.0, "com": (0, 0, 0), "inertia": np.eye(3), "bodies": (), "virtual": False},
    dal.Rotor: {
        "inertia": 0.1,
        "ratio": 100.0,
        "model": "full",
        "mass": 0.1,
        "transverse_inertia": 0.1,
        "position": (0, 0, 0),
        "axis": (0, 0, 1),
        "mount": "base",
    },
    dal.Friction: {
        "viscous": 0.1,
        "coulomb": 0.2,
        "coulomb_negative": 0.3,
        "breakaway": 0.4,
        "stribeck_velocity": 0.1,
        "width": 0.01,
    },
    dal.Tool: {"link": "arm", "pose": POSE},
    dal.Structure: {"links": ("base", "arm"), "joints": (JOINT,), "tool": None},
    dal.Parameters: {"links": (LINK,), "friction": {}, "rotors": {}, "gravity": (0, 0, -9.81), "payload": None, "motors": {}},
    dal.Robot: {"name": "r", "structure": STRUCTURE, "parameters": PARAMETERS, "strict": False, "notes": ()},
    dal.Robot.from_parts: {
        "name": "r",
        "links": [dal.Link("base"), LINK],
        "joints": [JOINT],
        "friction": {},
        "rotors": {},
        "motors": {},
        "gravity": (0, 0, -9.81),
        "tool": None,
        "payload": None,
        "strict": False,
        "notes": (),
    },
    dal.Motor: {key: None if key in ("back_emf_constant", "ratio") else "m" if key == "name" else 1.0 for key in MOTOR_FIELDS},
    dal.DriveTrain: {"motors": {"m": dal.Motor()}, "matrix": [[1.0]], "coordinates": ["q"], "weights": None, "added": True},
    ARM.with_motors: {"motors": {}},
    ARM.with_gravity: {"gravity": (0, 0, -9.81)},
    ARM.with_payload: {"mass": 1.0, "com": (0, 0, 0), "inertia": None},
    ARM.smoothed: {"width": 1e-3},
    ARM.with_tool: {"pose": POSE, "link": None},
    ARM.replace: {"name": "r", "structure": STRUCTURE, "parameters": PARAMETERS, "strict": False, "notes": ()},
    LINK.replace: {"name": "r", "mass": 1.0, "bodies": (), "virtual": True},
    STRUCTURE.replace: {"links": STRUCTURE.links, "joints": STRUCTURE.joints, "tool": None},
    PARAMETERS.replace: {"links": PARAMETERS.links, "friction": {}, "gravity": (0, 0, 0), "payload": None},
    ARM.link: {"name": "link1"},
    STRUCTURE.joint: {"name": "joint1"},
    dal.attach: {"robot": ARM, "part": LINK, "joint": None, "parent": None},
    dal.detach: {"robot": dal.attach(ARM, LINK), "name": "arm"},
    dal.from_dh: {
        "rows": [{"a": 1.0, "mass": 1.0}],
        "convention": "standard",
        "name": "r",
        "gravity": (0, 0, -9.81),
        "tool": None,
        "payload": None,
        "base": None,
        "strict": False,
    },
    dal.Spring: {"stiffness": 1.0, "joint": None, "between": ("arm", "world"), "rest": 0.0},
    dal.Damper: {"coefficient": 1.0, "joint": "j", "between": None},
    dal.robots.chain: {"n": 3},
    combinations.cylindrical: {"name": "j", "parent": "a", "child": "b", "axis": (0, 0, 1), "origin": None, "limits": None},
    combinations.universal: {"name": "j", "parent": "a", "child": "b", "origin": None, "limits": None},
    combinations.spherical: {"name": "j", "parent": "a", "child": "b", "origin": None, "limits": None},
    combinations.planar: {"name": "j", "parent": "a", "child": "b", "normal": (0, 0, 1), "origin": None, "limits": None},
    combinations.floating: {"name": "j", "parent": "a", "child": "b", "origin": None, "limits": None},
    dal.Workspace: {"lower": [-1.0], "upper": [1.0], "velocity": [1.0], "acceleration": [1.0]},
    trapezoidal: {"start": [0.0], "end": [1.0], "duration": 1.0, "acceleration_time": 0.2},
    triangular: {"start": [0.0], "end": [1.0], "duration": 1.0},
    duration_at: {"start": [0.0], "end": [1.0], "velocity": 1.0, "acceleration_time": 0.2},
    cubic: {"start": [0.0], "end": [1.0], "duration": 1.0, "velocities": (0.0, 0.0)},
    quintic: {"start": [0.0], "end": [1.0], "duration": 1.0, "velocities": (0.0, 0.0), "accelerations": (0.0, 0.0)},
    septic: {"start": [0.0], "end": [1.0], "duration": 1.0, "jerks": (0.0, 0.0)},
    b_spline: {"control_points": [[0.0], [1.0], [2.0]], "duration": 1.0, "degree": 1, "knots": [0.5]},
    blended: {"points": [[0.0], [1.0]], "times": [0.0, 1.0], "blend_time": 0.2, "kind": "quintic"},
    double_s: {"start": [0.0], "end": [1.0], "velocity": 1.0, "acceleration": 1.0, "jerk": 1.0},
    synchronised: {"start": [0.0], "end": [1.0], "velocity": 1.0, "acceleration": 1.0, "jerk": 1.0, "straight": True},
    fourier: {"sines": [[1.0]], "cosines": [[1.0]], "frequency": 1.0, "centre": 0.0, "periods": 1, "rest": True},
    sampled: {"t": [*range(9)], "q": [[1.0]] * 9, "method": "savitzky_golay", "cutoff": None, "window": 7.0},
    line: {"start": np.eye(4), "end": np.eye(4), "duration": 1.0, "timing": None},
    circle: {"start": np.eye(4), "centre": [1, 0, 0], "axis": [0, 0, 1], "angle": 1.0, "turning": True, "duration": 1.0},
    through_poses: {"poses": [np.eye(4)] * 2, "times": [0.0, 1.0], "kind": "cubic", "ends": "rest"},
    follow: {"robot": PLANAR, "path": PATH, "start": [0.1, 0.9], "link": None, "directions": ("x", "y"), "held": []},
    faded: {"one": MOVE, "other": MOVE, "overlap": 0.5},
    stacked: {"motions": [MOVE, MOVE]},
    spline: {"points": [[0.0], [1.0]], "times": [0.0, 1.0], "kind": "cubic", "ends": "rest", "velocities": None},
}


def dh_row(column: str, value: Any) -> Any:
    return dal.from_dh([{column: value}], convention="modified")


def named(call: Callable[..., Any]) -> str:
    return getattr(call, "__qualname__", str(call))


def cases() -> Iterator[Any]:
    for call, given in CALLS.items():
        for argument in given:
            yield pytest.param(call, given, argument, id=f"{named(call)}-{argument}")


def refuses_or_accepts(call: Callable[[Any], Any]) -> int:
    """How many of the odd values are refused; every refusal is a short sentence."""
    refusals = {}
    for name, make in ODD.items():
        try:
            call(make())
        except DalembertError as error:
            refusals[name] = str(error)
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__}: {error!s:.200}") from error
    assert [name for name, sentence in refusals.items() if not 10 < len(sentence) < 2100 or not sentence.isprintable()] == []
    return len(refusals)


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
@pytest.mark.parametrize(("call", "given", "argument"), list(cases()))
def test_an_odd_value_is_refused_by_a_sentence(call: Callable[..., Any], given: dict[str, Any], argument: str) -> None:
    call(**given)
    assert refuses_or_accepts(lambda value: call(**{**given, argument: value})) > len(ODD) / 2


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
@pytest.mark.parametrize("column", [*COLUMNS, *DEGREES])
def test_an_odd_value_in_a_row_is_refused_by_a_sentence(column: str) -> None:
    assert refuses_or_accepts(lambda value: dh_row(column, value)) > len(ODD) / 2


def test_every_argument_of_every_constructor_is_tried() -> None:
    for call, given in itertools.islice(CALLS.items(), 14):
        assert set(given) == set(inspect.signature(call).parameters), named(call)


def test_an_unknown_keyword_stays_a_type_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        dal.Link("a", colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        ARM.replace(colour="red")
