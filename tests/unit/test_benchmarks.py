"""The benchmarks run; what they measure is for `make bench`."""

from __future__ import annotations

import json
import math
import platform
import shutil

import numpy as np
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
    inverse_kinematics,
    jumps,
    linear,
    loops,
    machine,
    manipulability,
    mechanism_descriptions,
    mechanism_motions,
    mechanism_peers,
    mechanism_start,
    mechanism_subjects,
    mechanisms,
    peak,
    peers,
    second,
    simulation,
    start,
    subjects,
    tasks,
    timing,
)
from benchmarks.effort import TINY
from benchmarks.tables import Column, Table

needs_pinocchio = pytest.mark.skipif("pinocchio" in peers.missing(), reason="Pinocchio is not installed")
needs_mujoco = pytest.mark.skipif("mujoco" in peers.missing(), reason="MuJoCo is not installed")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")


SECTIONS = [batch, chain, extremes, humanoid, linear, second, call, peak, simulation, manipulability, tasks, inverse_kinematics]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda module: module.__name__)
def test_a_section_measures_positive_times(section):
    table = section.measure(TINY)
    key = {call: "us", humanoid: "us", second: "us", simulation: "ms", inverse_kinematics: "us"}.get(section, "ns")
    assert table.records
    assert all(record[key] > 0 for record in table.records)
    assert table.markdown().count("\n") == len(table.records) + 1


@pytest.fixture(scope="module", params=mechanism_subjects.MECHANISMS)
def mechanism(request):
    return mechanism_subjects.MECHANISMS[request.param]()


def test_closed_loops_are_measured_against_all_that_is_installed(monkeypatch):
    some = ("four_bar", "delta")
    monkeypatch.setattr(mechanisms, "MECHANISMS", {name: mechanism_subjects.MECHANISMS[name] for name in some})
    table = mechanisms.measure(TINY)
    assert len(table.records) == 7 * len(some)
    for record in table.records:
        assert all(value > 0 for key, value in record.items() if not isinstance(value, str)), record
    asked = [record for record in table.records if record["quantity"] == "forward, positions given"]
    assert all(f"{name}_ratio" in record for record in asked for name in peers.LOOPS if name not in peers.missing())


def test_states_of_closed_loops_are_closed_and_move_as_the_loops_allow(mechanism):
    given = mechanism_subjects.loop_states(mechanism, 5)
    values = [row.value for row in mechanism.rows]
    F, J = mechanism.equations(given.x)
    closures = len(values)
    assert F[:, :closures] == pytest.approx(np.tile(values, (5, 1)), abs=1e-12)  # the last Newton step squares 1e-8
    assert np.abs(np.einsum("kij,kj->ki", J[:, :closures], given.xd)).max() < 1e-12  # rounding of rates of order one
    assert np.all((given.start != given.x).sum(axis=1) == mechanism.robot.n - mechanism.n)
    assert not given.tau[:, [k for k in range(mechanism.robot.n) if k not in given.driven]].any()


@needs_pinocchio
def test_pinocchio_holds_the_same_closed_loops(mechanism):
    given = mechanism_subjects.loop_states(mechanism, 3)
    with mechanism_peers.pinocchio(mechanism, given, compiled=False) as peer:
        mechanisms.check(mechanism, given, peer)


@needs_mujoco
def test_mujoco_holds_nearly_the_same_closed_loops(mechanism):
    given = mechanism_subjects.loop_states(mechanism, 3)
    with mechanism_peers.mujoco(mechanism, given, compiled=False) as peer:
        mechanisms.check(mechanism, given, peer)


@needs_pinocchio
def test_a_peer_with_other_closed_loops_is_noticed():
    mechanism = mechanism_subjects.five_bar()
    given = mechanism_subjects.loop_states(mechanism, 3)
    other = mechanism.replace(robot=mechanism.robot.with_gravity([0.0, -1.62, 0.0]))
    with (
        mechanism_peers.pinocchio(other, given, compiled=False) as peer,
        pytest.raises(agreement.DisagreementError, match="forward_dynamics of 'five_bar': Pinocchio from Python differs by"),
    ):
        mechanisms.check(mechanism, given, peer)


@needs_mujoco
@pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="there is no C++ compiler")
def test_a_compiled_loop_takes_mechanisms(tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "RESULTS", tmp_path)
    mechanism = mechanism_subjects.four_bar()
    given = mechanism_subjects.loop_states(mechanism, 5)
    with mechanism_peers.mujoco(mechanism, given) as peer:
        assert peer.label == "MuJoCo C"
        mechanisms.check(mechanism, given, peer)
        assert 0 < peer.seconds("forward_dynamics") < 1


def test_a_mechanism_is_described_with_closures_and_drives():
    mechanism = mechanism_subjects.five_bar()
    lines = mechanism_descriptions.mechanism_text(mechanism).splitlines()
    assert [line.split()[0] for line in lines] == ["gravity", *["segment"] * 4, "closure", "driven", "proximal"]
    assert lines[-2] == "driven 2 0 2"


def test_motions_of_closed_loops_are_measured(monkeypatch):
    monkeypatch.setattr(mechanism_motions, "MECHANISMS", {"four_bar": mechanism_subjects.four_bar})
    records = mechanism_motions.measure(TINY).records
    assert [record["stiffness"] for record in records] == list(mechanism_motions.STIFFNESS["four_bar"])
    for record in records:
        assert min(record["ms"], record["batch_ms"]) > 0
        assert record["settings"].startswith("ours ")


def test_the_first_result_of_a_closed_loop_is_measured(monkeypatch):
    monkeypatch.setattr(mechanism_start, "MEASURED", ("four_bar",))
    monkeypatch.setattr(mechanism_start, "CALLS", {"mass matrix": "dal.mass_matrix(mechanism, state[0])"})
    (record,) = mechanism_start.measure(TINY).records
    assert 0 < record["best"] < 60


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
