"""The commands, each a thin wrapper: what it computes and prints is in the module of its name.

These modules are imported when their command runs, so that `dalembert --help` answers at once.
"""

from __future__ import annotations

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
    ("robot",), {"metavar": "ROBOT", "help": "a name of the catalogue, or a .urdf, .urdf.xacro, .toml or .json file"}
)
JSON = flag("--json", "print JSON, in SI units; what is infinite or not a number is null")
DEGREES = flag("--degrees", "angles and their rates are given in degrees")
FIGURE = option("--figure", about="draw it too; the suffix is the format: .pdf, .png or .svg", metavar="FILE")
SEED = option("--seed", about="which random states", metavar="N", type=whole(0), default=0)
FORMULATION = "which formulation of the dynamics"


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
    "list": Command("the robots of the catalogue", (JSON,), _list_robots),
    "show": Command("joints, links, drives and checks of a robot", (ROBOT, JSON), _show),
    "check": Command(
        "whether a robot can be computed, and what is doubtful about it",
        (ROBOT, flag("--strict", "fail on any finding, not only on errors"), JSON),
        _check,
    ),
    "dynamics": Command(
        "torques, mass matrix, bias and gravity at one state; what is left out is zero",
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
