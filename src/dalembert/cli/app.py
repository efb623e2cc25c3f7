"""The commands, each a thin wrapper: what it computes and prints is in the module of its name.

These modules are imported when their command runs, so that `dalembert --help` answers at once.
"""

from __future__ import annotations

import importlib
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..errors import DalembertError
from . import terminal
from .parsing import Argument, Parser, flag, joined, number, number_list, option, samples, share, whole, words

INTERRUPTED = 130  # the code a shell gives a program that was ended by Ctrl-C


class Command(NamedTuple):
    """What a command is about, what it takes, and the function it runs; False from there means that it failed."""

    about: str
    arguments: Sequence[Argument]
    run: Callable[[Namespace], bool | None]


def run(arguments: Sequence[str]) -> int:
    """Run the command line; 0, or 1 when it failed. Wrong usage exits with 2."""
    parser = _parser()
    if not arguments:
        parser.error("a command is missing.")
    given = parser.parse_args(joined(arguments, _number_lists()))
    try:
        with terminal.warnings_once():
            passed = COMMANDS[given.command].run(given)
            sys.stdout.flush()
        return 1 if passed is False else 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has closed the pipe: flush nowhere
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except (DalembertError, OSError) as error:
        if given.debug:
            raise
        terminal.complain(error)
        return 1


