"""Batches shared by threads: every row once, whatever the number of workers, the layout, who else asks, and who interrupts."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from dalembert.codegen import batches, target, workers
from dalembert.codegen import kernel as kernels
from dalembert.codegen.kernel import Kernel, build
from dalembert.errors import DalembertWarning, ShapeError
from dalembert.expr import ops, trace
from tests.project.source import run_python

pytestmark = pytest.mark.skipif(not target.available(), reason="no compiler")


@pytest.fixture(scope="module")
def run() -> Kernel:
    """Two inputs, a vector and a matrix for results."""

    def function(a, b):
        return [x * y + ops.sin(x) for x, y in zip(a, b, strict=True)], [[x * y for y in b] for x in a]

    return build(trace(function, {"a": (3,), "b": (3,)}, ["sum", "outer"], name="shared"))


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch, run: Kernel) -> list[workers.Batch]:
    """Threads for any batch; the list has those that were shared."""
    shared: list[workers.Batch] = []

    def counted(batch: workers.Batch, piece: int, every: int, threads: int) -> None:
        shared.append(batch)
        workers.run(batch, piece, every, threads)

    monkeypatch.setattr(batches, "run", counted)
    monkeypatch.setattr(run, "small", 0)
    monkeypatch.setattr(run, "soon", 0)
    monkeypatch.setattr(kernels, "_SOON", 0)
    return shared


def check(run: Kernel, a: np.ndarray, b: np.ndarray, threads: int) -> None:
    total, outer = run(a, b, threads=threads)
    np.testing.assert_allclose(total, a * b + np.sin(a), rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(outer, np.broadcast_arrays(a, b)[0][..., :, None] * b[..., None, :])


@pytest.mark.parametrize("threads", [1, 2, 3, 8, 100])
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 1000, 4097])
def test_every_row_is_computed_once(run: Kernel, eager: list[workers.Batch], rows: int, threads: int) -> None:
    check(run, *np.random.default_rng(rows).normal(size=(2, rows, 3)), threads)
    assert len(eager) == 1


def test_axes_that_go_in_even_steps_are_one(run: Kernel, eager: list[workers.Batch]) -> None:
    rng = np.random.default_rng(0)
    check(run, rng.normal(size=(7, 11, 3)), rng.normal(size=(7, 11, 3)), 2)
    check(run, rng.normal(size=(50, 3)), rng.normal(size=3), 2)
    wide = rng.normal(size=(60, 9))
    check(run, wide[::2, ::3], wide[1::2, 1:4], 2)  # strides of its own, but one per row
    assert [(batch.rows, batch.extents) for batch in eager] == [(77, ()), (50, ()), (30, ())]


def test_batches_that_broadcast_against_each_other_are_shared(run: Kernel, eager: list[workers.Batch]) -> None:
    rng = np.random.default_rng(0)
    check(run, rng.normal(size=(9, 1, 3)), rng.normal(size=(5, 3)), 2)
    check(run, rng.normal(size=(8, 6, 3))[:, :3], rng.normal(size=(8, 3, 3)), 2)
    check(run, rng.normal(size=(4, 1, 1, 3)), rng.normal(size=(5, 40, 3)).swapaxes(0, 1)[::-1], 3)
    check(run, rng.normal(size=(2, 1, 6, 1, 3)), rng.normal(size=(3, 1, 70, 3)), 3)
    assert [(batch.rows, batch.extents) for batch in eager] == [(9, (5,)), (8, (3,)), (40, (4, 5)), (70, (2, 3, 6))]


def test_other_kinds_of_numbers_and_odd_places_are_read_as_copies(run: Kernel, eager: list[workers.Batch]) -> None:
    rng = np.random.default_rng(0)
    check(run, rng.integers(-3, 3, size=(40, 3)), rng.normal(size=(40, 3)), 2)
    unaligned = np.frombuffer(b"x" + rng.normal(size=(40, 3)).tobytes(), np.uint8)[1:].view(float).reshape(40, 3)
    assert not unaligned.flags.aligned
    check(run, unaligned, rng.normal(size=(40, 3)).astype(">f8"), 2)
    assert len(eager) == 2


def test_results_go_to_odd_places_too(run: Kernel, eager: list[workers.Batch]) -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 40, 3))
    total = np.zeros(8 * 120 + 1, np.uint8)[1:].view(float).reshape(40, 3)
    outer = np.zeros((3, 3, 40)).transpose(2, 1, 0)
    run(a, b, out=(total, outer), threads=2)
    for found, wanted in zip((total, outer), run(a, b, threads=1), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_an_empty_batch_has_an_empty_result(run: Kernel, eager: list[workers.Batch]) -> None:
    assert [r.shape for r in run(np.ones((0, 3)), np.ones((5, 1, 3)), threads=2)] == [(5, 0, 3), (5, 0, 3, 3)]


def test_workers_that_fell_asleep_wake_up_again(run: Kernel, eager: list[workers.Batch]) -> None:
    for pause in (0.0, 0.02, 0.0, 0.05):
        time.sleep(pause)  # patience is a few milliseconds
        check(run, *np.random.default_rng(1).normal(size=(2, 5000, 3)), 2)


def test_many_callers_at_once_get_their_own_results(run: Kernel, eager: list[workers.Batch]) -> None:
    """One batch has the workers, the others do without."""
    failures: list[BaseException] = []

    def caller(seed: int) -> None:
        try:
            for k in range(20):
                check(run, *np.random.default_rng(100 * seed + k).normal(size=(2, 3000, 3)), 2)
        except BaseException as error:
            failures.append(error)

    callers = [threading.Thread(target=caller, args=(k,)) for k in range(8)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert not failures
    assert len(eager) == 160


@pytest.mark.parametrize("threads", [0, -1, 2.5, "a", "2", True, float("nan"), [2], object()])
def test_a_number_of_threads_that_is_none_is_refused(run: Kernel, threads: object) -> None:
    with pytest.raises(
        ShapeError, match=r"^threads: .* found, a whole number of 1 or more is expected\. Leave it out for all cores"
    ):
        run([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], threads=threads)


def test_more_threads_than_there_can_be_are_as_many_as_there_can_be() -> None:
    assert workers.thread_count(20_000) == workers.thread_count(np.int64(10**12)) == workers.MOST_WORKERS + 1


def test_a_setting_that_is_no_number_is_told_and_all_cores_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALEMBERT_NUM_THREADS", "3")
    assert workers.thread_count(None) == 3
    workers._usual.cache_clear()
    monkeypatch.setenv("DALEMBERT_NUM_THREADS", "many")
    with pytest.warns(DalembertWarning, match=r"^DALEMBERT_NUM_THREADS: 'many' found, a whole number of 1 or more is expected"):
        assert workers.thread_count(None) >= 1


FORKED = """
import os, sys, threading, numpy as np, dalembert as dal
robot = dal.robots.puma560()
q, grid, few = np.ones((20000, 6)), np.ones((300, 1, 6)), np.ones((40, 6))
def all_of_it():
    return [
        dal.gravity_torque(robot, q, threads=2),
        dal.bias(robot, grid, np.ones((300, 6)), threads=2),
        dal.rollout(robot, few, 0 * few, None, dt=1e-3, steps=50, threads=2).q,
        dal.simulate(dal.robots.panda(), np.ones((40, 7)), np.zeros((40, 7)), t_end=0.1, threads=2).q,
    ]
