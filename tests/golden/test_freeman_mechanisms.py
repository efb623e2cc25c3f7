"""[Freeman, Appendices C and E] by the library's mechanisms: Tables C-1 to C-3, E-1, E-2 and (E-7).

The catalogue has the documents' mechanisms in SI units. A coordinate in radians is the same in both systems, and one in inches
is 1/0.0254 of that in metres; energies are in inch pounds. So a generalised inertia is brought to the printed units by a factor
for each of its coordinates, and one for the energy.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert import transfer
from dalembert.model.position_functions import JointSum
from tests.golden.freeman_arms import CASES, leg
from tests.robots import relative_error

INCH, POUND = 0.0254, 4.4482216152605  # m, N
ENERGY = INCH * POUND
COMPUTED = 1e-7  # the tables recomputed from the same derived data
ROUNDING = 1e-10  # what two ways to compute the same may differ by
W = np.array([1.0, INCH, INCH, 1.0])  # (φ1, x, y, θ) of the five-bar's end
JOINTS = ("joint1", "joint2", "joint3", "joint4", "joint5")
PLATFORM = np.array([INCH, INCH, 1.0])


def printed_units(array: Any, *scales: np.ndarray, energy: float = ENERGY) -> np.ndarray:
    """A quantity over coordinates in SI units, each axis with the factors of its coordinates, in the document's units."""
    result = np.asarray(array) / energy
    for axis, scale in enumerate(scales):
        shape = [1] * result.ndim
        shape[axis] = -1
        result = result * scale.reshape(shape)
    return result


# Appendix C: the five-bar


@pytest.fixture(scope="module")
def five_bar() -> dal.Mechanism:
    return dal.mechanisms.five_bar()


@pytest.fixture(scope="module")
def opened(five_bar: dal.Mechanism) -> dal.Mechanism:
    """The chain opened at h in w = (φ1, x, y, θ) (C-4): as many coordinates as joints, and no closures."""
    end = dal.point_of("link4", point=(12 * INCH, 0, 0), axes="xy")
    return dal.Mechanism("opened", five_bar.robot, (), ["joint1", *end, five_bar.coordinates[1]], five_bar.seed)


MOTION = ([2.0, 3.0], [1.0, 0.5])  # of φ1 and θ, Table C-1


def test_the_five_bar_of_the_catalogue_is_that_of_the_document(five_bar: dal.Mechanism) -> None:
    """004.tableC.geometry, 004.fivebar.mechanism: posture, A, h, and that it is closed there."""
    case = CASES["004.tableC.geometry"]["value"]
    assert np.degrees(five_bar.seed) == pytest.approx(case["phi_deg"], abs=1e-12)
    frames = dal.forward_kinematics(five_bar, five_bar.q0, ["link2", "tool"]) / INCH
    assert frames[0, :2, 3] == pytest.approx(case["A"], abs=1e-12)
    assert frames[1, :2, 3] == pytest.approx(case["h"], abs=1e-12)
    assert five_bar.residual(five_bar.seed) < 1e-14


def test_table_c_2_by_influence_coefficients(five_bar: dal.Mechanism) -> None:
    """004.tableC-2: the open chain, one unit of the last printed digit, and as recomputed."""
    case = CASES["004.tableC-2"]
    printed, computed = case["value"], case["computed"]
    chain, q = five_bar.robot, five_bar.seed
    w = transfer.stack(transfer.linear(np.eye(4)[:1]), transfer.rows(dal.influence(chain, q), [0, 1, 5]))
    G, H = w.G / W[:, None], w.H / W[:, None, None]
    model = transfer.open_chain(chain, q)
    assert np.abs(G - printed["G_w_phi"]).max() < 0.0101
    assert relative_error(G[1:3], np.array([computed["G_x"], computed["G_y"]])) < COMPUTED
    larger = np.maximum.outer(range(4), range(4))  # entry (m, n) of the printed planes is that of the later joint
    assert relative_error(H[1], -G[2][larger]) < ROUNDING
    assert relative_error(H[2], G[1][larger]) < ROUNDING
    assert relative_error(model.I / ENERGY, computed["I_star"]) < COMPUTED
    assert relative_error(model.P / ENERGY, computed["P_star"]) < COMPUTED
    assert np.abs(model.I[:2, :2] / ENERGY - printed["I_star"]).max() < 0.00101


