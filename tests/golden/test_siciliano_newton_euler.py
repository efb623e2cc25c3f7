"""The Newton-Euler recursion of [Siciliano, §7.5]: every step of the worked example, and the whole of it on a spatial arm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.model import Robot, Rotor
from dalembert.model.dh import from_dh
from tests.golden.formulas import draw, value
from tests.golden.newton_euler_tables import link_recursion
from tests.golden.reading import golden, robot_of
from tests.robots import relative_error

TOLERANCE = 1e-12  # closed forms of a few dozen operations on numbers of the size of one
CASES = golden("siciliano_newton_euler")["cases"]
STEPS = [(name, link) for link in (1, 2) for name in ("omega", "domega", "pdd", "pdd_C", "domega_m", "f", "mu")]


def formula(name: str, link: int) -> Any:
    """The golden formula of a step; only μ_z is printed."""
    key = f"{name}{link}" if name.endswith(("_C", "_m")) else f"{name}_{link}"
    return CASES[f"001.7.5.3.{key}z" if name == "mu" else f"001.7.5.3.{key}"]["value"]


@pytest.fixture
def symbols(rng: np.random.Generator) -> dict[str, float]:
    v = draw(rng, [formula(*step) for step in STEPS], CASES["001.7.5.3.tau"]["value"])
    return v | {"lC1": -v["lC1"], "lC2": -v["lC2"], "I1zz": v["I1zz"] + v["Im2"]}  # augmented link 1 contains rotor 2


def arm(v: dict[str, float]) -> Robot:
    """The two-link planar arm by its augmented links: m_i, ℓ_Ci, Ī_izz."""
    tensors = {1: v["I1zz"] - v["Im2"], 2: v["I2zz"]}
    rows = [
        {
            "a": v[f"a{i}"],
            "mass": v[f"m{i}"],
            "com": (v[f"lC{i}"], 0, 0),
            "inertia": (0, 0, tensors[i]),
            "rotor": Rotor(v[f"Im{i}"], v[f"kr{i}"], "full"),
        }
        for i in (1, 2)
    ]
    return from_dh(rows, convention="standard", gravity=(0, -v["g"], 0))


def state(v: dict[str, float]) -> list[np.ndarray]:
    return [np.array([v[f"{d}th{i}"] for i in (1, 2)]) for d in ("", "d", "dd")]


@pytest.mark.parametrize(("name", "link"), STEPS)
def test_a_step_of_section_7_5_3_is_the_book_s(name: str, link: int, symbols: dict[str, float]) -> None:
    found = dal.terms(arm(symbols), *state(symbols), formulation="newton_euler", names=[name])[name][link - 1]
    expected = value(formula(name, link), symbols)
    if name == "mu":
        assert found[2] == pytest.approx(expected, rel=TOLERANCE)
    else:
        assert relative_error(found, expected) < TOLERANCE


def test_the_torques_of_section_7_5_3_are_the_book_s(symbols: dict[str, float]) -> None:
    steps = dal.recursion(arm(symbols), *state(symbols))
    assert relative_error(steps.tau, value(CASES["001.7.5.3.tau"]["value"], symbols)) < TOLERANCE


@pytest.mark.parametrize("name", ["newton_euler", "newton_euler_base"])
def test_the_recursion_with_rotors_friction_and_a_tip_wrench_gives_the_oracle_s_torques(name: str) -> None:
    """001.7.5.recursion: Eq. 7.107-7.114 transcribed, on an arm with a sliding joint and rotors in any direction."""
    data = golden("serial_std_RPR")
    given = data["input"]
    q, qd, qdd = (np.array(given[key]) for key in ("q", "qd", "qdd"))
    expected = np.array(data["expected"]["tau"])
    assert relative_error(link_recursion(given["robot"], q, qd, qdd, given["he"])["tau"], expected) < TOLERANCE
    tau = dal.inverse_dynamics(robot_of(given["robot"]), q, qd, qdd, wrenches={"tool": -np.array(given["he"])}, formulation=name)
    assert relative_error(tau, expected) < TOLERANCE


def test_every_step_on_a_spatial_arm_with_rotors_is_that_of_the_transcribed_recursion() -> None:
    given = golden("serial_std_RPR")["input"]
    q, qd, qdd = (np.array(given[key]) for key in ("q", "qd", "qdd"))
    found = dal.terms(robot_of(given["robot"]), q, qd, qdd, formulation="newton_euler")
    for name, expected in link_recursion(given["robot"], q, qd, qdd).items():
        assert relative_error(found[name], expected) < TOLERANCE, name
