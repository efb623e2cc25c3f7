"""Kernels of single precision: the same program, half the bytes, twice the lanes."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import dalembert as dal
from dalembert.codegen import Kernel, build, kernel, single_call, target
from dalembert.dynamics import engine
from dalembert.errors import ShapeError, UnknownNameError
from dalembert.expr import PRIMITIVES, Program, interpret, ops, trace
from tests.robots import fresh
from tests.unit.codegen.programs import mixed_program, vector_program
from tests.unit.codegen.test_kernel import VIEWS, inputs

EPS = float(np.finfo(np.float32).eps)


@pytest.fixture(scope="module")
def vector() -> tuple[Kernel, Program]:
    program = vector_program()
    return build(program, "float32"), program


@pytest.fixture(scope="module")
def mixed() -> tuple[Kernel, Program]:
    program = mixed_program()
    return build(program, "float32"), program


def close(found: Any, program: Program, *arrays: Any) -> None:
    """Equal to the interpreter's doubles, to a few roundings beside the largest entry."""
    wanted = interpret.run(program, *(np.asarray(a, np.float32).astype(float) for a in arrays))
    for a, b in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
        assert a.dtype == np.float32
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=20 * EPS, atol=20 * EPS * np.abs(b[np.isfinite(b)]).max(initial=1.0))


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 100])
def test_every_remainder_of_the_vector_width_is_served(length: int, mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    arrays = [a.astype(np.float32) for a in inputs(rng, (length,))]
    close(run(*arrays), program, *arrays)


@pytest.mark.parametrize("view", VIEWS)
def test_arrays_of_any_layout_are_read(view: str, vector: Any, rng: np.random.Generator) -> None:
    run, program = vector
    x = VIEWS[view](rng.normal(size=(11, 3)))
    close(run(x), program, x)
    if view not in ("unaligned", "big-endian"):  # which are views of doubles
        narrow = VIEWS[view](rng.normal(size=(11, 3)).astype(np.float32))
        close(run(narrow), program, narrow)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, np.bool_])
def test_other_real_numbers_are_rounded(dtype: Any, vector: Any) -> None:
    run, program = vector
    x = (np.arange(15).reshape(5, 3) % 7).astype(dtype)
    close(run(x), program, x)


def test_lists_and_numbers_will_do(vector: Any, mixed: Any, rng: np.random.Generator) -> None:
    close(vector[0]([1, 2.0, 3]), vector[1], np.array([1.0, 2.0, 3.0]))
    x, A, _ = inputs(rng, (4,))
    close(mixed[0](x, A, np.float64(0.3)), mixed[1], x, A, np.full(4, 0.3))
    close(mixed[0](x, A, 0.3), mixed[1], x, A, np.full(4, 0.3))


@pytest.mark.parametrize("value", [np.zeros(3, complex), np.array(["a", "b", "c"])])
def test_entries_that_are_not_real_numbers_are_named(value: Any, vector: Any) -> None:
    with pytest.raises(ShapeError, match=r"x: .* entries found, real numbers expected"):
        vector[0](value)


def test_an_out_that_does_not_fit_is_refused_in_its_own_words(vector: Any) -> None:
    with pytest.raises(ShapeError, match=r"out: shape \(3, 3\) found, \(2, 3\) expected\."):
        vector[0](np.zeros((2, 3)), out=np.zeros((3, 3), np.float32))


def test_out_receives_the_result(vector: Any, rng: np.random.Generator) -> None:
    run, _ = vector
    x = rng.normal(size=(9, 3))
    out = np.empty((9, 3), np.float32)
    assert run(x, out=out) is out
    np.testing.assert_array_equal(out, run(x))
    with pytest.raises(ShapeError, match=r"out: float64 entries found, float32 expected, of shape \(9, 3\)\."):
        run(x, out=np.empty((9, 3)))


@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_changes_nothing(threads: int, mixed: Any, rng: np.random.Generator, monkeypatch: Any) -> None:
    run, _ = mixed
    arrays = inputs(rng, (997,))
    whole = run.ufunc(*(a.astype(np.float32) for a in arrays))
    monkeypatch.setattr(run, "small", 0)
    for a, b in zip(run(*arrays, threads=threads), whole, strict=True):
        assert a.dtype == np.float32
        np.testing.assert_array_equal(a, b)


def test_nan_and_infinite_rows_do_not_disturb_their_neighbours(vector: Any, rng: np.random.Generator) -> None:
    run, _ = vector
    x = rng.normal(size=(41, 3)).astype(np.float32)
    spoilt = x.copy()
    spoilt[::5] = np.nan
    spoilt[3::7, 1] = np.inf
    good = np.isfinite(spoilt).all(axis=1)
    with np.errstate(all="raise"):
        found = run(spoilt)
    np.testing.assert_array_equal(found[good], run(x)[good])
    assert np.isnan(found[~good]).any(axis=1).all()


@pytest.mark.skipif(not single_call.supported(), reason="objects are laid out differently here")
def test_the_call_for_one_configuration_takes_single_precision_only(mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    arrays = [np.asarray(a, np.float32) for a in inputs(rng, ())]
    found = run.single(*arrays)
    close(found, program, *arrays)
    for a, b in zip(found, run.ufunc(*arrays), strict=True):
        np.testing.assert_array_equal(a, b)
    assert run.single(*(a.astype(float) for a in arrays)) is NotImplemented
    assert run.single(arrays[0][::-1], *arrays[1:]) is NotImplemented
    unaligned = np.frombuffer(b"?" + np.ones(3, np.float32).tobytes(), np.uint8)[1:].view(np.float32)
    assert run.single(unaligned, *arrays[1:]) is NotImplemented


SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 1e-45, -1e-45, 1e-40, 3e38, 9999.5, 1e6], np.float32
)