def test_table_c_3_by_a_mechanism_in_inputs_and_constraints(opened: dal.Mechanism) -> None:
    """004.tableC-3.T, .I, .P: one unit of the last printed digit, and as recomputed."""
    (y1, y4), (a1, a4) = MOTION
    T = dal.inverse_dynamics(opened, opened.q0, [y1, 0, 0, y4], [a1, 0, 0, a4])
    found = {
        "T": printed_units(T, W),
        "I": printed_units(dal.mass_matrix(opened, opened.q0), W, W),
        "P": printed_units(dal.christoffel(opened, opened.q0), W, W, W),
    }
    for name, array in found.items():
        case = CASES[f"004.tableC-3.{name}"]
        printed = case["value"]["T_w"] if name == "T" else case["value"]
        assert np.abs(array - printed).max() < case["tol"], name
        assert np.abs(array - case["computed"]).max() < COMPUTED, name


def test_tables_c_1_and_c_3_by_the_closed_mechanism(five_bar: dal.Mechanism) -> None:
    """004.tableC-3.T, 004.tableC-1: torques at the inputs, and the force at h as what its closure exerts on link 4."""
    T = np.array(CASES["004.tableC-3.T"]["computed"])
    case = CASES["004.tableC-1"]
    q = five_bar.q0
    tau = dal.inverse_dynamics(five_bar, q, *MOTION) / ENERGY
    force = dal.constraint_forces(five_bar, q, *MOTION).closures[0, :2] / POUND
    assert np.abs(tau - T[[0, 3]]).max() < COMPUTED
    assert np.abs(force - T[1:3]).max() < COMPUTED
    assert tau == pytest.approx([case["value"]["T1"], case["value"]["T2"]], abs=0.005)
    assert force == pytest.approx(case["value"]["F_H"], abs=0.005)
    # At A, link 1 pulls link 2: the wrench that the second joint transmits, in world axes.
    at_A = dal.link_wrenches(five_bar, q, *MOTION, frame="world")[1, :2] / POUND
    assert at_A == pytest.approx(case["computed"]["F_A"], rel=COMPUTED)
    assert at_A == pytest.approx(case["value"]["F_A"], abs=0.005)


def test_table_c_1_s_motion_by_the_closed_mechanism(five_bar: dal.Mechanism) -> None:
    """004.tableC-1: the pins A and B, link 2 and its centre."""
    case = CASES["004.tableC-1"]
    printed, computed = case["value"], case["computed"]
    A, B = (dal.link_motion(five_bar, five_bar.q0, *MOTION, link=link) for link in ("link2", "link4"))
    centre = dal.link_motion(five_bar, five_bar.q0, *MOTION, link="link2", point=(12 * INCH, 0, 0))
    assert A.velocity[:2] / INCH == pytest.approx(computed["A_vel"], rel=COMPUTED)
    assert [A.velocity[5], A.acceleration[5]] == pytest.approx([computed["omega2"], computed["alpha2"]], rel=COMPUTED)
    assert centre.acceleration[:2] / INCH == pytest.approx(computed["centroid_acc"], rel=COMPUTED)
    for motion, name in ((A, "A"), (B, "B")):
        assert motion.velocity[:2] / INCH == pytest.approx(printed[name]["vel"], abs=0.005)
        assert motion.acceleration[:2] / INCH == pytest.approx(printed[name]["acc"], abs=0.0051)  # half a unit


@pytest.mark.slow
@pytest.mark.parametrize("pair", list(combinations(JOINTS, 2)), ids="-".join)
def test_any_two_joints_of_the_five_bar_may_drive_it(five_bar: dal.Mechanism, pair: tuple[str, str]) -> None:
    """Chapter IV, "any set of the linkage joints": the same motion needs the same power."""
    linkage = dal.mechanisms.five_bar(pair)
    qd, qdd = np.array(MOTION[0]), np.array(MOTION[1])
    turned = [dal.link_motion(five_bar, five_bar.q0, qd, qdd, link=f"link{k}") for k in (1, 2, 3, 4)]
    w, alpha = (np.array([getattr(m, name)[5] for m in turned]) for name in ("velocity", "acceleration"))
    places = [JOINTS.index(joint) for joint in pair]
    yd, ydd = (np.array([*np.diff(x, prepend=0.0), x[3]])[places] for x in (w, alpha))  # joint 5 is the angle of link 4
    tau = dal.inverse_dynamics(linkage, linkage.q0, yd, ydd)
    assert tau @ yd == pytest.approx(dal.inverse_dynamics(five_bar, five_bar.q0, qd, qdd) @ qd, rel=ROUNDING)


