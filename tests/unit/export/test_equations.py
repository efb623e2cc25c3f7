"""Equations of motion in symbols: they compute what the kernels compute, and read as a person would write them."""

from __future__ import annotations

import itertools
import math
import re
import sys
import time
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import MissingExtraError, ModelError, UnknownNameError
from dalembert.export.symbolic import sympy_reading
from dalembert.export.symbolic.equation_table import EQUATIONS
from dalembert.expr import PRIMITIVES
from dalembert.model import Robot
from dalembert.model.dh import from_dh
from tests.robots import fresh, random_robot, relative_error, state

TOLERANCE = 1e-11  # other sums of the same terms: some hundred times rounding
PLANAR = dal.robots.two_link_planar()
SPATIAL = from_dh(
    [
        {"alpha": np.pi / 2, "mass": 3.0, "com": (0, -0.1, 0), "inertia": (0.1, 0.2, 0.3)},
        {"a": 0.4, "mass": 2.0, "com": (-0.2, 0, 0), "inertia": (0.01, 0.02, 0.03)},
        {"a": 0.3, "mass": 1.0, "com": (-0.1, 0, 0), "inertia": (0.01, 0.02, 0.03)},
    ],
    convention="standard",
    name="spatial",
)
DIRECT = {
    "M": lambda robot, q, qd, qdd: dal.mass_matrix(robot, q),
    "C": lambda robot, q, qd, qdd: dal.coriolis_matrix(robot, q, qd),
    "c": lambda robot, q, qd, qdd: dal.christoffel(robot, q),
    "g": lambda robot, q, qd, qdd: dal.gravity_torque(robot, q),
    "h": lambda robot, q, qd, qdd: dal.bias(robot, q, qd),
    "friction": lambda robot, q, qd, qdd: dal.friction_torque(robot, qd),
    "tau": dal.inverse_dynamics,
    "T": lambda robot, q, qd, qdd: dal.energy(robot, q, qd).kinetic,
    "U": lambda robot, q, qd, qdd: dal.energy(robot, q, qd).potential,
}


def executed(eq: dal.Equations, *motion: np.ndarray) -> dict[str, np.ndarray]:
    """The Python text of equations, run with the values of their symbols at a state."""
    names: dict[str, Any] = {**vars(math), **eq.symbols}
    for slot, values in zip(("q", "qd", "qdd"), motion, strict=True):
        names |= {f"{slot}_{k + 1}": float(x) for k, x in enumerate(values)}
    exec(eq.python(), names)
    found = {}
    for name, block in eq.blocks.items():
        found[name] = np.zeros(block.shape)
        for index in np.ndindex(*block.shape):
            upper = (*index[:-2], *sorted(index[-2:])) if name in ("M", "c") else index
            value = names.get("_".join((name, *(str(i + 1) for i in upper))), 0.0 if name == "c" else None)
            found[name][index] = value
    return found


def assert_right(robot: Robot, eq: dal.Equations, rng: np.random.Generator) -> None:
    motion = state(robot, rng)
    for name, value in executed(eq, *motion).items():
        assert relative_error(value, DIRECT[name](robot, *motion)) < TOLERANCE, name


def test_the_torques_of_the_planar_arm_are_equation_7_82_as_a_person_writes_it():
    """[Siciliano, Eq. 7.82], link by link, with its brackets."""
    assert dal.equations(PLANAR, "tau").text(width=400).splitlines() == [
        "τ₁ = (Iₗ₁ + mₗ₁ l₁² + kᵣ₁² Iₘ₁ + Iₗ₂ + mₗ₂ (a₁² + l₂² + 2 a₁ l₂ c₂) + Iₘ₂ + mₘ₂ a₁²) q̈₁"
        " + (Iₗ₂ + mₗ₂ (l₂² + a₁ l₂ c₂) + kᵣ₂ Iₘ₂) q̈₂ − 2 mₗ₂ a₁ l₂ s₂ q̇₁ q̇₂ − mₗ₂ a₁ l₂ s₂ q̇₂²"
        " + (mₗ₁ l₁ + mₗ₂ a₁ + mₘ₂ a₁) g c₁ + mₗ₂ l₂ g c₁₂",
        "τ₂ = (Iₗ₂ + mₗ₂ (l₂² + a₁ l₂ c₂) + kᵣ₂ Iₘ₂) q̈₁ + (Iₗ₂ + mₗ₂ l₂² + kᵣ₂² Iₘ₂) q̈₂ + mₗ₂ a₁ l₂ s₂ q̇₁² + mₗ₂ l₂ g c₁₂",
    ]


