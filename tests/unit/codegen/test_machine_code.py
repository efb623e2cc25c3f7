"""Machine code: given back when nothing refers to it, shared by equal kernels, and never more than there is room for."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.codegen import gufunc, machine_code, straight_ir, target, workers
from dalembert.codegen.kernel import Kernel, build, compiled
from dalembert.errors import CompileError, OutOfMemoryError
from dalembert.expr import Program, ops, trace
from tests.project.source import run_python

pytestmark = pytest.mark.skipif(not target.available(), reason="no compiler")


def kernel_of(number: float) -> Kernel:
    return build(trace(lambda x: ops.sin(x) * number, {"x": ()}, ["y"], name="number"))


def loaded() -> int:
    gc.collect()
    return len(machine_code._loaded)


def all_closed() -> bool:
    """Whether discarded code is given back, in time: a thread of its own does it."""
    end = time.monotonic() + 20.0
    while (machine_code._discarded or machine_code._closing) and time.monotonic() < end:
        time.sleep(1e-3)
    return not machine_code._discarded


def test_code_goes_with_the_last_kernel_that_has_it() -> None:
    before = loaded()
    first, second = kernel_of(1.25), kernel_of(1.25)
    assert loaded() == before + 1  # equal text is loaded once
    del first
    assert loaded() == before + 1
    assert float(second(0.5)) == pytest.approx(1.25 * np.sin(0.5), rel=1e-15)
    del second
    assert loaded() == before
    assert all_closed()


class Engine:
    """Closes itself when it goes, as LLVM's do."""

    def __init__(self) -> None:
        self.closed_by: list[str] = []

    def close(self) -> None:
        self.closed_by.append(threading.current_thread().name)

    def __del__(self) -> None:
        self.close()


def test_code_in_a_cycle_is_closed_by_the_holder_of_the_lock_alone() -> None:
    engine = Engine()
    closed_by = engine.closed_by
    cycle: list[Any] = [machine_code.MachineCode(engine, {})]
    cycle.append(cycle)
    del cycle, engine
    with machine_code._lock:
        other = threading.Thread(target=gc.collect)
        other.start()
        other.join()
        assert closed_by == []  # a collection on another thread found the cycle, and left the engine alone
        machine_code._close_discarded()
        assert closed_by[0] == threading.current_thread().name
    assert not machine_code._discarded


def test_nothing_is_closed_where_a_ctrl_c_could_strike() -> None:
    engine = Engine()
    closed_by = engine.closed_by
    code = machine_code.MachineCode(engine, {})
    del code, engine
    assert all_closed()
    assert closed_by
    assert threading.main_thread().name not in closed_by[0]


@pytest.mark.parametrize("entry", ["ufunc", "single"])
def test_an_entry_point_of_a_kernel_keeps_its_code(entry: str) -> None:
    before = loaded()
    function = getattr(kernel_of(2.5), entry)
    assert loaded() == before + 1
    assert float(function(np.array(0.5))) == pytest.approx(2.5 * np.sin(0.5), rel=1e-15)
    del function
    assert loaded() == before


def test_ufuncs_keep_what_they_need() -> None:
    assert gufunc.keeps_objects()


def test_robots_that_are_gone_take_their_kernels_along() -> None:
    workers._code()  # stays
    before = loaded()
    robot = dal.robots.two_link_planar().replace(name="passing")
    dal.inverse_dynamics(robot, np.ones(2), np.ones(2), np.ones(2))
    dal.derivatives(robot, np.ones(2), np.ones(2), qdd=np.ones(2))
    dal.rollout(robot, np.ones(2), np.ones(2), None, dt=1e-3, steps=3)
    assert loaded() > before
    del robot
    assert loaded() == before


MANY = """
import sys, numpy as np, dalembert as dal
def used():
    with open("/proc/self/statm") as file, open("/proc/self/maps") as maps:
        return int(file.read().split()[1]) * 4096 / 1e6, len(maps.readlines())
def visit(k):
    link = dal.Link("a", 1.0 + 1e-3 * k, (0.1, 0, 0), 0.1 * np.eye(3))
    robot = dal.Robot.from_parts("r", [dal.Link("base"), link], [dal.Joint("j", "revolute", "base", "a")])
    dal.inverse_dynamics(robot, [0.1], [0.2], [0.3])
for k in range(30):
    visit(k)
before = used()
for k in range(30, 230):
    visit(k)
print(*np.subtract(used(), before))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_and_maps_stay_flat_over_discarded_robots(tmp_path: Path) -> None:
    done = run_python("-c", MANY, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    megabytes, maps = map(float, done.stdout.split())
    assert megabytes < 5.0  # of 200 robots, 88 before; what is left are pages of the allocator, 0.4 to 2.2 by the machine
    assert maps < 10  # 2900 before


def test_no_room_for_code_is_an_error_and_not_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "_has_room", lambda size: False)
    with pytest.raises(CompileError, match=r"^kernel: this process has no memory, or no memory maps, left .*Let go of robots"):
        kernel_of(3.75)


LIMITED = """
import resource, sys, numpy as np, dalembert as dal
robots, most = [], resource.RLIMIT_AS
def visit(k):
    link = dal.Link("a", 2.0 + 1e-3 * k, (0.1, 0, 0), 0.1 * np.eye(3))
    robots.append(dal.Robot.from_parts("r", [dal.Link("base"), link], [dal.Joint("j", "revolute", "base", "a")]))
    dal.inverse_dynamics(robots[-1], [0.1], [0.2], [0.3])
