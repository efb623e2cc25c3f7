"""Kinds of `out`: each says what is handed over, and whether it has to work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dalembert as dal

from .functions import Function, call, packed
from .rooms import Room


class Scene(NamedTuple):
    """A call without `out`: the function, the robot, the arrays, and what came back."""

    function: Function
    robot: dal.Robot
    arrays: dict[str, np.ndarray]
    results: list[np.ndarray]


class Out(NamedTuple):
    """What is handed over, the rooms it lies in; True if it has to work, False if it must not, None if either will do.

    `arrays` are the inputs of the call, where they are others than before.
    """

    value: Any
    rooms: list[Room]
    verdict: bool | None
    arrays: dict[str, np.ndarray] | None = None
    tolerance: float = 1e-12  # the same kernel on the same numbers; its entry points may order sums differently


Kind = Callable[[Scene], Out]
Shape = tuple[int, ...]


def _in_rooms(verdict: bool | None, **layout: Any) -> Kind:
    """Arrays of the right shape."""

    def make(scene: Scene) -> Out:
        rooms = [Room(result.shape, **layout) for result in scene.results]
        return Out(packed(scene.function, [room.view for room in rooms]), rooms, verdict)

    return make


def _shaped(shape: Callable[[Shape], Shape]) -> Kind:
    """The last array has another shape."""

    def make(scene: Scene) -> Out:
        *fine, last = (result.shape for result in scene.results)
        other = shape(last) if last else (1,)
        rooms = [Room(s) for s in (*fine, other)]
        return Out(packed(scene.function, [room.view for room in rooms]), rooms, None if other == last else False)

    return make


def _made(change: Callable[[np.ndarray], Any], verdict: bool | None = False, tolerance: float = 1e-12) -> Kind:
    """Something else in the place of each array."""

    def make(scene: Scene) -> Out:
        targets = [change(np.zeros(result.shape)) for result in scene.results]
        return Out(packed(scene.function, targets), [], verdict, tolerance=tolerance)

    return make


def _held(change: Callable[[list[np.ndarray]], Any], verdict: bool | None = False) -> Kind:
    """Another container, of fitting arrays."""
    return lambda scene: Out(change([np.zeros(result.shape) for result in scene.results]), [], verdict)


def _read_only(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


def _unaligned(x: np.ndarray) -> np.ndarray:
    return np.zeros(x.nbytes + 8, np.uint8)[1 : 1 + x.nbytes].view(float).reshape(x.shape) if x.size else x


def _repeated(scene: Scene) -> Out:
    """One number in memory stands for all entries."""
    targets = [np.lib.stride_tricks.as_strided(np.zeros(1), x.shape, (0,) * x.ndim) for x in scene.results]
    clash = any(x.size > 1 for x in scene.results)
    return Out(packed(scene.function, targets), [], False if clash else None)


def _handed_back(scene: Scene) -> Out:
    """What another call returned, as it is."""
    previous = call(scene.function, scene.robot, scene.arrays, threads=1)
    return Out((previous.q, previous.qd) if scene.function.name == "rollout" else previous, [], True)


def _overlapping(rows: int) -> Kind:
    """The first array of the call and the first result share memory, so many rows apart, if they have the same shape."""

    def make(scene: Scene) -> Out:
        name, source = next(iter(scene.arrays.items()))
        first, *others = (result.shape for result in scene.results)
        rest = [Room(shape) for shape in others]
        if source.shape != first or source.ndim < 2:
            return _in_rooms(True)(scene)
        room = Room((first[0] + rows, *first[1:]))
        before = room.view[: first[0]]
        before[...] = source
        targets = [room.view[rows:], *(r.view for r in rest)]
        return Out(packed(scene.function, targets), [room, *rest], None, scene.arrays | {name: before})

    return make


def _one_for_all(scene: Scene) -> Out:
    """The same array for every result."""
    room = Room(scene.results[0].shape)
    clash = len(scene.results) > 1 and room.view.size > 0
    return Out(packed(scene.function, [room.view] * len(scene.results)), [room], False if clash else None)


def _nothing(scene: Scene) -> Out:
    """None in the place of each array; in the place of a single one it asks for a new array."""
    return Out(packed(scene.function, [None] * len(scene.results)), [], scene.function.out == 1)


OUT_KINDS: dict[str, Kind] = {
    "fitting": _in_rooms(True),
    "handed back": _handed_back,
    "with gaps": _in_rooms(None, step=3),
    "backwards": _in_rooms(None, step=-1),
    "in Fortran order": _in_rooms(None, order="F"),
    "an input": _overlapping(0),
    "a row after an input": _overlapping(1),
    "one for all": _one_for_all,
    "one number repeated": _repeated,
    "an entry less": _shaped(lambda s: (*s[:-1], max(s[-1] - 1, 0))),
    "an entry more": _shaped(lambda s: (*s[:-1], s[-1] + 1)),
    "a row less": _shaped(lambda s: (max(s[0] - 1, 0), *s[1:])),
    "a row more": _shaped(lambda s: (s[0] + 1, *s[1:])),
    "the last axis alone": _shaped(lambda s: s[-1:]),
    "one row for all": _shaped(lambda s: (1, *s[1:])),
    "flat": _shaped(lambda s: (int(np.prod(s)),)),
    "an axis in front": _shaped(lambda s: (1, *s)),
    "two of them": _shaped(lambda s: (2, *s)),
    "an axis behind": _shaped(lambda s: (*s, 1)),
    "axes turned around": _shaped(lambda s: s[::-1]),
    "empty": _shaped(lambda s: (0,)),
    "a scalar": _shaped(lambda s: ()),
    "float32": _made(lambda x: x.astype(np.float32), None, 1e-5),
    "longdouble": _made(lambda x: x.astype(np.longdouble), None),
    "complex": _made(lambda x: x.astype(complex), None),
    "big-endian": _made(lambda x: x.astype(">f8"), None),
    "unaligned": _made(_unaligned, None),
    "a subclass": _made(np.ma.masked_array, None),
    "int64": _made(lambda x: x.astype(np.int64)),
    "bool": _made(lambda x: x.astype(bool)),
    "objects": _made(lambda x: x.astype(object)),
    "texts": _made(lambda x: x.astype(str)),
    "datetimes": _made(lambda x: x.astype("M8[s]")),
    "read-only": _made(_read_only),
    "lists": _made(np.ndarray.tolist),
    "numbers": _made(lambda x: 0.0),
    "nothing inside": _nothing,
    "a list of arrays": _held(list),
    "a set": _held(lambda arrays: {1, 2}),
    "a tuple too short": _held(lambda arrays: tuple(arrays[:-1])),
    "a tuple too long": _held(lambda arrays: (*arrays, arrays[-1].copy())),
    "a mapping of other names": _held(lambda arrays: dict(enumerate(arrays))),
    "a text": _held(lambda arrays: "out"),
    "a function": _held(lambda arrays: len),
}
