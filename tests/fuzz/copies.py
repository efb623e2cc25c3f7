"""Copies of robots, mechanisms, kernels and results, by every way there is: equal, as frozen as the original, and as right."""

from __future__ import annotations

import copy
import importlib.util
import io
import multiprocessing
import pickle
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

import dalembert as dal
from tests.robots import fresh, random_robot

from .campaign import FOREIGN, WRONG, Fault, answer, cut, leaves, pick, require_equal
from .functions import robot

QUICK = 60
FULL = 600
LIMIT = 120.0
_Q = np.array([0.3, -0.7])


class Case(NamedTuple):
    """What is copied, and how."""

    thing: str
    way: str
    seed: int

    def __str__(self) -> str:
        return f"{self.thing} by {self.way}"


def draw(rng: np.random.Generator, number: int) -> Case:
    """Cheap ways often, those that start processes now and then; of the libraries that are here."""
    here = {name: way for name, way in WAYS.items() if way.library is None or importlib.util.find_spec(way.library)}
    often = [name for name, way in here.items() if not way.slow]
    slow = [name for name, way in here.items() if way.slow]
    chosen = pick(rng, slow) if number % 30 == 29 else pick(rng, often)
    return Case(pick(rng, THINGS), chosen, number)


def judge(case: Case) -> None:
    """Make the thing, copy it, compare."""
    original = THINGS[case.thing](case.seed)
    try:
        copied = WAYS[case.way].copied(original)
    except Exception as error:
        raise Fault(FOREIGN, f"{type(error).__name__}: {cut(str(error))}") from error
    require_same(original, copied)


def require_same(original: Any, copied: Any) -> None:
    """The same kind, the same content, the same numbers; robots stay frozen."""
    if type(copied) is not type(original):
        raise Fault(WRONG, f"a {type(copied).__name__} came back, not a {type(original).__name__}")
    if isinstance(original, dal.Robot | dal.Mechanism):
        _require_same_system(original, copied)
    elif hasattr(original, "mechanism") and hasattr(original, "kernels"):  # one at positions, not compared
        _require_same_numbers(original, copied)
    elif callable(original):
        state = _Q[: original.inputs[0].shape[0]]
        require_equal(copied(state, state), original(state, state))
    else:
        require_equal(_contents(copied), _contents(original), 0.0)


def _contents(result: Any) -> Any:
    return leaves(result) or {"repr": np.frombuffer(repr(result).encode(), np.uint8) + 0.0}


def _require_same_system(original: Any, copied: Any) -> None:
    if copied != original or hash(copied) != hash(original):
        raise Fault(WRONG, "the copy is not equal to the original")
    require_frozen(copied)
    _require_same_numbers(original, copied)


def _require_same_numbers(original: Any, copied: Any) -> None:
    v = np.linspace(-1.0, 1.0, original.n)
    q = original.q0 if hasattr(original, "q0") else v
    require_equal(dal.inverse_dynamics(copied, q, v, v), dal.inverse_dynamics(original, q, v, v), 0.0)


def require_frozen(robot: Any) -> None:
    """No array of a robot or mechanism can be written to, and no mapping changed."""
    for path, part in _parts(robot, "robot"):
        if isinstance(part, np.ndarray) and part.flags.writeable:
            raise Fault(WRONG, f"{path} can be written to")
        if isinstance(part, Mapping) and _lets_itself_change(part):
            raise Fault(WRONG, f"{path} can be changed ({type(part).__name__})")
        if isinstance(part, list):
            raise Fault(WRONG, f"{path} is a list")


def _lets_itself_change(mapping: Any) -> bool:
    try:
        mapping.pop("no such key", None)
    except Exception:
        return False
    return True


