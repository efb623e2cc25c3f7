"""Closed forms of the textbook arms, symbol by symbol: the difference to the printed equations simplifies to zero.

The golden expressions are in closed_forms.json [Siciliano, ch. 7; Laus, §3].
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms.kinematics import jacobian, segment_poses
from dalembert.algorithms.sweep import Unrolled
from dalembert.export.symbolic.build import input_atoms
from dalembert.export.symbolic.named_steps import steps_of
from dalembert.export.symbolic.sympy_reading import expression
from dalembert.export.symbols import chosen, reading_with, traced
from dalembert.model import Friction, Robot, Rotor
from dalembert.model.dh import from_dh
from dalembert.model.named_tree import symbolic_tree
from dalembert.model.tree import FramePlace, Tree
from dalembert.spatial import IDENTITY, Vec3
from tests.golden.reading import golden

sympy = pytest.importorskip("sympy", reason="sympy is not installed (extra 'symbolic')")

CASES = golden("closed_forms")["cases"]
PROBLEMS = golden("siciliano_problems")["cases"]
OURS = [  # the documents' names, and ours, in the order they are tried
    (r"ddth(\d)", r"qdd_\1"),
    (r"dth(\d)", r"qd_\1"),
    (r"th(\d)", r"q_\1"),
    (r"([mI])([lm])(\d)", r"\1_\2\3"),
    (r"kr(\d)", r"k_r\1"),
    (r"Iz(\d)", r"I_\1"),
    (r"([alm])(\d)", r"\1_\2"),
]


def named(formula: str) -> str:
    """A formula with our names in place of the document's."""

    def ours(match: re.Match[str]) -> str:
        for pattern, name in OURS:
            if re.fullmatch(pattern, match.group()):
                return re.sub(pattern, name, match.group())
        return match.group()

    return re.sub(r"[A-Za-z]\w*", ours, formula)


def meant(value: Any) -> Any:
    """A golden expression, column or matrix in SymPy."""
    if isinstance(value, list):
        return sympy.Matrix([[meant(entry) for entry in row] if isinstance(row, list) else meant(row) for row in value])
    text = named(str(value))
    names = set(re.findall(r"[A-Za-z]\w*", text)) - {"sin", "cos"}
    return sympy.sympify(text, locals={name: sympy.Symbol(name) for name in names})


def assert_same(found: Any, expected: Any) -> None:
    """The difference is zero for all values of all symbols: expanded, with sums of angles taken apart and sin² = 1 − cos²."""
    difference = sympy.Matrix([found - expected]) if not hasattr(found, "shape") else sympy.Matrix(found - expected)
    for entry in difference:
        expanded = sympy.expand(sympy.expand_trig(sympy.expand(entry)))
        squares = {sympy.sin(q) ** 2: 1 - sympy.cos(q) ** 2 for q in sympy.symbols("q_1:4")}
        assert sympy.expand(expanded.subs(squares)) == 0


def geared_pendulum() -> Robot:
    """The pendulum of Example 7.1: a motor behind a gear, and viscous friction."""
    pendulum = dal.robots.pendulum()
    drive = pendulum.parameters.replace(rotors={"pivot": Rotor(1e-3, 50.0)}, friction={"pivot": Friction(0.3)})
    return pendulum.replace(parameters=drive)


def test_the_pendulum_of_example_7_1_has_the_book_s_equation_of_motion():
    """Its I is about the axis, I_1 + m_1 l_1²; its F + F_m k_r² is the friction at the joint. 001.ex7.1.eom, .T, .U, .xi."""
    eq = dal.equations(geared_pendulum(), ["tau", "T", "U", "friction"])
    th, dth, ddth, Ip, F, Fm = sympy.symbols("q_1 qd_1 qdd_1 Ip F Fm")
    m, l, I, k, Im, Fv = sympy.symbols("m_1 l_1 I_1 k_r1 I_m1 F_v1")
    book = {"th": th, "dth": dth, "ddth": ddth, "Ip": Ip, "F": F, "Fm": Fm, "kr": k, "Im": Im, "m": m, "l": l}

    def of_book(name: str) -> Any:
        formula = sympy.sympify(CASES[f"001.ex7.1.{name}"], locals={**book, "g": sympy.Symbol("g"), "tau": sympy.Symbol("tau")})
        return formula.subs({F: Fv - Fm * k**2, Ip: I + m * l**2})

    assert_same(eq.tau[0], of_book("eom"))
    assert_same(eq["T"], of_book("T"))
    assert sympy.expand(eq["U"] - of_book("U")).free_symbols.isdisjoint({th})  # up to the height that counts as zero
    assert_same(sympy.Symbol("tau") - eq["friction"][0], of_book("xi"))


