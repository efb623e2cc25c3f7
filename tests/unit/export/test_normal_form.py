"""The normal form of closed equations: equal functions have equal polynomials, and what is written means the same."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from dalembert.export.symbolic import ring, waves
from dalembert.export.symbolic.form import Atom, Product, Sum, size, term, total
from dalembert.export.symbolic.ring import COS, SIN, Polynomial
from dalembert.export.symbolic.write import BREAK, INNER, latex, lines, python, rational, unicode, write

GROUPS = {0: 0, 1: 0, 2: 1}  # angles 0 and 1 are about parallel axes, 2 is not
x, y = ring.generator(0), ring.generator(1)


def c(angle: int) -> Polynomial:
    return ring.wave(GROUPS[angle], COS, ((angle, 1),))


def s(angle: int) -> Polynomial:
    return ring.wave(GROUPS[angle], SIN, ((angle, 1),))


def wave(kind: int, multiples: ring.Multiples, at: np.ndarray) -> float:
    angle = sum(k * at[i] for i, k in multiples)
    return math.cos(angle) if kind == COS else math.sin(angle)


def value(p: Polynomial, generators: np.ndarray, at: np.ndarray) -> float:
    total = 0.0
    for (monomial, harmonic), number in p.items():
        factors = [generators[i] ** power for i, power in monomial]
        total += number * math.prod(factors) * math.prod(wave(kind, multiples, at) for _, kind, multiples in harmonic)
    return total


def test_the_squares_of_cosine_and_sine_add_up_to_one():
    assert ring.add(ring.multiply(c(0), c(0)), ring.multiply(s(0), s(0))) == ring.constant(1.0)


def test_angles_about_parallel_axes_add_up_by_themselves():
    found = ring.add(ring.multiply(c(0), c(1)), ring.multiply(s(0), s(1)), -1.0)
    assert found == {((), ((0, COS, ((0, 1), (1, 1))),)): 1.0}


def test_angles_about_other_axes_stay_apart():
    assert list(ring.multiply(c(0), c(2))) == [((), ((0, COS, ((0, 1),)), (1, COS, ((2, 1),))))]


def test_operations_mean_what_they_do_with_numbers(rng: np.random.Generator):
    atoms = [x, y, c(0), s(0), c(1), s(1), c(2), s(2), ring.constant(0.5)]
    for _ in range(50):
        chosen = [atoms[i] for i in rng.integers(len(atoms), size=6)]
        p = ring.add(ring.multiply(chosen[0], chosen[1]), ring.multiply(chosen[2], chosen[3]), -2.0)
        q = ring.multiply(ring.multiply(p, chosen[4]), chosen[5])
        generators, at = rng.normal(size=2), rng.normal(size=3)
        parts = [value(part, generators, at) for part in chosen]
        expected = (parts[0] * parts[1] - 2 * parts[2] * parts[3]) * parts[4] * parts[5]
        assert value(q, generators, at) == pytest.approx(expected, abs=1e-14)  # rounding of terms of the size of one


def test_rounding_of_numbers_that_cancel_leaves_nothing():
    third = ring.constant(0.1 + 0.2)
    assert ring.add(third, ring.constant(0.3), -1.0) == {}


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_what_is_written_short_means_the_same(count: int, rng: np.random.Generator):
    for _ in range(40):
        sums = {}
        for _ in range(count):
            harmonic = ()
            for factor in [(c, s)[i] for i in rng.integers(2, size=4)]:
                found = ring.multiply({((), harmonic): 1.0}, factor(int(rng.integers(3))))
                harmonic = next(iter(found))[1]
            sums[harmonic] = sums.get(harmonic, 0.0) + float(rng.choice([0.5, -0.5, 1.0, 0.25]))
        sums = {key: number for key, number in sums.items() if number}
        at = rng.normal(size=3)
        expected = value({((), key): number for key, number in sums.items()}, np.ones(2), at)
        found = sum(n * math.prod(wave(*f, at) ** power for f, power in factors) for factors, n in waves.shortest(sums))
        assert found == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(
    ("polynomial", "factors"),
    [
        (ring.multiply(c(0), c(0)), [(((COS, ((0, 1),)), 2),)]),
        (ring.multiply(s(0), c(0)), [(((COS, ((0, 1),)), 1), ((SIN, ((0, 1),)), 1))]),
        (ring.multiply(ring.multiply(s(0), s(0)), ring.multiply(c(2), c(2))), [(((COS, ((2, 1),)), 2), ((SIN, ((0, 1),)), 2))]),
    ],
)
def test_products_are_found_again(polynomial, factors):
    sums = {harmonic: number for (_, harmonic), number in polynomial.items()}
    assert [found for found, _ in waves.shortest(sums)] == factors


def test_one_minus_a_product_is_written_so():
    p = ring.add(ring.constant(1.0), ring.multiply(ring.multiply(s(0), s(0)), ring.multiply(c(2), c(2))), -1.0)
    found = waves.shortest({harmonic: number for (_, harmonic), number in p.items()})
    assert sorted(number for _, number in found) == [-1.0, 1.0]


A, B = (Atom(name, name, name, (1, k)) for k, name in enumerate("ab"))


def test_forms_are_written_with_brackets_where_they_are_needed():
    form = Product(-2.0, ((A, 2), (Sum((A, Product(-1.0, ((B, 1),)))), 1), (B, -1)))
    assert write(form, python()) == "-2*a**2*(a - b)/(b)"
    assert write(form, unicode()).replace(INNER, "") == "−2 a² (a − b)/(b)"
    assert write(form, latex()).replace(INNER, "") == r"-\frac{2 a^{2} (a - b)}{b}"


def test_written_python_has_the_value_of_the_form(rng: np.random.Generator):
    a, b = rng.uniform(0.5, 1.5, 2)
    form = Sum((Product(0.5, ((A, 3),)), Product(-3.0, ((Sum((A, B)), 2), (A, -1)))))
    assert eval(write(form, python()), {"a": a, "b": b}) == pytest.approx(0.5 * a**3 - 3 * (a + b) ** 2 / a)


def test_the_square_of_a_function_is_written_behind_its_name():
    sign = Atom("", "", "", (5, 1), "sign", (A,))
    root = Atom("", "", "", (5, 2), "sqrt", (A,))
    form = Product(1.0, ((sign, 2), (root, 2)))
    assert write(form, latex()) == r"\operatorname{sgn}^{2}(a) (\sqrt{a})^{2}"
    assert write(form, unicode()) == "sgn²(a) (√(a))²"
    assert eval(write(form, python()), {"a": 3.0, "sqrt": math.sqrt}) == pytest.approx(3.0)


def test_sums_and_sizes():
    assert total([]) == Product(0.0)
    assert total([A]) is A
    assert size(Product(2.0, ((A, 2), (Sum((A, B)), 1)))) == 4
    assert term(1.0, [(B, 1), (A, 1), (B, 1)]).factors == ((A, 1), (B, 2))


@pytest.mark.parametrize(("number", "text"), [(0.5, r"\frac{1}{2}"), (122.5, "122.5"), (2.0, "2"), (1e-9, r"1 \cdot 10^{-9}")])
def test_numbers_in_latex(number, text):
    assert write(Product(number), latex()) == text


def test_simple_fractions_are_exact_and_others_are_not_touched():
    assert rational(1 / 3) is not None
    assert rational(0.0983) is None


@pytest.mark.parametrize("width", [6, 20])
def test_lines_break_outside_of_brackets_first(width):
    text = f"a {BREAK}+ (b {INNER}+ c) {BREAK}+ d"
    found = lines(text, width, len)
    assert " ".join(found) == "a + (b + c) + d"
    assert len(found) == (1 if width == 20 else 4)


def test_every_order_of_two_waves_is_paired(rng: np.random.Generator):
    """Each product of two waves of a group, turned into a sum and back, is one product again."""
    for kinds in product((COS, SIN), repeat=2):
        first, second = (ring.wave(0, kind, ((angle, 1),)) for kind, angle in zip(kinds, (0, 1), strict=True))
        whole = ring.multiply(ring.multiply(first, first), ring.multiply(second, second))
        found = waves.shortest({harmonic: number for (_, harmonic), number in whole.items()})
        at = rng.normal(size=3)
        written = sum(n * math.prod(wave(*f, at) ** power for f, power in factors) for factors, n in found)
        assert written == pytest.approx(value(whole, np.ones(2), at), abs=1e-15)
