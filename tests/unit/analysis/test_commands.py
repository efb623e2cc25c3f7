"""`dalembert compare` and `dalembert simplify`: tables, JSON, figures, and what is refused."""

from __future__ import annotations

import json
import sys

import pytest

from dalembert.formulations import FORMULATIONS

PNG = b"\x89PNG\r\n\x1a\n"


def test_compare_prints_differences_costs_and_properties(run):
    code, out, err = run("compare", "pendulum", "--samples", "5")
    assert (code, err) == (0, "")
    for title in ("Largest relative difference", "Inverse dynamics: operations", "Properties of 'pendulum'"):
        assert title in out
    assert all(out.count(f"{name} ") >= 2 for name in FORMULATIONS)


def test_compare_as_json_has_every_number(run):
    code, out, _ = run("compare", "pendulum", "--samples", "5", "--json")
    found = json.loads(out)
    assert code == 0
    assert list(found["formulations"]) == list(FORMULATIONS)
    row = found["formulations"]["newton_euler"]
    assert set(row["differences"]) == {"tau", "M", "C", "g"}
    assert row["operations"]["published"]["mul"] == 132
    assert row["ns_per_call"] > 0
    assert found["properties"]["hold"] is True
    assert len(found["properties"]["eigenvalues_of_M"]["smallest"]["q"]) == 1


def test_compare_draws(run, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "compare.png"
    code, _, _ = run("compare", "pendulum", "--samples", "5", "--figure", str(target))
    assert code == 0
    assert target.read_bytes().startswith(PNG)


def test_simplify_prints_causes_errors_and_what_is_left_out(run):
    code, out, err = run("simplify", "two_link_planar", "--tolerance", "2%", "--samples", "1000")
    assert (code, err) == (0, "")
    assert out.startswith("'two_link_planar' simplified over the workspace, ")
    for words in ("(tolerance 2.00%)", "Largest size of each cause", "largest error found", "rotor coupling"):
        assert words in out


def test_a_share_and_a_percentage_are_the_same(run):
    outputs = [run("simplify", "two_link_planar", "--tolerance", t, "--samples", "1000", "--json")[1] for t in ("2%", "0.02")]
    assert outputs[0] == outputs[1]
    found = json.loads(outputs[0])
    assert found["tolerance"] == 0.02
    assert found["operations"]["after"]["add"] < found["operations"]["before"]["add"]
    assert found["dropped"][0]["cause"] == "rotor coupling"


def test_simplify_draws(run, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "simplify.png"
    code, _, _ = run("simplify", "two_link_planar", "--samples", "1000", "--figure", str(target))
    assert code == 0
    assert target.read_bytes().startswith(PNG)


def test_a_tolerance_that_is_no_number_is_misuse(run):
    code, out, err = run("simplify", "pendulum", "--tolerance", "little")
    assert (code, out) == (2, "")
    assert "neither a percentage such as '1%' nor a number" in " ".join(err.replace("│", " ").split())


def test_a_tolerance_of_everything_is_refused_in_a_line(run):
    code, out, err = run("simplify", "pendulum", "--tolerance", "100%")
    assert (code, out) == (1, "")
    assert err.startswith("error: tolerance: 1.0 found; a share of the largest torque")


def test_a_missing_matplotlib_is_one_sentence_that_names_the_extra(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run("simplify", "pendulum", "--samples", "100", "--figure", str(tmp_path / "x.png"))
    assert code == 1
    assert "simplify: the figure needs matplotlib" in err
