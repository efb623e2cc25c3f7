"""A linear model and what it is for: a planar arm balanced upright by a linear-quadratic regulator.

    python examples/linear_model.py [figure.png]

The arm is linearised about its upright pose, where it would fall; the gains are designed on the linear model and work on the
nonlinear one, in a simulation whose closed loop is one kernel. The linear model of that closed loop is had by giving the
controller to `linearize` as a load.
"""

import sys

import numpy as np
from scipy.linalg import solve_continuous_are

import dalembert as dal

UPRIGHT = np.array([np.pi / 2, 0.0])  # rad
COSTS = 100.0 * np.eye(4), 1e-4 * np.eye(2)  # of states and of torques


def regulator(model: dal.LinearModel) -> np.ndarray:
    """The gains K of δτ = −K δx that make ∫ xᵀ Q x + uᵀ R u least."""
    Q, R = COSTS
    X = solve_continuous_are(model.A, model.B, Q, R)
    return np.linalg.solve(R, model.B.T @ X)


def main() -> None:
    arm = dal.robots.two_link_planar()
    rest = dal.equilibrium(arm, UPRIGHT)
    model = dal.linearize(arm, UPRIGHT, outputs="tool")
    print(f"{model!r}: {rest.stability}, held by {rest.tau.round(6) + 0.0} N m")
    print(model.modes())

    K = regulator(model)

    def law(t, q, qd):
        return rest.tau - K @ np.concatenate([q - UPRIGHT, qd])

    closed = dal.linearize(arm, UPRIGHT, tau=[0.0, 0.0], loads=lambda q, qd: law(0.0, q, qd))
    print(f"\nclosed loop, poles {np.round(closed.poles, 3)}")

    x0 = np.array([0.15, -0.1, 0.0, 0.0])
    t = np.linspace(0.0, 3.0, 301)
    motion = dal.simulate(arm, UPRIGHT + x0[:2], x0[2:], tau=law, t_end=3.0, t_eval=t)
    predicted = UPRIGHT + closed.response(t, x0)[:, :2]
    print(f"after 3 s the arm is {np.abs(motion.q[-1] - UPRIGHT).max():.1e} rad from upright")
    print(f"the linear model was wrong by at most {np.abs(motion.q - predicted).max():.4f} rad on the way")

    sampled = closed.discretised(0.01)
    print(f"in steps of {sampled.dt:g} s, the largest |pole| is {np.abs(sampled.poles).max():.4f}")
    if len(sys.argv) > 1:
        dal.plots.poles(closed)[0].figure.savefig(sys.argv[1], dpi=160)
        print(f"written: {sys.argv[1]}")


if __name__ == "__main__":
    main()
