"""The judges of the fuzz suite see what is wrong: each is shown a library that misbehaves on purpose."""

from __future__ import annotations

import itertools
import os
import signal
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import dalembert as dal

from . import arrays, at_once, caches, copies, files, interrupts, kills, many_kernels, options, outs, processes
from .campaign import Fault
from .dresses import DRESSES
from .targets import targets
from .worker import fault_of

pytestmark = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux: forks, and memory maps to count")
RNG = np.random.default_rng(1)


class Endless(dal.DalembertError):
    """A message that is not shortened."""

    def __str__(self):
        return self.sentence + "x" * 3000


def case_of(dress):
    given = DRESSES[dress](RNG, RNG.uniform(-1.0, 1.0, 2))
    return arrays.Case("mass_matrix", "two_link_planar", {"q": dress}, {"q": given}, (), True)


def raising(error):
    def function(*args, **keywords):
        raise error

    return function


@pytest.mark.parametrize(
    "dress, function, kind",
    [
        ("plain", lambda *args, **keywords: np.eye(2), "wrong"),
        ("plain", lambda *args, **keywords: np.eye(3), "wrong"),
        ("plain", lambda *args, **keywords: np.full((2, 2), np.nan), "wrong"),
        ("plain", raising(dal.DalembertError("q: not today.")), "wrong"),
        ("complex", lambda *args, **keywords: np.eye(2), "silent"),
        ("complex", raising(TypeError("not mine")), "foreign"),
        ("complex", raising(dal.DalembertError("an argument is not right.")), "unclear"),
        ("complex", raising(Endless("q: ")), "unclear"),
        ("complex", raising(dal.DalembertError("q: complex numbers found.")), None),
    ],
)
def test_arrays_that_are_answered_wrongly_are_noticed(dress, function, kind, monkeypatch):
    right = dal.mass_matrix

    def mass_matrix(robot, q, **keywords):
        return right(robot, q, **keywords) if keywords.get("threads") == 1 else function()  # the oracle is left alone

    monkeypatch.setattr(dal, "mass_matrix", mass_matrix)
    fault = fault_of("arrays", case_of(dress))
    assert (fault.kind if fault else None) == kind


def writing(result, beside):
    """A function that writes its result, and so many entries after it."""

    def function(robot, q, out=None, threads=None):
        if out is None:
            return np.full(np.shape(q), 1.0)
        np.lib.stride_tricks.as_strided(out, (out.size + beside,), (8,))[:] = result
        return out

    return function


@pytest.mark.parametrize(
    "out, function, kind",
    [
        ("fitting", writing(1.0, 0), None),
        ("fitting", writing(1.0, 1), "wrong"),
        ("fitting", writing(2.0, 0), "wrong"),
        ("fitting", lambda robot, q, **keywords: np.full(np.shape(q), 1.0), "wrong"),
        (
            "fitting",
            lambda robot, q, out=None, threads=None: np.ones(q.shape) if out is None else raising(TypeError("no"))(),
            "foreign",
        ),
        ("a row more", writing(1.0, 0), "silent"),
    ],
)
def test_an_out_that_is_treated_wrongly_is_noticed(out, function, kind, monkeypatch):
    monkeypatch.setattr(dal, "gravity_torque", function)
    fault = fault_of("outs", outs.Case("gravity_torque", "two_link_planar", out, 2, (5,), 0))
    assert (fault.kind if fault else None) == kind


@pytest.mark.parametrize(
    "option, value, call, kind",
    [
        ("strict", "'a'", lambda **given: None, "silent"),
        ("strict", "True", raising(dal.DalembertError("strict: no.")), "wrong"),
        ("strict", "'a'", raising(AttributeError("not mine")), "foreign"),
        ("strict", "'a'", raising(dal.DalembertError("something: no.")), "unclear"),
        ("strict", "'a'", raising(dal.DalembertError("strict: 'a' found.")), None),
    ],
)
def test_options_that_are_taken_wrongly_are_noticed(option, value, call, kind):
    load = next(target for target in targets() if target.name == "load")
    fault = fault_of("options", options.Case(load._replace(call=call), option, value))
    assert (fault.kind if fault else None) == kind


def file_case(content=b"", never=False):
    return files.Case("a", ".toml", ("by hand",), content, never, 0)


def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def slow_load(path):
    burn(2.1)
    raise dal.DalembertError("at last.")


@pytest.mark.parametrize(
    "load, never, kind",
    [
        (lambda path: dal.robots.pendulum(), True, "silent"),
        (slow_load, False, "hang"),
        (raising(KeyError("links")), False, "foreign"),
        (raising(Endless("x")), False, "unclear"),
        (lambda path: dal.robots.pendulum() if "again" not in path.name else dal.robots.pr_arm(), False, "wrong"),
        (lambda path: dal.robots.pendulum(), False, None),
    ],
)
def test_files_that_are_read_wrongly_are_noticed(load, never, kind, monkeypatch):
    monkeypatch.setattr(dal, "load", load)
    fault = fault_of("files", file_case(never=never))
    assert (fault.kind if fault else None) == kind


