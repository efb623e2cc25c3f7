"""The command `dalembert linearize`."""

from __future__ import annotations

import json

import numpy as np

import dalembert as dal


def test_a_pose_is_shown_with_its_torques_matrices_and_modes(run):
    result = run("linearize", "two_link_planar", "--q", "-1.57", "0.2")
    assert result.code == 0
    assert result.out.startswith(
        "LinearModel of 'two_link_planar': 4 states, 2 inputs, 4 outputs, about an equilibrium, stable\n"
    )
    for head in ("Torques there", "A: rates of states by states", "B: rates of states by inputs", "Modes", "rad/s²"):
        assert head in result.out
    assert "C: outputs" not in result.out


def test_json_has_every_matrix_and_name(run):
    result = run("linearize", "two_link_planar", "--q", "10", "20", "--qd", "3", "-2", "--degrees", "--outputs", "tool", "--json")
    found = json.loads(result.out)
    q, qd = np.radians([10, 20]), np.radians([3, -2])
    model = dal.linearize(dal.robots.two_link_planar(), q, qd, outputs="tool")
    for name in "ABCD":
        assert np.array_equal(found[name], getattr(model, name))
    assert [s["name"] for s in found["outputs"]] == [s.name for s in model.outputs]
    assert found["point"]["tau"] == model.point.tau.tolist()
    assert found["controllable"] is True
    assert np.allclose(np.array(found["poles"])[:, 0], model.modes().poles.real)


def test_a_mechanism_is_linearised_where_it_is_assembled_and_friction_is_named(run):
    result = run("linearize", "four_bar")
    assert result.code == 0
    assert "unstable" in result.out.splitlines()[0]
    assert "joints joint1, joint2, joint3 stand still" in result.err


def test_a_figure_is_written(run, tmp_path):
    target = tmp_path / "poles.png"
    result = run("linearize", "pendulum", "--plot", str(target))
    assert result.code == 0
    assert target.read_bytes().startswith(b"\x89PNG")
    assert run("linearize", "pendulum", "--plot", "poles.xyz").err.startswith("error: --plot: 'poles.xyz' ends in '.xyz'")


def test_an_unknown_output_is_refused(run):
    result = run("linearize", "pendulum", "--outputs", "hand")
    assert result.code == 1
    assert result.err.startswith("error: outputs: 'hand' is not known")