def test_the_latex_of_the_planar_arm_is_that_of_the_book():
    assert dal.equations(PLANAR, ["M", "C", "g"]).latex() == (
        "\\begin{aligned}\n"
        "M_{11} &= I_{\\ell_1} + m_{\\ell_1} \\ell_{1}^{2} + k_{r1}^{2} I_{m_1} + I_{\\ell_2}"
        " + m_{\\ell_2} (a_{1}^{2} + \\ell_{2}^{2} + 2 a_{1} \\ell_{2} c_{2}) + I_{m_2} + m_{m_2} a_{1}^{2} \\\\\n"
        "M_{12} = M_{21} &= I_{\\ell_2} + m_{\\ell_2} (\\ell_{2}^{2} + a_{1} \\ell_{2} c_{2}) + k_{r2} I_{m_2} \\\\\n"
        "M_{22} &= I_{\\ell_2} + m_{\\ell_2} \\ell_{2}^{2} + k_{r2}^{2} I_{m_2} \\\\\n"
        "C_{11} &= -m_{\\ell_2} a_{1} \\ell_{2} s_{2} \\dot{q}_{2} \\\\\n"
        "C_{12} &= -m_{\\ell_2} a_{1} \\ell_{2} s_{2} (\\dot{q}_{1} + \\dot{q}_{2}) \\\\\n"
        "C_{21} &= m_{\\ell_2} a_{1} \\ell_{2} s_{2} \\dot{q}_{1} \\\\\n"
        "C_{22} &= 0 \\\\\n"
        "g_{1} &= (m_{\\ell_1} \\ell_{1} + m_{\\ell_2} a_{1} + m_{m_2} a_{1}) g c_{1} + m_{\\ell_2} \\ell_{2} g c_{12} \\\\\n"
        "g_{2} &= m_{\\ell_2} \\ell_{2} g c_{12}\n"
        "\\end{aligned}"
    )


def from_latex(eq: dal.Equations, *motion: np.ndarray) -> dict[str, float]:
    """Every equation read back from its LaTeX, by the left side: names to values, spaces to products, fractions, powers."""
    known = {p.latex: p.value for p in eq.parameters}
    angles = list(motion[0])
    for slot, values in zip(("q", r"\dot{q}", r"\ddot{q}"), motion, strict=True):
        known |= {f"{slot}_{{{k + 1}}}": float(x) for k, x in enumerate(values)}
    for first, last in itertools.combinations_with_replacement(range(len(angles)), 2):
        index = "".join(str(k + 1) for k in range(first, last + 1))
        known |= {f"c_{{{index}}}": math.cos(sum(angles[first : last + 1]))}
        known |= {f"s_{{{index}}}": math.sin(sum(angles[first : last + 1]))}
    found = {}
    for row in eq.rows(width=100_000):
        *left, text = row.split(" = ")
        for name in sorted(known, key=len, reverse=True):
            text = re.sub(rf"(?<![\w{{}}\\]){re.escape(name)}", f"({known[name]!r})", text)
        text = re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r"(\1/\2)", text)
        text = re.sub(r"\\(sin|cos)\(", r"\1(", re.sub(r"\^\{(\d+)\}", r"**\1", text))
        text = re.sub(r"(?<=[\d)]) (?=[\d(sc])", "*", text)
        found |= dict.fromkeys(left, eval(text, {"sin": math.sin, "cos": math.cos}))
    return found


