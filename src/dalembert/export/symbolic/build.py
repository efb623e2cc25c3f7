"""`equations`: from a robot to its equations of motion, as closed forms or as a program of named steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ...checks import choice
from ...dynamics import engine
from ...dynamics.system import AnySystem, solves
from ...errors import ModelError, UnknownNameError
from ...expr import Program
from ...model import Robot
from ...model.numbers import Parameter
from ...options import function, several_names
from ..symbols import ALL, Chosen, chosen, reading_with, traced
from .closed import Block, Polynomials, closed, nonzero_columns, only
from .equation_table import EQUATIONS, sources, together
from .form import Atom
from .named_steps import Step, steps_of
from .names import parameter_atom, state_atom
from .reading import Reader, TooLongError, parallel_groups
from .result import Equations
from .sections import Note, Noted, section

FORMS = {"closed": "one expression per entry", "program": "named steps that the entries share"}
CLOSED_UP_TO = 3  # moving joints; beyond, closed forms of spatial arms fill pages
Progress = Callable[[float], None]


def equations(
    system: AnySystem,
    quantity: str | Iterable[str] = ("M", "C", "g", "tau"),
    *,
    symbols: str | Iterable[str] = ALL,
    form: str | None = None,
    progress: Progress | None = None,
) -> Equations:
    """The equations of motion in symbols, τ = M(q) q̈ + C(q, q̇) q̇ + g(q) + friction, in SymPy, LaTeX and text.

    Up to three joints, and for any number with all axes parallel, they come in closed form, with c_12 for cos(q_1 + q_2);
    else as a program: a list of named steps v1, v2, ... in which what occurs twice is computed once. Numbers of the robot that
    are zero stay zero, and rotations between axes stay numbers. Mechanisms have a closed form where their closures are linear
    in the joints, as in a parallelogram.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    quantity : str or sequence of str
        'M', 'C', 'c' (Christoffel symbols), 'g', 'h' (bias C q̇ + g), 'friction', 'tau', the energies 'T' and 'U', the
        regressor 'Y' and its parameters 'phi'.
    symbols : 'all', or names and kinds
        Which numbers are symbols: kinds 'masses', 'lengths', 'inertias', 'gravity', 'gears', 'friction', or names such as
        'm_1'. The others, all for an empty list, keep their values.
    form : {'closed', 'program'}, optional
        By default closed up to three moving joints, and where all axes are parallel.
    progress : function, optional
        Called now and then with the fraction done.

    Returns
    -------
    Equations
        With a field per quantity (`M`, `C`, `g`, `tau` ..., SymPy matrices), `symbols` with their values, `latex()`, `text()`
        and `python()`.

    Raises
    ------
    UnknownNameError
        For a quantity, kind of symbol, name or form that is not known.
    ModelError
        For a closed form too long to be of use.
    MissingExtraError
        When a SymPy field is read and SymPy is not installed.

    Examples
    --------
    >>> import dalembert as dal
    >>> eq = dal.equations(dal.robots.pelican(), "g")
    >>> print(eq.text())
    g₁ = (m₁ l₁ + m₂ a₁) g c₁ + m₂ l₂ g c₁₂
    g₂ = m₂ l₂ g c₁₂
    >>> eq.symbols["l_1"]
    0.0983
    """
    names = list(dict.fromkeys(several_names("quantity", quantity, "a name such as 'tau', or a list of them")))
    if not names:
        raise UnknownNameError(f"quantity: an empty list found, at least one expected. Known: {', '.join(EQUATIONS)}.")
    for name in names:
        choice("quantity", name, EQUATIONS)
    kind = _default_form(system) if form is None else form
    choice("form", kind, FORMS)
    if kind == "closed" and _iterated(system):
        raise ModelError(
            f"equations: the positions of {system.name!r} are found by iteration, so its equations have no closed form. "
            "Try form='program'."
        )
    function("progress", progress)
    used = chosen(system, symbols)
    report = progress or (lambda share: None)
    build = _closed if kind == "closed" else _program
    result = build(system, names, used, report)
    report(1.0)
    return result


def _iterated(system: AnySystem) -> bool:
    """Whether positions have to be solved for; where that is linear, as in a parallelogram, it is done in closed form."""
    return solves(engine.system_of(system))


def _default_form(system: AnySystem) -> str:
    if _iterated(system):
        return "program"
    tree = engine.tree(system)
    plane = len(set(parallel_groups(tree).values())) <= 1 and all(s.multiplier == 1.0 for s in tree.segments)
    return "closed" if plane or len(tree.segments) <= CLOSED_UP_TO else "program"


def _groups(system: AnySystem) -> dict[str, int]:
    """The group of parallel axes of each coordinate; coordinates other than a robot's have one if all axes are parallel."""
    groups = parallel_groups(engine.tree(system))
    if not isinstance(system, Robot):
        turning = [coordinate.turns for coordinate in engine.system_of(system).coordinates]
        groups = {i: 0 for i, turns in enumerate(turning) if turns} if len(set(groups.values())) == 1 else {}
    return {f"q[{i}]": group for i, group in groups.items()}


