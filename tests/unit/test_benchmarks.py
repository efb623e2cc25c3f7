"""The benchmarks run; what they measure is for `make bench`."""

from __future__ import annotations

import json
import math
import platform
import shutil

import pytest

import dalembert as dal
from benchmarks import __main__ as command
from benchmarks import (
    agreement,
    batch,
    call,
    chain,
    descriptions,
    extremes,
    humanoid,
    jumps,
    loops,
    machine,
    peak,
    peers,
    second,
    simulation,
    start,
    subjects,
    timing,
)
from benchmarks.effort import TINY
from benchmarks.tables import Column, Table

needs_pinocchio = pytest.mark.skipif("pinocchio" in peers.missing(), reason="Pinocchio is not installed")
needs_mujoco = pytest.mark.skipif("mujoco" in peers.missing(), reason="MuJoCo is not installed")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")


SECTIONS = [batch, chain, extremes, humanoid, second, call, peak, simulation]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda module: module.__name__)
def test_a_section_measures_positive_times(section):
    table = section.measure(TINY)
    key = {call: "us", humanoid: "us", second: "us", simulation: "ms"}.get(section, "ns")
    assert table.records
    assert all(record[key] > 0 for record in table.records)
    assert table.markdown().count("\n") == len(table.records) + 1


@pytest.mark.slow
def test_jumps_are_measured_where_there_is_a_compiler_for_x86(monkeypatch):
    assert not jumps.measure(TINY).records
    monkeypatch.delenv("DALEMBERT_BACKEND")
    monkeypatch.setattr(jumps, "QUANTITIES", ("coriolis_matrix",))
    monkeypatch.setattr(jumps, "ROBOTS", ("panda",))
    if jumps.target.host().x86:
        (record,) = jumps.measure(TINY).records
        assert record["jumps"] > 1
        assert min(record["ns"], record["without_ns"], record["ratio"]) > 0


def test_a_fresh_process_imports_in_positive_time():
    assert 0 < start.run_fresh(start.IMPORT.format("dalembert")) < 60


@needs_pinocchio
@pytest.mark.parametrize("quantity", subjects.FUNCTIONS)
@pytest.mark.parametrize("name", batch.ROBOTS)
def test_pinocchio_holds_the_same_robot(name, quantity):
    robot = subjects.plain(dal.load(name))
    given = subjects.states(robot, 3)
    with peers.pinocchio(robot, given, compiled=False) as peer:
        agreement.check(robot, given, peer, quantity)
        entries = sum(math.prod(shape) for shape in subjects.result_shapes(quantity, robot.n))
        assert peer.answer(quantity).size == 3 * entries


@needs_mujoco
@pytest.mark.parametrize("quantity", chain.PEERS["mujoco"])
def test_mujoco_holds_the_same_chain(quantity):
    robot = subjects.plain(dal.robots.chain(5))
    given = subjects.states(robot, 3)
    with peers.mujoco(robot, given, compiled=False) as peer:
        agreement.check(robot, given, peer, quantity)
        assert peer.seconds(quantity) > 0


@needs_mujoco
@pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="there is no C++ compiler")
def test_a_compiled_loop_gives_the_same_answers_and_times_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "RESULTS", tmp_path)
    robot = subjects.plain(dal.robots.chain(3))
    given = subjects.states(robot, 5)
    with peers.mujoco(robot, given) as peer:
        assert peer.label == "MuJoCo C"
        agreement.check(robot, given, peer, "forward_dynamics")
        assert 0 < peer.seconds("forward_dynamics") < 1
        with pytest.raises(RuntimeError, match=r"MuJoCo C: the loop ended \(code .*\) when asked for nonsense"):
            peer.seconds("nonsense")


@needs_pinocchio
def test_without_a_compiler_the_binding_is_measured_and_labelled(monkeypatch, capsys):
    monkeypatch.setattr(loops.shutil, "which", lambda name: None)
    monkeypatch.setattr(peers, "_told", set())
    robot = subjects.plain(dal.robots.chain(2))
    with peers.pinocchio(robot, subjects.states(robot, 2)) as peer:
        assert peer.label == "Pinocchio from Python"
    assert capsys.readouterr().out.endswith("its Python binding is measured instead.\n")


@needs_pinocchio
def test_a_peer_with_another_robot_is_noticed():
    robot = subjects.plain(dal.robots.chain(3))
    given = subjects.states(robot, 3)
    other = robot.with_gravity([0.0, 0.0, -1.62])
    with (
        peers.pinocchio(other, given, compiled=False) as peer,
        pytest.raises(agreement.DisagreementError, match="inverse_dynamics of 'chain3': Pinocchio from Python differs by"),
    ):
        agreement.check(robot, given, peer, "inverse_dynamics")


def test_a_slider_is_described_as_such():
    lines = descriptions.as_text(subjects.plain(dal.robots.stanford())).splitlines()
    kinds = [line.split()[2] for line in lines if line.startswith("segment")]
    assert kinds == ["R", "R", "P", "R", "R", "R"]


def test_contestants_take_turns_and_ratios_are_theirs_over_ours():
    order = []
    timers = [lambda: order.append("a") or 2.0, lambda: order.append("b") or 6.0]
    timings = timing.side_by_side(timers, 0.0, least=3)
    assert "".join(order) == "ab" * 4
    assert (timings.best(), timings.best_ratio(), timings.median_ratio()) == (2.0, 3.0, 3.0)
    assert timings.seconds.shape == (3, 2)


def test_a_table_hides_empty_columns_and_dashes_missing_values():
    table = Table(
        "t", "T", "", [Column("a", "A"), Column("b", "B [s]", ".1f"), Column("c", "C")], [{"a": "x", "b": 0.25}, {"a": "y"}]
    )
    assert table.markdown() == "| A | B [s] |\n| --- | ---: |\n| x | 0.2 |\n| y | – |"


def test_what_is_measured_again_replaces_what_was_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results")
    for n in (1, 2):
        command._keep({"call": Table("call", "T", "", [], [{"n": n}])}, {"cores": "2"})
    command._keep({"start": Table("start", "S", "", [], [])}, {"cores": "2"})
    kept = json.loads((tmp_path / "results" / "benchmarks.json").read_text())
    assert list(kept) == ["call", "start"]
    assert kept["call"]["records"] == [{"n": 2}]


def test_documents_are_written_from_full_runs_only(capsys):
    assert command.main(["--quick", "--write-docs"]) == 2
    assert "a full run against all peers, compiled, is needed" in capsys.readouterr().out


def test_the_machine_is_described_without_its_name():
    described = machine.description()
    assert described["cores"].isdigit()
    assert all(described.values())
    assert platform.node() not in " ".join(described.values()).split()