def as_meant(x: np.ndarray) -> np.ndarray:
    """In kernels for processors of the x86 family a number below the smallest normal one is zero."""
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x) if target.host().x86 else x


def test_every_primitive_means_what_numpy_says_in_single_precision() -> None:
    x = np.stack(np.meshgrid(SPECIAL, SPECIAL, [1.5, np.nan]), axis=-1).reshape(-1, 3).astype(np.float32)

    def function(arguments: list[Any]) -> list[Any]:
        return [arguments[0].graph.apply(name, *arguments[: p.arity]) for name, p in PRIMITIVES.items()]

    program = trace(function, {"x": (3,)}, ["y"])
    with np.errstate(all="ignore"):
        found = as_meant(build(program, "float32")(x))
        meant = as_meant(interpret.run(program, as_meant(x).astype(float))[0].astype(np.float32))
    for k, name in enumerate(PRIMITIVES):
        if name in ("sin", "cos"):
            np.testing.assert_allclose(found[:, k], meant[:, k], rtol=2 * EPS, atol=2e-45, err_msg=name)
        elif name == "atan2":
            np.testing.assert_allclose(found[:, k], meant[:, k], rtol=EPS, err_msg=name)
        else:
            np.testing.assert_array_equal(found[:, k], meant[:, k], err_msg=name)


def near_right_angles() -> np.ndarray:
    k = np.concatenate([np.arange(-64, 65), [101, 1000, 2049, 4097, 6366, -6366]])
    nearest = (k * (np.pi / 2)).astype(np.float32)
    up, down = np.nextafter(nearest, np.float32(np.inf)), np.nextafter(nearest, np.float32(-np.inf))
    return np.concatenate([nearest, up, down])


GRIDS = {
    "a few turns": np.linspace(-20, 20, 1501),
    "within reach": np.linspace(-1e4, 1e4, 1001),
    "tiny": np.array([0.0, 2e-38, 1e-30, 1e-10, 1e-4, -1e-4]),
    "near multiples of a right angle": near_right_angles(),
}


@pytest.mark.parametrize("grid", GRIDS)
def test_sine_and_cosine_are_right_to_two_units_in_the_last_place(grid: str) -> None:
    run = build(trace(lambda x: (ops.sin(x), ops.cos(x)), {"x": ()}, ["s", "c"]), "float32")
    x = GRIDS[grid].astype(np.float32)
    with mpmath.workdps(40):
        for found, function in zip(run(x), (mpmath.sin, mpmath.cos), strict=True):
            exact = np.array([float(function(mpmath.mpf(float(v)))) for v in x])
            spacing = np.spacing(np.abs(exact).astype(np.float32)).astype(float)
            assert np.max(np.abs(found - exact) / spacing) <= 2


def test_an_unknown_kind_of_number_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"dtype: .*'float16'.*float32"):
        build(vector_program(), "float16")


def test_the_interpreter_rounds_its_results(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    program = mixed_program()
    run = build(program, "float32")
    arrays = inputs(rng, (5,))
    assert isinstance(run.ufunc, kernel.Interpreted)
    close(run(*arrays), program, *arrays)


def test_loop_programs_are_computed_in_doubles_and_rounded(rng: np.random.Generator) -> None:
    robot = dal.robots.chain(4)
    program = engine.program(robot, "inverse_dynamics", "newton_euler", engine.Forces(), rolled=True)
    run = build(program, "float32")
    q, qd, qdd = rng.normal(size=(3, 7, 4)).astype(np.float32)
    tau = dal.inverse_dynamics(robot, q.astype(float), qd.astype(float), qdd.astype(float))
    found = run(q, qd, qdd)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, tau, rtol=EPS, atol=1e-6)
    out = np.empty((7, 4), np.float32)
    assert run(q, qd, qdd, out=out) is out
    np.testing.assert_array_equal(out, found)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "forward_kinematics"])
def test_the_dynamics_of_an_arm_agree_to_single_precision(quantity: str, rng: np.random.Generator) -> None:
    robot = fresh("panda")  # with no other kernels
    options = {"inverse_dynamics": ("newton_euler", engine.Forces())}.get(quantity, ())
    if quantity == "forward_kinematics":
        dal.forward_kinematics(robot, np.zeros(7))
        (options,) = (key[1:] for key in robot.kernels if isinstance(key, tuple) and key[0] == quantity)
    program = engine.program(robot, quantity, *options)
    arrays = [rng.uniform(-3, 3, (50, 7)).astype(np.float32) for _ in program.inputs]
    wanted = build(program)(*arrays)
    np.testing.assert_allclose(build(program, "float32")(*arrays), wanted, rtol=1e-5, atol=3e-6 * np.abs(wanted).max())


def test_kernels_of_both_precisions_live_side_by_side(vector: Any, rng: np.random.Generator) -> None:
    run, program = vector
    double = build(program)
    x = rng.normal(size=(6, 3))
    assert run(x).dtype == np.float32
    assert double(x).dtype == np.float64
    np.testing.assert_allclose(run(x), double(x), rtol=1e-5, atol=1e-5)