def _parser() -> Parser:
    from .. import __version__

    about = "Dynamics of robot manipulators, from a robot description to numbers."
    parser = Parser(prog="dalembert", description=about, epilog="'dalembert COMMAND --help' tells more.")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument("--version", action="version", version=f"dalembert {__version__}", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", required=True)
    for name, command in COMMANDS.items():
        below = commands.add_parser(name, help=command.about, description=command.about)
        for names, options in command.arguments:
            below.add_argument(*names, **options)
    return parser


ROBOT = Argument(
    ("robot",),
    {"metavar": "ROBOT", "help": "a robot or mechanism of the catalogue, or a .urdf, .urdf.xacro, .toml or .json file"},
)
SOURCE = Argument(("source",), {"metavar": "SOURCE", "help": "a mechanism or robot: a name of the catalogue, or a file"})
JSON = flag("--json", "print JSON, in SI units; what is infinite or not a number is null")
DEGREES = flag("--degrees", "angles and their rates are given in degrees")
FIGURE = option("--figure", about="draw it too; the suffix is the format: .pdf, .png or .svg", metavar="FILE")
SEED = option("--seed", about="which random states", metavar="N", type=whole(0), default=0)
PLOT = option("--plot", about="draw it too; the suffix is the format: .pdf, .png or .svg", metavar="FILE")
MOTION = (
    SOURCE,
    option("--motion", about="a .csv or .parquet table with columns t, q_<name> and rates", metavar="FILE"),
    number_list("--from", "or positions at the start", dest="start"),
    number_list("--to", "positions at the end", dest="end"),
    option("--time", about="duration from start to end [s]", metavar="T", type=number),
    samples("how many instants from start to end", 501, 6),
    DEGREES,
)
TABLE = option("-o", "--output", about="write what is found as a .csv or .parquet table", metavar="FILE")
STATES = option(
    "--states", about="or a .csv or .parquet table of states: q_<name>, qd_<name>, ...; rates it lacks are zero", metavar="FILE"
)
TASK = (
    SOURCE,
    number_list("--q", "coordinates: 0.1 0.2 or '0.1,0.2'"),
    number_list("--qd", "their velocities"),
    STATES,
    option("--link", about="the link that has the task; the tool by default", metavar="NAME"),
    option("--directions", about="which of x,y,z,rx,ry,rz make the task, such as x,y or position", metavar="NAMES"),
)
FORMULATION = "which formulation of the dynamics"


def _runs(module: str) -> Callable[[Namespace], bool | None]:
    """The function `run` of a module, which takes all that was given."""

    def run(given: Namespace) -> bool | None:
        passed: bool | None = importlib.import_module(f".{module}", __package__).run(given)
        return passed

    return run


def _list_robots(given: Namespace) -> None:
    from .catalogue import run

    run(json=given.json)


def _show(given: Namespace) -> None:
    from .show import run

    run(given.robot, json=given.json)


def _check(given: Namespace) -> bool:
    from .check import run

    return run(given.robot, strict=given.strict, json=given.json)


def _dynamics(given: Namespace) -> None:
    from .dynamics import run

    state = {name: getattr(given, name) for name in ("q", "qd", "qdd")}
    run(given.robot, state, degrees=given.degrees, formulation=given.formulation, json=given.json)


def _contributions(given: Namespace) -> None:
    from .contributions import MotionTiming, run

    timing = MotionTiming(given.profile, given.time, given.velocity, given.acceleration_time, given.samples)
    options = {"degrees": given.degrees, "by": given.by, "figure": given.figure, "json": given.json}
    run(given.robot, given.start, given.end, timing, **options)


def _compare(given: Namespace) -> None:
    from .compare import run

    run(given.robot, samples=given.samples, seed=given.seed, json=given.json, figure=given.figure)


def _simplify(given: Namespace) -> None:
    from .simplify import run

    options = {"samples": given.samples, "seed": given.seed, "json": given.json, "figure": given.figure}
    run(given.robot, tolerance=given.tolerance, form=given.form, **options)


def _mobility(given: Namespace) -> None:
    from .mobility import run

    run(given.source, q=given.q, degrees=given.degrees, json=given.json)


def _export(given: Namespace) -> None:
    from .export import run

    names = given.quantity or ["inverse_dynamics"]
    options = {name: getattr(given, name) for name in ("formulation", "link", "frame", "symbols")} | {"wrenches": given.wrench}
    code = {name: getattr(given, name) for name in ("language", "output", "name", "dtype", "json")}
    run(given.robot, names, options=options, **code)


def _equations(given: Namespace) -> None:
    from .equations import run

    symbols = [word for word in given.symbols or ["all"] if word != "none"]
    options = {name: getattr(given, name) for name in ("program", "latex", "figure", "json")}
    run(given.robot, given.quantity or ["tau"], symbols=symbols, **options)


def _cache(given: Namespace) -> None:
    from .cache import run

    run(clear=given.clear, json=given.json)


def _demo(given: Namespace) -> None:
    from .demo import run

    run()


COMMANDS = {
    "list": Command("the robots and mechanisms of the catalogue", (JSON,), _list_robots),
    "show": Command("joints, links, drives and checks; of a mechanism also coordinates and closures", (ROBOT, JSON), _show),
    "check": Command(
        "whether a robot or mechanism can be computed, and what is doubtful about it",
        (ROBOT, flag("--strict", "fail on any finding, not only on errors"), JSON),
        _check,
    ),
    "dynamics": Command(
        "torques, mass matrix, bias and gravity at one state; what is left out is zero, or where a mechanism is assembled",
        (
            ROBOT,
            number_list("--q", "joint positions: 0.1 0.2 or '0.1,0.2'"),
            number_list("--qd", "joint velocities"),
            number_list("--qdd", "joint accelerations"),
            DEGREES,
            option("--formulation", about=FORMULATION, metavar="NAME", default="newton_euler"),
            JSON,
        ),
        _dynamics,
    ),
    "contributions": Command(
        "what the torques of a motion are made of: inertia, velocities, gravity, friction; masses, rotors; link by link",
        (
            ROBOT,
            number_list("--from", "joint positions at the start", dest="start"),
            number_list("--to", "joint positions at the end", dest="end"),
            option("--time", about="duration of the motion [s]", metavar="T", type=number),
            option("--velocity", about="or the largest velocity, each joint taking its own time", metavar="V", type=number),
            option("--profile", about="velocity over time: triangular or trapezoidal", metavar="NAME", default="triangular"),
            option("--acceleration-time", about="time of acceleration and of braking [s]", metavar="T", type=number),
            samples("how many instants", 501, 2),
            option("--by", about="split by cause, joint, nature or link", metavar="WHAT", default="cause"),
            DEGREES,
            FIGURE,
            JSON,
        ),
        _contributions,
    ),
    "trajectory": Command(
        "a motion from a few numbers or through points: positions with three rates, torques, and whether limits are kept",
        (
            SOURCE,
            option(
                "--kind",
                about="triangular, trapezoidal, cubic, quintic, septic; double_s, synchronised; spline, quintic_spline, "
                "b_spline, blended, sampled; or line, circle, poses, of the tool",
                metavar="NAME",
                default="quintic",
            ),
            number_list("--from", "positions at the start", dest="start"),
            number_list("--to", "positions at the end", dest="end"),
            option("--time", about="duration [s]", metavar="T", type=number),
            option(
                "--acceleration-time", about="of a trapezoid [s]; a quarter of the time if not given", metavar="T", type=number
            ),
            number_list("--velocity", "largest velocities, one or one for each; those of the model if left out"),
            number_list("--acceleration", "largest accelerations"),
            number_list("--jerk", "largest jerks"),
            flag("--straight", "joints stay in proportion (synchronised)"),
            option("--points", about="a .csv or .parquet table with columns t and q_<name>", metavar="FILE"),
            option("--ends", about="of a spline: rest, natural or periodic", metavar="NAME", default="rest"),
            option("--blend-time", about="of each blend [s]", metavar="T", type=number),
            option("--cutoff", about="of the filter of samples [Hz]", metavar="F", type=number),
            number_list("--tool-to", "where a line of the tool ends: x y z [m]"),
            number_list("--tool-rpy", "roll, pitch, yaw in which it ends; not turned if left out"),
            number_list("--centre", "of a circle: x y z of a point of its axis [m]"),
            number_list("--axis", "of a circle: its direction, such as 0 0 1; the tool goes about it by the right hand"),
            option("--angle", about="of an arc; the whole circle if left out", metavar="A", type=number),
            flag("--turning", "the tool turns with the circle"),
            option("--poses", about="a .csv or .parquet table with t, x, y, z, roll, pitch, yaw", metavar="FILE"),
            option("--link", about="whose path it is; the tool by default", metavar="NAME"),
            option("--directions", about="which of x,y,z,rx,ry,rz are followed, or position; all by default", metavar="NAMES"),
            option("--held", about="joints that rest, where there are more than directions: joint1,joint3", metavar="NAMES"),
            samples("how many instants", 501, 2),
            option("--dt", about="or the time between them [s]", metavar="T", type=number),
            flag("--strict", "fail where a limit is passed"),
            DEGREES,
            TABLE,
            PLOT,
            JSON,
        ),
        _runs("trajectory"),
    ),
    "scale": Command(
        "a motion slower or faster: the largest factor within limits, the joint and the instant that bind",
        (
            SOURCE,
            option("--motion", about="a .csv or .parquet table with columns t and q_<name>", metavar="FILE"),
            number_list("--from", "positions at the start of a smooth motion", dest="start"),
            number_list("--to", "positions at its end", dest="end"),
            option("--time", about="its duration [s]", metavar="T", type=number),
            option(
                "--factor", about="how many times as fast; the largest one within limits if left out", metavar="C", type=number
            ),
            number_list("--torque", "largest torques, one or one for each; those of the model if left out"),
            number_list("--velocity", "largest velocities"),
            samples("samples of the result", 1000, 2),
            DEGREES,
            TABLE,
            PLOT,
            JSON,
        ),
        _runs("time_scaling"),
    ),
    "timing": Command(
        "the least time along a path within limits of torque, speed, acceleration, power, motors, jerk and torque rate",
        (
            SOURCE,
            option("--points", about="a .csv or .parquet table with columns q_<name>; others are left alone", metavar="FILE"),
            number_list("--from", "positions at the start of a straight path", dest="start"),
            number_list("--to", "positions at its end", dest="end"),
            number_list("--torque", "largest torques, one or one for each; those of the model if left out"),
            number_list("--velocity", "largest velocities; those of the model if left out"),
            number_list("--acceleration", "largest accelerations"),
            number_list("--power", "largest powers [W]"),
            number_list("--jerk", "largest jerks"),
            number_list("--torque-rate", "largest rates of torque [N m/s or N/s]"),
            flag("--motors", "keep within the limits of the motors too"),
            samples("samples of the table", 1000, 2),
            option("--intervals", about="of the grid", metavar="N", type=whole(4), default=1000),
            DEGREES,
            TABLE,
            PLOT,
            JSON,
        ),
        _runs("path_timing"),
    ),
    "compare": Command(
        "all formulations side by side: do they agree, what do they cost; and the properties of the model",
        (ROBOT, samples("how many random states", 100), SEED, FIGURE, JSON),
        _compare,
    ),
    "simplify": Command(
        "inverse dynamics without the terms that do not matter, its error and what it saves",
        (
            ROBOT,
            option("--tolerance", about="largest error allowed, as a share", metavar="SHARE", type=share, default="1%"),
            option("--form", about="auto, recursive or closed", metavar="NAME", default="auto"),
            samples("random states on which the error is verified", 20_000),
            SEED,
            FIGURE,
            JSON,
        ),
        _simplify,
    ),
    "linearize": Command(
        "the linear model about a pose or a state of motion: A, B, poles and modes; what is left out is zero",
        (
            SOURCE,
            number_list("--q", "coordinates: 0.1 0.2 or '0.1,0.2'; where a mechanism is assembled if left out"),
            number_list("--qd", "velocities"),
            number_list("--qdd", "accelerations"),
            STATES,
            words(
                "--outputs",
                "what C tells: q, qd, qdd, a coordinate, tool, a link; may be given several times; the states if left out",
            ),
            DEGREES,
            TABLE,
            PLOT,
            JSON,
        ),
        _runs("linearize"),
    ),
    "bounds": Command(
        "proven bounds of torques or another quantity over the whole workspace: what a motor has to give",
        (
            ROBOT,
            option(
                "--quantity",
                about="inverse_dynamics by default; gravity_torque, mass_matrix, eigenvalues, gravity_norm, coriolis_norm, ...",
                metavar="NAME",
                default="inverse_dynamics",
            ),
            words("--which", "an entry, by number or name; may be given several times; all by default"),
            number_list("--lower", "least joint positions; the limits by default"),
            number_list("--upper", "largest joint positions"),
            number_list("--qd", "largest joint velocities, one or one for each joint"),
            number_list("--qdd", "largest joint accelerations"),
            number_list("--tau", "largest joint torques, where they are inputs"),
            number_list("--payload", "the largest mass at the tool [kg], or the least and the largest"),
            option(
                "--states",
                about="or the ranges of a table of states, .csv or .parquet; rates it lacks are zero",
                metavar="FILE",
            ),
            option("--rtol", about="gap at which the search ends, as a share", metavar="SHARE", type=share, default="5%"),
            option("--seconds", about="how long it may take", metavar="T", type=number, default="60"),
            DEGREES,
            TABLE,
            PLOT,
            JSON,
        ),
        _runs("bounds"),
    ),
    "mobility": Command(
        "freedoms of a mechanism: redundant constraints, idle freedoms, internal forces, joints fit for coordinates",
        (SOURCE, number_list("--q", "coordinates: 0.1 0.2 or '0.1,0.2'; where it is assembled if left out"), DEGREES, JSON),
        _mobility,
    ),
    "opspace": Command(
        "the dynamics as a task feels them: inertia, loads, Jacobian and its consistent inverse at one state",
        (
            *TASK,
            option("--frame", about="whose axes: world or body", metavar="NAME", default="world"),
            option("--angles", about="rpy or zyz, in place of angular velocity", metavar="NAME"),
            option("--damping", about="serve singular tasks by a damped inverse, such as 0.05", metavar="D", type=number),
            DEGREES,
            TABLE,
            PLOT,
            JSON,
        ),
        _runs("opspace"),
    ),
    "ellipsoid": Command(
        "accelerations, velocities or forces that drives of bounded strength give: ellipsoid and polytope",
        (
            *TASK,
            option("--kind", about="dynamic, velocity or force", metavar="NAME", default="dynamic"),
            number_list("--strength", "torque (or velocity) of each drive; one each if left out"),
            flag("--limits", "take the limits of the model for the strength of the drives"),
            flag("--polytope", "the polytope of each drive within its own strength, too"),
            DEGREES,
            TABLE,
            PLOT,
            JSON,
        ),
        _runs("ellipsoid"),
    ),
    "simulate": Command(
        "a motion under torques or a controller: energy balance, speeds and torques against their limits, tables, pictures",
        (
            SOURCE,
            option("--duration", about="how long [s]", metavar="T", type=number),
            number_list("--q0", "coordinates at the start; zero, or where a mechanism is assembled, if left out"),
            number_list("--qd0", "their velocities"),
            number_list("--tau", "constant torques or forces [N m | N]; none if left out"),
            option("--torques", about="or samples: a .csv or .parquet table with columns t and tau_<name>", metavar="FILE"),
            option("--between", about="torques between samples: hold or linear", metavar="NAME", default="hold"),
            number_list("--hold", "or a pose that computed torque goes to and holds"),
            option("--frequency", about="of that controller [rad/s]", metavar="W", type=number, default="10"),
            option("--sample", about="or its sampling time, if it is a digital one [s]", metavar="T", type=number),
            option("--delay", about="from its samples to its torques [s]", metavar="T", type=number, default="0"),
            flag("--saturate", "torques stay within the limits of the joints"),
            option(
                "--stops", about="joints hit their limits, and keep this part of their speed: 0 to 1", metavar="E", type=share
            ),
            option("--method", about="of integration", metavar="NAME", default="dop853"),
            option("--rtol", about="error allowed in a step, as a share", metavar="SHARE", type=share, default="1e-8"),
            option("--max-steps", about="trial steps after which it is given up", metavar="N", type=whole(1), default=100_000),
            samples("how many instants are told", 501, 2),
            DEGREES,
            TABLE,
            PLOT,
            option("--animate", about="draw it moving: a .gif file, or .mp4 where ffmpeg is found", metavar="FILE"),
            option("--fps", about="pictures a second", metavar="F", type=number, default="25"),
            option("--speed", about="times the pace of the motion", metavar="X", type=number, default="1"),
            option("--trace", about="a link, or tool, whose path is drawn in the animation", metavar="NAME"),
            JSON,
        ),
        _runs("simulate"),
    ),
    "kinematics": Command(
        "poses of all links in the world, and the Jacobian of one, at one state or over a table of them",
        (
            SOURCE,
            number_list("--q", "coordinates: 0.1 0.2 or '0.1,0.2'"),
            STATES,
            option("--link", about="whose Jacobian; the tool by default", metavar="NAME"),
            option("--frame", about="axes of the Jacobian: world or body", metavar="NAME", default="world"),
            DEGREES,
            TABLE,
            PLOT,
            JSON,
        ),
        _runs("frame_poses"),
    ),
    "ik": Command(
        "joint positions for a pose, or for a table of poses: inverse kinematics within joint limits",
        (
            SOURCE,
            number_list("--position", "wanted place [m]: 0.4 0.1 0.3"),
            number_list("--rpy", "wanted roll, pitch, yaw; any orientation if left out"),
            option("--poses", about="or a .csv or .parquet table: x, y, z and roll, pitch, yaw", metavar="FILE"),
            number_list("--q0", "where to start; at random if left out"),
            option("--link", about="the link that has the pose; the tool by default", metavar="NAME"),
            option("--directions", about="which of x,y,z,rx,ry,rz matter, such as x,y,z,rx,ry or orientation", metavar="NAMES"),
            option(
                "--frame",
                about="axes of the directions: world, or body for those of the wanted pose",
                metavar="NAME",
                default="world",
            ),
            flag("--continuous", "the rows of the table are a path: each starts at the solution before"),
            option(
                "--secondary", about="second goal of redundant arms: near (to --q0), limits or manipulability", metavar="NAME"
            ),
            option("--solutions", about="of how many solutions the best is taken", metavar="N", type=whole(1, 10_000), default=1),
            flag("--all", "all solutions of one pose in closed form, for arms of known kinds"),
            flag("--no-limits", "let joints go beyond their limits"),
            option("--tolerance", about="how near is near enough [m, rad]", metavar="T", type=number, default="1e-5"),
            option("--attempts", about="how many starts to try", metavar="N", type=whole(1, 100_000), default=200),
            SEED,
            DEGREES,
            TABLE,
            PLOT,
            JSON,
        ),
        _runs("ik"),
    ),
    "voltage": Command(
        "currents and voltages that drive a motion, from its third derivative",
        (*MOTION, flag("--strict", "refuse a motion beyond a limit of a motor"), TABLE, PLOT, JSON),
        _runs("voltage"),
    ),
    "motors": Command(
        "what a motion asks of the motors, margins to their limits, and which motor of a list would do",
        (*MOTION, option("--motors", about="a .toml file with a list of [[motor]]", metavar="FILE"), TABLE, PLOT, JSON),
        _runs("motor_sheets"),
    ),
    "export": Command(
        "source code of a robot's dynamics, for other programs",
        (
            ROBOT,
            words("--quantity", "inverse_dynamics by default; may be given several times"),
            option("--language", about="c, c_header, python or matlab", metavar="NAME", default="c"),
            option("-o", "--output", about="where to write it; printed if left out", metavar="FILE"),
            option("--name", about="what function names begin with; the robot's name by default", metavar="NAME"),
            option("--dtype", about="float64 or float32", metavar="NAME", default="float64"),
            option("--formulation", about=FORMULATION, metavar="NAME"),
            option("--link", about="a link of the robot; the tool by default", metavar="NAME"),
            option("--frame", about="whose axes, where a quantity offers a choice", metavar="NAME"),
            words("--wrench", "a link on which a wrench acts; may be given several times"),
            words("--symbols", "numbers that stay parameters: all, masses, m_1, ..."),
            JSON,
        ),
        _export,
    ),
    "equations": Command(
        "the equations of motion in symbols",
        (
            ROBOT,
            words("--quantity", "tau by default; M, C, c, g, h, ...; may be given several times"),
            words("--symbols", "all by default; masses, lengths, m_1, ...; 'none' for numbers alone"),
            flag("--latex", "print LaTeX"),
            flag("--program", "named steps, also for a small arm"),
            FIGURE,
            JSON,
        ),
        _equations,
    ),
    "cache": Command("the compiled kernels kept on disk", (flag("--clear", "remove every compiled kernel"), JSON), _cache),
    "demo": Command("a short tour with the PUMA 560, ending in a figure", (), _demo),
}


def _number_lists() -> set[str]:
    """The options that take lists of numbers."""
    return {name for command in COMMANDS.values() for found in command.arguments if found.is_list for name in found.names}
