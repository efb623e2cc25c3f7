"""Every robot file of the shared folder is loaded, and then agrees with Pinocchio, or is refused for the reason stated here."""

from __future__ import annotations

import json
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from dalembert.errors import FormatError, MissingExtraError
from dalembert.formats.urdf_write import write_urdf
from dalembert.loading import load
from dalembert.model import Robot
from tests.link_poses import link_poses, random_values, total_inertia
from tests.shared import SHARED, needs_shared

pytestmark = needs_shared
MODELS = SHARED / "data" / "models"

# File, number of coordinates, codes of the warnings. Fewer coordinates than Pinocchio counts joints where joints mimic others.
LOADED = {
    "urdf/Acrobot_no_collision.urdf": (2, ()),
    "urdf/TwoDofs.urdf": (2, ()),
    "urdf/allegro_right_hand.urdf": (16, ("triangle-inequality",)),
    "urdf/double_pendulum.urdf": (2, ()),
    "urdf/double_pendulum_continuous.urdf": (2, ()),
    "urdf/double_pendulum_simple.urdf": (2, ()),
    "urdf/hyq_no_sensors.urdf": (12, ("triangle-inequality",)),
    "urdf/kinova.urdf": (6, ()),
    "urdf/kinova_gen3_7dof_GEN3_URDF_V12.urdf": (7, ()),
    "urdf/kr120r2500pro.urdf": (6, ()),
    "urdf/kr16_2.urdf": (6, ()),
    "urdf/kr210l150.urdf": (6, ()),
    "urdf/kuka_iiwa_robot_drake.urdf": (7, ()),
    "urdf/panda.urdf": (8, ()),  # the second finger mimics the first
    "urdf/sawyer_arm.urdf": (7, ()),
    "urdf/simple_humanoid.urdf": (29, ()),
    "urdf/so100.urdf": (6, ()),
    "urdf/solo12.urdf": (12, ()),
    "urdf/talos_full_v2.urdf": (32, ()),  # six mimic joints in each gripper
    "urdf/tiago_no_hand.urdf": (12, ("indefinite-inertia",)),
    "urdf/ur10_robot.urdf": (6, ()),
    "urdf/ur3_robot.urdf": (6, ()),
    "urdf/ur5_robot.urdf": (6, ()),
    "urdf/valkyrie_A.urdf": (58, ()),
    "urdf/yumi.urdf": (16, ()),  # one mimic finger on each hand
    "malformed/drake_cassie_v2_no_limits.urdf": (16, ()),
    "malformed/drake_joint_no_axis_no_limit_no_inertial.urdf": (1, ("no-dynamics",)),
    "malformed/flobaroid_kuka_lwr4_negative_inertia.urdf": (7, ("indefinite-inertia", "triangle-inequality")),
    "malformed/rbd_planar_slider.urdf": (9, ("no-dynamics",)),
    "malformed/rtb_irb140_no_inertial.urdf": (6, ("no-dynamics",)),
    "dh/Cobra600.json": (4, ("no-dynamics",)),
    "dh/Hyper3d.json": (10, ("no-dynamics",)),
    "dh/IRB140.json": (6, ("far-centre", "massless-link")),
    "dh/KR5.json": (6, ("no-dynamics",)),
    "dh/LWR4.json": (7, ("no-dynamics",)),
    "dh/P8.json": (8, ("massless-link", "triangle-inequality")),
    "dh/Panda.json": (7, ()),
    "dh/Planar2.json": (2, ("no-dynamics",)),
    "dh/Planar3.json": (3, ("no-dynamics",)),
    "dh/Puma560.json": (6, ("triangle-inequality",)),
    "dh/Stanford.json": (6, ("triangle-inequality",)),
    "dh/TwoLink.json": (2, ("gravity-up",)),
    "dh/UR10.json": (6, ("triangle-inequality",)),
    "dh/UR3.json": (6, ("idle-joint",)),  # point masses: the last lies on its axis
    "dh/UR5.json": (6, ("idle-joint",)),
}
REFUSED = {
    "malformed/drake_acrobot_world_not_declared.urdf": (
        FormatError,
        r":37: joint 'ShoulderJoint': parent link 'world' is not declared",
    ),
    "malformed/drake_bad.urdf": (FormatError, r":1: this is not XML"),
    "malformed/drake_joint_parsing_test.urdf": (
        FormatError,
        r":110: 'ball_joint': <drake:joint> is an extension of one simulator",
    ),
    "malformed/falcon_undefined_child.urdf": (
        FormatError,
        r":182: joint 'top_propeller_joint': child link 'Z_propeller' is not declared",
    ),
    "malformed/gtdynamics_four_bar_two_parents.urdf": (FormatError, r":43: link 'l4': it has two parents, .* closes a loop"),
    "malformed/gtdynamics_panda_unbound_xml_prefix.urdf": (FormatError, r":269: <xacro:inertia-cylinder>: this is a xacro macro"),
    "malformed/gtdynamics_simple_urdf_loop_invalid_token.urdf": (FormatError, r":48: text found after </robot>"),
    "malformed/gtdynamics_xml_declaration_not_first.urdf": (FormatError, r":8: the XML declaration is not at the very start"),
    "malformed/nao_nonunit_axis.urdf": (FormatError, r":613: <xacro:insert_visualization_cameraTop>: this is a xacro macro"),
    "malformed/rtb_unexpanded_xacro_imu_test.urdf": (
        FormatError,
        r":22: <xacro:make_pelvis>: this is a xacro macro.* Expand it first",
    ),
    "malformed/ur10.urdf.xacro": (
        (MissingExtraError, FormatError),
        r"needs xacrodoc, which is not installed|could not be expanded|:\d+: ",
    ),
    "malformed/ur10_empty_file.urdf": (FormatError, r":1: the file is empty"),
}
URDF_LOADED = [name for name in LOADED if name.endswith(".urdf")]