# Appendix E: the platform on three legs


def relative_to_size(found: np.ndarray, printed: Any) -> float:
    """The largest difference of an entry beside 1 + its size: half a unit of three decimals is 5e-4, and one is off by 6.1e-4."""
    return float((np.abs(found - printed) / (1 + np.abs(printed))).max())


@pytest.fixture(scope="module")
def platform() -> dal.Mechanism:
    return dal.mechanisms.planar_3rrr("platform")


def turns(mechanism: dal.Mechanism, *links: str) -> dal.Influence:
    """First and second derivatives of the angles of links by the platform's coordinates, in the document's units."""
    found = [transfer.rows(dal.influence(mechanism, mechanism.q0, link), [5]) for link in links]
    whole = transfer.stack(*found)
    return whole._replace(G=whole.G * PLATFORM, H=whole.H * PLATFORM[:, None] * PLATFORM)


def test_the_legs_of_the_catalogue_are_those_of_the_document(platform: dal.Mechanism) -> None:
    """004.appendixE.geometry: the recovered vectors to the centre of the platform."""
    case = CASES["004.appendixE.geometry"]["value"]
    frames = dal.forward_kinematics(platform, platform.q0, [f"leg{r}_link{k}" for r in (1, 2, 3) for k in (1, 2)])
    vectors = np.array(case["vectors_P_minus_R"])[:, :2].reshape(6, 2)
    assert frames[:, :2, 3] / INCH == pytest.approx(-vectors, abs=1e-12)
    assert dal.forward_kinematics(platform, platform.q0)[:2, 3] == pytest.approx(0.0, abs=1e-15)


def test_table_e_2_by_the_mechanism_in_platform_coordinates(platform: dal.Mechanism) -> None:
    """004.tableE-2: half a unit of the last printed digit, and as recomputed."""
    case = CASES["004.tableE-2"]
    base = turns(platform, "leg1_link1", "leg2_link1", "leg3_link1")
    found = {
        "G": base.G,
        "H": base.H,
        "I": printed_units(dal.mass_matrix(platform, platform.q0), PLATFORM, PLATFORM),
        "P": printed_units(dal.christoffel(platform, platform.q0), PLATFORM, PLATFORM, PLATFORM),
    }
    for name, array in found.items():
        assert relative_to_size(array, case["value"][name]) < case["tol"], name
        assert relative_error(array, case["computed"][name]) < COMPUTED, name


def test_equation_e_7_by_the_mechanism_in_its_base_joints() -> None:
    """004.eqE-7: constant moments and no velocity torques, anywhere."""
    case, mechanism = CASES["004.eqE-7"], dal.mechanisms.planar_3rrr()
    q = np.array([[0.0, 0.0, 0.0], [0.1, -0.2, 0.15]])
    assert relative_error(dal.mass_matrix(mechanism, q) / ENERGY, [case["value"]["I_qq"]] * 2) < case["tol"]
    assert np.abs(dal.christoffel(mechanism, q) / ENERGY).max() < case["tol"]


def test_table_e_1_by_one_leg_as_a_mechanism() -> None:
    """004.tableE-1: leg 1 alone, in inches as printed, in coordinates of the platform that it carries."""
    case = CASES["004.tableE-1"]
    arm = leg(0)
    centre = arm.tool.pose[:3, 3]
    angle = dal.Chosen("yaw", JointSum(dict.fromkeys(arm.joint_names, 1.0)))
    alone = dal.Mechanism("leg", arm, (), [*dal.point_of("link3", point=centre, axes="xy"), angle])
    joints = transfer.stack(*(transfer.rows(dal.influence(alone, alone.q0, f"link{k}"), [5]) for k in (1, 2, 3)))
    relative = np.eye(3) - np.eye(3, k=-1)  # joint angles are differences of link angles
    found = {
        ("G", "G"): transfer.rows(dal.influence(arm, np.zeros(3)), [0, 1, 5]).G,
        ("G_w", "Gw"): relative @ joints.G,
        ("H_ww", "Hw"): np.einsum("ij,jkl->ikl", relative, joints.H),
        ("I_ww", "I_ww"): dal.mass_matrix(alone, alone.q0),
        ("P_www", "P_www"): dal.christoffel(alone, alone.q0),
    }
    for (in_print, again), array in found.items():
        assert relative_to_size(array, case["value"][in_print]) < case["tol"], in_print
        assert relative_error(array, case["computed"][again]) < COMPUTED, in_print