def test_the_cartesian_arm_has_the_matrices_of_section_7_3_1():
    eq = dal.equations(dal.robots.two_link_cartesian())
    assert_same(eq.M, meant(CASES["001.7.3.1.B"]))
    assert_same(eq.C, meant(CASES["001.7.3.1.C"]))
    assert_same(eq.g, meant(CASES["001.7.3.1.g"]))


def test_the_planar_arm_has_the_matrices_of_section_7_3_2():
    eq = dal.equations(dal.robots.two_link_planar(), ["M", "C", "c", "g"])
    assert_same(eq.M, meant(CASES["001.7.3.2.B"]))
    assert_same(eq.C, meant(CASES["001.7.3.2.C"]))
    assert_same(eq.g, meant(CASES["001.7.3.2.g"]))
    for i, plane in enumerate(CASES["001.7.3.2.christoffel"]):
        assert_same(sympy.Matrix(eq.c[i]), meant(plane))
    assert_same(eq.c[0, 0, 1], meant(CASES["001.7.3.2.h"]))


def test_the_rate_of_m_minus_2c_of_the_planar_arm_is_the_book_s_skew_matrix():
    """001.7.3.2.N: Ṁ − 2C."""
    eq = dal.equations(dal.robots.two_link_planar(), ["M", "C"])
    rate = sum((eq.M.diff(q) * qd for q, qd in zip(sympy.symbols("q_1:3"), sympy.symbols("qd_1:3"), strict=True)), start=eq.M * 0)
    assert_same(rate - 2 * eq.C, meant(CASES["001.7.3.2.N"]))


def test_the_torques_of_the_planar_arm_are_equation_7_82():
    assert_same(dal.equations(dal.robots.two_link_planar(), "tau").tau, meant(CASES["001.eq7.82.tau"]))


def test_the_regressor_of_the_planar_arm_is_equation_7_84_and_its_parameters_7_83():
    eq = dal.equations(dal.robots.two_link_planar(), ["Y", "phi", "tau"])
    assert_same(eq["Y"], meant(CASES["001.eq7.84.Y"]))
    assert_same(eq["phi"], meant(CASES["001.eq7.83.pi"]))
    assert_same(eq["Y"] * eq["phi"], eq.tau)


@pytest.mark.parametrize("arm", ["two_link_cartesian", "two_link_planar"])
def test_the_jacobians_of_centres_and_rotors_are_the_book_s(arm: str):
    """001.7.3.1.jacobians, 001.7.3.2.jacobians: JP of links and rotors, JO of links and rotors."""
    robot = dal.robots.CATALOGUE[arm]()
    section = "001.7.3.1" if arm == "two_link_cartesian" else "001.7.3.2"
    found = rigid_jacobians(robot)
    expected = CASES[f"{section}.jacobians"]
    assert set(expected) <= set(found)
    for name, rows in expected.items():
        assert_same(found[name], meant(rows))


def rigid_jacobians(robot: Robot) -> dict[str, Any]:
    """J_P and J_O of links (at their centres of mass) and of rotors (at their mounts, with their spin), as SymPy matrices."""
    symbols = chosen(robot, "all")
    names = [f"{part}{i}" for i in (1, 2) for part in ("l", "m")]

    def function(scalar: Any, q: Any) -> Any:
        tree = symbolic_tree(robot, reading_with(symbols, scalar).numbers)
        return tuple(row for i in (1, 2) for row in (of_link(tree, q, i), of_rotor(tree, q, i)))

    program = traced(symbols, function, {"q": (robot.n,)}, names, "jacobians")
    steps, results = steps_of(program, input_atoms(robot, symbols), lambda node: "")
    values = {sympy.Symbol(step.atom.name): expression(step.form, sympy) for step in steps}
    found = {}
    for name, forms in zip(names, results, strict=True):
        J = sympy.Matrix(6, robot.n, [expression(form, sympy) for form in forms])
        for symbol in reversed(values):
            J = J.subs(symbol, values[symbol])
        found[f"JP_{name}"], found[f"JO_{name}"] = J[:3, :], J[3:, :]
    return found


def of_link(tree: Tree, q: Any, i: int) -> list[list[Any]]:
    length = q[0].graph.input(f"l_{i}") if tree.segments[i - 1].turn else 0.0
    return jacobian(Unrolled(tree), q, FramePlace(i - 1, IDENTITY, Vec3(length, 0.0, 0.0)), frame="world")


def of_rotor(tree: Tree, q: Any, i: int) -> list[list[Any]]:
    """At the link before, plus k_r z in the column of its own joint [Siciliano, Eq. 7.29]."""
    spin, links = tree.segments[i - 1].spin, list(tree.links.values())
    assert spin is not None
    rows = jacobian(Unrolled(tree), q, links[i - 1], frame="world")
    ratio = spin.kkI / spin.kI
    axis = spin.axis if spin.mount < 0 else world_axis(tree, q, spin.mount, spin.axis)
    for k in range(3):
        rows[3 + k][i - 1] = rows[3 + k][i - 1] + axis[k] * ratio
    return rows


