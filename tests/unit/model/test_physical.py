"""Every finding: its sentence, and that it is an error under strict."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import numpy as np
import pytest

from dalembert.errors import DalembertWarning, ModelError
from dalembert.model import Body, Friction, Joint, Limits, Link, Motor, Robot, Rotor, Tool, idle, physical
from dalembert.robots import chain

SOLID = np.diag([0.2, 0.2, 0.3])


def one_joint(link: Link | None = None, *, joint: dict[str, Any] | None = None, **parts: Any) -> Robot:
    link = link or Link("arm", 1.0, np.zeros(3), SOLID)
    return Robot.from_parts("toy", [Link("base"), link], [Joint("j", "revolute", "base", "arm", **(joint or {}))], **parts)


def shifted(x: float) -> np.ndarray:
    X = np.eye(4)
    X[0, 3] = x
    return X


SPINNER = {"inertia": 0.01, "model": "full", "mass": 1.0}

CASES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "negative-mass",
        r"^link 'arm': mass -1 kg found; it needs to be zero or positive\.",
        {"link": Link("arm", -1.0, inertia=SOLID)},
    ),
    (
        "indefinite-inertia",
        r"^link 'arm': inertia about the centre of mass has principal values 0\.1, 0\.1, -0\.05 kg m²; all need to be positive\. "
        r".*Nearest valid: \[\[0\.125, 0\.   , 0\.   \], \[0\.   , 0\.125, 0\.   \], \[0\.   , 0\.   , 0\.   \]\]\.$",
        {"link": Link("arm", 1.0, inertia=np.diag([0.1, 0.1, -0.05]))},
    ),
    (
        "triangle-inequality",
        r"^link 'arm': .* principal values 0\.4, 0\.2, 0\.1 kg m²; .* but 0\.4 > 0\.3\. .*Nearest valid: \[\[0\.15",
        {"link": Link("arm", 1.0, inertia=np.diag([0.1, 0.2, 0.4]))},
    ),
    (
        "triangle-inequality",
        r"^link 'arm', body 'motor': .* principal values",
        {"link": Link("arm", 1.0, inertia=SOLID, bodies=(Body("motor", 1.0, inertia=np.diag([1, 1, 3.0])),))},
    ),
    ("negative-mass", r"^payload: mass -2 kg found", {"payload": Body("payload", -2.0)}),
    ("long-link", r"^joint 'j': it stands 250 m from link 'base'.*millimetres\?$", {"joint": {"origin": shifted(250.0)}}),
    ("long-link", r"^joint 'j': it stands 250 m", {"joint": {"child_origin": shifted(250.0)}}),
    (
        "large-angle",
        r"^joint 'j': upper limit 90 rad is beyond two full turns \(4π\)\. Is it in degrees\?$",
        {"joint": {"limits": Limits(0, 90)}},
    ),
    ("large-angle", r"^joint 'j': lower limit -90 rad", {"joint": {"limits": Limits(-90, 0)}}),
    ("large-angle", r"^joint 'j': home 45 rad", {"joint": {"home": 45.0}}),
    (
        "negative-friction",
        r"^joint 'j': viscous friction -0\.1 is negative.*Give the magnitude\.$",
        {"friction": {"j": Friction(-0.1)}},
    ),
    ("negative-friction", r"^joint 'j': coulomb friction -0\.1", {"friction": {"j": Friction(0, -0.1)}}),
    ("negative-friction", r"^joint 'j': coulomb_negative friction -0\.2", {"friction": {"j": Friction(0, 0.1, -0.2)}}),
    ("negative-rotor", r"^rotor of joint 'j': inertia -0\.01 kg m² found.*sign of `ratio`\.$", {"rotors": {"j": Rotor(-0.01)}}),
    ("negative-rotor", r"^rotor of joint 'j': mass -1 kg found", {"rotors": {"j": Rotor(0.01, 1.0, "full", mass=-1.0)}}),
    (
        "unequal-constants",
        r"^motor of joint 'j': torque constant 0\.05 N m/A and back-EMF constant 5\.2 V s/rad found; .*1000 rpm",
        {"motors": {"j": Motor(1.0, 0.05, 5.2)}},
    ),
    (
        "low-breakaway",
        r"^joint 'j': breakaway friction 1 is below the Coulomb level 2; .*Are the two exchanged\?$",
        {"friction": {"j": Friction(0, 2.0, breakaway=1.0, stribeck_velocity=0.1)}},
    ),
    (
        "gravity-up",
        r"^gravity: \[0.  , 0.  , 9.81\] m/s² points straight up; kept as given\. .*Then turn its sign\.$",
        {"gravity": (0, 0, 9.81)},
    ),
    (
        "large-inertia",
        r"^link 'arm': inertia 1e\+07 kg m² of a mass of 4 kg means a radius of gyration of 1581.14 m, more than the 10 m",
        {"link": Link("arm", 4.0, inertia=1e7 * np.eye(3))},
    ),
    (
        "far-centre",
        r"^link 'arm': its centre of mass stands 120 m from its frame, more than the 10 m .*millimetres\?$",
        {"link": Link("arm", 4.0, (120.0, 0, 0), SOLID)},
    ),
    ("no-dynamics", r"^robot 'toy': no moving link has mass or inertia, so only kinematics", {"link": Link("arm")}),
]


@pytest.mark.parametrize(("code", "sentence", "parts"), CASES)
def test_a_doubtful_number_warns_with_its_code_and_sentence(code: str, sentence: str, parts: dict[str, Any]) -> None:
    with pytest.warns(DalembertWarning, match=sentence) as caught:
        one_joint(**parts)
    assert [w.message.code for w in caught] == [code]


@pytest.mark.parametrize(("code", "sentence", "parts"), CASES)
def test_a_doubtful_number_is_an_error_under_strict(code: str, sentence: str, parts: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=sentence):
        one_joint(**parts, strict=True)


def test_a_base_link_with_negative_mass_is_found() -> None:
    with pytest.raises(ModelError, match="link 'base': mass -3 kg"):
        Robot.from_parts("toy", [Link("base", -3.0)], [], strict=True)


def test_a_warning_points_at_the_line_that_builds_the_robot() -> None:
    with pytest.warns(DalembertWarning) as caught:
        one_joint(Link("arm"))
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "tensor",
    [np.diag([0, 0, 0.3]), np.diag([0, 0.35, 0]), np.diag([0.1, 0.1, 0.0]), np.diag([0.123, 0.456, 0.5791]), np.zeros((3, 3))],
    ids=["planar z", "planar y", "thin rod", "flat plate rounded in print", "point mass"],
)
def test_textbook_tensors_are_accepted(tensor: np.ndarray) -> None:
    assert one_joint(Link("arm", 1.0, (0.5, 0, 0), tensor), strict=True).notes == ()


def test_the_nearest_inertia_of_a_valid_tensor_is_itself() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(8, 3))
    I = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
    np.testing.assert_allclose(physical.nearest_inertia(I), I, rtol=1e-13, atol=1e-13)


def test_the_nearest_inertia_is_always_valid() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        A = rng.normal(size=(3, 3))
        moments = np.linalg.eigvalsh(physical.nearest_inertia(A + A.T))
        assert moments[0] >= -1e-12
        assert moments[0] + moments[1] >= moments[2] - 1e-12


def two_joints(
    first: Link, second: Link, extra: tuple[Link, ...] = (), joints: tuple[Joint, ...] = (), **parts: Any
) -> list[physical.Finding]:
    chain_of_two = (Joint("j1", "revolute", "base", "one"), Joint("j2", "revolute", "one", "two", axis=(1, 0, 0)), *joints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        robot = Robot.from_parts("toy", [Link("base"), first, second, *extra], chain_of_two, **parts)
    return physical.findings(robot)


HEAVY_ONE, HEAVY_TWO = Link("one", 1.0, inertia=SOLID), Link("two", 1.0, inertia=SOLID)


def test_a_massless_link_that_carries_others_is_found() -> None:
    (finding,) = two_joints(Link("one"), HEAVY_TWO)
    assert finding.code == "massless-link"
    assert finding.message == (
        "link 'one': it is moved by joint 'j1' but has neither mass nor inertia. "
        "Give its mass and inertia, or mark a frame between joints as virtual=True."
    )


def test_a_massless_tip_makes_the_mass_matrix_singular() -> None:
    (finding,) = two_joints(HEAVY_ONE, Link("two"))
    assert finding.message.endswith("so the mass matrix will be singular. Give masses, or fix the joint.")


def test_a_massless_tip_whose_joint_turns_a_rotor_is_not_called_singular() -> None:
    (finding,) = two_joints(HEAVY_ONE, Link("two"), rotors={"j2": Rotor(0.01, 100)})
    assert "singular" not in finding.message


def test_a_massless_link_is_an_error_under_strict() -> None:
    with pytest.raises(ModelError, match="neither mass nor inertia"):
        two_joints(Link("one"), HEAVY_TWO, strict=True)


@pytest.mark.parametrize(
    ("first", "second", "parts"),
    [
        (Link("one", virtual=True), HEAVY_TWO, {}),
        (Link("one", bodies=(Body("counterweight", 2.0),)), HEAVY_TWO, {}),
        (HEAVY_ONE, Link("two"), {"payload": Body("payload", 1.0)}),
        (Link("one"), HEAVY_TWO, {"rotors": {"j2": Rotor(**SPINNER)}}),
        (
            Link("one"),
            HEAVY_TWO,
            {"extra": (Link("cover", 1.0),), "joints": (Joint("screw", "fixed", "one", "cover"),), "tool": Tool("two")},
        ),
    ],
    ids=["virtual frame", "body on it", "payload on it", "full rotor on it", "cover fixed on it"],
)
def test_a_link_is_not_massless_when_its_rigid_group_is_heavy(first: Link, second: Link, parts: dict[str, Any]) -> None:
    assert "massless-link" not in [finding.code for finding in two_joints(first, second, **parts)]


def test_massless_frames_fixed_on_the_base_or_a_heavy_link_are_fine() -> None:
    extra = (Link("world_frame"), Link("tool0"))
    joints = (Joint("f1", "fixed", "base", "world_frame"), Joint("f2", "fixed", "two", "tool0"))
    assert two_joints(HEAVY_ONE, HEAVY_TWO, extra=extra, joints=joints) == []


def test_a_kinematic_robot_gives_one_finding_only() -> None:
    (finding,) = two_joints(Link("one"), Link("two"))
    assert finding.code == "no-dynamics"


def test_a_base_far_from_the_world_origin_is_fine() -> None:
    arm = Link("arm", 1.0, inertia=SOLID)
    joints = [Joint("place", "fixed", "world", "base", origin=shifted(50.0)), Joint("j", "revolute", "base", "arm")]
    assert Robot.from_parts("toy", [Link("world"), Link("base"), arm], joints, strict=True).notes == ()


@pytest.mark.parametrize("gravity", [(0, 0, 0), (0, 9.81, 0), (9.81, 0, 0), (6.2, -3.4, 7.6), (0, 0, -9.81)])
def test_gravity_in_any_other_direction_is_fine(gravity: tuple[float, float, float]) -> None:
    assert one_joint(gravity=gravity, strict=True).notes == ()


def test_an_inertia_without_mass_is_fine() -> None:
    assert one_joint(Link("arm", 0.0, inertia=1e3 * np.eye(3)), strict=True).notes == ()


def test_limits_of_two_full_turns_are_fine() -> None:
    assert one_joint(joint={"limits": Limits(-4 * math.pi, 4 * math.pi)}, strict=True).notes == ()


def test_a_copy_does_not_repeat_its_original_s_warning() -> None:
    with pytest.warns(DalembertWarning):
        robot = one_joint(Link("arm", -1.0, inertia=SOLID))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copy = robot.with_gravity((0, 0, 0))
    assert copy.notes == robot.notes != ()


def test_a_note_goes_when_the_number_is_mended() -> None:
    with pytest.warns(DalembertWarning):
        robot = one_joint(Link("arm", -1.0, inertia=SOLID))
    mended = robot.replace(parameters=robot.parameters.replace(links=(Link("base"), Link("arm", 1.0, inertia=SOLID))))
    assert mended.notes == ()


def test_three_hundred_links_are_checked_within_fifty_milliseconds() -> None:
    robot = chain(300)
    elapsed = []
    for _ in range(5):
        start = time.perf_counter()
        assert physical.findings(robot) == []
        elapsed.append(time.perf_counter() - start)
    assert min(elapsed) < 0.05


def test_notes_come_in_the_order_of_the_joints_whatever_the_order_of_the_parts() -> None:
    links = [Link(name, 1.0, np.zeros(3), SOLID) for name in ("base", "a", "b")]
    joints = [Joint("first", "revolute", "base", "a"), Joint("second", "revolute", "a", "b")]
    rotors = {"second": Rotor(-0.1), "first": Rotor(-0.1)}
    friction = {"second": Friction(-1.0), "first": Friction(-1.0)}
    with pytest.warns(DalembertWarning):
        notes = Robot.from_parts("toy", links, joints, rotors=rotors, friction=friction).notes
    assert [("first" in note) for note in notes] == [True, False] * 2


def test_an_indefinite_tensor_as_small_as_numbers_get_is_described() -> None:
    with pytest.warns(DalembertWarning, match="Nearest valid"):
        one_joint(Link("arm", 1.0, inertia=np.diag([1e-307, 0.0, -1e-307])))


def test_a_joint_that_moves_no_inertia_is_found_when_the_robot_is_built() -> None:
    links = [Link("base"), Link("arm", 1.0, (0, 0, 0.4))]
    joints = [Joint("j", "revolute", "base", "arm")]
    with pytest.warns(DalembertWarning, match=r"^joint 'j': it moves no inertia, so the mass matrix is singular") as caught:
        robot = Robot.from_parts("arm", links, joints)
    assert [warning.message.code for warning in caught] == ["idle-joint"]
    assert [finding.code for finding in physical.findings(robot)] == ["idle-joint"]
    with pytest.raises(ModelError, match=r"^joint 'j': it moves no inertia.* Give its link an inertia about its axis, or"):
        Robot.from_parts("arm", links, joints, strict=True)


def test_a_tensor_called_definite_has_positive_moments() -> None:
    rng = np.random.default_rng(3)
    for _ in range(2000):
        A = rng.normal(size=(3, 3))
        I = A @ A.T if rng.random() < 0.5 else A + A.T
        moments = np.linalg.eigvalsh(I)
        assert idle._is_definite(*I.tolist()) == (moments[0] > 0) or 0 < moments[0] < 1e-2 * moments[2]
