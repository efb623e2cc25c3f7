"""Kernels as NumPy functions: batches, strides, casting, `out`, threads, and the sentences for what does not fit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.codegen import Kernel, build, kernel, straight_ir
from dalembert.codegen.kernel import straight_lanes
from dalembert.dynamics import engine
from dalembert.errors import ShapeError
from dalembert.expr import Program, interpret, ops, trace
from tests.unit.codegen.programs import close, expected, mixed_program, vector_program


@pytest.fixture(scope="module")
def vector() -> tuple[Kernel, Program]:
    program = vector_program()
    return build(program), program


@pytest.fixture(scope="module")
def mixed() -> tuple[Kernel, Program]:
    program = mixed_program()
    return build(program), program


def inputs(rng: np.random.Generator, batch: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return rng.normal(size=(*batch, 3)), rng.normal(size=(*batch, 2, 3)), rng.normal(size=batch)


@pytest.mark.parametrize("length", range(10))
def test_every_remainder_of_the_vector_width_is_served(length: int, mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    arrays = inputs(rng, (length,))
    close(run(*arrays), expected(program, *arrays))


@pytest.mark.parametrize("batch", [(), (1,), (2, 3), (2, 1, 5), (0, 4), (3, 0)])
def test_batches_of_any_number_of_axes_keep_their_shape(batch: tuple[int, ...], mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    arrays = inputs(rng, batch)
    close(run(*arrays), expected(program, *arrays))


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-310, 1e4, 1e6, 1e12])
def test_kernels_equal_the_interpreter_at_any_size_of_angle(size: float, vector: Any, rng: np.random.Generator) -> None:
    run, program = vector
    x = rng.uniform(-1, 1, (23, 3)) * size
    close(run(x), expected(program, x))


def test_random_inputs_give_what_the_interpreter_gives(mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    arrays = inputs(rng, (1001,))
    close(run(*arrays), expected(program, *arrays))


def test_nan_and_infinite_rows_do_not_disturb_their_neighbours(mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    x, A, s = inputs(rng, (41,))
    spoilt = x.copy()
    spoilt[::5] = np.nan
    spoilt[3::7, 1] = np.inf
    with np.errstate(all="ignore"):
        close(run(spoilt, A, s), expected(program, spoilt, A, s), 1e-14)


VIEWS = {
    "every second row": lambda x: x[::2],
    "reversed": lambda x: x[::-1],
    "transposed": lambda x: np.asfortranarray(x),
    "reversed entries": lambda x: x[:, ::-1],
    "every second entry": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "a slice of wider rows": lambda x: np.hstack([x, x + 9])[:, 2:5],
    "the same row again and again": lambda x: np.broadcast_to(x[0], (7, 3)),
    "the same entry again and again": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "unaligned": lambda x: np.frombuffer(b"?" + x.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(x.shape),
    "big-endian": lambda x: x.astype(">f8"),
    "read only": lambda x: _read_only(x),
}


def _read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("view", VIEWS)
def test_arrays_of_any_layout_are_read(view: str, vector: Any, rng: np.random.Generator) -> None:
    run, program = vector
    x = VIEWS[view](rng.normal(size=(11, 3)))
    close(run(x), expected(program, np.ascontiguousarray(x, dtype=float)))


def test_matrices_of_any_layout_are_read(mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    x, A, s = inputs(rng, (2, 7))
    turned = np.ascontiguousarray(A.swapaxes(-1, -2)).swapaxes(-1, -2)
    spread = np.ascontiguousarray(np.moveaxis(A, -1, 0))
    for view in (turned, np.moveaxis(spread, 0, -1), A[:, ::-1], A[..., ::-1]):
        close(run(x, view, s), expected(program, x, np.ascontiguousarray(view), s))


@pytest.mark.parametrize("shapes", [((5, 1), (4,), ()), ((), (5, 4), (4,)), ((5, 4), (1, 1), (5, 1))])
def test_leading_axes_broadcast(shapes: Any, mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    x, A, s = rng.normal(size=(*shapes[0], 3)), rng.normal(size=(*shapes[1], 2, 3)), rng.normal(size=shapes[2])
    close(run(x, A, s), expected(program, x, A, s))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint8, np.bool_])
def test_other_real_numbers_are_cast(dtype: Any, vector: Any) -> None:
    run, program = vector
    x = (np.arange(15).reshape(5, 3) % 7).astype(dtype)
    close(run(x), expected(program, x.astype(float)))


def test_lists_and_tuples_will_do(vector: Any) -> None:
    run, program = vector
    close(run([1, 2.0, 3]), expected(program, np.array([1.0, 2.0, 3.0])))
    close(run(((1, 2, 3), (4, 5, 6))), expected(program, np.array([[1.0, 2, 3], [4, 5, 6]])))


@pytest.mark.parametrize("batch", [(), (9,), (3, 5), (4000,)])
def test_out_receives_the_result_and_is_returned(batch: tuple[int, ...], vector: Any, rng: np.random.Generator) -> None:
    run, program = vector
    x = rng.normal(size=(*batch, 3))
    out = np.empty_like(x)
    assert run(x, out=out) is out
    close(out, expected(program, x))


@pytest.mark.parametrize("place", [lambda y: y[::2], lambda y: y[::-1][:9], lambda y: y.T.copy().T[:9]])
def test_out_may_have_any_layout(place: Any, vector: Any, rng: np.random.Generator) -> None:
    run, program = vector
    x = rng.normal(size=(9, 3))
    out = place(np.full((17, 3), np.nan))
    run(x, out=out)
    close(out, expected(program, x))


OVERLAPS = {
    "the input itself": (lambda m: m[:-1], lambda m: m[:-1]),
    "one row further": (lambda m: m[:-1], lambda m: m[1:]),
    "one row back": (lambda m: m[1:], lambda m: m[:-1]),
    "in reverse": (lambda m: m[:-1], lambda m: m[-2::-1]),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rows", [1, 4, 9, 3000])
@pytest.mark.parametrize("overlap", OVERLAPS)
def test_out_may_overlap_the_input(
    overlap: str, rows: int, threads: int, vector: Any, rng: np.random.Generator, monkeypatch: Any
) -> None:
    """As with every ufunc, the answer is that for a copy of the input."""
    run, program = vector
    monkeypatch.setattr(run, "small", 0)
    memory = rng.normal(size=(rows + 1, 3))
    source, place = (view(memory) for view in OVERLAPS[overlap])
    wanted = expected(program, source.copy())
    run(source, out=place, threads=threads)
    close(place, wanted)


def test_several_outputs_go_to_several_arrays(mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    arrays = inputs(rng, (6,))
    out = (np.empty((6, 3)), np.empty((6, 2, 3)), np.empty(6))
    found = run(*arrays, out=out)
    assert all(a is b for a, b in zip(found, out, strict=True))
    close(out, expected(program, *arrays))


@pytest.mark.parametrize("rows", [10, 3001])
@pytest.mark.parametrize("threads", [1, 2, 4, 7])
def test_the_number_of_threads_changes_nothing(
    threads: int, rows: int, mixed: Any, rng: np.random.Generator, monkeypatch: Any
) -> None:
    run, _ = mixed
    monkeypatch.setattr(run, "small", 0)
    arrays = inputs(rng, (2, rows))
    single = run(*arrays, threads=1)
    for a, b in zip(single, run(*arrays, threads=threads), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("shapes", [((3000, 1), (5,), ()), ((3000,), (), (3000,)), ((2, 1), (1, 3000), (1,))])
def test_broadcast_axes_are_cut_among_threads(shapes: Any, mixed: Any, rng: np.random.Generator, monkeypatch: Any) -> None:
    run, program = mixed
    monkeypatch.setattr(run, "small", 0)
    x, A, s = rng.normal(size=(*shapes[0], 3)), rng.normal(size=(*shapes[1], 2, 3)), rng.normal(size=shapes[2])
    close(run(x, A, s, threads=3), expected(program, x, A, s))


def test_eight_threads_may_call_one_kernel_at_once(mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    cases = [inputs(rng, (97,)) for _ in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda case: run(*case), cases))
    for case, result in zip(cases, found, strict=True):
        close(result, expected(program, *case))


def test_eight_threads_may_compile_at_once() -> None:
    def compile_and_run(k: int) -> float:
        program = trace(lambda x: ops.sin(x) * float(k) + 1.0, {"x": ()}, ["y"], name=f"parallel{k}")
        return float(build(program)(0.5))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(compile_and_run, range(8)))
    assert found == pytest.approx([k * np.sin(0.5) + 1 for k in range(8)], rel=1e-15)


def test_the_number_of_threads_comes_from_the_argument_the_environment_or_the_machine(monkeypatch: Any) -> None:
    monkeypatch.setenv("DALEMBERT_NUM_THREADS", "3")
    assert kernel.thread_count(None) == 3
    assert kernel.thread_count(2) == 2
    monkeypatch.delenv("DALEMBERT_NUM_THREADS")
    assert kernel.thread_count(None) >= 1


@pytest.mark.parametrize("rows", [2, 4000])
@pytest.mark.parametrize(
    ("shape", "sentence"),
    [((4,), r"x: shape \(.*4,?\) found, \(\.\.\., 3\) expected"), ((3, 1), r"x: shape .* found, \(\.\.\., 3\) expected")],
)
def test_a_wrong_shape_is_named(rows: int, shape: tuple[int, ...], sentence: str, vector: Any) -> None:
    with pytest.raises(ShapeError, match=sentence):
        vector[0](np.zeros((rows, *shape)))


def test_too_few_axes_are_named(mixed: Any) -> None:
    with pytest.raises(ShapeError, match=r"A: shape \(3,\) found, \(\.\.\., 2, 3\) expected"):
        mixed[0](np.zeros(3), np.zeros(3), 0.0)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_a_wrong_number_of_arguments_is_named(count: int, mixed: Any) -> None:
    with pytest.raises(ShapeError, match=rf"arguments: {count} found, 3 expected: x, A, s\."):
        mixed[0](*[np.zeros(3)] * count)


@pytest.mark.parametrize("value", [np.zeros(3, complex), np.array(["a", "b", "c"]), np.array([None, 1, 2])])
def test_entries_that_are_not_real_numbers_are_named(value: Any, vector: Any) -> None:
    with pytest.raises(ShapeError, match=r"x: .* entries found, real numbers expected"):
        vector[0](value)


@pytest.mark.parametrize("rows", [2, 4000])
def test_batches_that_do_not_broadcast_are_listed(rows: int, mixed: Any) -> None:
    with pytest.raises(ShapeError, match=rf"batch: leading axes do not broadcast together: x \({rows},\), A \(3,\), s \(\)"):
        mixed[0](np.zeros((rows, 3)), np.zeros((3, 2, 3)), np.array(0.0))


@pytest.mark.parametrize("rows", [2, 4000])
@pytest.mark.parametrize("out", [np.zeros((3, 3)), np.zeros((1, 3)), np.zeros(3), np.zeros((2, 4))])
def test_an_out_that_does_not_fit_is_refused(rows: int, out: np.ndarray, vector: Any) -> None:
    with pytest.raises(ShapeError, match=rf"out: shape \(.*\) found, \({rows}, 3\) expected\."):
        vector[0](np.zeros((rows, 3)), out=out)


@pytest.mark.parametrize("rows", [2, 4000])
def test_an_out_of_whole_numbers_is_refused(rows: int, vector: Any) -> None:
    with pytest.raises(ShapeError, match=rf"out: int64 entries found, float64 expected, of shape \({rows}, 3\)"):
        vector[0](np.zeros((rows, 3)), out=np.zeros((rows, 3), np.int64))


@pytest.mark.parametrize("size", [1, 7, 50, 200])
def test_a_graph_cut_into_parts_gives_the_same(size: int, monkeypatch: Any, rng: np.random.Generator) -> None:
    program = mixed_program()
    monkeypatch.setattr(straight_ir, "PART_SIZE", size)
    monkeypatch.setattr(straight_ir, "WHOLE", 0)
    arrays = inputs(rng, (13,))
    close(build(program)(*arrays), expected(program, *arrays))


@pytest.mark.slow
def test_a_graph_cut_between_a_comparison_and_its_use_gives_the_same(monkeypatch: Any, rng: np.random.Generator) -> None:
    """Masks and shared sines cross the cuts as numbers."""

    def function(x: list[Any]) -> list[Any]:
        results = []
        for k in range(12):
            a = ops.sin(x[0] + k) * x[1]
            b = ops.cos(x[0] + k) + x[2]
            results.append(ops.where(ops.less(a, b), ops.maximum(a, b) * ops.sign(a), ops.minimum(a, b) + ops.less_equal(a, 0.1)))
        return results

    program = trace(function, {"x": (3,)}, ["y"])
    x = rng.normal(size=(50, 3))
    for size in (1, 3, 10):
        monkeypatch.setattr(straight_ir, "PART_SIZE", size)
        monkeypatch.setattr(straight_ir, "WHOLE", 0)
        close(build(program)(x), expected(program, x))


def test_a_program_without_entries_needs_no_compiler() -> None:
    run = build(trace(lambda x: [], {"x": (0,)}, ["y"]))
    assert run(np.zeros((4, 0))).shape == (4, 0)


@pytest.mark.parametrize("lanes", [1, 2, 8])
def test_the_emitter_serves_other_vector_widths(lanes: int, rng: np.random.Generator) -> None:
    program = mixed_program()
    arrays = inputs(rng, (11,))
    run = Kernel(kernel.compiled(straight_ir.emit(program, lanes), program), program.inputs, program.outputs, 1.0)
    close(run(*arrays), expected(program, *arrays))


def test_the_interpreted_kernel_has_the_same_face(rng: np.random.Generator, monkeypatch: Any) -> None:
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    program = vector_program()
    run = build(program)
    x = rng.normal(size=(5, 3))
    out = np.empty((5, 3))
    assert isinstance(run.ufunc, kernel.Interpreted)
    assert run(x, out=out) is out
    np.testing.assert_array_equal(out, interpret.run(program, x)[0])
    with pytest.raises(ShapeError, match=r"x: shape \(5, 4\) found, \(\.\.\., 3\) expected"):
        run(np.zeros((5, 4)))
    with pytest.raises(ShapeError, match=r"out: shape \(4, 3\) found, \(5, 3\) expected"):
        run(x, out=np.empty((4, 3)))


def test_arms_that_are_not_taken_do_not_warn() -> None:
    """The interpreter treats NaN and infinity as data; so does machine code, or a selected-away division would warn."""
    program = trace(lambda x: ops.where(ops.equal(x, 0.0), 0.0, 1.0 / x), {"x": ()}, ["y"])
    np.testing.assert_array_equal(build(program)(np.array([0.0, 2.0, np.nan])), [0.0, 0.5, np.nan])


def test_programs_that_write_much_use_half_of_the_widest_registers() -> None:
    """Off Zen only those with long rows."""
    robot = dal.robots.puma560()
    names = ("inverse_dynamics", "gravity_torque", "mass_matrix", "coriolis_matrix", "regressor")
    programs = {name: engine.program(robot, name) for name in names}
    for zen, short in ((True, 4), (False, 8)):
        lanes = [straight_lanes(programs[name], 8, zen=zen) for name in names]
        assert lanes == [8, 8, short, short, 4]
        assert {straight_lanes(program, 4, zen=zen) for program in programs.values()} == {4}