for k in range(60 if sys.argv[2] == "read" else 4):
    visit(k)
if sys.argv[2] == "read":
    robots = robots[:4]
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * 4096
resource.setrlimit(most, (size + (int(sys.argv[1]) << 20), resource.RLIM_INFINITY))
try:
    for k in range(4, 2000):
        visit(k)
except (dal.DalembertError, MemoryError) as error:
    resource.setrlimit(most, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(type(error).__name__, len(robots) > 4)
    del robots
    print(float(dal.gravity_torque(dal.robots.pendulum(), [0.0])[0]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("megabytes", ["8", "14"])
@pytest.mark.parametrize("kernels", ["compiled", "read"])  # by LLVM, or from the disk: a process that only reads needs less
def test_a_process_that_runs_out_of_memory_for_kernels_lives_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, megabytes: str, kernels: str
) -> None:
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    done = run_python("-c", LIMITED, megabytes, kernels, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    kind, number = done.stdout.splitlines()
    assert kind in ("CompileError True", "OutOfMemoryError True", "MemoryError True")
    assert np.isfinite(float(number))


FAR = """
import ctypes, sys, numpy as np, dalembert as dal
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
RESERVED, FIXED, SIZE, PAGE = 0x4022, 0x10, 6 << 30, 4096
robot = dal.robots.two_link_planar()
dal.gravity_torque(robot, [0.0, 0.0])
wall = libc.mmap(None, SIZE, 0, RESERVED, -1, 0)
with open("/proc/self/maps") as file:
    ends = [[int(x, 16) for x in line.split()[0].split("-")] for line in file]
for (_, low), (high, _) in zip(ends, ends[1:]):  # nothing is left above the wall
    if wall < low < high < 1 << 47:
        libc.mmap(low, high - low, 0, RESERVED | FIXED, -1, 0)
for k in range(200):  # and only pages by themselves in it: what does not fit there lies 6 GB below
    libc.munmap(wall + SIZE - (64 * k + 40) * PAGE, int(sys.argv[1]) * PAGE)
print(*dal.inverse_dynamics(robot, [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("pages", ["1", "2", "3"])
def test_an_address_space_in_pieces_does_not_take_the_sections_of_a_kernel_apart(tmp_path: Path, pages: str) -> None:
    done = run_python("-c", FAR, pages, folder=tmp_path)  # LLVM ended the process before
    assert done.returncode == 0, done.stderr
    wanted = dal.inverse_dynamics(dal.robots.two_link_planar(), [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    np.testing.assert_allclose([float(x) for x in done.stdout.split()], wanted, rtol=1e-12)


def test_a_kernel_without_variables_that_calls_a_library_is_loaded() -> None:
    text = "declare double @sinh(double)\ndefine double @f(double %x) {\n%y = call double @sinh(double %x)\nret double %y\n}\n"
    code = machine_code.code_of(text, "f", anew=True)
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(code["f"])(0.5) == pytest.approx(np.sinh(0.5))


def test_a_kernel_of_one_s_own_travels_as_its_program(tmp_path: Path, rng: np.random.Generator) -> None:
    run = dal.kernel(lambda v: [ops.sqrt(v[0] * v[0] + v[1]), 3.0], {"v": (2,)}, outputs=["norm"])
    x = rng.uniform(size=(5, 2))
    file = tmp_path / "kernel"
    file.write_bytes(pickle.dumps(run))
    script = "import pickle, sys, numpy as np; run = pickle.loads(open('kernel', 'rb').read()); print(run([1.0, 3.0]).tolist())"
    assert run_python("-c", script, folder=tmp_path).stdout.strip() == "[2.0, 3.0]"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(run))(x), run(x))
    assert copy.deepcopy(run) is run


def test_a_kernel_of_a_robot_travels_too_and_its_graph_may_be_deep() -> None:
    robot = dal.robots.panda()
    run = dal.kernel(robot, ["M", "h"], dtype="float32")
    again = pickle.loads(pickle.dumps(run))
    q, qd = np.random.default_rng(0).normal(size=(2, 9, 7))
    for found, wanted in zip(again(q, qd), run(q, qd), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert again.program is not None
    assert [node.op for node in again.program.nodes] == [node.op for node in run.program.nodes]  # type: ignore[union-attr]


def test_kernels_inside_a_robot_are_not_pickled_by_themselves() -> None:
    with pytest.raises(TypeError, match=r"^kernel: this one belongs to a robot, .* Pickle the robot, or use dal\.kernel\."):
        pickle.dumps(kernel_of(1.0))


def without_memory(program: Program) -> Kernel:
    """A kernel for which every request for memory fails."""
    ir = straight_ir.emit(program, target.host().lanes, x86=target.host().x86)
    none = "define internal ptr @nothing(i64 %size) {\n  ret ptr null\n}\n"
    entry_points = compiled(ir.replace("call ptr @malloc(", "call ptr @nothing(") + none, program)
    return Kernel(entry_points, program.inputs, program.outputs, 1000.0)


@pytest.fixture(scope="module")
def starved() -> Kernel:
    """A program in parts, which need memory between them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(straight_ir, "WHOLE", 40)
        patch.setattr(straight_ir, "PART_SIZE", 20)
        return without_memory(trace(lambda x: [ops.sin(k * x[k % 9]) * ops.sin(x[0]) for k in range(60)], {"x": (9,)}, ["y"]))


def test_a_kernel_without_memory_says_so(starved: Kernel) -> None:
    x = np.ones((1000, 9))
    with pytest.raises(MemoryError):
        starved.single(x[0])
    for rows in (x[0], x[:3], x, x.T.copy().T):
        with pytest.raises(OutOfMemoryError, match=r"^kernel: no memory is left for its results"):
            starved(rows, threads=2)


def test_results_larger_than_the_machine_are_refused_with_their_size() -> None:
    run = kernel_of(1.5)
    with pytest.raises(OutOfMemoryError, match=r"^kernel: no memory is left for its results \(Unable to allocate 8.00 PiB"):
        run(np.broadcast_to(0.0, (1 << 25, 1 << 25)))


@pytest.mark.slow
def test_arrays_made_before_one_fails_go_again() -> None:
    program = trace(lambda x: ([x] * 1000, [x] * 1000), {"x": ()}, ["a", "b"])
    ir = straight_ir.emit(program, target.host().lanes, x86=target.host().x86)
    first, *rest = ir.split("call ptr %new_array(")
    assert len(rest) == 2
    second = rest[1].split("\n", 1)[1]
    broken = f"{first}call ptr %new_array({rest[0]}call ptr %no_memory()\n{second}"
    single = compiled(broken, program)[1]
    tracemalloc.start()
    try:
        for _ in range(100):
            with pytest.raises(MemoryError):
                single(np.array(1.0))
        assert tracemalloc.get_traced_memory()[0] < 200_000  # 800 000 bytes if each first array stayed
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_threads_that_build_and_drop_equal_kernels_never_meet_code_on_its_way_out() -> None:
    def visit(k: int) -> float:
        return float(kernel_of(7.25)(np.array(0.5)))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(visit, range(400))) == {float(kernel_of(7.25)(np.array(0.5)))}


INTERRUPTED = """
import gc, signal, numpy as np
from dalembert.codegen import machine_code
signal.signal(signal.SIGALRM, signal.default_int_handler)
text = "define double @f{k}(double %x) {{ %y = fmul double %x, {k}.0 ret double %y }}"
struck = 0
for k, wait in enumerate(np.random.default_rng(1).uniform(1e-6, 0.005, size=600)):
    try:
        signal.setitimer(signal.ITIMER_REAL, wait, 0.05)  # again, should the first have come in a __del__
        while True:
            machine_code.code_of(text.format(k=k), f"f{k}", anew=True)
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
        struck += 1
gc.collect()
print(struck)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_at_any_moment_leaves_no_object_of_llvm_with_two_owners(tmp_path: Path) -> None:
    done = run_python("-c", INTERRUPTED, folder=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "600"), done.stderr


LEFT_EARLY = """
import os, signal, threading, time, dalembert as dal
from dalembert.codegen import machine_code
signal.signal(signal.SIGINT, signal.default_int_handler)
began = threading.Event()
def work():
    with machine_code._lock:
        began.set()
        time.sleep(0.5)
        print("compiled", flush=True)
threading.Thread(target=work, daemon=True).start()  # as one that the interpreter does not wait for any more
began.wait()
"""


def test_a_process_does_not_end_while_llvm_is_at_work(tmp_path: Path) -> None:
    done = run_python("-c", LEFT_EARLY, folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "compiled\n")


def test_the_thread_that_loaded_code_does_not_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine that thread ends long after its work is done."""

    class Late:
        """A lock whose holder lingers after it gave it back."""

        def __init__(self) -> None:
            self.lock, self.acquire = (lock := threading.Lock()), lock.acquire

        def release(self) -> None:
            self.lock.release()
            time.sleep(0.3)

    monkeypatch.setattr(machine_code._thread, "allocate_lock", Late)
    before = loaded()
    kernel_of(1.375)
    assert len(machine_code._loaded) == before
