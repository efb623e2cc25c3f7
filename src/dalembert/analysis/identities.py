"""The notable properties of the dynamic model, checked on a robot and given as numbers [Siciliano, §7.2].

Each residual compares two quantities that are computed in different ways, so that none is zero by construction: M column by
column from inverse dynamics, Ṁ by a complex step, the rate of energy from the gradient of the energies. It is the largest
difference over all samples, relative to the largest entry of what is compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import dynamics as dyn
from ..bounds import Bounds
from ..bounds import bounds as bounded
from ..bounds.input_ranges import positive
from ..brief import brief
from ..checks import FloatArray, flag
from ..dynamics import engine
from ..dynamics.system import AnySystem, SolvedSystem, solves
from ..expr import Expr, Program, trace
from ..expr.interpret import evaluate, run
from ..options import generator
from ..options import samples as whole_samples
from . import text_tables
from .workspace import State, Workspace

ROUNDING = 1e-9  # residuals of true identities stay some decades below this
_STEP = 1e-30  # of the complex step, whose error is of the order of its square
_STARTS = 6  # samples from which an extreme eigenvalue is refined
_TENSOR_ENTRIES = 4_000_000  # of Christoffel symbols held at once


class Check(NamedTuple):
    """One property: what it says, the number found, and the limit it has to stay below (None: there is none)."""

    name: str
    statement: str
    residual: float
    limit: float | None = ROUNDING

    @property
    def holds(self) -> bool | None:
        """Whether the property was found to hold; None where it is not expected to."""
        return None if self.limit is None else bool(self.residual <= self.limit)


class Extreme(NamedTuple):
    """An extreme eigenvalue of M, refined by a local optimiser, the q, shape (n,), it occurs at, and that of the samples."""

    value: float
    q: FloatArray
    sampled: float

    def __repr__(self) -> str:
        return brief(self)


@dataclass(frozen=True, eq=False)
class Properties:
    """What `properties` found; `print` it for a table.

    `smallest` and `largest` are the extreme eigenvalues of M over the workspace. They are attained, at the q beside them, and
    local optima, so the true range is at least this wide. That all eigenvalues are within `proved.lower` and `proved.upper` is
    proved, where this was asked for; else `proved` is None. Where joints turn and slide, eigenvalues mix units.
    """

    robot: str
    samples: int
    checks: tuple[Check, ...]
    smallest: Extreme
    largest: Extreme
    proved: Bounds | None = None

    def __repr__(self) -> str:
        return brief(self, "checks", "proved", checks=len(self.checks), hold=self.hold)

    @property
    def residuals(self) -> dict[str, float]:
        """The number of each property, by its name."""
        return {check.name: check.residual for check in self.checks}

    @property
    def hold(self) -> bool:
        """Whether every property that is expected to hold does, definiteness of M included."""
        return self.smallest.value > 0 and all(check.holds is not False for check in self.checks)

    def table(self) -> tuple[str, list[str], list[list[str]]]:
        """Title, heads and rows; the first two columns are words."""
        rows = [[c.name, c.statement, f"{c.residual:.1e}", _word(c.holds)] for c in self.checks]
        rows.append(["smallest eigenvalue of M", *_refined(self.smallest), _word(self.smallest.value > 0)])
        rows.append(["largest eigenvalue of M", *_refined(self.largest), "found"])
        if self.proved is not None:
            where = "over the whole workspace" + ("" if self.proved.finished else "; time was up before it was close")
            for side, bound in (("below", self.proved.lower), ("above", self.proved.upper)):
                rows.append([f"no eigenvalue {side}", where, text_tables.number(float(bound[0]), 4), "proved"])
        title = f"Properties of {self.robot!r} on {self.samples} random states"
        return title, ["property", "statement", "number", ""], rows

    def __str__(self) -> str:
        return text_tables.text(*self.table(), left=2)


def _refined(extreme: Extreme) -> list[str]:
    return [f"{text_tables.number(extreme.sampled, 4)} on samples, refined", text_tables.number(extreme.value, 4)]


def _word(holds: bool | None) -> str:
    return "–" if holds is None else "holds" if holds else "FAILS"


def properties(
    system: AnySystem,
    *,
    samples: int = 1000,
    rng: np.random.Generator | None = None,
    threads: int | None = None,
    proved: bool = False,
    seconds: float = 60.0,
) -> Properties:
    """Symmetry and definiteness of M, skew-symmetry of Ṁ − 2C, energy balance, passivity, linearity in the parameters.

    States are drawn from the joint limits, or from ±π rad (±1 m) where there are none, see `Workspace`. The extreme
    eigenvalues of M are those of the samples, refined by a local optimiser within the limits.

    Ṁ − 2C is skew for the matrix C of Christoffel symbols, and fails to be for another C with the same C q̇, in which each
    Coriolis product stands in one column instead of two, while q̇ᵀ(Ṁ − 2C) q̇ = 0 stays true
    [Siciliano, Eq. 7.48, 7.49, Problem 7.2].

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    samples : int
        How many random states.
    rng : numpy.random.Generator, optional
        Where they come from; the same ones each time if left out.
    threads : int, optional
        As in `inverse_dynamics`.
    proved : bool
        Whether to prove bounds of all eigenvalues of M over the workspace too, by `bounds`.
    seconds : float
        How long the proof may take.

    Returns
    -------
    Properties
        Residuals as numbers, eigenvalue bounds with the q, shape (n,), where they occur; `print` it for a table.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.properties(dal.robots.two_link_planar(), samples=50).hold
    True
    """
    box = Workspace.of(system)
    samples, proved, seconds = whole_samples("samples", samples), flag("proved", proved), positive("seconds", seconds)
    state = box.sample(generator(rng), samples)
    M = dyn.mass_matrix(system, state.q, threads=threads)
    few = State(*(x[: max(1, _TENSOR_ENTRIES // engine.size(system) ** 3)] for x in state))
    checks = (
        _symmetry(system, state, M, threads),
        *_velocity_products(system, few, threads),
        *_energy(system, state, threads),
        _linearity(system, state, threads),
    )
    values: Any = np.linalg.eigvalsh(M)
    return Properties(
        system.name,
        samples,
        checks,
        _extreme(system, box, state.q, values[:, 0], 0),
        _extreme(system, box, state.q, values[:, -1], -1),
        bounded(system, "eigenvalues", q=(box.lower, box.upper), seconds=seconds) if proved else None,
    )


def _relative(difference: FloatArray, scale: FloatArray) -> float:
    """The largest entry of a difference beside the largest of what was compared."""
    found, size = (float(np.abs(x).max(initial=0.0)) for x in (difference, scale))
    return found / size if size > 0 else found


def _symmetry(robot: AnySystem, state: State, M: FloatArray, threads: int | None) -> Check:
    """M column by column, as torques of unit accelerations at rest; friction and gravity subtracted."""
    n = engine.size(robot)
    still, unit = np.zeros(n), np.eye(n)[:, None]
    held = dyn.inverse_dynamics(robot, state.q, still, still, threads=threads)
    columns = dyn.inverse_dynamics(robot, state.q, still, unit, threads=threads) - held
    by_columns = np.moveaxis(columns, 0, -1)
    residual = max(_relative(by_columns - np.swapaxes(by_columns, -1, -2), M), _relative(by_columns - M, M))
    return Check("M symmetric", "M = Mᵀ, by columns of unit accelerations", residual)


def _velocity_products(robot: AnySystem, state: State, threads: int | None) -> tuple[Check, ...]:
    """C of Christoffel symbols, and another that gives the same torque [Siciliano, Eq. 7.43 to 7.49]."""
    q, qd, _ = state
    symbols = dyn.christoffel(robot, q, threads=threads)
    C, other = coriolis(symbols, qd), other_coriolis(symbols, qd)
    Mdot = mass_rate(robot, q, qd)
    bias = dyn.bias(robot, q, qd, threads=threads)
    torque = bias - dyn.gravity_torque(robot, q, threads=threads)
    products = np.einsum("sij,sj->si", C, qd)
    products_other = np.einsum("sij,sj->si", other, qd)
    N, N_other = Mdot - 2 * C, Mdot - 2 * other
    power = np.einsum("si,sij,sj->s", qd, N_other, qd)
    scale = dyn.mass_matrix(robot, q, threads=threads) * np.abs(qd).max()  # Ṁ itself may be nothing but rounding
    power_scale = np.einsum("si,sij,sj->s", np.abs(qd), np.abs(scale), np.abs(qd))
    return (
        Check("C qd", "C q̇ = torque of velocities, C by Christoffel symbols", _relative(products - torque, bias)),
        Check("Mdot - 2C skew", "wᵀ(Ṁ − 2C) w = 0 for every w", _relative(N + np.swapaxes(N, -1, -2), scale)),
        Check("another C: C qd", "the same C q̇ by another factorisation", _relative(products_other - torque, bias)),
        Check("another C: power", "q̇ᵀ(Ṁ − 2C) q̇ = 0 all the same", _relative(power, power_scale)),
        Check(
            "another C: not skew",
            "wᵀ(Ṁ − 2C) w = 0 does not follow",
            _relative(N_other + np.swapaxes(N_other, -1, -2), scale),
            None,
        ),
    )


def coriolis(symbols: FloatArray, qd: FloatArray) -> FloatArray:
    """C_ij = Σ_k c_ijk q̇_k [Siciliano, Eq. 7.44], from symbols of shape (..., n, n, n)."""
    return np.einsum("...ijk,...k->...ij", symbols, qd)


def other_coriolis(symbols: FloatArray, qd: FloatArray) -> FloatArray:
    """Another C with the same C q̇: the product q̇_j q̇_k stands in the column of the lower joint alone.

    C_ij = c_ijj q̇_j + 2 Σ_{k>j} c_ijk q̇_k; for the two-link planar arm a solution of [Siciliano, Problem 7.2].
    """
    n = symbols.shape[-1]
    once = np.eye(n) + 2.0 * np.triu(np.ones((n, n)), 1)  # entry (j, k)
    return coriolis(symbols * once, qd)


def mass_rate(robot: AnySystem, q: FloatArray, qd: FloatArray) -> FloatArray:
    """Ṁ along q̇, for q and q̇ of shape (s, n), by a complex step: exact to rounding and independent of graph derivatives."""
    system = engine.system_of(robot)
    request = engine.request_of("mass_matrix", ())
    moving = [(q, qd)]
    recipe = system.recipe(request)._replace(way="straight")
    if solves(system):  # the positions found take part with their rates
        recipe = engine.with_solved(system, recipe)
        moving.append(_moving_positions(system, q, qd))
    program = engine.program_of(recipe, "mass_matrix")
    assert isinstance(program, Program)
    values: dict[int, Any] = {}
    for entry, (at, rate) in zip(program.entries, moving, strict=True):
        columns = np.moveaxis(at + 1j * _STEP * rate, -1, 0)
        values |= {node.index: column for node, column in zip(entry, columns, strict=True)}
    evaluate(program.nodes, values)
    entries = (values[x.index] if isinstance(x, Expr) else x for x in program.results[0])
    flat = [np.broadcast_to(np.asarray(entry, complex), q.shape[:1]).imag for entry in entries]
    return np.stack(flat, axis=-1).reshape(*q.shape, -1) / _STEP


def _moving_positions(system: SolvedSystem, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The positions at q, and their rates."""

    def rates(q: Any, qd: Any, *x: Any) -> Any:
        system.use(*x)
        return system.rates(q, qd)

    n = q.shape[-1]
    x = np.asarray(system.positions_at(q))
    (xd,) = run(trace(rates, {"q": (n,), "qd": (n,), **system.solved}, ["xd"]), q, qd, x)
    return x, xd