def world_axis(tree: Tree, q: Any, segment: int, axis: Vec3) -> Vec3:
    return segment_poses(Unrolled(tree), q)[segment].R @ axis


def of_the_parallelogram(value: Any) -> Any:
    """A golden expression of §7.3.3 with our names: links 1', 2', 3', 1'' are 1 to 4, and the sides a1', a1'' are a_1, a_2."""
    names = {f"{x}{i}p": f"{x}_{i}" for x in "mlI" for i in (1, 2, 3)} | {f"{x}1pp": f"{x}_4" for x in "mlI"}
    names |= {"a1p": "a_1", "a1pp": "a_2", "th1p": "q_1", "th1pp": "q_2", "dth1p": "qd_1", "dth1pp": "qd_2"}
    return meant(json.loads(re.sub(r"[A-Za-z]\w*", lambda m: names.get(m.group(), m.group()), json.dumps(value))))


def test_the_parallelogram_as_a_mechanism_has_the_closed_form_of_section_7_3_3():
    """001.7.3.3.Ba, 001.7.3.3.ga, 001.7.3.3.Ca_qd: the closures are linear, so nothing is solved for."""
    eq = dal.equations(dal.mechanisms.parallelogram())
    book = {name: of_the_parallelogram(PROBLEMS[f"001.7.3.3.{name}"]["value"]) for name in ("Ba", "ga", "Ca_qd")}
    assert eq.form == "closed"
    assert_same(eq.M, book["Ba"])
    assert_same(eq.g, book["ga"])
    assert_same(eq.C * sympy.Matrix(sympy.symbols("qd_1:3")), book["Ca_qd"])
    assert_same(eq.tau, book["Ba"] * sympy.Matrix(sympy.symbols("qdd_1:3")) + book["Ca_qd"] + book["ga"])


def test_the_parallelogram_is_decoupled_under_the_condition_of_section_7_3_3():
    """001.7.3.3.decoupling: with m3' l̄3' / (m2' l2') = a1' / a1'' the inertia is constant, and C is zero."""
    eq = dal.equations(dal.mechanisms.parallelogram())
    data = PROBLEMS["001.7.3.3.decoupling"]["value"]
    m2, m3, l2, l3, a1, a2 = sympy.symbols("m_2 m_3 l_2 l_3 a_1 a_2")
    condition = {m3: m2 * l2 * a1 / (a2 * (l3 - a1))}
    diagonal = sympy.diag(*(of_the_parallelogram(data[name]) for name in ("b_a11", "b_a22"))).subs(sympy.Symbol("l3bar"), l3 - a1)
    assert sympy.simplify(eq.M.subs(condition) - diagonal.subs(condition)) == sympy.zeros(2, 2)
    assert sympy.simplify(eq.C.subs(condition)) == sympy.zeros(2, 2)


def test_the_pelican_has_the_closed_form_of_laus():
    eq = dal.equations(dal.robots.pelican())
    assert_same(eq.M, meant(CASES["000.pelican.M"]))
    assert_same(eq.C, meant(CASES["000.pelican.C"]))
    assert_same(eq.g, meant(CASES["000.pelican.g"]))


def test_the_pelican_with_its_crucible_has_the_closed_form_of_laus():
    rows = [
        {"a": a, "mass": m, "com": (l - a, 0, 0), "inertia": (0, 0, I)}
        for a, l, m, I in ((0.26, 0.0983, 6.5225, 0.1213), (0.26, 0.0229, 2.0458, 0.0116), (0.2, 0.11, 1.5, 0.02))
    ]
    eq = dal.equations(from_dh(rows, convention="standard", gravity=(0, -9.81, 0)))
    assert_same(eq.M, meant(CASES["000.eq62.M"]))
    assert_same(eq.C, meant(CASES["000.eq63.C"]))
    assert_same(eq.g, meant(CASES["000.eq64.g"]))


def test_a_wrong_golden_value_would_be_noticed():
    eq = dal.equations(dal.robots.pelican(), "M")
    wrong = meant(CASES["000.pelican.M"])
    wrong[0, 1] += sympy.Symbol("I_1")
    with pytest.raises(AssertionError):
        assert_same(eq.M, wrong)


def test_the_values_of_the_symbols_give_the_numbers_of_the_arm(rng: np.random.Generator):
    robot = dal.robots.two_link_planar()
    eq = dal.equations(robot, "M")
    q = rng.normal(size=2)
    at = {sympy.Symbol(name): value for name, value in (eq.symbols | {"q_1": q[0], "q_2": q[1]}).items()}
    assert np.array(eq.M.subs(at), dtype=float) == pytest.approx(dal.mass_matrix(robot, q), rel=1e-13)  # rounding
