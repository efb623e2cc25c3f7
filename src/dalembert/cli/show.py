"""`dalembert show`: everything that acts in a robot, as tables or JSON."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..formats.poses import rpy_from_rotation
from ..model import Body, Joint, Link, Motor, Robot
from ..model.motors import ratio_of
from ..model.record import Record
from . import check, show_mechanism, terminal
from .closing import closing
from .digits import MINUS, columns_of, number, numbers
from .geometry import DhRow, dh_table
from .sheets import Sheet, print_marked, print_sheets, print_title, sheet
from .systems import tree_of


def run(source: str, *, json: bool) -> None:
    """Print the robot or mechanism."""
    loaded = check.load_quietly(source)
    robot = tree_of(loaded)
    closed = None if isinstance(loaded, Robot) else (loaded, closing(loaded))
    if json:
        more = {} if closed is None else {**show_mechanism.record(*closed), **check.record(loaded)}
        terminal.print_json(record(robot) | more)
        return
    print_title(repr(loaded), gap=False)
    phrases = effects(robot) | ({} if closed is None else show_mechanism.phrases(*closed))
    print_marked([(f"{name:<9}", "cyan", words) for name, words in phrases.items()])
    terminal.say()
    above = [] if closed is None else show_mechanism.tables(closed[0])
    print_sheets(*above, *joint_tables(robot), drive_table(robot), *motor_tables(robot), link_table(robot))
    terminal.say(("Checks", "bold"))
    print_marked(check.report(loaded))


def effects(robot: Robot) -> dict[str, str]:
    """What acts besides the links themselves, one phrase each."""
    rotors = Counter(rotor.model for rotor in robot.parameters.rotors.values())
    moving = [joint for joint in robot.structure.joints if joint.moves]
    couplings = [joint for joint in moving if joint.mimic is not None]
    phrases = {
        "gravity": f"{numbers(robot.gravity)} m/s²" if robot.gravity.any() else "off",
        "friction": f"at {len(robot.parameters.friction)} of {len(moving)} joints" if robot.parameters.friction else "none",
        "rotors": ", ".join(f"{count} {model}" for model, count in rotors.items()) or "none",
        **({"motors": f"at {len(robot.parameters.motors)} of {len(moving)} joints"} if robot.parameters.motors else {}),
        "tool": _tool(robot),
        "payload": _body_words(robot.parameters.payload) if robot.parameters.payload else "none",
    }
    if couplings:
        phrases["couplings"] = ", ".join(_mimic(joint) for joint in couplings)
    return phrases


def _tool(robot: Robot) -> str:
    if robot.tool is None:
        return "none; the tree has several tips"
    xyz, rpy = robot.tool.pose[:3, 3], np.degrees(rpy_from_rotation(robot.tool.pose[:3, :3]))
    place = f" at {numbers(xyz)} m" if xyz.any() else ""
    turned = f", turned by roll pitch yaw {numbers(rpy)} °" if rpy.any() else ""
    return f"on {robot.tool.link}{place}{turned}"


def _body_words(body: Body) -> str:
    return f"{number(body.mass)} kg at {numbers(body.com)} m in the tool frame"


def _mimic(joint: Joint) -> str:
    assert joint.mimic is not None
    shift = f" + {number(joint.mimic.offset)}" if joint.mimic.offset else ""
    return f"{joint.name} = {number(joint.mimic.multiplier)} · {joint.mimic.joint}{shift}"


def joint_letters(robot: Robot) -> str:
    """R for a turning joint, P for a sliding one, in order."""
    return "".join("R" if joint.turns else "P" for joint in robot.structure.coordinates)


def joint_tables(robot: Robot) -> list[Sheet]:
    """What the joints connect and where they are: Denavit-Hartenberg rows, or origins and axes in a table of their own."""
    joints = robot.structure.joints
    columns = ["joint", "type", "from → to"]
    common = [(joint.name, joint.type, f"{joint.parent} → {joint.child}") for joint in joints]
    dh = dh_table(robot)
    if dh is None:
        places = [(joint.name, *cells) for joint, cells in zip(joints, _origin_cells(joints), strict=True)]
        placement = sheet("Placement", ["joint", "xyz [m]", "roll pitch yaw [°]", "axis"], places)
        return [sheet("Joints", columns, common, left=3), placement]
    rows = [(*common[i], *_dh_cells(joint, dh.rows[i])) for i, joint in enumerate(joints)]
    return [sheet(f"Joints, {dh.convention} DH", [*columns, "θ [°]", "d [m]", "a [m]", "α [°]"], rows, left=3)]


def _dh_cells(joint: Joint, row: DhRow) -> list[str]:
    theta, d = number(math.degrees(row.theta)), number(row.d)
    if joint.turns:
        theta = _with_q(math.degrees(row.theta))
    else:
        d = _with_q(row.d)
    return [theta, d, number(row.a), number(math.degrees(row.alpha))]


def _with_q(offset: float) -> str:
    """The joint variable and what is added to it."""
    if number(offset) == "0":
        return "q"
    return f"q {'+' if offset > 0 else MINUS} {number(abs(offset))}"


def _origin_cells(joints: Sequence[Joint]) -> list[list[str]]:
    poses = [joint.origin if joint.moves else joint.origin @ joint.child_origin for joint in joints]
    places = columns_of([X[:3, 3] for X in poses])
    angles = columns_of([np.degrees(rpy_from_rotation(X[:3, :3])) for X in poses])
    axes = columns_of([joint.axis for joint in joints])
    moving = [joint.moves for joint in joints]
    return [[p, a, axis if moves else "–"] for p, a, axis, moves in zip(places, angles, axes, moving, strict=True)]


def drive_table(robot: Robot) -> Sheet:
    """Limits, friction and rotors of the moving joints; columns without any value are left out."""
    joints = [joint for joint in robot.structure.joints if joint.moves]
    rows = [(joint.name, *_limit_cells(joint), *_friction_cells(robot, joint), _rotor_cell(robot, joint)) for joint in joints]
    columns = ["joint", "range", "speed", "effort", "viscous", "Coulomb + / −", "rotor, ratio² I"]
    used = [0, *(i for i in range(1, len(columns)) if any(row[i] != "–" for row in rows))]
    if len(used) == 1:
        used.append(1)  # a robot without limits has one column that shows it
    kept = [[row[i] for i in used] for row in rows]
    return sheet("Limits, friction and rotors", [columns[i] for i in used], kept)


def _limit_cells(joint: Joint) -> tuple[str, str, str]:
    limits, scale, unit = joint.limits, 1.0, "m"
    if joint.turns:
        scale, unit = 180 / math.pi, "°"
    span = f"{number(limits.lower * scale)} … {number(limits.upper * scale)} {unit}"
    speed = f"{number(limits.velocity * scale)} {unit}/s"
    effort = f"{number(limits.effort)} {'N m' if joint.turns else 'N'}"
    bounded = math.isfinite(limits.lower) or math.isfinite(limits.upper)
    return (
        span if bounded else "–",
        speed if math.isfinite(limits.velocity) else "–",
        effort if math.isfinite(limits.effort) else "–",
    )


def _friction_cells(robot: Robot, joint: Joint) -> tuple[str, str]:
    friction = robot.parameters.friction.get(joint.name)
    if friction is None:
        return "–", "–"
    force = "N m" if joint.turns else "N"
    viscous = f"{number(friction.viscous)} {'N m s' if joint.turns else 'N s/m'}" if friction.viscous else "–"
    dry = f"{number(friction.coulomb)} / {number(friction.coulomb_negative)} {force}"
    return viscous, dry if friction.coulomb or friction.coulomb_negative else "–"


def _rotor_cell(robot: Robot, joint: Joint) -> str:
    rotor = robot.parameters.rotors.get(joint.name)
    if rotor is None:
        return "–"
    reflected = f"{number(rotor.ratio**2 * rotor.inertia)} {'kg m²' if joint.turns else 'kg'}"
    models = {other.model for other in robot.parameters.rotors.values()}
    return f"{reflected}, {rotor.model}" if len(models) > 1 else reflected


def motor_tables(robot: Robot) -> list[Sheet]:
    """The motors of the joints, if there are any; columns without any value are left out."""
    given = robot.parameters.motors
    motors = {joint.name: given[joint.name] for joint in robot.structure.joints if joint.name in given}
    if not motors:
        return []
    ratios = {name: ratio_of(motor, robot.parameters.rotors.get(name)) for name, motor in motors.items()}
    heads = [
        "joint",
        "ratio",
        "R [Ω]",
        "L [mH]",
        "k_t [N m/A]",
        "k_e [V s]",
        "largest V",
        "largest A",
        "lasting A",
        "K/W",
        "name",
    ]
    rows = [(name, number(ratios[name]), *_motor_cells(motor)) for name, motor in motors.items()]
    used = [i for i in range(len(heads)) if any(row[i] not in ("–", "∞", "") for row in rows)]
    return [sheet("Motors", [heads[i] for i in used], [[row[i] for i in used] for row in rows])]


def _motor_cells(motor: Motor) -> list[str]:
    limits = (motor.voltage_limit, motor.current_limit, motor.continuous_current, motor.thermal_resistance)
    inductance = 1e3 * motor.inductance if motor.inductance else None
    constants = (motor.resistance, inductance, motor.torque_constant, motor.k_e)
    return [*(number(value) for value in (*constants, *limits)), motor.name]


def link_table(robot: Robot) -> Sheet:
    """Masses, centres of mass and principal moments of links and further bodies."""
    bodies = [(name, body) for name, body in _bodies(robot) if not body.is_massless]
    centres = columns_of([body.com for _, body in bodies])
    moments = columns_of([np.linalg.eigvalsh(body.inertia)[::-1] for _, body in bodies])
    rows = [(name, number(body.mass), centres[i], moments[i]) for i, (name, body) in enumerate(bodies)]
    return sheet("Links", ["link", "mass [kg]", "centre of mass [m]", "principal moments [kg m²]"], rows)


def _bodies(robot: Robot) -> Iterator[tuple[str, Body]]:
    for link in robot.parameters.links:
        yield link.name, link
        yield from ((f"{link.name}: {body.name}", body) for body in link.bodies)
    if robot.parameters.payload is not None:
        yield "payload", robot.parameters.payload


def record(robot: Robot) -> dict[str, Any]:
    """Everything as plain data, in SI units."""
    dh = dh_table(robot)
    rows = dh.rows if dh is not None else [None] * len(robot.structure.joints)
    return {
        "name": robot.name,
        "n": robot.n,
        "joint_letters": joint_letters(robot),
        "dh_convention": None if dh is None else dh.convention,
        "joints": [_joint_record(robot, joint, row) for joint, row in zip(robot.structure.joints, rows, strict=True)],
        "links": [_link_record(link) for link in robot.parameters.links],
        "tool": None if robot.tool is None else _fields(robot.tool),
        "payload": None if robot.parameters.payload is None else _body_record(robot.parameters.payload),
        "gravity": robot.gravity,
        **check.record(robot),
    }


def _joint_record(robot: Robot, joint: Joint, row: DhRow | None) -> dict[str, Any]:
    friction, rotor = robot.parameters.friction.get(joint.name), robot.parameters.rotors.get(joint.name)
    motor = robot.parameters.motors.get(joint.name)
    return _fields(joint) | {
        "limits": _fields(joint.limits),
        "mimic": None if joint.mimic is None else _fields(joint.mimic),
        "dh": None if row is None else row._asdict(),
        "friction": None if friction is None else _fields(friction),
        "rotor": None if rotor is None else _fields(rotor),
        "motor": None if motor is None else _fields(motor),
    }


def _link_record(link: Link) -> dict[str, Any]:
    return _body_record(link) | {"virtual": link.virtual, "bodies": [_body_record(body) for body in link.bodies]}


def _body_record(body: Body) -> dict[str, Any]:
    return {
        "name": body.name,
        "mass": body.mass,
        "com": body.com,
        "inertia": body.inertia,
        "principal_moments": np.linalg.eigvalsh(body.inertia)[::-1],
    }


def _fields(part: Record) -> dict[str, Any]:
    return {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}  # type: ignore[arg-type]