def _closed(system: AnySystem, names: Sequence[str], used: Chosen, progress: Progress) -> Equations:
    read_names = sources([*names, *(("Y", "phi") if {"Y", "phi"} & set(names) else ())])
    program = _traced(system, used, read_names, [])
    reader = Reader(input_atoms(system, used), _groups(system))
    try:
        results = reader.read(program, lambda share: progress(0.9 * share))
    except TooLongError as error:
        raise _too_long(system, names, error) from None
    read = {slot.name: Polynomials(slot.shape, entries) for slot, entries in zip(program.outputs, results, strict=True)}
    if "Y" in read:
        read = only(read, nonzero_columns(read))
    blocks = {name: closed(name, read, reader, engine.size(system)) for name in names}
    return _result(system, "closed", blocks, program, used, ())


def _program(system: AnySystem, names: Sequence[str], used: Chosen, progress: Progress) -> Equations:
    notes: list[Note] = []
    program = _traced(system, used, names, notes)
    progress(0.4)
    atoms, about = input_atoms(system, used), partial(section, notes)
    steps, results = steps_of(program, atoms, about, lambda share: progress(0.4 + 0.6 * share))
    slots = zip(program.outputs, results, strict=True)
    blocks = {slot.name: Block(slot.shape, tuple(forms)) for slot, forms in slots}
    return _result(system, "program", blocks, program, used, tuple(steps))


def _traced(system: AnySystem, used: Chosen, names: Sequence[str], notes: list[Note]) -> Program:
    inputs = dict.fromkeys(("q", "qd", "qdd"), (engine.size(system),))

    def function(scalar: Callable[[Parameter], Any], *state: Any) -> Any:
        reading = reading_with(used, scalar, lambda tree: Noted(tree, state[0][0].graph, notes))
        return together(engine.system_of(system), names, reading)(**dict(zip(inputs, state, strict=True)))

    return traced(used, function, inputs, list(names), "equations")


def input_atoms(system: AnySystem, used: Chosen) -> dict[str, Atom]:
    """What each input node of the graph is called."""
    atoms = {p.name: parameter_atom(p) for p in used.values()}
    for slot in ("q", "qd", "qdd"):
        atoms |= {f"{slot}[{k}]": state_atom(slot, k + 1) for k in range(engine.size(system))}
    return atoms


def _result(
    system: AnySystem, form: str, blocks: Mapping[str, Block], program: Program, used: Chosen, steps: tuple[Step, ...]
) -> Equations:
    met = {node.value for node in program.nodes if node.op == "input"}
    kept: list[Parameter] = sorted((p for p in used.values() if p.name in met), key=lambda p: p.order)
    again = partial(equations, system, tuple(blocks), symbols=(), form=form)
    return Equations(system.name, engine.size(system), form, dict(blocks), steps, tuple(kept), again)


def _too_long(system: AnySystem, names: Sequence[str], error: TooLongError) -> ModelError:
    return ModelError(
        f"equations: the closed form of {', '.join(names)} of {system.name!r} ({engine.size(system)} joints) grows beyond "
        f"reading ({error}). Try form='program', fewer symbols, or a smaller quantity such as 'g'."
    )
