"""Stick and slip: a block drawn by a spring, and an arm that comes to rest by its own friction.

    python examples/stick_slip.py [figure.png]

The spring's far end moves with the speed u. The block sticks until the spring pulls with its breakaway level, slips, and sticks
again: the squeak of a door. Between two slips the spring grows by the same length, so one cycle takes that length over u.
"""

import sys

import numpy as np

import dalembert as dal

MASS, STIFFNESS, SPEED = 1.0, 100.0, 0.05  # kg, N/m, m/s
LAW = dal.Friction(viscous=0.2, coulomb=2.0, breakaway=3.0, stribeck_velocity=0.02)


def block() -> dal.Robot:
    """A mass on a rail."""
    links = [dal.Link("base"), dal.Link("block", MASS, inertia=np.eye(3))]
    rail = dal.Joint("rail", "prismatic", "base", "block", axis=(1, 0, 0))
    return dal.Robot.from_parts("block", links, [rail], friction={"rail": LAW})


def main() -> None:
    pulled = dal.simulate(
        block(), [0.0], [0.0], t_end=5.0, tau=lambda t, q, qd: [STIFFNESS * (SPEED * t - q[0])], rtol=1e-9, dense=True
    )
    slips = [event for event in pulled.events if event.kind == "slip"]
    print(f"first slip at {slips[0].t:.6f} s; breakaway / (k u) = {LAW.breakaway / (STIFFNESS * SPEED):.6f} s")
    onward = np.diff([event.q[0] for event in slips]).mean()
    print(f"{len(slips)} slips in 5 s, in {int(pulled.accepted)} steps; each takes the block {onward:.4f} m on")
    smooth = dal.simulate(
        block().smoothed(1e-4), [0.0], [0.0], t_end=5.0, tau=lambda t, q, qd: [STIFFNESS * (SPEED * t - q[0])], rtol=1e-9
    )
    off = abs(smooth.q[-1, 0] - pulled.q[-1, 0])
    print(f"with friction smoothed over 0.1 mm/s: {int(smooth.accepted)} steps, at the end {off:.1e} m off")

    puma = dal.robots.puma560()
    rest = dal.simulate(puma, np.zeros(6), [2.0, 0.0, 0.0, 1.0, 0.0, 0.0], t_end=10.0, dense=True)
    stuck = [event for event in rest.events if event.kind == "stick"]
    print(
        f"a PUMA 560 let go: {len(rest.events)} events, all joints at rest after {stuck[-1].t:.3f} s, {int(rest.accepted)} steps"
    )
    if len(sys.argv) > 1:
        draw(pulled, rest, sys.argv[1])


def draw(pulled: dal.Simulation, rest: dal.Simulation, path: str) -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    t = np.linspace(0.0, 5.0, 2001)
    left.plot(t, SPEED * t, color="0.6", label="end of the spring")
    left.plot(t, pulled.solution(t)[0][:, 0], label="block")
    left.set(xlabel="time [s]", ylabel="position [m]", title="A block drawn by a spring")
    left.legend()
    t = np.linspace(0.0, 2.0, 1001)
    right.plot(t, rest.solution(t)[1], label=[f"joint {k}" for k in range(1, 7)])
    for event in rest.events:
        right.axvline(event.t, color="0.85", zorder=0)
    right.set(xlabel="time [s]", ylabel="velocity [rad/s]", title="A PUMA 560 with its own friction, let go")
    right.legend(ncols=2, fontsize="small")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