def test_a_mass_matrix_that_is_not_finite_is_noticed(monkeypatch):
    monkeypatch.setattr(dal, "load", lambda path: dal.robots.pendulum())
    monkeypatch.setattr(dal, "mass_matrix", lambda robot, q: np.full((1, 1), np.nan))
    assert fault_of("files", file_case()).kind == "silent"


@pytest.mark.parametrize(
    "campaign, case",
    [
        ("caches", caches.Case("a bit flipped", 1.0, 0)),
        ("caches", caches.Case("no home", 1.0, 0)),
        ("many_kernels", many_kernels.Case(np.ones(1), np.ones(1), False)),
    ],
)
def test_a_kernel_that_is_wrong_is_noticed(campaign, case, monkeypatch):
    monkeypatch.setattr(dal, "gravity_torque", lambda robot, q: np.array([1.0]))
    assert fault_of(campaign, case).kind == "wrong"


def test_answers_of_another_thread_are_noticed(monkeypatch):
    count = itertools.count()
    monkeypatch.setattr(dal, "gravity_torque", lambda robot, q: np.array([float(next(count))]))
    assert fault_of("at_once", at_once.Case(3, ("gravity",), 1.0, shared=True, closed=False)).kind == "wrong"


def test_memory_that_is_not_given_back_is_noticed():
    before = many_kernels.Use(0, 100 * 2**20, 500)
    many_kernels.require_level(before, many_kernels.Use(2000, 120 * 2**20, 510))
    for grown in (many_kernels.Use(2000, 130 * 2**20, 510), many_kernels.Use(2000, 100 * 2**20, 600)):
        with pytest.raises(Fault, match="more after 2000 discarded robots"):
            many_kernels.require_level(before, grown)


def test_half_a_file_is_noticed(tmp_path):
    path = tmp_path / "robot.toml"
    dal.save(dal.robots.pendulum(), path)
    kills._judge_file(path, [dal.robots.pendulum()])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(Fault, match="cannot be loaded"):
        kills._judge_file(path, [dal.robots.pendulum()])
    dal.save(dal.mechanisms.four_bar(), path)
    with pytest.raises(Fault, match="neither of the two"):
        kills._judge_file(path, [dal.mechanisms.four_bar().robot])
    for k in range(3):
        (tmp_path / f".robot.toml.{k}").touch()
    with pytest.raises(Fault, match="3 left-over files"):
        kills._require_few_left(tmp_path, ".robot", 2)


def stubborn():
    """Work that ignores interrupts for a second."""

    def work(threads):
        if threads > 1:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            burn(1.0)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return np.ones(3)

    return work


def wrong():
    """Work that threads do wrongly."""
    return lambda threads: np.full(3, float(threads))


def killed():
    """Work that ends the process."""
    return lambda threads: os._exit(3) if threads > 1 else np.ones(3)


@pytest.mark.parametrize("work, kind", [(stubborn, "hang"), (wrong, "wrong"), (killed, "crash")])
def test_a_bad_end_of_an_interrupt_is_noticed(work, kind):
    with mock.patch.dict(interrupts.WORKS, {"bad": work}):
        assert fault_of("interrupts", interrupts.Case("bad", 0.05)).kind == kind


@pytest.mark.parametrize(
    "work, kind",
    [
        (lambda robot, threads: np.array([float(threads)]), "wrong"),
        (lambda robot, threads: np.ones(1) if threads == 1 else os._exit(3), "crash"),
    ],
)
def test_a_child_that_goes_wrong_is_noticed(work, kind):
    with mock.patch.dict(processes.WORKS, {"bad": work}):
        assert fault_of("processes", processes.Case("fork", "bad", False, False)).kind == kind


def test_copies_that_differ_or_thaw_are_noticed():
    arm = dal.robots.two_link_planar()
    with pytest.raises(Fault, match="not equal"):
        copies.require_same(arm, arm.with_payload(1.0))
    with pytest.raises(Fault, match="came back"):
        copies.require_same(arm, None)
    thawed = arm.replace()
    origin = np.array(thawed.structure.joints[0].origin)
    object.__setattr__(thawed.structure.joints[0], "origin", origin)
    with pytest.raises(Fault, match="origin can be written to"):
        copies.require_frozen(thawed)
    mechanism = dal.mechanisms.four_bar()
    with pytest.raises(Fault, match="not equal"):
        copies.require_same(mechanism, mechanism.replace(name="another"))
    with pytest.raises(Fault, match="off by"):
        copies.require_same(
            mechanism.at(near=mechanism.seed),
            mechanism.replace(robot=mechanism.robot.with_gravity((1, 0, 0))).at(near=mechanism.seed),
        )
    result = dal.energy(arm, [0.1, 0.2], [0.3, 0.4])
    with pytest.raises(Fault, match="off by"):
        copies.require_same(result, result._replace(kinetic=result.kinetic + 1e-12))
