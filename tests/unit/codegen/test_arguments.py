"""The boundary of a kernel: what is let in, where results go, arguments by name; the same whatever computes behind it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse

from dalembert.codegen import Kernel, build, refuse
from dalembert.errors import ShapeError, UnknownNameError
from dalembert.expr import trace
from tests.unit.codegen.programs import close, expected, mixed_program, vector_program
from tests.unit.codegen.test_kernel import inputs

MANY = 4000  # rows, more than one thread takes


def _interpreted(program: Any, monkeypatch: pytest.MonkeyPatch, dtype: str = "float64") -> Kernel:
    with monkeypatch.context() as patch:
        patch.setenv("DALEMBERT_BACKEND", "numpy")
        return build(program, dtype)


def _several_kernels(program: Any) -> Kernel:
    """As those of large systems are: a function that is no ufunc."""

    def run(*arrays: Any, out: Any = None) -> Any:
        inner = build(program).ufunc
        return inner(*arrays) if out is None else inner(*arrays, out=out)

    return Kernel((run, refuse), program.inputs, program.outputs, 1.0)


@pytest.fixture(params=["compiled", "single precision", "interpreted", "several kernels"])
def vector(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    program = vector_program()
    if request.param == "interpreted":
        return _interpreted(program, monkeypatch)
    if request.param == "several kernels":
        return _several_kernels(program)
    return build(program, "float32" if request.param == "single precision" else "float64")


@pytest.fixture(params=["compiled", "interpreted"])
def mixed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    program = mixed_program()
    return _interpreted(program, monkeypatch) if request.param == "interpreted" else build(program)


def _read_only(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


WRONG_OUTS = {
    r"out: shape \(ROWS, 2\) found, \(ROWS, 3\) expected\.": lambda rows, dtype: np.empty((rows, 2), dtype),
    r"out: shape \(ROWS1, 3\) found, \(ROWS, 3\) expected\.": lambda rows, dtype: np.empty((rows + 1, 3), dtype),
    r"out: shape \(3,\) found, \(ROWS, 3\) expected\.": lambda rows, dtype: np.empty(3, dtype),
    r"out: shape \(1, 3\) found, \(ROWS, 3\) expected\.": lambda rows, dtype: np.empty((1, 3), dtype),
    r"out: shape \(\d+,\) found, \(ROWS, 3\) expected\.": lambda rows, dtype: np.empty(rows * 3, dtype),
    r"out: shape \(2, ROWS, 3\) found, \(ROWS, 3\) expected\.": lambda rows, dtype: np.empty((2, rows, 3), dtype),
    r"out: shape \(\) found, \(ROWS, 3\) expected\.": lambda rows, dtype: np.empty((), dtype),
    r"out: int64 entries found, DTYPE expected, of shape \(ROWS, 3\)\.": lambda rows, dtype: np.empty((rows, 3), int),
    r"out: complex128 entries found, DTYPE expected": lambda rows, dtype: np.empty((rows, 3), complex),
    r"out: float16 entries found, DTYPE expected": lambda rows, dtype: np.empty((rows, 3), np.float16),
    r"out: object entries found, DTYPE expected": lambda rows, dtype: np.empty((rows, 3), object),
    r"out: >f\d entries found, DTYPE expected": lambda rows, dtype: np.empty((rows, 3), np.dtype(dtype).newbyteorder(">")),
    r"out: a read-only array found, one to write into expected, of DTYPE and of shape \(ROWS, 3\)\.": lambda rows, dtype: (
        _read_only(np.empty((rows, 3), dtype))
    ),
    r"out: an array whose entries share memory found, a NumPy array of DTYPE and of shape \(ROWS, 3\) expected\. Try np": (
        lambda rows, dtype: np.lib.stride_tricks.as_strided(np.empty(3, dtype), (rows, 3), (0, np.dtype(dtype).itemsize))
    ),
    r"out: list found, a NumPy array of DTYPE and of shape \(ROWS, 3\) expected\.": lambda rows, dtype: [[0.0] * 3] * rows,
    r"out: str found, a NumPy array of DTYPE and of shape": lambda rows, dtype: "here",
    r"out: int found, a NumPy array": lambda rows, dtype: 3,
    r"out: MaskedArray found, a NumPy array": lambda rows, dtype: np.ma.zeros((rows, 3), dtype),
    r"out: a tuple of 0 found, a NumPy array of DTYPE and of shape \(ROWS, 3\) expected\.": lambda rows, dtype: (),
    r"out: a tuple of 2 found, a NumPy array of DTYPE": lambda rows, dtype: (np.empty((rows, 3), dtype),) * 2,
    r"out: nothing found, a NumPy array of DTYPE": lambda rows, dtype: (None,),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rows", [2, MANY])
@pytest.mark.parametrize("sentence", WRONG_OUTS)
def test_an_out_that_does_not_fit_is_refused_before_anything_is_written(
    sentence: str, rows: int, threads: int, vector: Kernel
) -> None:
    words = sentence.replace("ROWS1", str(rows + 1)).replace("ROWS", str(rows)).replace("DTYPE", vector.dtype)
    out = WRONG_OUTS[sentence](rows, vector.dtype)
    before = out.tobytes() if isinstance(out, np.ndarray) else None
    with pytest.raises(ShapeError, match=words):
        vector(np.ones((rows, 3)), out=out, threads=threads)
    assert before is None or out.tobytes() == before


PLACES = {
    "as it is": lambda shape, dtype, path: np.empty(shape, dtype),
    "every second row": lambda shape, dtype, path: np.empty((2 * shape[0], 3), dtype)[::2],
    "in reverse": lambda shape, dtype, path: np.empty(shape, dtype)[::-1, ::-1],
    "by columns": lambda shape, dtype, path: np.empty(shape, dtype, order="F"),
    "part of wider rows": lambda shape, dtype, path: np.empty((shape[0], 5), dtype)[:, 1:4],
    "unaligned": lambda shape, dtype, path: (
        np.empty(shape[0] * 3 * np.dtype(dtype).itemsize + 1, np.uint8)[1:].view(dtype).reshape(shape)
    ),
    "in a file": lambda shape, dtype, path: np.memmap(path / "out", dtype, "w+", shape=shape),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rows", [1, MANY])
@pytest.mark.parametrize("place", PLACES)
def test_an_out_of_any_layout_is_filled_and_returned(
    place: str, rows: int, threads: int, vector: Kernel, tmp_path: Any, rng: np.random.Generator
) -> None:
    x = rng.normal(size=(rows, 3))
    out = PLACES[place]((rows, 3), vector.dtype, tmp_path)
    assert vector(x, out=out, threads=threads) is out
    np.testing.assert_array_equal(out, vector(x, threads=threads))
    assert vector(x, out=(out,), threads=threads) is out


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rows", [1, 7, MANY])
def test_an_out_that_overlaps_an_input_receives_what_a_copy_of_it_gives(
    rows: int, threads: int, vector: Kernel, rng: np.random.Generator
) -> None:
    memory = rng.normal(size=(rows + 1, 3)).astype(vector.dtype)
    for source, place in ((memory[:-1], memory[1:]), (memory[1:], memory[:-1]), (memory, memory), (memory, memory[::-1])):
        wanted = vector(source.copy(), threads=1)
        vector(source, out=place, threads=threads)
        np.testing.assert_array_equal(place, wanted)
        memory[...] = rng.normal(size=memory.shape)


class Found(NamedTuple):
    y: Any
    B: Any
    z: Any


@pytest.mark.parametrize("batch", [(), (5,), (MANY,)])
def test_a_tuple_with_names_is_a_tuple_of_arrays(batch: tuple[int, ...], mixed: Kernel, rng: np.random.Generator) -> None:
    earlier = Found(*mixed(*inputs(rng, batch)))
    arrays = inputs(rng, batch)
    found = mixed(*arrays, out=earlier)
    assert all(a is b for a, b in zip(found, earlier, strict=True))
    close(found, expected(mixed_program(), *arrays))


def test_results_without_axes_are_arrays_too(mixed: Kernel, rng: np.random.Generator) -> None:
    x, A, s = inputs(rng, ())
    for given in ((x, A, np.array(s)), (x.tolist(), A.tolist(), float(s))):
        assert all(type(result) is np.ndarray for result in mixed(*given))


def _wrong_tuples(rows: int) -> dict[str, Any]:
    y, B, z = np.empty((rows, 3)), np.empty((rows, 2, 3)), np.empty(rows)
    whole = rf"a tuple of 3 NumPy arrays of float64: .* \({rows}, 3\), .* \({rows}, 2, 3\), .* \({rows},\) expected\."
    return {
        rf"out: a tuple of 2 found, {whole}": (y, B),
        rf"out: list found, {whole}": [y, B, z],
        rf"out: ndarray found, {whole}": y,
        rf"out, .*: shape \(2, 3\) found, \({rows}, 2, 3\) expected\.": (y, np.empty((2, 3)), z),
        rf"out, .*: nothing found, a NumPy array of float64 and of shape \({rows}, 3\) expected\.": (None, B, z),
        r"out: .* and .* share memory; an array of its own is expected for each result\.": (B[:, 0], B, z),
    }


@pytest.mark.parametrize("rows", [3, MANY])
def test_several_outs_that_do_not_fit_are_refused(rows: int, mixed: Kernel, rng: np.random.Generator) -> None:
    for sentence, out in _wrong_tuples(rows).items():
        with pytest.raises(ShapeError, match=sentence):
            mixed(*inputs(rng, (rows,)), out=out)


def test_a_fault_elsewhere_is_not_blamed_on_out() -> None:
    def broken(*arrays: Any, out: Any = None) -> Any:
        raise np.linalg.LinAlgError("Singular matrix")

    program = vector_program()
    run = Kernel((broken, refuse), program.inputs, program.outputs, 1.0)
    for options in ({}, {"out": np.empty((2, 3))}):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            run(np.zeros((2, 3)), **options)


@pytest.mark.parametrize("rows", [2, MANY])
def test_a_wrong_input_is_named_also_where_out_is_given(rows: int, vector: Kernel) -> None:
    with pytest.raises(ShapeError, match=rf"x: shape \({rows}, 4\) found, \(\.\.\., 3\) expected\."):
        vector(np.zeros((rows, 4)), out=np.empty((rows, 3), vector.dtype))


class Unreadable:
    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("it is on another machine")


def _endless() -> list[Any]:
    nest: list[Any] = []
    nest.append(nest)
    return nest


REFUSED = {
    r"x: complex entries found, real numbers expected\.": np.zeros(3, complex),
    r"x: text entries found, real numbers expected\.": ["1", "2", "3"],
    r"x: bytes entries found": np.array([b"1", b"2", b"3"]),
    r"x: date entries found": np.array(["2020-01-01"] * 3, "datetime64[D]"),
    r"x: time span entries found": np.ones(3, "timedelta64[s]"),
    r"x: structured entries found": np.zeros(3, [("a", float)]),
    r"x: object entries found, real numbers expected\. Try np\.asarray\(\.\.\., dtype=float\)\.": [Fraction(1, 2)] * 3,
    r"x: NoneType found, real numbers of shape \(\.\.\., 3\) expected": None,
    r"x: dict found": {},
    r"x: set found": {1, 2, 3},
    r"x: function found": lambda: 3,
    r"x: csr_array found, real numbers of shape \(\.\.\., 3\) expected\. Try x\.toarray\(\)\.": scipy.sparse.csr_array(np.eye(3)),
    r"x: a nest of lists of unequal lengths found, \(\.\.\., 3\) expected\.": [[1.0, 2.0, 3.0], [1.0]],
    r"x: a masked array with 1 masked entries found; .* Try x\.filled\(np\.nan\)": np.ma.array([1.0, 2, 3], mask=[0, 1, 0]),
    r"x: Unreadable found, which NumPy cannot read \(it is on another machine\)": Unreadable(),
    r"x: (list found|a nest of lists|shape|object)": _endless(),
    r"x: (object|int)": [10**400] * 3,
    r"x: (str found|text)": "abc",
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_no_array_of_real_numbers_is_refused(sentence: str, vector: Kernel) -> None:
    with pytest.raises(ShapeError, match=sentence):
        vector(REFUSED[sentence])


LET_IN = {
    "long doubles, rounded": lambda x: x.astype(np.longdouble),
    "a masked array that hides nothing": lambda x: np.ma.array(x),
    "a matrix": lambda x: np.asmatrix(x),
    "a file": lambda x: x.view(np.memmap),
    "nested lists": lambda x: x.tolist(),
    "booleans, as 0 and 1": lambda x: x > 0,
    "a buffer": lambda x: memoryview(x),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("rows", [2, MANY])
@pytest.mark.parametrize("kind", LET_IN)
def test_other_arrays_of_real_numbers_are_read(kind: str, rows: int, vector: Kernel, rng: np.random.Generator) -> None:
    given = LET_IN[kind](rng.integers(-3, 4, (rows, 3)).astype(float))
    found = vector(given)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, vector(np.asarray(given, float)))


def test_numbers_too_large_for_the_kernel_become_infinite_without_a_warning() -> None:
    program = trace(lambda x: x * 2.0, {"x": ()}, ["y"])
    largest = np.finfo(np.longdouble).max
    assert build(program)(largest) == np.inf
    assert build(program, "float32")(1e300) == np.inf


def test_inputs_may_be_given_by_name(mixed: Kernel, rng: np.random.Generator) -> None:
    x, A, s = inputs(rng, (4,))
    wanted = expected(mixed_program(), x, A, s)
    close(mixed(x=x, A=A, s=s), wanted)
    close(mixed(x, s=s, A=A), wanted)
    out = tuple(np.empty_like(array) for array in wanted)
    mixed(x, A, s=s, out=out, threads=1)
    close(out, wanted)


WRONG_NAMES = {
    r"arguments: 'X' is not known.*Known: x, A, s\.": ((), {"X": 1, "A": 1, "s": 1}),
    r"arguments: no A found; x, A, s expected\.": ((1,), {"s": 1}),
    r"x: found twice, by place and by name\. Give it once\.": ((1,), {"x": 1, "A": 1, "s": 1}),
    r"arguments: 4 found, 3 expected: x, A, s\.": ((1, 2, 3, 4), {}),
    r"arguments: 0 found, 3 expected: x, A, s\.": ((), {}),
}


@pytest.mark.parametrize("sentence", WRONG_NAMES)
def test_wrong_names_are_told(sentence: str, mixed: Kernel) -> None:
    places, named = WRONG_NAMES[sentence]
    with pytest.raises((ShapeError, UnknownNameError), match=sentence):
        mixed(*places, **named)


def test_a_kernel_prints_its_inputs_and_outputs(vector: Kernel, mixed: Kernel) -> None:
    name = vector.outputs[0].name
    assert repr(vector) == f"Kernel(x (..., 3) -> {name} (..., 3); {vector.dtype})"
    assert repr(mixed).startswith("Kernel(x (..., 3), A (..., 2, 3), s (...) -> ")


class Tagged:
    """An array of another library that takes part in NumPy's protocol, and has neither size nor shape."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        assert method == "__call__"
        assert not options
        return Tagged(ufunc(*(x.values if isinstance(x, Tagged) else x for x in given)))