@pytest.mark.parametrize("robot", [PLANAR, SPATIAL, dal.robots.pelican(), dal.robots.scara()], ids=lambda robot: robot.name)
def test_the_latex_read_back_has_the_kernels_values(robot, rng):
    motion = state(robot, rng)
    found = from_latex(dal.equations(robot), *motion)
    names = {"M": "M", "C": "C", "g": "g", r"\tau": "tau"}
    for left, value in found.items():
        letter, _, index = left.partition("_")
        expected = DIRECT[names[letter]](robot, *motion)[tuple(int(k) - 1 for k in index.strip("{}"))]
        assert value == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE), left
    assert len(found) == 2 * robot.n**2 + 2 * robot.n


def test_a_spatial_arm_gets_squares_and_products_of_cosines_where_they_are_shorter():
    eq = dal.equations(SPATIAL, ["M", "g"])
    assert eq.text(width=400).splitlines()[0] == (
        "M₁₁ = I₁ + I₂xx s₂² + (I₂yy + m₂ l₂² + m₃ a₂²) c₂² + I₃xx s₂₃² + (I₃yy + m₃ l₃²) c₂₃² + 2 m₃ a₂ l₃ c₂ c₂₃"
    )
    assert "g₂ = (m₂ l₂ + m₃ a₂) g c₂ + m₃ l₃ g c₂₃" in eq.text()


def test_christoffel_symbols_that_are_zero_are_left_out():
    assert dal.equations(PLANAR, "c").text() == (
        "c[1,1,2] = c[1,2,1] = −mₗ₂ a₁ l₂ s₂\nc[1,2,2] = −mₗ₂ a₁ l₂ s₂\nc[2,1,1] = mₗ₂ a₁ l₂ s₂"
    )


def test_bodies_with_the_same_bracket_share_it():
    assert "(m₃ + m₄) (a₁² + a₂² + 2 a₁ a₂ c₂)" in dal.equations(dal.robots.scara(), "M").text(width=400)


@pytest.mark.parametrize("seed", range(12))
def test_small_robots_of_every_kind_have_the_kernels_dynamics(seed, rng):
    """Closed forms up to three moving joints, programs beyond: friction, rotors, couplings, payloads, trees."""
    robot = random_robot(np.random.default_rng(seed), 1 + seed % 4)
    assert_right(robot, dal.equations(robot, list(DIRECT)), rng)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_no_symbol_keeps_its_value(seed, rng):
    robot = random_robot(np.random.default_rng(seed), 2)
    kinds = ["masses", "lengths", "inertias", "gravity", "gears", "friction"]
    symbols = [kind for kind in kinds if rng.random() < 0.5]
    eq = dal.equations(robot, ["M", "C", "tau"], symbols=symbols)
    assert {p.kind for p in eq.parameters} <= set(symbols)
    assert_right(robot, eq, rng)


@pytest.mark.parametrize("name", ["puma560", "panda", "ur5", "stanford"])
def test_programs_of_six_and_seven_joints_have_the_kernels_dynamics(name, rng):
    robot = dal.load(name)
    eq = dal.equations(robot, ["M", "C", "g", "tau"])
    assert eq.form == "program"
    assert_right(robot, eq, rng)


def test_the_puma_with_every_number_a_symbol_takes_seconds_at_most():
    """Half a minute is what a reader would wait; measured: 0.2 s, and 0.5 s more for SymPy."""
    start = time.perf_counter()
    eq = dal.equations(fresh("puma560"))
    eq.latex()
    _ = eq.sympy, eq.intermediates
    assert time.perf_counter() - start < 30.0
    assert len(eq.symbols) == 63


