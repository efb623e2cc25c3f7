"""Tables of states in and out of `linearize`, `opspace`, `ellipsoid` and `bounds`: columns, units, screens, figures, refusals."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import dalembert as dal

ARM = "two_link_planar"
JOINTS = ("joint1", "joint2")


@pytest.fixture
def states(tmp_path, rng):
    """Five states of the arm in a file, angles in degrees; and what is in it."""
    q, qd = rng.uniform(0.2, 1.0, (5, 2)), rng.normal(size=(5, 2))
    t = np.linspace(0.0, 1.0, 5)
    heads = ["t [s]", *(f"q_{name} [deg]" for name in JOINTS), *(f"qd_{name} [rad/s]" for name in JOINTS)]
    path = tmp_path / "states.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *np.column_stack([t, np.degrees(q), qd]).tolist()])
    return str(path), q, qd


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        heads, *rows = csv.reader(file)
    return {head: np.array(column, dtype=float) for head, column in zip(heads, zip(*rows, strict=True), strict=True)}


def test_linear_models_of_many_states_are_a_table(run, states, tmp_path):
    path, q, qd = states
    code, out, err = run("linearize", ARM, "--states", path, "-o", str(tmp_path / "models.csv"))
    assert (code, "written:" in err) == (0, True)
    assert "about 5 states" in out
    assert "largest real part of a pole [1/s]" in out
    found, model = table(tmp_path / "models.csv"), dal.linearize(dal.load(ARM), q, qd)
    np.testing.assert_allclose(found["q_joint2 [rad]"], q[:, 1], rtol=1e-14)
    np.testing.assert_allclose(found["A qd_joint1 by q_joint2 [rad/s² per rad]"], model.A[:, 2, 1], rtol=1e-9)
    np.testing.assert_allclose(found["B qd_joint2 by tau_joint1 [rad/s² per N m]"], model.B[:, 3, 0], rtol=1e-9)
    np.testing.assert_allclose(found["tau_joint1 [N m]"], model.point.tau[:, 0], rtol=1e-9)
    np.testing.assert_allclose(found["pole1_re [1/s]"], model.poles[:, 0].real, rtol=1e-9)
    assert not any(name.startswith("C ") for name in found)


def test_as_json_they_are_arrays_with_their_times(run, states):
    path, q, qd = states
    result = run("linearize", ARM, "--states", path, "--outputs", "tool", "--json")
    found, model = json.loads(result.out), dal.linearize(dal.load(ARM), q, qd, outputs="tool")
    np.testing.assert_allclose(found["A"], model.A, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found["C"], model.C, rtol=1e-9, atol=1e-12)
    assert found["t"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert found["controllable"] == [True] * 5


def test_one_state_is_a_table_of_one_row(run, tmp_path):
    code, out, _ = run("linearize", ARM, "--q", "0.1", "0.2", "--outputs", "tool", "--output", str(tmp_path / "one.csv"))
    assert (code, "an equilibrium" in out) == (0, True)
    found = table(tmp_path / "one.csv")
    np.testing.assert_allclose(found["q_joint1 [rad]"], [0.1])
    np.testing.assert_allclose(found["C tool_rz by q_joint2 [rad per rad]"], [1.0])


def test_the_task_at_many_states_is_a_table(run, states, tmp_path):
    path, q, qd = states
    code, out, _ = run("opspace", ARM, "--states", path, "--directions", "x,y", "-o", str(tmp_path / "task.csv"))
    assert (code, "task x y of the tool, 5 states" in out, "Lambda x [kg]" in out) == (0, True, True)
    found, task = table(tmp_path / "task.csv"), dal.operational_space(dal.load(ARM), q, qd, directions=("x", "y"))
    for name, wanted in {
        "Lambda x by y [kg]": task.Lambda[:, 0, 1],
        "mu_y [N]": task.mu[:, 1],
        "p_x [N]": task.p[:, 0],
        "J x by joint2 [m per rad]": task.J[:, 0, 1],
        "J_bar joint2 by x [rad per m]": task.J_bar[:, 1, 0],
    }.items():
        np.testing.assert_allclose(found[name], wanted, rtol=1e-9, atol=1e-12)
    assert json.loads(run("opspace", ARM, "--states", path, "--directions", "x,y", "--json").out)["t"][-1] == 1.0


def test_ellipsoids_of_many_states_are_a_table_and_come_back_through_parquet(run, states, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path, q, qd = states
    code, out, _ = run("ellipsoid", ARM, "--states", path, "--directions", "x,y", "-o", str(tmp_path / "map.parquet"))
    assert (code, "half axis 2 [m/s²]" in out, "in row" in out) == (0, True, True)
    read, found = parquet.read_table(tmp_path / "map.parquet"), dal.manipulability(dal.load(ARM), q, qd, directions=("x", "y"))
    np.testing.assert_allclose(read["length1 [m/s²]"], found.lengths[:, 0], rtol=1e-9)
    np.testing.assert_allclose(read["axis2_x [1]"], found.axes[:, 0, 1], rtol=1e-9)
    np.testing.assert_allclose(read["measure [(m/s²)²]"], found.measure, rtol=1e-9)
    again = run("linearize", ARM, "--states", str(tmp_path / "map.parquet"), "--json")
    np.testing.assert_allclose(json.loads(again.out)["point"]["q"], q, rtol=1e-14)


def test_bounds_hold_over_the_ranges_of_states(run, states, tmp_path):
    path, q, qd = states
    code, _, _ = run("bounds", ARM, "--states", path, "-o", str(tmp_path / "bounds.csv"))
    with open(tmp_path / "bounds.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert (code, [row["entry"] for row in rows], rows[0]["unit"]) == (0, list(JOINTS), "N m")
    lower, upper = (np.array([float(row[name]) for row in rows]) for name in ("proved_from", "proved_to"))
    tau = dal.inverse_dynamics(dal.load(ARM), q, qd, np.zeros(2))
    assert (lower <= tau).all()
    assert (tau <= upper).all()
    wanted = dal.bounds(dal.load(ARM), q=(q.min(0), q.max(0)), qd=(qd.min(0), qd.max(0)), qdd=(np.zeros(2), np.zeros(2)))
    np.testing.assert_allclose(upper, wanted.upper, rtol=0.06)  # both are within 5 % of the maximum


@pytest.mark.slow
@pytest.mark.parametrize("command", ["linearize", "opspace", "ellipsoid", "bounds"])
@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_what_many_states_give_is_drawn(run, states, tmp_path, command, suffix):
    pytest.importorskip("matplotlib")
    more = [] if command in ("linearize", "bounds") else ["--directions", "x,y"]
    target = tmp_path / f"figure.{suffix}"
    code, _, err = run(command, ARM, "--states", states[0], *more, "--plot", str(target))
    assert (code, f"written: {target}" in err) == (0, True)
    assert target.stat().st_size > 3000


def test_bounds_without_states_are_drawn_with_the_limits_of_the_model(run, tmp_path):
    pytest.importorskip("matplotlib")
    box = ("--lower", *["-0.2"] * 6, "--upper", *["0.2"] * 6)
    code, out, _ = run("bounds", "ur5", "--quantity", "gravity_torque", *box, "--rtol", "20%", "--plot", str(tmp_path / "b.svg"))
    assert (code, "No value of gravity_torque of 'ur5'" in out) == (0, True)
    assert (tmp_path / "b.svg").stat().st_size > 3000


def test_what_makes_no_sense_is_refused_in_a_sentence(run, states, tmp_path):
    path = states[0]
    (tmp_path / "half.csv").write_text("q_joint1 [rad],q_joint2 [rad],qd_joint1\n0.1,0.2,0.3\n", encoding="utf-8")
    (tmp_path / "other.csv").write_text("q_joint1,q_elbow\n0.1,0.2\n", encoding="utf-8")
    for arguments, words in [
        (("linearize", ARM, "--states", path, "--q", "0", "0"), "--states: found together with --q"),
        (("bounds", ARM, "--states", path, "--qdd", "3"), "--states: found together with --qdd"),
        (("ellipsoid", ARM, "--states", path, "--polytope"), "--polytope: found together with --states"),
        (("opspace", ARM, "--states", str(tmp_path / "half.csv")), "no column 'qd_joint2' found beside others of its kind"),
        (("opspace", ARM, "--states", str(tmp_path / "other.csv")), "column 'q_elbow': coordinate"),
        (("linearize", ARM, "--states", str(tmp_path / "none.csv")), "no such file"),
        (("linearize", ARM, "--output", "tool"), "--output: 'tool' ends in '', not a format of tables. Known: .csv, .parquet."),
        (("bounds", ARM, "--plot", "bounds.bmp"), "not a format of figures"),
    ]:
        code, out, err = run(*arguments)
        assert (code, out, words in " ".join(err.split())) == (1, "", True), (arguments, err)
