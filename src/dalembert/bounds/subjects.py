"""What is bounded: a quantity as a function of all its inputs in one row, and for each entry a problem for the search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..codegen import Kernel
from ..errors import ModelError
from ..expr import Expr, Program
from .box_search import BoxProblem
from .functionals import EuclideanNorm, Functional, LargestEigenvalue, RateFunctional, RateNorm
from .input_ranges import Ranges
from .interval_problem import IntervalProblem
from .rate_polynomial import NotPolynomialError, RateReading
from .spectral_problem import SpectralProblem
from .spectrum import Spectrum, spectrum

Posed = Callable[[float, float], BoxProblem | None]
"""From a sign and a budget, what may be left to the rest of a spectrum, to the problem of the largest value of sign · entry."""


class BoundedEntry(NamedTuple):
    """One entry: its name, the columns of its largest and of its least values, and how the search for them is posed."""

    name: str
    unit: str
    high: int
    low: int
    posed: Posed
    apart: bool = False  # whether gaps of both sides are measured by the side's own size
    positive: bool = False  # whether it is never negative, as a norm is


@dataclass(frozen=True, eq=False)
class Subject:
    """Entries of a quantity over a box, whose inputs lie one after the other in rows."""

    quantity: str
    inputs: tuple[tuple[str, int], ...]  # names and sizes
    lo: FloatArray
    hi: FloatArray
    evaluate: Callable[[FloatArray], FloatArray]
    entries: tuple[BoundedEntry, ...]

    @property
    def columns(self) -> dict[str, int]:
        """The place of each scalar input in a row, by the name its node has."""
        names = [f"{name}[{k}]" for name, size in self.inputs for k in range(size)]
        return {name: k for k, name in enumerate(names)}

    def split(self, row: FloatArray) -> dict[str, FloatArray]:
        """A row, or rows, by the names of inputs."""
        ends = np.cumsum([size for _, size in self.inputs])[:-1]
        return {name: part for (name, _), part in zip(self.inputs, np.split(row, ends, axis=-1), strict=True)}


class Graphs:
    """The outputs of a program as spectra, or as graphs where they have none, with ranges for all inputs."""

    def __init__(self, program: Program, ranges: Ranges, turns: Sequence[bool]) -> None:
        self.program, self.ranges = program, ranges
        self.nodes = [node for entry in program.entries for node in entry]
        ends = [ranges[slot.name] for slot in program.inputs]
        self.lo, self.hi = (np.concatenate([e[k] for e in ends]) for k in (0, 1))
        self.coordinates: list[Expr] = []  # a payload's mass is one too: everything is linear in it
        self.turning: dict[str, bool] = {}
        for slot, nodes in zip(program.inputs, program.entries, strict=True):
            if slot.name in ("q", "payload"):
                self.coordinates += nodes
                self.turning |= {node.value: slot.name == "q" and turns[k] for k, node in enumerate(nodes)}

    @property
    def inputs(self) -> tuple[tuple[str, int], ...]:
        """Names and sizes of inputs."""
        return tuple((slot.name, slot.size) for slot in self.program.inputs)

    def coordinate_ranges(self) -> dict[str, tuple[float, float]]:
        """The range of each coordinate, by the name of its node."""
        place = {node: k for k, node in enumerate(self.nodes)}
        return {node.value: (float(self.lo[place[node]]), float(self.hi[place[node]])) for node in self.coordinates}

    def polynomial(self, outputs: Sequence[Any]) -> tuple[RateReading, list[dict[Any, Any]]]:
        """The outputs as polynomials in what is no coordinate."""
        mine = set(self.coordinates)
        rest = {n.index: (float(self.lo[k]), float(self.hi[k])) for k, n in enumerate(self.nodes) if n not in mine}
        reading = RateReading(rest)
        return reading, reading.read(outputs)

    def spectrum_of(self, coefficients: Sequence[Any]) -> Spectrum:
        """The spectrum of functions of coordinates."""
        return spectrum(coefficients, self.coordinate_ranges(), self.turning)

    def entry_problem(self, output: Any) -> Posed:
        """How the largest value of one output is searched."""
        made: list[tuple[Spectrum, RateFunctional] | None] = []

        def posed(sign: float, budget: float) -> BoxProblem:
            if not made:
                made.append(self._spectral(output))
            if made[0] is None:
                return IntervalProblem(output, self.nodes, self.lo, self.hi, sign)
            found, functional = made[0]
            signed = replace(found, coefficients=sign * found.coefficients).shortened(budget)
            return SpectralProblem(signed, functional, self.coordinate_ranges())

        return posed

    def _spectral(self, output: Any) -> tuple[Spectrum, RateFunctional] | None:
        try:
            reading, (polynomial,) = self.polynomial([output])
            monomials = sorted({(), *polynomial}, key=lambda m: (len(m), m))
            found = self.spectrum_of([polynomial.get(m, 0.0) for m in monomials])
        except NotPolynomialError:
            return None
        return centred(found, monomials, reading.bounds)


def centred(found: Spectrum, monomials: list[Any], bounds: Sequence[tuple[float, float]]) -> tuple[Spectrum, RateFunctional]:
    """The same polynomial in variables from [-1, 1]; ranges are widened by rounding."""
    lo, hi = (np.array([b[k] for b in bounds], dtype=float) for k in (0, 1))
    middle = np.where(lo == -hi, 0.0, 0.5 * lo + 0.5 * hi)
    half = np.where(lo == -hi, hi, np.nextafter(np.maximum(hi - middle, middle - lo), np.inf))
    terms: dict[Any, dict[int, float]] = {m: {} for m in monomials}
    for k, monomial in enumerate(monomials):
        for kept, weight in _shifted(monomial, middle, half):
            row = terms.setdefault(kept, {})
            row[k] = row.get(k, 0.0) + weight
    ordered = sorted(terms, key=lambda m: (len(m), m))
    matrix = np.zeros((len(ordered), len(monomials)))
    for i, monomial in enumerate(ordered):
        for k, weight in terms[monomial].items():
            matrix[i, k] = weight
    return found.combined(matrix), RateFunctional(ordered, len(bounds))


def _shifted(monomial: tuple[int, ...], middle: FloatArray, half: FloatArray) -> list[tuple[tuple[int, ...], float]]:
    found: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    for v in monomial:
        found = [
            term
            for kept, weight in found
            for term in (((*kept, v), weight * half[v]), (kept, weight * middle[v]))
            if term[1] != 0.0
        ]
    return [(tuple(sorted(kept)), float(weight)) for kept, weight in found]


def entries(graphs: Graphs, kernel: Kernel, quantity: str, names: Sequence[tuple[str, str]], which: Sequence[int]) -> Subject:
    """Entries of the outputs of a program, one after the other; `names` has a name and a unit for each."""
    outputs = [scalar for result in graphs.program.results for scalar in result]

    def evaluate(x: FloatArray) -> FloatArray:
        given = kernel(*(part.reshape(len(x), *slot.shape) for part, slot in zip(_parts(graphs, x), kernel.inputs, strict=True)))
        results = given if isinstance(given, tuple) else (given,)
        return np.concatenate([np.asarray(r).reshape(len(x), -1) for r in results], axis=1)

    found = tuple(BoundedEntry(*names[k], k, k, graphs.entry_problem(outputs[k])) for k in which)
    return Subject(quantity, graphs.inputs, graphs.lo, graphs.hi, evaluate, found)


def _parts(graphs: Graphs, x: FloatArray) -> list[FloatArray]:
    ends = np.cumsum([size for _, size in graphs.inputs])[:-1]
    return [np.ascontiguousarray(part) for part in np.split(x, ends, axis=-1)]


def eigenvalues(graphs: Graphs, kernel: Kernel, n: int, unit: str) -> Subject:
    """All eigenvalues of the mass matrix: the largest one is the maximum, the smallest one the minimum."""
    rows, columns = np.tril_indices(n)
    lower = [graphs.program.results[0][i * n + j] for i, j in zip(rows, columns, strict=True)]

    def evaluate(x: FloatArray) -> FloatArray:
        return np.linalg.eigvalsh(kernel(*_parts(graphs, x)))[:, [0, -1]]

    posed = _matrix_problem(graphs, lower, lambda sign: LargestEigenvalue(n, sign))
    entry = BoundedEntry("eigenvalues of M", unit, 1, 0, posed, apart=True)
    return Subject("eigenvalues", graphs.inputs, graphs.lo, graphs.hi, evaluate, (entry,))


def gravity_norm(graphs: Graphs, kernel: Kernel, unit: str) -> Subject:
    """|g(q)|."""

    def evaluate(x: FloatArray) -> FloatArray:
        return np.linalg.norm(kernel(*_parts(graphs, x)), axis=-1)[:, None]

    posed = _matrix_problem(graphs, graphs.program.results[0], lambda sign: EuclideanNorm() if sign > 0 else None)
    return Subject(
        "gravity_norm", graphs.inputs, graphs.lo, graphs.hi, evaluate, (BoundedEntry("|g|", unit, 0, 0, posed, positive=True),)
    )


def coriolis_norm(graphs: Graphs, kernel: Kernel, n: int, unit: str) -> Subject:
    """|C(q, q̇)| / |q̇|, from the Christoffel symbols; q̇ is a direction, with entries from -1 to 1."""
    inputs = (*graphs.inputs, ("qd", n))
    one = np.ones(n)

    def evaluate(x: FloatArray) -> FloatArray:
        rates = x[:, -n:]
        matrices = np.einsum("zijk,zk->zij", kernel(np.ascontiguousarray(x[:, :-n])), rates)
        return (np.linalg.norm(matrices, ord=2, axis=(-2, -1)) / np.maximum(np.linalg.norm(rates, axis=-1), 1e-9))[:, None]

    posed = _matrix_problem(graphs, graphs.program.results[0], lambda sign: RateNorm(n) if sign > 0 else None)
    lo, hi = np.concatenate([graphs.lo, -one]), np.concatenate([graphs.hi, one])
    return Subject("coriolis_norm", inputs, lo, hi, evaluate, (BoundedEntry("|C| / |qd|", unit, 0, 0, posed, positive=True),))


def _matrix_problem(graphs: Graphs, outputs: Sequence[Any], functional: Callable[[float], Functional | None]) -> Posed:
    """The largest value of a convex function of all outputs; None where there is none for a sign."""
    made: list[Spectrum] = []

    def posed(sign: float, budget: float) -> BoxProblem | None:
        f = functional(sign)
        if f is None:
            return None
        if not made:
            made.append(_whole_spectrum(graphs, outputs))
        return SpectralProblem(made[0].shortened(budget), f, graphs.coordinate_ranges())

    return posed


def _whole_spectrum(graphs: Graphs, outputs: Sequence[Any]) -> Spectrum:
    try:
        return graphs.spectrum_of(outputs)
    except NotPolynomialError:
        raise ModelError(
            f"bounds: {graphs.program.name} is no polynomial of sines, cosines and slides, or has too many coefficients, so that "
            "norms and eigenvalues of it are not bounded. Bound its entries one by one."
        ) from None