def test_the_gravity_torque_of_the_puma_is_short_in_closed_form(rng):
    robot = dal.load("puma560")
    eq = dal.equations(robot, "g", form="closed")
    assert "g₄ = m₆ l₆ g s₄ s₅ s₂₃" in eq.text()
    assert_right(robot, eq, rng)


def test_a_small_arm_can_be_a_program_and_steps_say_what_they_are_about(rng):
    eq = dal.equations(PLANAR, "tau", form="program")
    assert "# joint2: motion of its link" in eq.text()
    assert r"&\text{joint2: motion of its link}" in eq.latex()
    assert_right(PLANAR, eq, rng)


def test_arms_whose_axes_are_all_parallel_come_in_closed_form():
    assert dal.equations(dal.robots.scara(), "g").form == "closed"
    assert dal.equations(dal.robots.chain(4), "g").form == "program"


def test_fields_are_sympy_and_sums_of_parallel_axes_one_angle():
    sympy = pytest.importorskip("sympy")
    eq = dal.equations(PLANAR)
    assert eq.M.shape == eq.C.shape == (2, 2)
    assert eq.tau.shape == eq.g.shape == (2, 1)
    q1, q2, m, l, g = sympy.symbols("q_1 q_2 m_l2 l_2 g")
    assert eq.g[1] == m * l * g * sympy.cos(q1 + q2)
    assert eq.sympy["M"] is eq.M
    assert eq.intermediates == {}


def test_a_program_in_sympy_gives_its_steps_in_order():
    sympy = pytest.importorskip("sympy")
    eq = dal.equations(PLANAR, "tau", form="program")
    closed = dal.equations(PLANAR, "tau").tau
    whole = eq.tau
    for step, value in reversed(eq.intermediates.items()):
        whole = whole.subs(step, value)
    assert sympy.simplify(sympy.expand_trig(whole - closed)) == sympy.zeros(2, 1)


def test_every_primitive_has_a_reading_in_sympy(rng):
    sympy = pytest.importorskip("sympy")
    readings = sympy_reading.readings(sympy)
    assert set(readings) == set(PRIMITIVES)
    for name, primitive in PRIMITIVES.items():
        for args in rng.uniform(0.2, 2.0, (3, primitive.arity)):
            found = float(readings[name](*map(sympy.Float, args)))
            assert found == pytest.approx(float(primitive.numpy(*map(np.asarray, args))), rel=1e-14)


def test_values_in_place_of_symbols_leave_numbers(rng):
    eq = dal.equations(PLANAR, ["M", "tau"]).subs_values()
    assert eq.symbols == {}
    assert eq.text("M").splitlines()[2] == "M₂₂ = 122.5"
    assert_right(PLANAR, eq, rng)


def test_one_symbol_by_name_and_the_rest_numbers():
    eq = dal.equations(PLANAR, "g", symbols=["g", "m_l2"])
    assert eq.symbols == {"m_l2": 50.0, "g": 9.81}
    assert eq.text() == "g₁ = (30 + m_l2) g c₁ + 1/2 mₗ₂ g c₁₂".replace("m_l2", "mₗ₂") + "\ng₂ = 1/2 mₗ₂ g c₁₂"


def test_symbols_are_those_that_occur():
    assert set(dal.equations(dal.robots.pelican(), "g").symbols) == {"m_1", "m_2", "a_1", "l_1", "l_2", "g"}


def test_numbers_are_shown_with_the_digits_asked_for():
    eq = dal.equations(dal.robots.pelican(), "g", symbols="gravity")
    assert "0.0468" in eq.latex(digits=3)
    assert "0.04684882" in eq.latex(digits=9)


def test_long_equations_are_broken_before_signs_and_outside_of_brackets_where_possible():
    lines = dal.equations(PLANAR, "tau").text(width=100).splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line.lstrip()[0] in "τ+−" for line in lines)
    assert all(line.count("(") == line.count(")") for line in lines)


def test_notebooks_show_mathematics():
    assert dal.equations(PLANAR, "g")._repr_latex_().startswith("$\\displaystyle \\begin{aligned}")


