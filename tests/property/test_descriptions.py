"""One robot described in several ways: other link frames, another base frame, welded links, a payload as a body."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import dalembert as dal
from dalembert.model import Body, Joint, Link, Robot, Rotor, Tool
from tests.robots import pose, random_robot, relative_error, robots, seeds, state

pytestmark = pytest.mark.usefixtures("interpreted")

TOLERANCE = 1e-11  # relative: the frames differ by some metres, so digits are lost against 1e-13
few = settings(max_examples=20)


def moved(body: Body, X: np.ndarray) -> Body:
    """The same body seen from a frame in which its old frame is X."""
    R, p = X[:3, :3], X[:3, 3]
    I = R @ body.inertia @ R.T
    return body.replace(com=R @ body.com + p, inertia=(I + I.T) / 2)


def reframed(robot: Robot, name: str, X: np.ndarray) -> Robot:
    """The same robot with the frame of one link moved: the new frame is X in the old one."""
    back = np.linalg.inv(X)

    def joint(j: Joint) -> Joint:
        origin = back @ j.origin if j.parent == name else j.origin
        return j.replace(origin=origin, child_origin=j.child_origin @ X if j.child == name else j.child_origin)

    def link(old: Link) -> Link:
        if old.name != name:
            return old
        return moved(old, back).replace(bodies=tuple(moved(b, back) for b in old.bodies))

    def rotor(key: str, r: Rotor) -> Rotor:
        if r.model != "full" or (r.mount or robot.structure.joint(key).parent) != name:
            return r
        return r.replace(position=back[:3, :3] @ r.position + back[:3, 3], axis=back[:3, :3] @ r.axis)

    p, tool = robot.parameters, robot.tool
    if tool is not None and tool.link == name:
        tool = Tool(name, back @ tool.pose)
    gravity = back[:3, :3] @ p.gravity if name == robot.structure.root else p.gravity
    return Robot.from_parts(
        robot.name,
        map(link, p.links),
        map(joint, robot.structure.joints),
        friction=p.friction,
        rotors={key: rotor(key, r) for key, r in p.rotors.items()},
        gravity=gravity,
        tool=tool,
        payload=p.payload,
    )


@given(robots(max_n=8), seeds)
@few
def test_torques_and_tool_do_not_depend_on_where_a_link_s_frame_is(robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    name = str(rng.choice(robot.link_names[1:]))
    other = reframed(robot, name, pose(rng, 2.0))
    q, qd, qdd = state(robot, rng)
    wrench = {"tool": rng.normal(size=6)}
    tau = dal.inverse_dynamics(robot, q, qd, qdd, wrenches=wrench)
    assert relative_error(dal.inverse_dynamics(other, q, qd, qdd, wrenches=wrench), tau) < TOLERANCE
    assert relative_error(dal.mass_matrix(other, q), dal.mass_matrix(robot, q)) < TOLERANCE
    assert relative_error(dal.forward_kinematics(other, q), dal.forward_kinematics(robot, q)) < TOLERANCE


@given(robots(max_n=8), seeds)
@few
def test_torques_do_not_depend_on_how_base_and_gravity_are_turned_together(robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = pose(rng, 2.0)
    R = X[:3, :3]
    turned = reframed(robot, robot.structure.root, X)
    q, qd, qdd = state(robot, rng)
    f, m = rng.normal(size=(2, 3))
    tau = dal.inverse_dynamics(robot, q, qd, qdd, wrenches={"tool": [*f, *m]})
    assert relative_error(dal.inverse_dynamics(turned, q, qd, qdd, wrenches={"tool": [*(R.T @ f), *(R.T @ m)]}), tau) < TOLERANCE
    seen = np.linalg.inv(X) @ dal.forward_kinematics(robot, q)
    assert relative_error(dal.forward_kinematics(turned, q), seen) < TOLERANCE


@given(robots(max_n=8, payload=False), seeds)
@few
def test_a_payload_is_one_more_body_on_the_tool_s_link(robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    load = Body("load", 2.5, rng.uniform(-0.2, 0.2, 3), np.diag([0.03, 0.04, 0.05]))
    held = robot.with_payload(load.mass, load.com, load.inertia)
    carrier = robot.link(robot.tool.link)
    heavier = carrier.replace(bodies=(*carrier.bodies, moved(load, robot.tool.pose)))
    links = tuple(heavier if link.name == carrier.name else link for link in robot.parameters.links)
    welded = robot.replace(parameters=robot.parameters.replace(links=links))
    q, qd, qdd = state(robot, rng)
    assert relative_error(dal.inverse_dynamics(held, q, qd, qdd), dal.inverse_dynamics(welded, q, qd, qdd)) < TOLERANCE


def without_fixed_joints(robot: Robot) -> Robot:
    """The same robot, every fixed link's body put on the link that carries it."""
    X: dict[str, tuple[str, np.ndarray]] = {robot.structure.root: (robot.structure.root, np.eye(4))}
    joints = []
    for j in robot.structure.joints:
        carrier, X_parent = X[j.parent]
        if j.moves:
            joints.append(j.replace(parent=carrier, origin=X_parent @ j.origin))
            X[j.child] = (j.child, np.eye(4))
        else:
            X[j.child] = (carrier, X_parent @ j.origin @ j.child_origin)
    links = {link.name: link for link in robot.parameters.links if X[link.name][0] == link.name}
    for link in robot.parameters.links:
        carrier, pose_there = X[link.name]
        if carrier != link.name:
            own = moved(Body(link.name, link.mass, link.com, link.inertia), pose_there)
            more = (own, *(moved(b, pose_there) for b in link.bodies))
            links[carrier] = links[carrier].replace(bodies=(*links[carrier].bodies, *more))

    def rotor(key: str, r: Rotor) -> Rotor:
        if r.model != "full":
            return r
        carrier, Y = X[r.mount or robot.structure.joint(key).parent]
        return r.replace(mount=carrier, position=Y[:3, :3] @ r.position + Y[:3, 3], axis=Y[:3, :3] @ r.axis)

    p = robot.parameters
    carrier, Y = X[robot.tool.link]
    return Robot.from_parts(
        robot.name,
        links.values(),
        joints,
        friction=p.friction,
        rotors={key: rotor(key, r) for key, r in p.rotors.items()},
        gravity=p.gravity,
        tool=Tool(carrier, Y @ robot.tool.pose),
        payload=p.payload,
    )


