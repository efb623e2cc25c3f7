"""The linear model of a system with its motors: states q, q̇, i and inputs v [Freeman, Eq. 2-241 to 2-252]."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import derivatives, inverse_dynamics
from ..dynamics.system import AnySystem
from ..linear import LinearModel, OperatingPoint, Signal
from ..linear.acting_loads import Acting
from ..linear.friction_jumps import warn_of_friction
from ..linear.linearization import signals_of
from ..model import DriveTrain
from .driven import driven, gear_gain


def linearize_motors(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    *,
    drive: DriveTrain | None = None,
    threads: int | None = None,
) -> LinearModel:
    """The linear model of (q, q̇, i) with the voltages as inputs, about a motion [Freeman, Eq. 2-241 to 2-252].

    A motor without inductance has no state of its own: its current is (v − k_e ω) / R. Where only a part of the motor's power
    arrives (`efficiency`), that of the motion counts.

    Parameters
    ----------
    system : Robot or System
        With n coordinates, all of them driven.
    q, qd, qdd : array_like, shape (..., n)
        The motion, or points of it; rates that are left out are zero.
    drive : DriveTrain, optional
        The motors; those of the joints if left out.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    LinearModel
        With the states as outputs.

    Warns
    -----
    DalembertWarning
        As in `linearize`, where dry friction has no derivative.

    Examples
    --------
    >>> import dalembert as dal
    >>> motor = dal.Motor(resistance=2.0, torque_constant=0.1, inductance=1e-3, ratio=50.0)
    >>> model = dal.linearize_motors(dal.robots.pendulum().with_motors({"pivot": motor}), [0.0])
    >>> [state.name for state in model.states]
    ['q_pivot', 'qd_pivot', 'i_pivot']
    >>> model.A.round(2)
    array([[ 0.000e+00,  1.000e+00,  0.000e+00],
           [-1.471e+01,  0.000e+00,  1.500e+01],
           [ 0.000e+00, -5.000e+03, -2.000e+03]])
    """
    use = driven(system, drive)
    train, n = use.train, len(use.train.coordinates)
    given = {"q": q, "qd": np.zeros(n) if qd is None else qd, "qdd": np.zeros(n) if qdd is None else qdd}
    state = [real(name, x, f"(..., {n})") for name, x in given.items()]
    by_q, by_qd, M = derivatives(use.plant, *state, threads=threads)
    tau = inverse_dynamics(use.plant, *state, threads=threads)
    gain = gear_gain(train, train.motor_torques(tau), train.speeds(state[1]))
    per_ampere = train.column("torque_constant") / gain
    A, B = _matrices(train, np.swapaxes(train.matrix * per_ampere[..., :, None], -1, -2), by_q, by_qd, M)
    warn_of_friction("linearize_motors", system, state[0], state[1], level=2)
    states, _ = signals_of(system, Acting())
    states += tuple(Signal(f"i_{name}", "A") for name, motor in train.motors.items() if motor.inductance)
    inputs = tuple(Signal(f"v_{name}", "V") for name in train.names)
    point = OperatingPoint(*(np.broadcast_to(x, tau.shape) for x in (*state, tau)))
    C, D = np.broadcast_to(np.eye(len(states)), A.shape), np.zeros(B.shape)
    return LinearModel(A, B, C, D, states=states, inputs=inputs, outputs=states, point=point, name=system.name)


def _matrices(
    train: DriveTrain, C_M: FloatArray, by_q: FloatArray, by_qd: FloatArray, M: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """F and G of the document, with its C_M = Tᵀ k_t, (..., n, m); motors without inductance act as resistances."""
    T = train.matrix
    R, L, k_e = (train.column(key) for key in ("resistance", "inductance", "k_e"))
    slow, quick = L > 0, L == 0
    n, k, batch = T.shape[1], int(slow.sum()), M.shape[:-2]
    inverse = np.linalg.inv(M)
    braking = (C_M[..., quick] * (k_e / R)[quick]) @ T[quick]  # the current −k_e ω / R
    A = np.zeros((*batch, 2 * n + k, 2 * n + k))
    A[..., :n, n : 2 * n] = np.eye(n)  # [Freeman, Eq. 2-245]
    A[..., n : 2 * n, :n] = -inverse @ by_q  # [Freeman, Eq. 2-248]
    A[..., n : 2 * n, n : 2 * n] = -inverse @ (by_qd + braking)
    A[..., n : 2 * n, 2 * n :] = inverse @ C_M[..., slow]
    A[..., 2 * n :, n : 2 * n] = -(k_e[slow] / L[slow])[:, None] * T[slow]  # [Freeman, Eq. 2-251]
    A[..., 2 * n :, 2 * n :] = np.diag(-R[slow] / L[slow])
    B = np.zeros((*batch, 2 * n + k, len(L)))
    B[..., n : 2 * n, quick] = inverse @ (C_M[..., quick] / R[quick])
    B[..., 2 * n + np.arange(k), np.flatnonzero(slow)] = 1.0 / L[slow]  # [Freeman, Eq. 2-252]
    return A, B


__all__ = ["linearize_motors"]
