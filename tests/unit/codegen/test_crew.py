"""Batches shared by threads: every row once, whatever the number of workers, the layout, and who else asks."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

import dalembert as dal
from dalembert.codegen import crew as crews
from dalembert.codegen import kernel as kernels
from dalembert.codegen import target
from dalembert.codegen.kernel import Kernel, build
from dalembert.expr import ops, trace

pytestmark = pytest.mark.skipif(not target.available(), reason="no compiler")


@pytest.fixture(scope="module")
def run() -> Kernel:
    """Two inputs, a vector and a matrix for results."""

    def function(a, b):
        return [x * y + ops.sin(x) for x, y in zip(a, b, strict=True)], [[x * y for y in b] for x in a]

    return build(trace(function, {"a": (3,), "b": (3,)}, ["sum", "outer"], name="shared"))


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch, run: Kernel) -> list[int]:
    """Threads for any batch; the list counts how many were shared by a crew."""
    shared: list[int] = []
    original = crews.Crew.run

    def counted(self: crews.Crew, batch: crews.Batch, piece: int) -> bool:
        done = original(self, batch, piece)
        shared.append(done)
        return done

    monkeypatch.setattr(crews.Crew, "run", counted)
    monkeypatch.setattr(run, "small", 0)
    return shared


def check(run: Kernel, a: np.ndarray, b: np.ndarray, threads: int) -> None:
    total, outer = run(a, b, threads=threads)
    np.testing.assert_allclose(total, a * b + np.sin(a), rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(outer, np.broadcast_arrays(a, b)[0][..., :, None] * b[..., None, :])


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 1000, 4097])
def test_every_row_is_computed_once(run: Kernel, eager: list[int], rows: int, threads: int) -> None:
    check(run, *np.random.default_rng(rows).normal(size=(2, rows, 3)), threads)
    assert eager == [True]


def test_batches_of_several_axes_and_a_single_row_for_all_are_shared(run: Kernel, eager: list[int]) -> None:
    rng = np.random.default_rng(0)
    check(run, rng.normal(size=(7, 11, 3)), rng.normal(size=(7, 11, 3)), 2)
    check(run, rng.normal(size=(50, 3)), rng.normal(size=3), 2)
    wide = rng.normal(size=(60, 9))
    check(run, wide[::2, ::3], wide[1::2, 1:4], 2)  # strides of its own, but one per row
    assert eager == [True] * 3


def test_what_no_single_loop_goes_through_is_left_to_numpy(run: Kernel, eager: list[int]) -> None:
    rng = np.random.default_rng(0)
    check(run, rng.normal(size=(9, 1, 3)), rng.normal(size=(5, 3)), 2)  # broadcasts against each other
    check(run, rng.normal(size=(8, 6, 3))[:, ::2], rng.normal(size=(8, 3, 3)), 2)
    check(run, rng.integers(-3, 3, size=(40, 3)), rng.normal(size=(40, 3)), 2)  # another kind of number
    assert eager == []


def test_results_that_may_not_be_written_are_refused(run: Kernel, eager: list[int]) -> None:
    out = np.zeros((40, 3)), np.zeros((40, 3, 3))
    out[0].flags.writeable = False
    with pytest.raises((ValueError, dal.DalembertError)):
        run(*np.ones((2, 40, 3)), out=out, threads=2)
    assert eager == []


def test_a_crew_that_fell_asleep_wakes_up_again(run: Kernel, eager: list[int]) -> None:
    for pause in (0.0, 0.02, 0.0, 0.05):
        time.sleep(pause)  # patience is a few milliseconds
        check(run, *np.random.default_rng(1).normal(size=(2, 5000, 3)), 2)
    assert eager == [True] * 4


def test_many_callers_at_once_get_their_own_results(run: Kernel, eager: list[int]) -> None:
    """One batch has the crew, the others go another way."""
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


def test_pieces_are_whole_blocks_and_cover_the_batch() -> None:
    for rows in (1, 100, 12345, 10**7):
        for count in (2, 8):
            piece = kernels._piece(rows, count)
            assert piece % 32 == 0
            assert piece * kernels._FINE_PIECES * count >= rows


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_process_has_a_crew_of_its_own(tmp_path) -> None:
    """Threads do not survive a fork; the child must not wait for its parent's."""
    from tests.project.source import run_python

    script = """
import os, numpy as np, dalembert as dal
robot, q = dal.robots.puma560(), np.ones((20000, 6))
wanted = dal.gravity_torque(robot, q, threads=2)
child = os.fork()
if not child:
    os._exit(0 if np.array_equal(dal.gravity_torque(robot, q, threads=2), wanted) else 1)
print(os.waitpid(child, 0)[1])
"""
    done = run_python("-W", "ignore::DeprecationWarning", "-c", script, folder=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("0", "")
