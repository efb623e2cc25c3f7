"""A mechanism as a system: what every function of the library asks of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..algorithms.regressor import Options
from ..checks import FloatArray, flag
from ..codegen import Kernel, build
from ..dynamics.engine import kernel
from ..dynamics.quantities import QUANTITIES
from ..dynamics.quantity import Quantity
from ..dynamics.robot_system import RobotSystem
from ..dynamics.system import AS_IT_IS, Coordinate, DrivesBeside, Reading, Recipe, Request
from ..errors import ModelError
from ..expr import Expr, ops, trace
from ..expr.loops import LoopProgram
from ..model import Robot
from . import assembly_program, limited_motion, recipes, refusals
from .assembled import Assembled
from .assembled_positions import AssembledPositions, assembled_at, positions_of
from .chart import Chart, change
from .closed_kernel import NEAR_SINGULAR, ClosedKernel, Finder, Given, placed
from .other_joints import Told, told


class Mechanism(Assembled):
    """A tree of links whose loops are closed, in generalised coordinates of one's choice.

    Every function that takes a robot takes a mechanism: `q` are then the values of its coordinates, and torques belong to them.
    The positions of the tree are found inside, starting from the seed (`at` starts from, or takes, others).

    Parameters
    ----------
    name : str
        What messages call it.
    robot : Robot
        The tree that is left when all closures are opened: links, joints, friction, rotors, gravity.
    closures : iterable of Closure
        What closes the loops.
    coordinates : iterable of str, Chosen
        The generalised coordinates: names of joints, or functions of the positions (`point_of`, `pose_of`, `Chosen`). As many
        as the mechanism has freedoms.
    guess : array_like, shape (N,), optional
        Positions of the joints of the tree near which it is assembled; all zero if left out.
    springs, dampers : iterable of Spring, of Damper
        Elements that act inside, at joints or between points.
    actuated : iterable of str, optional
        The joints that have a drive, for `distribute_load`; by default the coordinates that are joints.
    strict : bool
        Refuse closures of which some hold what others hold already.

    Raises
    ------
    ModelError
        If the loops cannot be closed near the guess, if the number of coordinates is not that of the freedoms, or if the
        coordinates depend on each other.

    Examples
    --------
    >>> import dalembert as dal
    >>> rod = [{"a": a, "mass": 1.0, "com": (0.1, 0, 0), "inertia": (0, 0, 0.01)} for a in (0.0, 0.3, 0.7)]
    >>> arm = dal.from_dh(rod, convention="modified", gravity=(0, -9.81, 0))
    >>> pin = dal.Closure("pin", "spherical", (("link3", (0.5, 0, 0)), ("world", (0.9, 0.1, 0))))
    >>> four_bar = dal.Mechanism("four-bar", arm, [pin], ["joint1"], guess=[1.2, -0.8, -1.6])
    >>> dal.inverse_dynamics(four_bar, [1.2], [1.5], [-0.7]).shape
    (1,)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        refusals.check_assembly(self)

    @cached_property
    def kernels(self) -> dict[Any, Any]:
        """Its kernels, not compared, copied or pickled with it."""
        return {}

    def parameter_names(self, options: Options) -> list[str]:
        """Names of the dynamic parameters, those of the tree."""
        return RobotSystem(self.robot).parameter_names(options)

    def recipe(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """The recipe of a quantity in the chosen coordinates."""
        return recipes.recipe(self, request, reading)

    def mapped(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """The recipe of the tree beneath, its results changed by their rules."""
        return recipes.mapped(self, request, reading)

    @cached_property
    def residual_kernel(self) -> Kernel:
        """q and positions, to what closures and coordinates are off."""
        return build(trace(self.left_open, {"q": (self.n,), "x": (self.robot.n,)}, ["closures", "coordinates"], name="residual"))

    @cached_property
    def _looking_kernel(self) -> Kernel:
        """Above 1, or NaN, where positions are open or nearly singular: one number for both is judged more quickly."""

        def look(q: Any, x: Any) -> Any:
            left, pivot = ops.maximum(*self.left_open(q, x)), assembly_program.pivot_at(self.setting, x)
            return left * (1.0 / refusals.GIVEN) + ops.where(ops.less(NEAR_SINGULAR, pivot), 0.0, 2.0)

        return build(trace(look, {"q": (self.n,), "x": (self.robot.n,)}, ["doubt"], name="given_positions"))

    @cached_property
    def _pivot_kernel(self) -> Kernel:
        """Positions to the least pivot against its size at the seed."""
        function = partial(assembly_program.pivot_at, self.setting)
        return build(trace(function, {"x": (self.robot.n,)}, ["pivot"], name="least_pivot"))

    def completed(self, kernel: Kernel) -> ClosedKernel:
        """A kernel that has the positions as its last input, as one that finds them."""
        return ClosedKernel(kernel, self._finder(self.seed))

    def positions_at(self, q: Any) -> Any:
        """The positions of the tree at coordinates; doubtful ones are told of."""
        found = self._own_finder.one(q)
        return self._own_finder.many(q) if found is NotImplemented else found

    @cached_property
    def _own_finder(self) -> Finder:
        return self._finder(self.seed)

    def tracker(self) -> LoopProgram:
        """From q and positions of a moment ago, the positions and the least pivot."""
        return assembly_program.tracker(self.setting)

    @cached_property
    def charts(self) -> list[Chart]:
        """The coordinates in which motions were continued, see `Chart`."""
        return []

    def chart_at(self, x: FloatArray, qd: FloatArray) -> tuple[Assembled, FloatArray, FloatArray]:
        """A chart that is good at these positions, with coordinates and rates in it."""
        return change(self, self, x, qd)

    def told_at(self, x: FloatArray) -> Iterator[Told]:
        """Positions (P, N) in groups, each with this mechanism in coordinates that tell them: its own wherever these do."""
        return told(self, x, np.asarray(self._pivot_kernel(x)), self._in_joints)

    def _in_joints(self, joints: list[int], x: FloatArray) -> Mechanism:
        names = tuple(self.robot.joint_names[k] for k in joints)
        if names not in self._by_joints:
            self._by_joints[names] = self.replace(coordinates=names, guess=x)
        return self._by_joints[names]

    @cached_property
    def _by_joints(self) -> dict[tuple[str, ...], Mechanism]:
        return {}

    @cached_property
    def opened(self) -> Robot | Mechanism:
        """What moves, its loops open: the tree, with its springs and dampers. Its coordinates are the positions."""
        if not (self.springs or self.dampers):
            return self.robot
        return Mechanism(self.name, self.robot, (), self.robot.joint_names, springs=self.springs, dampers=self.dampers)

    def _taken(self, q: Any, x: Any, threads: int | None) -> Any:
        """Given positions, looked at; only where some are open, or nearly singular, closely. NaN where they are singular."""
        if np.asarray(self._looking_kernel(q, x, threads=threads)).max(initial=0.0) <= 1.0:  # NaN is looked at, too
            return x
        refusals.check_given(self, q, x)
        pivots = np.asarray(self._pivot_kernel(x, threads=threads))
        return refusals.taken(self, x, pivots) if not pivots.min(initial=1.0) > NEAR_SINGULAR else x

    def residual(self, x: ArrayLike) -> FloatArray:
        """The largest of what the closures are off at positions of the tree [m | rad].

        Parameters
        ----------
        x : array_like, shape (..., N)
            Positions of all joints of the tree.

        Returns
        -------
        ndarray, shape (...)

        Examples
        --------
        >>> import dalembert as dal
        >>> four_bar = dal.mechanisms.four_bar()
        >>> bool(four_bar.residual(four_bar.seed) < 1e-12)
        True
        """
        left: FloatArray = self.residual_kernel(self.q0, positions_of(self, "x", x, f"(..., {self.robot.n})"))[0]
        return left

    def _finder(self, start: Any) -> Finder:
        return Finder(self.closure_kernel, start, lambda q, x, state: refusals.judge(self, q, x, state, start))

    @cached_property
    def axes_beside(self) -> tuple[Coordinate, ...]:
        """The joints that are no coordinates."""
        return limited_motion.axes_beside(self)

    def motion_beside(self, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Their positions and speeds along a motion."""
        return limited_motion.motion_beside(self, q, qd)

    def rows_beside(self, q: Any) -> tuple[list[Any], list[list[Any]]]:
        """Their positions and the rows of ∂x/∂q, over scalars, with the positions in use."""
        return limited_motion.rows_beside(self, q)

    def drives_beside(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> DrivesBeside | None:
        """The drives that are no coordinates, and what is least asked of them."""
        return limited_motion.drives_beside(self, q, qd, qdd)

    def smoothed(self, width: float) -> Mechanism:
        """The same mechanism with smooth friction in the joints of its tree, see `Robot.smoothed`."""
        return self.replace(robot=self.robot.smoothed(width))

    def at(self, *, x: ArrayLike | None = None, near: ArrayLike | None = None) -> PlacedMechanism:
        """The same mechanism at positions that are known, or assembled from other positions than the seed.

        Parameters
        ----------
        x : array_like, shape (..., N), optional
            Positions of all joints of the tree. They are looked at, and taken: nothing is assembled.
        near : array_like, shape (..., N), optional
            Positions to start from: they choose the branch.

        Returns
        -------
        PlacedMechanism
            A system that every function takes; leading axes broadcast with those of q.

        Examples
        --------
        >>> import dalembert as dal
        >>> four_bar = dal.mechanisms.four_bar()
        >>> x = four_bar.assemble([0.5]).x
        >>> bool(dal.mass_matrix(four_bar.at(x=x), [0.5]) == dal.mass_matrix(four_bar, [0.5]))
        True
        """
        if (x is None) == (near is None):
            raise ModelError("at: give one of x= (positions that are closed) and near= (positions to start from).")
        shape = f"(..., {self.robot.n})"
        if near is not None:
            return PlacedMechanism(self, self._finder(positions_of(self, "near", near, shape)))
        return PlacedMechanism(self, Given(positions_of(self, "x", x, shape), self._taken))

    def assemble(
        self, q: ArrayLike, *, near: ArrayLike | None = None, continuous: bool = False, threads: int | None = None
    ) -> AssembledPositions:
        """Positions of the tree at coordinates q.

        Parameters
        ----------
        q : array_like, shape (..., n)
            Coordinates.
        near : array_like, shape (..., N), optional
            Positions to start from; the seed if left out.
        continuous : bool
            Take the rows of q (its last axis but one) for a path: each starts from the positions of the one before, so that the
            branch is kept however far the path leads.
        threads : int, optional
            How many threads to use for a large batch.

        Returns
        -------
        AssembledPositions
            With x, what is left open, the condition, and which rows were found.

        Examples
        --------
        >>> import dalembert as dal
        >>> dal.mechanisms.four_bar().assemble([[0.5], [0.6]]).x.shape
        (2, 3)
        """
        start = self.seed if near is None else positions_of(self, "near", near, f"(..., {self.robot.n})")
        return assembled_at(self, self.closure_kernel, q, start, continuous=flag("continuous", continuous), threads=threads)


class PlacedMechanism:
    """A mechanism whose positions are given, or assembled from a start of the user's (`Mechanism.at`)."""

    def __init__(self, mechanism: Mechanism, finder: Finder | Given) -> None:
        self.mechanism, self.finder = mechanism, finder
        self.kernels = _PlacedKernels(mechanism, finder)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.mechanism, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """What was given, without the kernels."""
        given = {"x": self.finder.x} if isinstance(self.finder, Given) else {"near": self.finder.start}
        return _placed_again, (self.mechanism, given)

    def __repr__(self) -> str:
        how = "given positions" if isinstance(self.finder, Given) else "positions assembled from a given start"
        return f"{self.mechanism!r}, {how}"

    @property
    def start(self) -> FloatArray:
        """The positions given, or those to start from."""
        found: FloatArray = self.finder.x if isinstance(self.finder, Given) else self.finder.start
        return found

    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes of the positions."""
        return self.start.shape[:-1]

    @cached_property
    def seed(self) -> FloatArray:
        """Closed positions nearest to the start; the mechanism's own where there are several starts."""
        return self.mechanism.seed if self.start.ndim > 1 else self.mechanism.closed_near(self.start)

    @cached_property
    def q0(self) -> FloatArray:
        """The coordinates at the seed."""
        return self.mechanism.equations(self.seed)[0][len(self.mechanism.rows) :]

    def assemble(self, q: ArrayLike, *, near: ArrayLike | None = None, **options: Any) -> AssembledPositions:
        """As `Mechanism.assemble`, from the start that was given."""
        return self.mechanism.assemble(q, near=self.start if near is None else near, **options)

    def recipe(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """As that of the mechanism; code that finds positions itself begins at the start that was given."""
        inner = self.mechanism.recipe(request, reading)

        def function(*given: Any) -> Any:
            if given and isinstance(given[0], list) and isinstance(given[0][0], Expr):
                self.mechanism.start_from(given[0][0].graph, self.start)
            return inner.function(*given)

        return inner._replace(function=function)

    def completed(self, kernel: Kernel) -> ClosedKernel:
        """A kernel that has the positions as its last input, as one that takes them from here."""
        return ClosedKernel(kernel, self.finder)

    def positions_at(self, q: Any) -> Any:
        """The positions, given or assembled from the start that was given."""
        return self.finder.many(q)

    def motion_beside(self, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `Mechanism.motion_beside`, at the positions meant here."""
        return limited_motion.motion_beside(self, q, qd)

    def drives_beside(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> DrivesBeside | None:
        """As `Mechanism.drives_beside`, at the positions meant here."""
        return limited_motion.drives_beside(self, q, qd, qdd)


def _placed_again(mechanism: Mechanism, given: dict[str, FloatArray]) -> PlacedMechanism:
    return mechanism.at(**given)


class _PlacedKernels(dict[Any, Any]):
    """Kernels of a mechanism, with positions from elsewhere: code is compiled once for all of them."""

    def __init__(self, mechanism: Mechanism, finder: Finder | Given) -> None:
        super().__init__()
        self.mechanism, self.finder = mechanism, finder

    def get(self, key: Any, default: Any = None) -> Any:
        """The kernel of a request, built with the mechanism if need be."""
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        if not isinstance(key, Request) or not _is_shared(key):
            return default
        if key.quantity in _TIME_LOOPS:
            return self.mechanism.kernels.get(key, default)
        made: Any = kernel(self.mechanism, key.quantity, *key.options)
        found = self[key] = placed(made, self.finder) if self.mechanism.linear else made.with_finder(self.finder)
        return found

    def __setitem__(self, key: Any, kernel: Any) -> None:
        in_time = isinstance(key, Request) and key.quantity in _TIME_LOOPS
        dict.__setitem__(self.mechanism.kernels if in_time else self, key, kernel)


def _is_shared(request: Request) -> bool:
    """Whether the kernel is the mechanism's with positions from elsewhere; others are made anew."""
    return isinstance(request.quantity, Quantity) or request.quantity in (*QUANTITIES, *_TIME_LOOPS)


_TIME_LOOPS = ("simulate", "rollout", "inverse_kinematics")  # positions are inputs of these: one is as good for any start

__all__ = ["Mechanism", "PlacedMechanism"]