wanted = all_of_it()
if sys.argv[1:] == ["compiling"]:
    threading.Thread(target=lambda: dal.christoffel(dal.robots.chain(8), np.ones(8)), daemon=True).start()
child = os.fork()
if not child:
    try:
        same = [np.array_equal(a, b) for a, b in zip(all_of_it(), wanted)]
        dal.mass_matrix(dal.robots.chain(3), np.ones(3))  # compiles
        os._exit(0 if all(same) else 1)
    except BaseException as error:
        print(error, flush=True)
        os._exit(2)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("meanwhile", [(), ("compiling",)], ids=["quiet", "compiling"])
def test_a_child_process_has_workers_of_its_own(tmp_path: Path, meanwhile: tuple[str, ...]) -> None:
    """Threads do not survive a fork; the child must not wait for its parent's, nor for a compiler in the middle of something."""
    done = run_python("-W", "ignore::DeprecationWarning", "-c", FORKED, *meanwhile, folder=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("0", "")


INTERRUPTED = """
import _thread, os, signal, sys, threading, time, numpy as np, dalembert as dal
signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background begin with SIGINT ignored
robot = dal.robots.panda()
rng = np.random.default_rng(0)
q = rng.normal(size=(2000, 7))
states = np.tile(q, (200, 1))
tasks = {
    "batch": lambda: dal.forward_dynamics(robot, states, states, states, threads=2),
    "grid": lambda: dal.inverse_dynamics(robot, q[:1000, None], q[None], q[0], threads=2),
    "rollout": lambda: dal.rollout(robot, q, 0 * q, None, dt=1e-4, steps=3000, every=3000, threads=2),
    "long rollout": lambda: dal.rollout(robot, q[0], 0 * q[0], None, dt=1e-6, steps=20_000_000, every=20_000_000, threads=2),
    "simulate": lambda: dal.simulate(robot, q, 0 * q, t_end=20.0, threads=2),
    "compile": lambda: dal.christoffel(dal.robots.chain(9).replace(name="other"), q[0, :1].repeat(9)),
}
task = tasks[sys.argv[1]]
dal.rollout(robot, q[:2], 0 * q[:2], None, dt=1e-3, steps=1), dal.simulate(robot, q[:2], 0 * q[:2], t_end=1e-3)
wanted = dal.inverse_dynamics(robot, q, q, q, threads=1)
times = []
for wait in rng.uniform(0.0, 0.08, size=int(sys.argv[2])):
    due = [0.0]
    def ring():
        due[0] = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)
    bell = threading.Timer(wait, ring)
    try:
        bell.start()
        while True:
            task()
    except KeyboardInterrupt:
        times.append(time.perf_counter() - due[0])
    guard = [np.full(50_000, 7.0) for _ in range(20)]  # takes the memory that results had
    assert np.array_equal(dal.inverse_dynamics(robot, q, q, q, threads=2), wanted)
    assert all((x == 7.0).all() for x in guard)
print(max(times))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("task", ["batch", "grid", "rollout", "long rollout", "simulate", "compile"])
def test_an_interrupt_is_answered_soon_and_leaves_nothing_running(tmp_path: Path, task: str) -> None:
    done = run_python("-c", INTERRUPTED, task, "6", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.5


def test_pieces_are_whole_blocks_and_cover_the_batch(monkeypatch: pytest.MonkeyPatch, run: Kernel) -> None:
    seen = []
    monkeypatch.setattr(batches, "run", lambda batch, piece, every, threads: seen.append((piece, every)))
    x = np.ones((1, 3))
    for rows in (1, 100, 12345, 10**7):
        for threads in (1, 2, 8):
            batches.share(run.loop, [np.broadcast_to(x, (rows, 3))] * 2, [1, 1], (rows,), 30.0, threads)
            piece, every = seen.pop()
            assert piece % 32 == 0
            assert piece * 30.0 <= 5.1e6  # ns that nobody can interrupt
            assert piece * every * 30.0 <= 3e7
