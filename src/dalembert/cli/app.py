"""The commands, each a thin wrapper: what it computes and prints stands in the module of its name.

These modules are imported when their command runs, so that `dalembert --help` answers at once.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import DalembertError
from . import terminal


class Commands(TyperGroup):
    """A group of commands whose failures are one line on stderr; `--debug` lets the traceback through."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command chosen."""
        try:
            with terminal.warnings_once():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise  # the reader of a pipe went away, which is no failure of ours
        except (DalembertError, OSError) as error:
            if ctx.params["debug"]:
                raise
            terminal.complain(error)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

RobotSource = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A name of the catalogue, or a .urdf, .urdf.xacro, .toml or .json file.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, in SI units; what is infinite or not a number is null.")]


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"dalembert {__version__}")
        raise typer.Exit


@app.callback()
def dalembert(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Dynamics of robot manipulators, from a robot description to numbers."""


@app.command("list")
def list_robots(json: Json = False) -> None:
    """The robots of the catalogue."""
    from .catalogue import run

    run(json=json)


@app.command()
def show(robot: RobotSource, json: Json = False) -> None:
    """Joints, links, drives and checks of a robot."""
    from .show import run

    run(robot, json=json)


@app.command()
def check(
    robot: RobotSource,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on any finding, not only on errors.")] = False,
    json: Json = False,
) -> None:
    """Whether a robot can be computed, and what is doubtful about it."""
    from .check import run

    if not run(robot, strict=strict, json=json):
        raise typer.Exit(1)


@app.command()
def dynamics(
    robot: RobotSource,
    q: Annotated[str, typer.Option("--q", metavar="NUMBERS", help="Joint positions: '0.1,0.2' or '0.1 0.2'.")] = "",
    qd: Annotated[str, typer.Option("--qd", metavar="NUMBERS", help="Joint velocities.")] = "",
    qdd: Annotated[str, typer.Option("--qdd", metavar="NUMBERS", help="Joint accelerations.")] = "",
    degrees: Annotated[bool, typer.Option("--degrees", help="Angles and their rates are given in degrees.")] = False,
    formulation: Annotated[str, typer.Option(help="Which formulation of the dynamics.")] = "newton_euler",
    json: Json = False,
) -> None:
    """Torques, mass matrix, bias and gravity at one state; what is left out is zero."""
    from .dynamics import run

    given = {name: _numbers(f"--{name}", text) for name, text in (("q", q), ("qd", qd), ("qdd", qdd))}
    run(robot, given, degrees=degrees, formulation=formulation, json=json)


@app.command()
def contributions(
    robot: RobotSource,
    start: Annotated[str, typer.Option("--from", metavar="NUMBERS", help="Joint positions at the start: '0.1,0.2'.")] = "",
    end: Annotated[str, typer.Option("--to", metavar="NUMBERS", help="Joint positions at the end.")] = "",
    time: Annotated[float | None, typer.Option(help="Duration of the motion [s].")] = None,
    velocity: Annotated[float | None, typer.Option(help="Or the largest velocity, each joint taking its own time.")] = None,
    profile: Annotated[str, typer.Option(help="Velocity over time: triangular or trapezoidal.")] = "triangular",
    acceleration_time: Annotated[float | None, typer.Option(help="Time of acceleration and of braking [s].")] = None,
    samples: Annotated[int, typer.Option(help="How many instants.")] = 501,
    by: Annotated[str, typer.Option(help="Split by cause, joint, nature or link.")] = "cause",
    degrees: Annotated[bool, typer.Option("--degrees", help="Angles and their rates are given in degrees.")] = False,
    png: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the motion, its torques and their parts.")] = None,
    json: Json = False,
) -> None:
    """What the torques of a motion are made of: inertia, velocities, gravity, friction; masses, rotors; link by link."""
    from .contributions import Timing, run

    timing = Timing(profile, time, velocity, acceleration_time, samples)
    run(robot, _numbers("--from", start), _numbers("--to", end), timing, degrees=degrees, by=by, png=png, json=json)


@app.command()
def compare(
    robot: RobotSource,
    samples: Annotated[int, typer.Option(min=1, help="How many random states.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Which random states.")] = 0,
    png: Annotated[str | None, typer.Option(metavar="FILE", help="Draw operations and times.")] = None,
    json: Json = False,
) -> None:
    """All formulations side by side: do they agree, what do they cost; and the properties of the model."""
    from .compare import run

    run(robot, samples=samples, seed=seed, json=json, png=png)


@app.command()
def simplify(
    robot: RobotSource,
    tolerance: Annotated[str, typer.Option(metavar="SHARE", help="Largest error allowed: '1%' of the largest torque.")] = "1%",
    form: Annotated[str, typer.Option(help="auto, recursive or closed.")] = "auto",
    samples: Annotated[int, typer.Option(min=1, help="Random states from which the largest error is searched for.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Which random states.")] = 0,
    png: Annotated[str | None, typer.Option(metavar="FILE", help="Draw causes and errors.")] = None,
    json: Json = False,
) -> None:
    """Inverse dynamics without the terms that do not matter, its error and what it saves."""
    from .simplify import run

    run(robot, tolerance=_share("--tolerance", tolerance), form=form, samples=samples, seed=seed, json=json, png=png)


@app.command()
def export(
    robot: RobotSource,
    quantity: Annotated[list[str] | None, typer.Option(help="inverse_dynamics by default; may be given several times.")] = None,
    language: Annotated[str, typer.Option(help="c, c_header, python or matlab.")] = "c",
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write it; printed if left out.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What function names begin with; the robot's name by default.")] = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    formulation: Annotated[str | None, typer.Option(help="Which formulation of the dynamics.")] = None,
    link: Annotated[str | None, typer.Option(help="A link of the robot; the tool by default.")] = None,
    frame: Annotated[str | None, typer.Option(help="Whose axes, where a quantity offers a choice.")] = None,
    wrench: Annotated[list[str] | None, typer.Option(help="A link on which a wrench acts; may be given several times.")] = None,
    symbols: Annotated[list[str] | None, typer.Option(help="Numbers that stay parameters: all, masses, m_1, ...")] = None,
) -> None:
    """Source code of a robot's dynamics, for other programs."""
    from .export import run

    options = {"formulation": formulation, "link": link, "frame": frame, "wrenches": wrench or None, "symbols": symbols or None}
    run(robot, quantity or ["inverse_dynamics"], language=language, output=output, name=name, dtype=dtype, options=options)


@app.command()
def equations(
    robot: RobotSource,
    quantity: Annotated[
        list[str] | None, typer.Option(help="tau by default; M, C, c, g, h, ...; may be given several times.")
    ] = None,
    symbols: Annotated[
        list[str] | None, typer.Option(help="all by default; masses, lengths, m_1, ...; 'none' for numbers alone.")
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
    program: Annotated[bool, typer.Option("--program", help="Named steps, also for a small arm.")] = False,
    png: Annotated[str | None, typer.Option(metavar="FILE", help="Draw them.")] = None,
    json: Json = False,
) -> None:
    """The equations of motion in symbols."""
    from .equations import run

    wanted = [word for word in symbols or ["all"] if word != "none"]
    run(robot, quantity or ["tau"], symbols=wanted, program=program, latex=latex, png=png, json=json)


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove every compiled kernel.")] = False,
    json: Json = False,
) -> None:
    """The compiled kernels kept on disk: where, how many, how large."""
    from .cache import run

    run(clear=clear, json=json)


@app.command()
def demo() -> None:
    """A short tour with the PUMA 560, ending in a figure."""
    from .demo import run

    run()


def _numbers(option: str, text: str) -> list[float]:
    """The numbers of a list separated by commas, spaces or both."""
    try:
        return [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of numbers such as '0.1,0.2'.", param_hint=option) from None


def _share(option: str, text: str) -> float:
    """A share written as '1%' or as 0.01."""
    try:
        return float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a percentage such as '1%' nor a number.", param_hint=option) from None