def _energy(robot: AnySystem, state: State, threads: int | None) -> tuple[Check, Check]:
    """d(T + U)/dt = q̇ᵀ(τ − friction) [Siciliano, Eq. 7.50, 7.51], and friction takes energy away."""
    q, qd, qdd = state
    by_q, momentum, gravity = dyn.energy_gradient(robot, q, qd, threads=threads)
    rate = np.sum((by_q + gravity) * qd + momentum * qdd, axis=-1)
    friction = dyn.friction_torque(robot, qd, q=q)
    tau = dyn.inverse_dynamics(robot, q, qd, qdd, threads=threads)
    power = np.sum(qd * (tau - friction), axis=-1)
    scale = np.sum(np.abs(qd * tau), axis=-1)
    supplied = -np.minimum(np.sum(qd * friction, axis=-1), 0.0)
    return (
        Check("energy balance", "d(T + U)/dt = q̇ᵀ(τ − friction)", _relative(rate - power, scale)),
        Check("passivity", "friction supplies no energy: q̇ᵀ friction ≥ 0", _relative(supplied, scale)),
    )


def _linearity(robot: AnySystem, state: State, threads: int | None) -> Check:
    """τ = Y φ [Siciliano, Eq. 7.80]; springs and dampers inside a mechanism are no parameters, and stay out of τ."""
    tau = dyn.inverse_dynamics(robot, *state, threads=threads)
    springs, dampers = (getattr(robot, kind, ()) for kind in ("springs", "dampers"))
    if springs or dampers:
        tau = tau + dyn.applied_torque(robot, state.q, state.qd, springs=springs, dampers=dampers, threads=threads)
    Y = dyn.regressor(robot, *state, offset=True, threads=threads)
    return Check("linear in phi", "τ = Y φ", _relative(Y @ dyn.parameters(robot, offset=True) - tau, tau))


