"""The worked examples of the documents agree with them, to the values named here, and are listed in examples/README.md."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tests.project.source import ROOT, run_python

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))

# A line of each example that says what it is about: name and value, as the document's equations give it.
AGREED = {
    "absolute_angles": {"B[1,1]": 275.51, "C qd[1]": -5.797959, "g[2]": 111.2444, "qd N qd[1]": 0.0},
    "parallelogram": {"B_a[1,1]": 1.97, "B_a[1,2]": 0.1497919, "B_a[2,2]": 1.4, "g_a[2]": 31.63},
    "pelican_crucible": {"M_3[1,1]": 0.4689909, "C_3[2,2]": -0.02480199, "g_3[3]": 1.127724, "M_i[2,1,2]": 0.02024448},
    "pendulum": {"T": 0.4225, "U": 1.845519, "tau": 5.86082},
    "pr_arm": {"B[1,1]": 217.0, "B[1,2]": -26.54218, "tau newton_euler[2]": 495.3415},
    "puma_three_links": {"D_rot[2,2]": 0.63, "D_tran[1,2]": -0.4409706, "H_tran[3]": -0.2627609, "G[2]": -23.86504},
    "scara": {"B[1,3]": 0.06, "B[4,4]": 0.41, "C qd[2]": -0.8616596, "g[3]": 33.354},
    "tip_force": {"tau, free[1,1]": 3873.168, "tau, pushing[6,2]": -3121.378},
    "torque_contributions": {
        "own inertia[2]": 3078.761,
        "coupling inertia[1]": -9.203809,
        "Coriolis[1]": 376.1324,
        "largest": 3078.761,
    },
    "two_link_cartesian": {"B[1,1]": 205.0, "B[1,2]": 35.35534, "g[1]": 1030.05, "g[2]": 346.8359},
    "two_link_planar": {"tau[1]": 1382.662, "pi[3]": 22.51, "y2[8]": 15200.0, "gear and gravity": 5.0, "no gravity": 4.0},
    "wrist_partitioned": {"G[1,1]": -0.345385, "H[3,2,2]": 0.08244882, "H, joint 1[1,2]": -1.041051, "qdd[3]": -1.5},
}


def rows(text: str) -> list[tuple[str, float, float]]:
    """Name, document and here of each line of a comparison."""
    found = re.findall(r"^(\S.*?) {2,}(-?[\d.e+-]+) +(-?[\d.e+-]+)$", text, re.MULTILINE)
    return [(name, float(document), float(here)) for name, document, here in found]


def test_every_example_that_compares_has_agreed_values():
    comparing = {script.stem for script in SCRIPTS if "support.comparison" in script.read_text(encoding="utf-8")}
    assert comparing == set(AGREED)


@pytest.mark.parametrize("name", AGREED)
def test_a_worked_example_agrees_with_its_document(name, tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [f"{name}.py"])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    text = capsys.readouterr().out
    assert [(label, x) for label, x in AGREED[name].items() if (label, x, x) not in rows(text)] == []
    differences = [float(x) for x in re.findall(r"largest relative difference (\S+)", text)]
    # torques quoted to a thousandth of 4 kN m, else both sides are computed and differ by rounding
    assert max(differences) < (5e-7 if name == "tip_force" else 1e-12)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pendulum", "tip_force", "torque_contributions"])
def test_a_figure_is_drawn_where_a_path_is_given(name, tmp_path):
    done = run_python(str(EXAMPLES / f"{name}.py"), "figure.png", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


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
    allowed = {("dalembert", " as dal"), ("dalembert", " import plots")}
    assert imports
    assert set(imports) <= allowed
