"""What the motors of an arm have to give, proved: no torque in the whole workspace is larger.

    python examples/proven_torque.py

Samples find large torques and never know whether there is a larger one. `dal.bounds` gives both: a state where a torque is
attained, and a number that none exceeds, a few percent above.
"""

import numpy as np

import dalembert as dal

robot = dal.robots.puma560()
speed, acceleration = 1.0, 2.0  # rad/s, rad/s², of every joint

# Every state within the joint limits, with up to 2.5 kg at the tool.
found = dal.bounds(robot, qd=speed, qdd=acceleration, payload=(0.0, 2.5), rtol=0.05)
print(found)

# A hundred thousand states at random, with the arm empty and loaded: none is outside.
rng = np.random.default_rng(0)
q = rng.uniform(*found.box["q"], (100_000, robot.n))
qd, qdd = rng.uniform(-speed, speed, q.shape), rng.uniform(-acceleration, acceleration, q.shape)
sampled = np.maximum(*(np.abs(dal.inverse_dynamics(arm, q, qd, qdd)).max(axis=0) for arm in (robot, robot.with_payload(2.5))))
print()
for name, seen, attained, proved in zip(robot.joint_names, sampled, found.attained_size, found.size, strict=True):
    print(f"{name}: {seen:7.2f} N m on samples, {attained:7.2f} attained, none above {proved:7.2f}")

# Where the shoulder has to give most.
shoulder = found.maximum.at["q"][1] if found.upper[1] > -found.lower[1] else found.minimum.at["q"][1]
print(f"\nlargest torque of joint2 at q = {np.degrees(shoulder).round()} degrees")

# What robust controllers ask for [Siciliano, §7.2]: eigenvalues of M, and the norm of g.
for quantity in ("eigenvalues", "gravity_norm"):
    bound = dal.bounds(robot, quantity)
    print(f"{bound.names[0]}: between {bound.lower[0]:.4g} and {bound.upper[0]:.4g} over all positions")
