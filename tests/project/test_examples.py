"""The worked examples of the documents agree with them, to the values named here, and are listed in examples/README.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project.source import ROOT, run_python

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))

# A line of each example that says what it is about: name and value, as the document's equations give it.
AGREED = {
    "absolute_angles": {"B[1,1]": 275.51, "C qd[1]": -5.797959, "g[2]": 111.2444, "qd N qd[1]": 0.0},
    "bricard": {"G[2]": 0.3787376, "phi[1]": -2.057144, "qdd[1]": 2.0},
    "cooperating_arms": {"force[3]": 49.05},
    "delta": {"p[1]": -0.3127513, "p[3]": -1.074254, "power": 71.30474},
    "dynamic_manipulability": {"core[2,2]": 7.665633, "centre[2]": -8.843226, "w_d": 0.9391052, "core[1,1]": 0.989582},
    "five_bar": {"G[2,1]": 8.71, "I_ww[4,4]": 37.17, "T_w[1]": 50.77, "T_w[4]": -825.92, "F_H[2]": -0.15, "T_1, T_2[2]": -0.83},
    "four_bar": {"psi[3]": -0.403375, "slope[2]": 0.425113, "torque[5]": 1.749071, "work": 0.0},
    "hybrid": {"I[1,1]": 0.8918849, "I[1,6]": 0.0002313432, "gravity[4]": -8.417101},
    "motors": {"current[2]": 2.133806, "voltage[1]": 4.451187, "voltage[3]": 2.181436},
    "parallelogram": {"B_a[1,1]": 1.97, "B_a[1,2]": 0.1497919, "B_a[2,2]": 1.4, "g_a[2]": 31.63},
    "pelican_crucible": {"M_3[1,1]": 0.4689909, "C_3[2,2]": -0.02480199, "g_3[3]": 1.127724, "M_i[2,1,2]": 0.02024448},
    "pendulum": {"T": 0.4225, "U": 1.845519, "tau": 5.86082},
    "pr_arm": {"B[1,1]": 217.0, "B[1,2]": -26.54218, "tau newton_euler[2]": 495.3415},
    "planned_motions": {"tau[1]": 3841.173, "qd[2]": -3.390805, "tau[2]": -4211.047, "tau, pushing[1]": 5603.61},
    "planar_3rrr": {"G[2,2]": -0.665, "H_1[1,1]": 0.05, "I[3,3]": 1.582, "P_1[1,2]": 0.432, "I[2,2]": 2.0},
    "puma_three_links": {"D_rot[2,2]": 0.63, "D_tran[1,2]": -0.4409706, "H_tran[3]": -0.2627609, "G[2]": -23.86504},
    "redundant": {"qd[1]": 0.3030879, "qd[7]": 0.8143866, "qd[6]": 1.130845, "ud at rest[3]": 0.0},
    "scara": {"B[1,3]": 0.06, "B[4,4]": 0.41, "C qd[2]": -0.8616596, "g[3]": 33.354},
    "screw_press": {"positions[3]": -0.6666667, "inertia": 0.00609278, "torque to press": 50.92958},
    "six_joint_legs": {"I, first column[1]": 0.3318147, "gravity[2]": 4.877217, "torque[6]": 3.634681},
    "slider_crank": {"s": 0.1709936, "acceleration": -0.84098, "s, spin 0.9": 0.4509996, "M, spin": 0.0002133333},
    "stewart": {"length[1]": 1.389935, "length[5]": 1.1872, "force[3]": 17.2572},
    "tip_space": {"B_A[2,2]": 5.916382, "C_A[2,1]": 3.3939, "g_A[2]": 53.61596, "torque (7.141)[1]": -15.43347},
    "tip_force": {"tau, free[1,1]": 3873.168, "tau, pushing[6,2]": -3121.378},
    "tool_coordinates": {"a[4]": 3.0, "I, diagonal[2]": 66.89553, "kinetic energy": 5.425942, "torque[2]": 41.66687},
    "torque_contributions": {
        "own inertia[2]": 3078.761,
        "coupling inertia[1]": -9.203809,
        "Coriolis[1]": 376.1324,
        "largest": 3078.761,
    },
    "two_finger_hand": {"G[1,1]": -15.99321, "T_q[2]": 0.009607686, "T_u[2]": 227.7594},
    "two_link_cartesian": {"B[1,1]": 205.0, "B[1,2]": 35.35534, "g[1]": 1030.05, "g[2]": 346.8359},
    "two_link_planar": {"tau[1]": 1382.662, "pi[3]": 22.51, "y2[8]": 15200.0, "gear and gravity": 5.0, "no gravity": 4.0},
    "wrist_partitioned": {"G[1,1]": -0.345385, "H[3,2,2]": 0.08244882, "H, joint 1[1,2]": -1.041051, "qdd[3]": -1.5},
}

# How far printed numbers are from ours, relative to the largest entry of a table.
PRINTED = {
    "five_bar": 5e-3,  # torques and forces quoted to a hundredth
    "planar_3rrr": 6e-4,  # three decimals
    "tip_force": 5e-7,  # torques quoted to a thousandth of 4 kN m
}


def rows(text: str) -> list[tuple[str, float, float]]:
    """Name, document and here of each line of a comparison."""
    found = re.findall(r"^(\S.*?) {2,}(-?[\d.e+-]+) +(-?[\d.e+-]+)$", text, re.MULTILINE)
    return [(name, float(document), float(here)) for name, document, here in found]


def test_every_example_that_compares_has_agreed_values():
    comparing = {script.stem for script in SCRIPTS if "support.comparison" in script.read_text(encoding="utf-8")}
    assert comparing == set(AGREED)


def agrees_with_its_document(name: str, text: str) -> None:
    limit = PRINTED.get(name, 1e-12)  # else both sides are computed and differ by rounding
    for label, x in AGREED[name].items():
        pairs = [(document, here) for found, document, here in rows(text) if found == label]
        assert any(document == x and abs(here - x) <= limit * max(1.0, abs(x)) for document, here in pairs), label
    differences = [float(x) for x in re.findall(r"largest relative difference (\S+)", text)]
    assert differences
    assert all(difference < limit for difference in differences)  # NaN is not


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_runs_without_a_warning_agrees_with_its_document_and_draws(script: Path, tmp_path):
    """One run for all of it: examples compile their own kernels, and take a second or two each."""
    draws = "sys.argv" in script.read_text(encoding="utf-8")
    done = run_python(str(script), *(["figure.png"] if draws else []), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    if script.stem in AGREED:
        agrees_with_its_document(script.stem, done.stdout)
    assert [path.name for path in tmp_path.iterdir()] == (["figure.png"] if draws else [])
    assert not draws or (tmp_path / "figure.png").stat().st_size > 10_000


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_says_what_it_shows_and_is_listed(script: Path):
    assert script.read_text(encoding="utf-8").startswith('"""')
    assert f"[{script.name}]({script.name})" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def test_every_link_of_the_list_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", (EXAMPLES / "README.md").read_text(encoding="utf-8"))
    assert [link for link in links if not (EXAMPLES / link).exists()] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_uses_public_names_only(script: Path):
    imports = re.findall(r"^\s*(?:import|from) (dalembert\S*)(.*)$", script.read_text(encoding="utf-8"), re.MULTILINE)
    allowed = {("dalembert", " as dal"), ("dalembert", " import plots"), ("dalembert", " import transfer")}
    allowed.add(("dalembert.expr", " import ops"))  # with which functions of scalars are written
    assert imports
    assert set(imports) <= allowed
