"""The parallelogram arm: a closed chain with equations in closed form, and without Coriolis torques [Siciliano, §7.3.3].

    python examples/parallelogram.py [figure.png]

Links 1', 2', 3' hang on one branch and 1'' on the other. With θ2' = θ1'' − θ1' and θ3' = π − θ1'' + θ1' the loop is closed: the
closures are linear in the joints, so positions are found without iteration, and `dal.equations` writes the model down. If
m3' l̄3' / (m2' l2') = a1' / a1'', where l̄3' = l3' − a1', the arm's inertia is constant and decoupled: no Coriolis torques at all,
which no masses give the open two-link arm.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal

a1, a2 = 0.5, 0.4  # a1' and a1'' [m]; opposite sides are alike
g = 9.81


def model(arm: dal.Mechanism, th: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """B_a and g_a of the book, with its misprints corrected (docs/errata.md)."""
    links = arm.robot.parameters.links[1:]  # 1', 2', 3', 1''
    m, l, I = ([link.mass for link in links], [link.com[0] for link in links], [link.inertia[2, 2] for link in links])
    bar = l[2] - a1
    b11 = I[0] + m[0] * l[0] ** 2 + m[1] * a1**2 + I[2] + m[2] * bar**2
    b12 = (a1 * m[1] * l[1] - a2 * m[2] * bar) * np.cos(th[0] - th[1])
    b22 = I[3] + m[3] * l[3] ** 2 + I[1] + m[1] * l[1] ** 2 + m[2] * a2**2
    g1, g2 = m[0] * l[0] + m[1] * a1 - m[2] * bar, m[3] * l[3] + m[1] * l[1] + m[2] * a2
    return np.array([[b11, b12], [b12, b22]]), g * np.array([g1, g2]) * np.cos(th)


def main() -> None:
    th, thd = np.array([1.1, 0.3]), np.array([2.0, -3.0])
    coupled, decoupled = dal.mechanisms.parallelogram(), dal.mechanisms.parallelogram(decoupled=True)
    for title, arm in (("Parallelogram, §7.3.3", coupled), ("The same, decoupled by the mass of link 3'", decoupled)):
        B, gravity = model(arm, th)
        show(title, {"B_a": (B, dal.mass_matrix(arm, th)), "g_a": (gravity, dal.gravity_torque(arm, th))})
    bound = dal.mechanisms.parallelogram(pinned=True)
    rows = {"B_a": (dal.mass_matrix(coupled, th), dal.mass_matrix(bound, th))}
    show("Closed by a pin, whose positions are iterated", rows, source="by angles")
    show("Decoupled: no Coriolis torques", {"C": (np.zeros((2, 2)), dal.coriolis_matrix(decoupled, th, thd))})
    print(dal.equations(coupled, ["M", "g"]).text())
    if len(sys.argv) > 1:
        from dalembert import plots

        path = th + np.linspace(0, 1, 7)[:, None] * [0.6, -0.5]
        pinned = dal.mechanisms.parallelogram(pinned=True)  # to see the pin, which closures of angles do not show
        plots.skeleton(pinned, path, names=True).figure.savefig(sys.argv[1], dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