def _extreme(robot: AnySystem, box: Workspace, q: FloatArray, values: FloatArray, which: int) -> Extreme:
    """The extreme eigenvalue `which` (0 smallest, -1 largest) from the best samples on, within the limits."""
    from scipy import optimize  # takes longer to import than all of this package

    minimize: Any = optimize.minimize
    sign = 1.0 if which == 0 else -1.0
    best = np.argsort(sign * values)[:_STARTS]

    def value_and_slope(x: FloatArray) -> tuple[float, FloatArray]:
        w, V = np.linalg.eigh(dyn.mass_matrix(robot, x))
        v = V[:, which]
        # ∂λ/∂q_k = vᵀ ∂M/∂q_k v, and ∂M_ij/∂q_k = c_ijk + c_jik [Siciliano, Eq. 7.45]
        return sign * w[which], sign * 2.0 * np.einsum("i,j,ijk->k", v, v, dyn.christoffel(robot, x))

    bounds = list(zip(box.lower, box.upper, strict=True))
    found = [minimize(value_and_slope, q[k], jac=True, method="L-BFGS-B", bounds=bounds) for k in best]
    candidates = [(float(values[k]), q[k]) for k in best] + [(sign * float(r.fun), r.x) for r in found]
    value, where = min(candidates, key=lambda pair: sign * pair[0] if math.isfinite(pair[0]) else math.inf)
    return Extreme(value, np.array(where), float(values[best[0]]))