@given(robots(max_n=8, fixed=True), seeds)
@few
def test_welding_fixed_links_together_changes_nothing(robot: Robot, seed: int) -> None:
    welded = without_fixed_joints(robot)
    assert all(joint.moves for joint in welded.structure.joints)
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    assert relative_error(dal.inverse_dynamics(welded, q, qd, qdd), dal.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE
    assert relative_error(dal.mass_matrix(welded, q), dal.mass_matrix(robot, q)) < TOLERANCE
    assert relative_error(dal.forward_kinematics(welded, q), dal.forward_kinematics(robot, q)) < TOLERANCE


@given(robots(max_n=8, homes=True, mimic=False), seeds)
@few
def test_a_home_offset_shifts_the_coordinate(robot: Robot, seed: int) -> None:
    """Moving `home` into q gives the same robot, so long as no coupling looks at q."""
    homes = np.array([j.home for j in robot.structure.coordinates])
    plain = robot.replace(structure=robot.structure.replace(joints=tuple(j.replace(home=0.0) for j in robot.structure.joints)))
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    assert relative_error(dal.inverse_dynamics(plain, q + homes, qd, qdd), dal.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


@pytest.mark.parametrize("seed", range(5))
def test_rotations_printed_to_seven_digits_still_make_a_consistent_robot(seed: int) -> None:
    """Such rotations are accepted, so what is built from them has to be a mechanism: energies and both dynamics agree."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 5)
    joints = []
    for j in robot.structure.joints:
        origin = j.origin.copy()
        origin[:3, :3] = np.round(origin[:3, :3], 7)
        joints.append(j.replace(origin=origin))
    rounded = robot.replace(structure=robot.structure.replace(joints=tuple(joints)))
    q, qd, qdd = state(robot, rng)
    assert relative_error(dal.energy(rounded, q, qd).kinetic, qd @ dal.mass_matrix(rounded, q) @ qd / 2) < 1e-11
    tau = dal.inverse_dynamics(rounded, q, qd, qdd)
    assert relative_error(dal.forward_dynamics(rounded, q, qd, tau), qdd) < 1e-9
    R = dal.forward_kinematics(rounded, q)[:3, :3]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