def _parts(part: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Everything a robot is made of, with its place."""
    yield path, part
    if isinstance(part, Mapping):
        inner = {f"{path}[{key!r}]": value for key, value in part.items()}
    elif isinstance(part, (list, tuple)):
        inner = {f"{path}[{k}]": value for k, value in enumerate(part)}
    else:
        names = getattr(part, "__dataclass_fields__", ())
        inner = {f"{path}.{name}": getattr(part, name) for name in names}
    for place, value in inner.items():
        yield from _parts(value, place)


def _used_robot(seed: int) -> dal.Robot:
    arm = dal.load("two_link_planar")
    dal.rollout(arm, _Q, _Q, None, dt=1e-3, steps=2)
    dal.simulate(arm, _Q, _Q, t_end=0.01)
    dal.evaluate(arm, ["M", "h"], _Q, _Q)
    dal.terms(arm, _Q, formulation="screw")
    dal.derivatives(arm, np.tile(_Q, (3, 1)), _Q, _Q)
    return arm


@cache
def _mechanism() -> dal.Mechanism:
    return robot("crank_rocker")


def _used_mechanism(seed: int) -> dal.Mechanism:
    mechanism = _mechanism()
    dal.rollout(mechanism, mechanism.q0, [0.0], None, dt=1e-3, steps=2)
    dal.mobility(mechanism)
    return mechanism


def _at_seed(given: str) -> Any:
    system = _mechanism().at(**{given: _mechanism().seed})
    dal.mass_matrix(system, _mechanism().q0)
    return system


def _of_mechanism(function: Callable[..., Any], *more: Any, **options: Any) -> Any:
    return function(_mechanism(), _mechanism().q0, *more, **options)


@cache
def _arm() -> dal.Robot:
    return fresh("two_link_planar")


@cache
def _kernel() -> Any:
    return dal.kernel(_arm(), ["M", "h"])


def _function_kernel() -> Any:
    return dal.kernel(lambda a, b: [a[0] * b[1], a[1] - b[0]], {"a": (2,), "b": (2,)})


THINGS: dict[str, Callable[[int], Any]] = {
    "a robot in use": _used_robot,
    "a new robot": lambda seed: fresh("puma560"),
    "a random robot": lambda seed: random_robot(np.random.default_rng(seed % 5), 3),
    "a robot with a payload": lambda seed: fresh("two_link_planar").with_payload(2.0, (0.1, 0.0, 0.0)),
    "a kernel": lambda seed: _kernel(),
    "a kernel of a function": lambda seed: _function_kernel(),
    "a kernel in single precision": lambda seed: dal.kernel(_arm(), ["M", "h"], dtype="float32"),
    "an energy": lambda seed: dal.energy(_arm(), _Q, _Q),
    "derivatives": lambda seed: dal.derivatives(_arm(), _Q, _Q, _Q),
    "contributions": lambda seed: dal.contributions(_arm(), _Q, _Q, _Q),
    "a recursion": lambda seed: dal.recursion(_arm(), _Q, _Q, _Q),
    "a rollout": lambda seed: dal.rollout(_arm(), _Q, _Q, None, dt=1e-3, steps=4),
    "a simulation": lambda seed: dal.simulate(_arm(), _Q, _Q, t_end=0.1),
    "a batch of simulations with their solution": lambda seed: dal.simulate(_arm(), [_Q, _Q], _Q, t_end=0.1, dense=True),
    "a rollout by a law": lambda seed: dal.rollout(_arm(), _Q, _Q, lambda t, q, qd: -q, dt=1e-3, steps=4),
    "a simulation with its solution": lambda seed: dal.simulate(_arm(), _Q, _Q, t_end=0.1, dense=True),
    "a mechanism in use": _used_mechanism,
    "a mechanism with elements": lambda seed: _mechanism().replace(
        springs=[dal.Spring(5.0, joint="joint1")], actuated=["joint2"]
    ),
    "a mechanism of loops in space": lambda seed: dal.mechanisms.spatial_slider_crank().replace(),
    "a mechanism at positions": lambda seed: _at_seed("x"),
    "a mechanism near positions": lambda seed: _at_seed("near"),
    "a kernel of a mechanism": lambda seed: dal.kernel(_mechanism(), ["M", "h"]),
    "a closure": lambda seed: _mechanism().closures[0],
    "coordinates of a pose": lambda seed: dal.pose_of("platform"),
    "assembled positions": lambda seed: _mechanism().assemble([[0.3], [0.4]]),
    "a mobility": lambda seed: dal.mobility(_mechanism()),
    "forces of closures": lambda seed: _of_mechanism(dal.constraint_forces, [1.0], [2.0]),
    "a shared load": lambda seed: _of_mechanism(dal.distribute_load, [1.0], [2.0]),
    "a simulation of a mechanism": lambda seed: _of_mechanism(dal.simulate, [1.0], t_end=0.05, dense=True),
    "samples of a motion": lambda seed: dal.trajectory.spline([_Q, [1.0, 2.0], _Q], [0.0, 1.0, 2.0]).sample(count=5),
    "a linear model": lambda seed: dal.linearize(_arm(), _Q, outputs="tool"),
    "an equilibrium": lambda seed: dal.equilibrium(_arm(), _Q),
    "properties": lambda seed: dal.properties(_arm(), samples=3, rng=np.random.default_rng(0)),
    "a workspace": lambda seed: dal.Workspace.of(_arm()),
    "a simplified model": lambda seed: _simplified(),
    "bounds": lambda seed: dal.bounds(_arm(), "gravity_torque"),
    "a warning": lambda seed: dal.DalembertWarning("a sentence", "note"),
    "an error": lambda seed: answer(lambda: dal.load("nothing")),
}


@cache
def _simplified() -> Any:
    return dal.simplify_model(_arm(), samples=20, tolerance=0.5, rng=np.random.default_rng(0))


class Way(NamedTuple):
    """A way to make a copy, the library it needs, and whether it starts processes."""

    copied: Callable[[Any], Any]
    library: str | None = None
    slow: bool = False


def _pickled(thing: Any, protocol: int) -> Any:
    return pickle.loads(pickle.dumps(thing, protocol))


def _cloudpickled(thing: Any) -> Any:
    import cloudpickle

    return pickle.loads(cloudpickle.dumps(thing))


def _joblib_file(thing: Any) -> Any:
    import joblib

    file = io.BytesIO()
    joblib.dump(thing, file)
    file.seek(0)
    return joblib.load(file)


def _same(thing: Any) -> Any:
    """In another process."""
    return thing


def _joblib_processes(thing: Any) -> Any:
    import joblib

    return joblib.Parallel(n_jobs=2)(joblib.delayed(_same)(thing) for _ in range(2))[0]


def _multiprocessing(method: str, thing: Any) -> Any:
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply(_same, (thing,))


def _dask(thing: Any) -> Any:
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        return client.submit(_same, thing).result(timeout=60)


WAYS: dict[str, Way] = {
    **{f"pickle protocol {k}": Way(partial(_pickled, protocol=k)) for k in range(2, pickle.HIGHEST_PROTOCOL + 1)},
    "copy": Way(copy.copy),
    "deepcopy": Way(copy.deepcopy),
    "deepcopy in a list": Way(lambda thing: copy.deepcopy([thing, thing])[1]),
    "cloudpickle": Way(_cloudpickled, "cloudpickle"),
    "a joblib file": Way(_joblib_file, "joblib"),
    "joblib processes": Way(_joblib_processes, "joblib", slow=True),
    **{f"multiprocessing, {m}": Way(partial(_multiprocessing, m), slow=True) for m in ("fork", "spawn", "forkserver")},
    "a Dask cluster": Way(_dask, "distributed", slow=True),
}