class Measured(Tagged):
    """One that does not: quantities with units, for example."""

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        raise NotImplementedError("no generalised functions")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the numbers without their unit are not what was meant")


@pytest.mark.parametrize("rows", [2, MANY])
def test_arrays_of_other_libraries_go_through_numpys_protocol(rows: int, rng: np.random.Generator) -> None:
    program = vector_program()
    x = rng.normal(size=(rows, 3))
    found = build(program)(Tagged(x))
    assert isinstance(found, Tagged)
    close(found.values, expected(program, x))


@pytest.mark.parametrize("rows", [2, MANY])
def test_an_array_whose_library_cannot_is_refused_with_what_to_use(rows: int, vector: Kernel) -> None:
    sentence = r"x: Measured found, whose library .*; a NumPy array is expected\. Try np\.asarray\(x\), in SI units\."
    for options in ({}, {"out": np.empty((rows, 3), vector.dtype)}):
        with pytest.raises(ShapeError, match=sentence):
            vector(Measured(np.ones((rows, 3))), **options)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [4, MANY])
def test_dask_runs_kernels_block_by_block(rows: int, vector: Kernel, mixed: Kernel, rng: np.random.Generator) -> None:
    dask = pytest.importorskip("dask.array")
    x, A, s = inputs(rng, (rows,))
    lazy = dask.from_array(x, chunks=(rows // 2, 2))
    found = vector(lazy)
    assert isinstance(found, dask.Array)
    assert found.dtype == vector.dtype
    assert found.shape == (rows, 3)
    np.testing.assert_array_equal(found.compute(), vector(x))
    for result, wanted in zip(mixed(lazy, A, dask.from_array(s)), mixed(x, A, s), strict=True):
        np.testing.assert_array_equal(result.compute(), wanted)
    out = np.empty((rows, 3), vector.dtype)
    assert vector(lazy, out=out) is out
    np.testing.assert_array_equal(out, vector(x))


def test_dask_arrays_that_do_not_fit_are_refused_before_they_are_computed(mixed: Kernel) -> None:
    dask = pytest.importorskip("dask.array")
    x, A, s = dask.zeros((6, 3)), dask.zeros((6, 2, 3)), dask.zeros(6)
    for sentence, given in {
        r"x: shape \(6, 4\) found, \(\.\.\., 3\) expected": (dask.zeros((6, 4)), A, s),
        r"A: complex128 entries found, real numbers expected": (x, A.astype(complex), s),
        r"batch: Dask could not bring the arrays together: ": (x, A, dask.zeros(5)),
    }.items():
        with pytest.raises(ShapeError, match=sentence):
            mixed(*given)


@pytest.mark.parametrize("rows", [3, MANY])
@pytest.mark.parametrize("library", ["xarray", "pandas"])
def test_labelled_tables_are_read_by_their_values(library: str, rows: int, vector: Kernel, rng: np.random.Generator) -> None:
    """Three rows of three are the case that a library which turns its tables would get wrong in silence."""
    module: Any = pytest.importorskip(library)
    x = rng.normal(size=(rows, 3))
    found = vector(module.DataArray(x, dims=("time", "joint")) if library == "xarray" else module.DataFrame(x))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, vector(x))
