"""Every closed form of [Laus], evaluated at random numbers, against what the library computes for the same arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.dh import dh_transform
from tests.golden.formulas import value
from tests.golden.laus_arm import CASES, LINKS, arm, crucible, numbers, rotation_first, state, terms
from tests.robots import relative_error

TOLERANCE = 1e-10  # of the golden files, relative to one or the largest entry; closed forms of a few dozen operations
Numbers = Mapping[str, float]


def link_of(name: str) -> int:
    """The number of the link an identifier speaks of: 000.eq45.J20 is about link 2."""
    return int("".join(c for c in name.split(".")[-1] if c.isdigit())[0])


def pose(name: str, v: Numbers) -> np.ndarray:
    return dal.forward_kinematics(arm(v), state(v)[0], f"link{link_of(name)}")


def centre(name: str, v: Numbers) -> np.ndarray:
    i = link_of(name)
    return (pose(name, v) @ [v[f"l{i}"] - v[f"a{i}"], 0.0, 0.0, 1.0])[:3]


def transformation(name: str, v: Numbers) -> np.ndarray:
    return rotation_first(rotation_first(terms(v)["T"][int(name[-1]) - 1]).T).T


def jacobian(term: str) -> Callable[[str, Numbers], np.ndarray]:
    def found(name: str, v: Numbers) -> np.ndarray:
        i = link_of(name)
        J = rotation_first(terms(v)[term][i - 1])
        assert not J[:, i:].any()  # 6 x i, the rest are the zeros of the growing sum
        return J[:, :i]

    return found


def of_link(term: str) -> Callable[[str, Numbers], np.ndarray]:
    def found(name: str, v: Numbers) -> np.ndarray:
        i = link_of(name)
        own = terms(v)[term][i - 1]
        assert np.count_nonzero(own) == np.count_nonzero(own[(slice(i),) * own.ndim])
        return own[(slice(i),) * own.ndim]

    return found


def principal_screws(v: Numbers) -> np.ndarray:
    """S_C of the first link if its radii of gyration are a, b, c."""
    moments = v["m1"] * np.array([v["a"], v["b"], v["c"]]) ** 2
    robot = arm({**v, **dict(zip(("Ix1", "Iy1", "Iz1"), moments, strict=True))}, 1)
    rows = dal.terms(robot, [0.3], formulation="screw", names=["principal_screws"])["principal_screws"][0]
    return np.roll(rows, 3, axis=1)


def symmetric_mass(name: str, v: Numbers) -> np.ndarray:
    M = terms(v)["Mbar"][link_of(name) - 1]
    return rotation_first(rotation_first(M).T).T


def grown(quantity: str) -> Callable[[str, Numbers], np.ndarray]:
    """The Pelican to which the crucible is attached when its model is already there."""

    def found(name: str, v: Numbers) -> np.ndarray:
        q, qd = state(v)
        model = dal.progressive(arm(v, 2)).attach(crucible(v), joint="revolute")
        return getattr(model, quantity)(*((q, qd) if quantity == "coriolis_matrix" else (q,)))

    return found


def of_pelican(quantity: str) -> Callable[[str, Numbers], np.ndarray]:
    return lambda name, v: terms(v, 2)[quantity]


FOUND: dict[str, Callable[[str, Numbers], Any]] = {
    "000.eq37.Mbar1": symmetric_mass,
    "000.eq37.Mbar2": symmetric_mass,
    "000.eq8.SC": lambda name, v: principal_screws(v),
    "000.eq8.SCtSC": lambda name, v: principal_screws(v).T @ principal_screws(v),
    "000.eq45.J10": jacobian("J0"),
    "000.eq45.J20": jacobian("J0"),
    "000.eq58.m3_11.printed": lambda name, v: terms(v)["M_links"][2][0, 0],
    "000.eq59.c3_12.printed": lambda name, v: terms(v)["C_links"][2][0, 1],
    "000.eq59.c3_22.printed": lambda name, v: terms(v)["C_links"][2][1, 1],
    "000.eq62.M": grown("mass_matrix"),
    "000.eq63.C": grown("coriolis_matrix"),
    "000.eq64.g": grown("gravity_torque"),
    "000.pelican.M": of_pelican("M"),
    "000.pelican.C": of_pelican("C"),
    "000.pelican.g": of_pelican("g"),
}
FOUND |= {f"000.A{i}0": pose for i in LINKS}
FOUND |= {f"000.pC{i}": centre for i in LINKS}
FOUND |= {f"000.T0C{i}": transformation for i in LINKS}
FOUND |= {f"000.JC{i}": jacobian("J") for i in LINKS}
FOUND |= {f"000.Jbar{i}0": jacobian("Jbar") for i in LINKS}
for _letter in "MCg":
    FOUND |= {f"000.{_letter}{i}": of_link(f"{_letter}_links") for i in LINKS}


@pytest.fixture(scope="module")
def v() -> dict[str, float]:
    return numbers(np.random.default_rng(4)) | {
        "th1": 0.4,
        "th2": -0.9,
        "th3": 1.3,
        "dth1": 0.7,
        "dth2": -1.1,
        "dth3": 0.6,
        "m3": 1.5,
    }


def test_every_item_of_the_document_is_tested_here() -> None:
    assert set(CASES) == {*FOUND, "000.table1.dh", "000.numeric"}


@pytest.mark.parametrize("name", FOUND)
def test_a_closed_form_of_the_document_is_what_the_library_computes(name: str, v: dict[str, float]) -> None:
    wanted = np.array(value(CASES[name]["value"], v), dtype=float)
    assert relative_error(np.asarray(FOUND[name](name, v)), wanted) < TOLERANCE


@pytest.mark.parametrize("name", [name for name in FOUND if "printed" in CASES[name]])
def test_a_closed_form_that_was_corrected_is_not_what_is_printed(name: str, v: dict[str, float]) -> None:
    assert abs(FOUND[name](name, v) - value(CASES[name]["printed"], v)) > 1e-2


def test_the_table_of_the_arm_leads_to_the_tip(v: dict[str, float]) -> None:
    X = np.eye(4)
    for row in CASES["000.table1.dh"]["value"]:
        X = X @ dh_transform("standard", *(value(row[column], v) for column in ("theta", "d", "a", "alpha")))
    assert relative_error(dal.forward_kinematics(arm(v), state(v)[0]), X) < TOLERANCE


@pytest.mark.parametrize("attached", [False, True])
def test_the_numbers_of_the_arm_with_crucible(attached: bool) -> None:
    data = CASES["000.numeric"]["value"]
    v = data["values"]
    q, qd = state(v)
    found = terms(v)
    if attached:
        model = dal.progressive(arm(v, 2)).attach(crucible(v), joint="revolute")
        found = {"M": model.mass_matrix(q), "C": model.coriolis_matrix(q, qd), "g": model.gravity_torque(q)}
    for name in ("M", "C", "g"):
        assert relative_error(found[name], np.array(data[name])) < CASES["000.numeric"]["tol"]
    assert relative_error(terms(v, 2)["M"], np.array(data["M_pelican"])) < CASES["000.numeric"]["tol"]


def test_the_passive_joint_moves_as_if_no_torque_were_there(v: dict[str, float]) -> None:
    """τ = (τ1, τ2, 0) [Laus, §3.2]: what the crucible's row of the equations of motion leaves."""
    joint = dal.Joint("hook", "revolute", "link2", "crucible", limits=dal.Limits(effort=0.0))
    robot = dal.attach(arm(v, 2), crucible(v), joint=joint)
    q, qd = state(v)
    qdd = dal.forward_dynamics(robot, q, qd, [1.0, -2.0, 0.0])
    tau = dal.progressive(arm(v, 2)).attach(crucible(v), joint=joint).inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(tau, [1.0, -2.0, 0.0], atol=TOLERANCE)
    assert robot.structure.joint("hook").limits.effort == 0.0