def loaded(name: str) -> tuple[Robot, list[str]]:
    """The robot and the codes of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = load(MODELS / name)
    return robot, sorted({warning.message.code for warning in caught})


def test_the_tables_cover_the_folders():
    files = {f"{folder}/{path.name}" for folder in ("urdf", "dh", "malformed") for path in (MODELS / folder).iterdir()}
    assert files == {*LOADED, *REFUSED}


@pytest.mark.parametrize("name", LOADED)
def test_a_file_is_loaded_with_these_coordinates_and_warnings(name):
    n, codes = LOADED[name]
    robot, warned = loaded(name)
    assert (robot.n, tuple(warned)) == (n, codes)


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused_for_this_reason(name):
    error, reason = REFUSED[name]
    with pytest.raises(error, match=reason) as caught:
        load(MODELS / name)
    message = str(caught.value)
    assert message.startswith(str(MODELS / name))
    assert "\n" not in message


def test_the_axes_of_nao_are_scaled_with_a_note_once_its_macros_are_gone(tmp_path):
    lines = (MODELS / "malformed" / "nao_nonunit_axis.urdf").read_text().splitlines()
    path = tmp_path / "nao.urdf"
    path.write_text("\n".join(line for line in lines if "<xacro:" not in line))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = load(path)
    assert robot.n == 24
    assert sum("was scaled to 1" in note for note in robot.notes) == 2
    compare_with_pinocchio(robot, path.read_text())


@pytest.mark.parametrize("name", URDF_LOADED)
def test_a_loaded_file_agrees_with_pinocchio(name):
    compare_with_pinocchio(loaded(name)[0], (MODELS / name).read_text())


def compare_with_pinocchio(robot: Robot, text: str) -> None:
    """Joints, placements of all links and the mass distribution of the whole at a random configuration."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(with_limits(text))
    data = model.createData()
    q = random_values(robot, np.random.default_rng(7))
    if "planar" in text:  # Pinocchio's planar joint moves in the xy-plane whatever its axis: compare at rest only
        q = dict.fromkeys(q, 0.0)
        assert robot.n == model.nv
    else:
        assert sorted(j.name for j in robot.structure.joints if j.moves) == sorted(model.names[1:])
    pin.framesForwardKinematics(model, data, pinocchio_configuration(pin, model, robot, q))
    for link, X in link_poses(robot, q).items():
        if robot.link(link).virtual:  # the frames inside a planar joint, which Pinocchio has not
            continue
        assert data.oMf[model.getFrameId(link, pin.BODY)].homogeneous == pytest.approx(X, abs=1e-8)  # quarter turns snap at 1e-9
    for ours, theirs in zip(total_inertia(robot, q), pinocchio_inertia(model, data), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-8)


def with_limits(text: str) -> str:
    """Pinocchio's reader refuses revolute joints without limits; ours notes them."""
    root = ElementTree.fromstring(text.encode())
    for joint in root.iter("joint"):
        if joint.get("type") in ("revolute", "prismatic") and joint.find("limit") is None:
            ElementTree.SubElement(joint, "limit", lower="-9", upper="9", effort="9", velocity="9")
    return ElementTree.tostring(root, encoding="unicode")


def pinocchio_configuration(pin, model, robot: Robot, q: dict[str, float]) -> np.ndarray:
    """Its vector q: joints by its own order, continuous ones as cosine and sine, mimic ones as joints of their own."""
    vector = pin.neutral(model)
    for joint in robot.structure.joints:
        if not joint.moves or not model.existJointName(joint.name):
            continue
        mimic = joint.mimic
        value = q[joint.name] if mimic is None else mimic.multiplier * q[mimic.joint] + mimic.offset
        place = model.joints[model.getJointId(joint.name)]
        if place.nq == 2:
            vector[place.idx_q : place.idx_q + 2] = np.cos(value), np.sin(value)
        else:
            vector[place.idx_q] = value
    return vector


def pinocchio_inertia(model, data) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, first moment and inertia about the world's origin, the fixed base included."""
    mass, moment, I = 0.0, np.zeros(3), np.zeros((3, 3))
    for placement, body in zip(data.oMi, model.inertias, strict=True):
        c = placement.act(body.lever)
        mass += body.mass
        moment += body.mass * c
        I += placement.rotation @ body.inertia @ placement.rotation.T + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    return mass, moment, I


def test_the_puma_table_gives_the_torques_the_toolbox_publishes():
    """Rotor inertia and both Coulomb levels reflected to the joint: numbers of the toolbox's own tests, to their 1e-4."""
    pin = pytest.importorskip("pinocchio")
    robot, _ = loaded("dh/Puma560.json")
    with pytest.warns(UserWarning, match="URDF cannot express the rotors"):
        model = pin.buildModelFromXML(write_urdf(robot))
    reference = json.loads((SHARED / "data" / "reference" / "puma560_rtb_python.json").read_text())
    for case in reference["rne"]:
        if case.keys() != {"qd", "qdd", "tau"}:
            continue
        q, qd, qdd = (np.array(v, float) for v in (reference["q"], case["qd"], case["qdd"]))
        tau = pin.rnea(model, model.createData(), q, qd, qdd)
        for i, name in enumerate(robot.joint_names):
            friction, rotor = robot.parameters.friction[name], robot.parameters.rotors[name]
            tau[i] += rotor.ratio**2 * rotor.inertia * qdd[i] + friction.viscous * qd[i] + friction.coulomb * np.sign(qd[i])
        assert tau == pytest.approx(case["tau"], abs=reference["tolerance"])
