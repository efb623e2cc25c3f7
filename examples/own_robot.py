"""Your own robot: from a Denavit-Hartenberg table, saved to a file and loaded again."""

import tempfile
from pathlib import Path

import numpy as np

import dalembert as dal

# A planar arm with a slider at its end (RRP), in the standard convention, which has to be named: the same numbers read in the
# modified convention are another arm. Inertia is about the centre of mass, either 3x3 or its diagonal.
rows = [
    {
        "name": "shoulder",
        "a": 0.40,
        "mass": 4.0,
        "com": (-0.20, 0, 0),
        "inertia": (0.005, 0.055, 0.055),
        "limits": dal.Limits(-2.5, 2.5, velocity=3.0, effort=60.0),
        "friction": dal.Friction(viscous=0.4, coulomb=1.2),
        "rotor": dal.Rotor(inertia=8e-5, ratio=100.0),
    },
    {"name": "elbow", "a": 0.30, "alpha": np.pi, "mass": 2.5, "com": (-0.15, 0, 0), "inertia": (0.002, 0.020, 0.020)},
    {"name": "quill", "type": "prismatic", "mass": 1.0, "com": (0, 0, -0.10), "inertia": (0.003, 0.003, 0.001)},
]
robot = dal.from_dh(rows, convention="standard", name="my_arm", payload=dal.Body("gripper", mass=0.5))
print(robot)

q, qd, qdd = [0.3, -0.8, 0.05], [1.0, 0.5, 0.0], [0.0, 2.0, 0.1]
tau = dal.inverse_dynamics(robot, q, qd, qdd)
for joint, value in zip(robot.structure.coordinates, tau, strict=True):
    print(f"  {joint.name:<10}{value:9.4f} {'N m' if joint.turns else 'N'}")

# A .toml file keeps everything, to the last bit.
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "my_arm.toml"
    dal.save(robot, file)
    again = dal.load(file)
print("reloaded equal:", again == robot)

# What has no meaning is refused with a sentence.
try:
    dal.from_dh([{"a": 0.4, "masss": 4.0}], convention="standard")
except dal.DalembertError as error:
    print("refused:", error)
