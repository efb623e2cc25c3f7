"""What is integrated: the forward dynamics of a system and the torques on it, as stages of a time loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..dynamics import engine, sizes
from ..dynamics.surroundings import DEFAULT, FREE, Forces
from ..dynamics.system import AS_IT_IS, AnySystem, Reading, Recipe, SolvedSystem, solves
from ..errors import ModelError
from ..expr import Expr
from ..expr.assembly import Assembly, Cells
from ..expr.differentiate import jacobian
from ..expr.loops import LoopProgram, Step
from ..model.springs import anchor
from .acting_law import PARAMETERS
from .laws import TorqueLaw, held_width, place_of_field
from .sampling import followed


class StateCells(NamedTuple):
    """Where time, positions and velocities of the point in question are."""

    t: Cells
    q: Cells
    qd: Cells


class Plant:
    """The dynamics of a system within a time loop.

    Where positions have to be solved for, they are found from what is in `x`, a prediction or those of the point before, and
    replace it; `xd` are their rates, and `pivot` tells how well the coordinates tell them.
    """

    def __init__(self, make: Assembly, system: AnySystem) -> None:
        self.make, self.system, self.view = make, system, engine.system_of(system)
        self.n, self.size = engine.size(system), 0
        self._tracker: LoopProgram | None = None
        if solves(self.view):
            self.size = sum(shape[0] for shape in self.view.solved.values())
            self.x, self.xd, self.pivot = make.buffer(self.size), make.buffer(self.size), make.buffer()
            self._tracker = self.view.tracker()
        self.forces, self.reading = FREE, AS_IT_IS
        self.wrenches: list[Cells] = []
        self.around: list[Cells] = []

    def surround(self, law: TorqueLaw | None, inputs: Sequence[Cells]) -> None:
        """Take what acts beside the torques of a law: wrenches that `control` finds, parameters that stand among its inputs."""
        if law is None or law.forces == FREE:
            return
        self.forces, frames = law.forces, len(law.forces.wrenches)
        self.wrenches = [self.make.buffer(6 * frames)] if frames else []
        self.around = [self.wrenches[0][6 * k : 6 * k + 6] for k in range(frames)]
        if law.forces.parameters:
            self.around.append(inputs[0][place_of_field(law.inputs, PARAMETERS)])

    @property
    def solved(self) -> bool:
        """Whether positions are solved for."""
        return self._tracker is not None

    def solve(self, q: Cells) -> list[Step]:
        """The positions at q."""
        return [] if self._tracker is None else self.make.embed(self._tracker, [q, self.x], [self.x, self.pivot])

    def once(self, function: Callable[..., Any], sources: Sequence[Cells], targets: Sequence[Cells]) -> list[Step]:
        """Straight-line code that may ask for recipes of the system, at positions that were solved for."""
        if not solves(self.view):
            return self.make.once(function, sources, targets)
        use = self.view.use

        def placed(*lists: Any) -> Any:
            use(lists[-1])
            return function(*lists[:-1])

        return self.make.once(placed, [*sources, self.x], targets)

    def acceleration(self, at: StateCells, tau: Cells, qdd: Cells) -> list[Step]:
        """q̈ at a point whose positions are solved for."""
        recipe = self.view.recipe(engine.request_of("forward_dynamics", (self.forces,)))
        if recipe.way == "composed":
            raise ModelError(
                f"system: {self.system.name!r} has {self.n} coordinates with full rotors or couplings, whose forward "
                "dynamics is not one kernel. Integrate dal.forward_dynamics with scipy.integrate.solve_ivp instead."
            )
        sources, targets = [at.q, at.qd, tau, *self.around], [qdd]
        if solves(self.view):
            recipe = engine.with_solved(self.view, _with_rates(self.view, recipe))
            sources, targets = [*sources, self.x], [qdd, self.xd]
        return self.make.embed(engine.program_of(recipe, "forward_dynamics"), sources, targets)

    def settled(self, h: Cells, at: StateCells, slope: list[Step], qdd: Cells, reach: float) -> list[Step]:
        """The slope at the start of a fixed step, after what has to be decided for the whole of it.

        With that slope, the step goes h q̇ + `reach` h² q̈ far.
        """
        return slope

    def rest(self, q: Cells, qd: Cells, rows: Sequence[Cells]) -> list[Step]:
        """What a fixed step does with the state at its end, and with its rows of results."""
        return []

    def linearised(self, at: StateCells, qdd: Cells, targets: Sequence[Cells]) -> list[Step]:
        """∂f/∂q, ∂f/∂q̇ and M of the forces f(q, q̇, q̈) that a motion needs, at the acceleration found there."""
        recipe = self.view.recipe(engine.request_of("inverse_derivatives"), self.reading)
        if self.forces.parameters:
            recipe = _slopes_with_parameters(self.view, self.reading, self.taken)
        if recipe.way == "composed" or self.n >= sizes.DENSE_FROM:
            raise ModelError(
                f"method: 'rosenbrock' serves up to {sizes.DENSE_FROM - 1} coordinates, fewer with full rotors, but "
                f"{self.system.name!r} has {self.n}. Try 'dop853'."
            )
        sources = [at.q, at.qd, qdd, *(self.around[-1:] if self.forces.parameters else [])]
        if solves(self.view):
            recipe, sources = engine.with_solved(self.view, recipe), [*sources, self.x]
        return self.make.embed(engine.program_of(recipe, "inverse_derivatives"), sources, targets)

    def taken(self, phi: Sequence[Any]) -> Sequence[Any]:
        """The given parameters that forces f(q, q̇, q̈) are made of."""
        return phi

    def force(self, q: Sequence[Expr], tau: Sequence[Any]) -> Sequence[Any]:
        """The force that τ is at the coordinates: τ itself, unless a mechanism is in others than its user's."""
        pulled_back = getattr(self.view, "pulled_back", None)
        return tau if pulled_back is None else list(pulled_back(q, tau))

    def all_forces(self, law: TorqueLaw, t: Expr, q: Sequence[Expr], qd: Sequence[Expr], p: Any) -> list[Any]:
        """The forces of a law at the coordinates, those of its wrenches among them; over scalars."""
        y, yd = self.view.visible(q, qd) if solves(self.view) else (q, qd)
        tau, *wrenches = law.outputs(t, y, yd, p)
        force = self.force(q, tau)
        return list(force) if not wrenches else self._with_wrenches(q, force, wrenches[0])

    def _with_wrenches(self, q: Any, force: Sequence[Any], wrenches: Sequence[Any]) -> list[Any]:
        """Forces, and what wrenches exert at q by virtual work."""
        anchors = tuple(anchor("wrenches", frame) for frame in self.forces.wrenches)
        exerted = self.view.recipe(engine.request_of("applied_torque", (anchors,))).function
        sixes = [wrenches[k : k + 6] for k in range(0, len(wrenches), 6)]
        return [a + b for a, b in zip(force, exerted(q, *sixes), strict=True)]

    def control(
        self, law: TorqueLaw, at: StateCells, given: Sequence[Cells], tau: Cells, rate: Cells | None = None
    ) -> list[Step]:
        """τ(t, q, q̇, p) at a point, by a user's function of scalars, wrenches, and the rates of further states, to `rate`.

        `given` are its inputs, signals and further states, those of them that it has.
        """

        def traced(t: list[Expr], q: list[Expr], qd: list[Expr], *further: list[Expr]) -> list[list[Any]]:
            y, yd = self.view.visible(q, qd) if solves(self.view) else (q, qd)
            p = law.named(further)
            return [*law.outputs(t[0], y, yd, p), *([] if rate is None else [law.rates_at(t[0], y, yd, p)])]

        return self.once(traced, [at.t, at.q, at.qd, *given], [tau, *self.wrenches, *([] if rate is None else [rate])])

    def sampled(
        self, law: TorqueLaw, at: StateCells, given: Sequence[Cells], due: Cells, marks: Cells, states: Cells
    ) -> list[Step]:
        """Where it is `due`, a law looks at a point, and what it holds among its `states` follows, as the marks say."""
        held = held_width(law)

        def traced(t: list[Expr], q: list[Expr], qd: list[Expr], *others: list[Expr]) -> list[list[Any]]:
            *further, due, marks, z = others
            y, yd = self.view.visible(q, qd) if solves(self.view) else (q, qd)
            wanted = law.command(t[0], y, yd, law.named([*further, z]))
            own = z[len(z) - held :]
            now, waiting = followed(due[0], marks, wanted, own[: len(wanted)], own[len(wanted) :])
            return [[*now, *waiting], [0.0]]

        sources = [at.t, at.q, at.qd, *given, due, marks, states]
        return self.once(traced, sources, [states[states.size - held : states.size], due])

    def add_wrenches(self, q: Cells, tau: Cells) -> list[Step]:
        """Torques that the wrenches exert at q, added to `tau`: for a method that takes no wrenches itself."""
        if not self.wrenches:
            return []

        def traced(q: list[Expr], tau: list[Expr], wrenches: list[Expr]) -> list[list[Any]]:
            return [self._with_wrenches(q, tau, wrenches)]

        return self.once(traced, [q, tau, *self.wrenches], [tau])

    def visible(self, q: Cells, qd: Cells, targets: Sequence[Cells]) -> list[Step]:
        """Coordinates and positions, each with their rates, as results show them, to `targets`."""
        assert solves(self.view)
        seen, rates = self.view.visible, self.view.rates

        def traced(q: list[Expr], qd: list[Expr], x: list[Expr]) -> list[Any]:
            y, yd = seen(q, qd)
            return [y, yd, x, rates(q, qd)]

        return self.once(traced, [q, qd, self.x], targets)


def _with_rates(system: SolvedSystem, recipe: Recipe) -> Recipe:
    """Forward dynamics with the rates of the positions beside q̈."""

    def function(q: Any, qd: Any, *given: Any) -> Any:
        return recipe.function(q, qd, *given), system.rates(q, qd)

    return recipe._replace(function=function, outputs=[*recipe.outputs, "xd"])


def _slopes_with_parameters(system: Any, reading: Reading, taken: Callable[[Sequence[Any]], Sequence[Any]]) -> Recipe:
    """∂τ/∂q, ∂τ/∂q̇ and M, with the dynamic parameters as a last input."""
    forces = Forces(parameters=True)
    torque = system.recipe(engine.request_of("inverse_dynamics", (DEFAULT, forces)), reading)
    mass = system.recipe(engine.request_of("mass_matrix", (forces,))).function

    def function(q: Any, qd: Any, qdd: Any, phi: Any) -> Any:
        slopes, n = jacobian(torque.function(q, qd, qdd, taken(phi)), [*q, *qd]), len(q)
        return [row[:n] for row in slopes], [row[n:] for row in slopes], mass(q, phi)

    return Recipe(function, torque.inputs, ["dtau_dq", "dtau_dqd", "dtau_dqdd"])