def test_progress_is_told_and_ends_at_one():
    for form in ("closed", "program"):
        told: list[float] = []
        dal.equations(dal.robots.pelican(), form=form, progress=told.append)
        assert told == sorted(told)
        assert told[-1] == 1.0
        assert len(told) > 1


def test_the_repr_says_what_there_is():
    assert repr(dal.equations(PLANAR)) == "Equations of 'two_link_planar': M, C, g, tau; closed form, 13 symbols"


def test_the_regressor_has_only_columns_that_act():
    eq = dal.equations(dal.robots.pelican(), ["Y", "phi"])
    assert eq.blocks["Y"].shape == (2, 6)
    assert eq.text("phi").splitlines()[:3] == ["φ₁ = m₁", "φ₂ = m₁ (l₁ − a₁)", "φ₃ = I₁ + m₁ (a₁² − 2 a₁ l₁ + l₁²)"]


def test_every_quantity_has_a_meaning():
    assert all(quantity.equation.meaning for quantity in EQUATIONS.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quantity": "tou"}, "quantity: 'tou' is not known; did you mean 'tau'?"),
        ({"symbols": "mases"}, "symbols: 'mases' is not known; did you mean 'masses'? Known: all, masses, lengths,"),
        ({"symbols": ["m_3"]}, "symbols: 'm_3' is not known; did you mean"),
        ({"form": "close"}, "form: 'close' is not known; did you mean 'closed'?"),
    ],
)
def test_what_is_not_known_is_refused_with_the_near_match(arguments, message):
    with pytest.raises(UnknownNameError) as refused:
        dal.equations(dal.robots.pelican(), **arguments)
    assert message in str(refused.value)


def test_a_quantity_that_was_not_asked_for_is_named_when_it_is_missed():
    eq = dal.equations(PLANAR, ["M", "g"])
    with pytest.raises(UnknownNameError, match=r"quantity: 'C' is not among these equations, which hold M, g. Ask for it"):
        _ = eq.C
    with pytest.raises(UnknownNameError, match="quantity: 'tau' is not among"):
        eq.latex("tau")


def test_a_closed_form_nobody_could_read_is_refused_with_a_way_out():
    start = time.perf_counter()
    with pytest.raises(ModelError, match=r"the closed form of tau of 'chain12' \(12 joints\) grows beyond reading") as refused:
        dal.equations(dal.robots.chain(12), "tau", form="closed")
    assert "Try form='program', fewer symbols, or a smaller quantity such as 'g'." in str(refused.value)
    assert time.perf_counter() - start < 20.0  # it gives up early instead of filling the memory


def test_something_else_than_a_robot_is_refused():
    with pytest.raises(dal.DalembertError, match=r"system: str found, a Robot is expected"):
        dal.equations("pelican")


def test_without_sympy_text_and_latex_are_there_and_fields_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    eq = dal.equations(dal.robots.pelican(), "g")
    assert eq.latex().startswith("\\begin{aligned}")
    with pytest.raises(MissingExtraError, match=r"equations in SymPy needs sympy, .* pip install sympy, or"):
        _ = eq.g
    with pytest.raises(MissingExtraError, match="sympy"):
        _ = eq.intermediates


def test_the_program_of_a_mechanism_runs_as_python_and_is_written_in_every_style():
    """Its positions are found by some turns of Newton's method, which has comparisons and, where it fails, NaN."""
    mechanism = dal.mechanisms.four_bar()
    found = dal.equations(mechanism, "tau", form="program", symbols=[])
    state = {"q_1": 1.0, "qd_1": 1.5, "qdd_1": -0.7}
    names = vars(math) | state
    exec(found.python(), names)
    assert names["tau_1"] == pytest.approx(dal.inverse_dynamics(mechanism, *([x] for x in state.values()))[0], rel=1e-11)
    assert "where([|" in found.text()
    assert r"\operatorname{where}([|" in found.latex()
