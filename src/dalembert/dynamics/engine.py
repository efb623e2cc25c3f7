"""From a request to a kernel: the recipe of the system is traced, compiled on first use, and kept beside the system.

    Request -> system.recipe -> Program or LoopProgram (or other kernels) -> codegen.build -> system.kernels

Every kernel of a system comes this way, whoever asks for it. A warm call looks into `system.kernels` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from .. import checks
from ..codegen import Kernel, arguments, build, refuse, thread_count
from ..codegen.precision import DOUBLE
from ..errors import DalembertError, ModelError, UnknownNameError
from ..expr import Program, Slot, trace
from ..expr.loops import LoopProgram
from ..expr.rewrite import apply_passes
from ..expr.tangent import tangent
from ..model import Robot
from ..model.tree import Tree
from ..wording import shown
from . import sizes
from .quantities import QUANTITIES
from .quantity import Quantity
from .robot_system import RobotSystem
from .surroundings import Forces
from .system import Recipe, Request, SolvedSystem, System, TreeSystem, solves

T = TypeVar("T")
NO_KERNEL = (KeyError, AttributeError, TypeError)  # none built yet, or a system or option that has none


def not_a_robot(system: object) -> DalembertError:
    """The sentence for anything else in a system's place."""
    return DalembertError(
        f"system: {type(system).__name__} found, a Robot is expected. Try dal.load(name_or_path) or dal.robots."
    )


def system_of(system: Any) -> System:
    """What answers: the system itself, or the view of a robot as one."""
    if isinstance(system, Robot):
        return RobotSystem(system)
    kind = type(system)
    if kind not in _SYSTEMS:  # the question takes some 20 µs, and the answer is the same for all of a kind
        if isinstance(system, type) or not isinstance(system, System):
            raise not_a_robot(system)
        _SYSTEMS.add(kind)
    return system


_SYSTEMS: set[type] = set()


def kernel(system: Any, quantity: str | Quantity, *options: Any) -> Kernel:
    """The kernel of a quantity by its name or record, built if there is none yet; options left out have their defaults."""
    try:
        return system.kernels[quantity, options]
    except KeyError:
        pass
    except TypeError:
        name = quantity.name if isinstance(quantity, Quantity) else quantity
        raise UnknownNameError(f"{name}: {shown(options)} found as options; names are expected.") from None
    except AttributeError:
        raise not_a_robot(system) from None
    request = request_of(quantity, options)
    built = kept(system, request, lambda: _build(system, request))
    system.kernels[quantity, options] = built
    return built


def request_of(quantity: Any, options: tuple[Any, ...] = ()) -> Request:
    """The request with every option of the quantity's record."""
    record = quantity if isinstance(quantity, Quantity) else checks.choice("quantity", quantity, QUANTITIES)
    return Request(quantity, (*options, *list(record.options.values())[len(options) :]))


def kept(system: Any, request: Request, make: Callable[[], T]) -> T:
    """What was made for this system and request before, or is made now."""
    try:
        found: T | None = system.kernels.get(request)
    except TypeError:
        raise UnknownNameError(f"{request.quantity}: {shown(request.options)} found as options; names are expected.") from None
    except AttributeError:
        raise not_a_robot(system) from None
    if found is None:
        found = system.kernels[request] = make()
    return found


def _build(system: Any, request: Request) -> Kernel:
    return built(system, system_of(system).recipe(request), name_of(request))


def built(system: Any, recipe: Recipe, name: str) -> Kernel:
    """The kernel of a recipe."""
    if recipe.way == "composed":
        return _composed(_Kernels(system), recipe)
    found = system_of(system)
    if solves(found):
        return found.completed(build(program_of(with_solved(found, recipe), name)))
    return build(program_of(recipe, name))


def with_solved(system: SolvedSystem, recipe: Recipe) -> Recipe:
    """A recipe with what the system solves for before as its last inputs."""
    count = len(recipe.inputs)

    def function(*given: Any) -> Any:
        system.use(*given[count:])
        return recipe.function(*given[:count])

    return recipe._replace(function=function, inputs={**recipe.inputs, **system.solved})


class _Kernels(NamedTuple):
    """The kernels of a system, for those composed of them."""

    system: Any

    def kernel(self, quantity: Any, *options: Any) -> Kernel:
        """The kernel of a quantity."""
        return kernel(self.system, quantity, *options)

    def directional(self, quantity: str, order: int = 1) -> Kernel:
        """The directional derivative of a quantity's loop program, once or several times over."""

        def make() -> Kernel:
            looped = program(self.system, quantity, rolled=True)
            assert isinstance(looped, LoopProgram)
            for _ in range(order):
                looped = tangent(looped)
            return build(looped)

        return kept(self.system, Request("directional", (quantity, order)), make)


def _composed(kernels: _Kernels, recipe: Recipe) -> Kernel:
    """A kernel that runs others."""
    assert recipe.composed is not None
    function, shapes = recipe.composed(kernels)
    inputs = tuple(Slot(name, shape) for name, shape in recipe.inputs.items())
    outputs = tuple(Slot(name, shape) for name, shape in zip(recipe.outputs, shapes, strict=True))

    def run(*arrays: Any, out: Any = None) -> Any:
        arguments.batch_of(inputs, arrays)
        return arguments.delivered(function(*arrays), out, DOUBLE.dtype)

    return Kernel((run, refuse), inputs, outputs, cost_ns=100.0 * max(slot.size for slot in inputs) ** 2)


def name_of(request: Request) -> str:
    """What a program is called."""
    return request.quantity.name if isinstance(request.quantity, Quantity) else str(request.quantity)


def program(system: Any, quantity: Any, *options: Any, rolled: bool | None = None) -> Program | LoopProgram:
    """The program of a quantity: straight code for few joints, loops for many; `rolled` overrides the choice."""
    request = request_of(quantity, options)
    recipe = system_of(system).recipe(request)
    if rolled is not None or recipe.way == "composed":
        recipe = recipe._replace(way="straight" if rolled is False else "loops")
    return program_of(recipe, name_of(request))


def program_of(recipe: Recipe, name: str) -> Program | LoopProgram:
    """The program of a recipe."""
    if recipe.way == "loops" and recipe.loops is not None:
        return recipe.loops()
    traced = trace(recipe.function, recipe.inputs, recipe.outputs, name=name)
    return apply_passes(traced) if recipe.rewritten and len(traced.nodes) <= sizes.REWRITTEN_NODES else traced


def size(system: Any) -> int:
    """The number of coordinates."""
    found = system.n if isinstance(system, Robot) else len(system_of(system).coordinates)
    if not found:
        raise ModelError(f"system {system.name!r}: it has no coordinate that moves, so there is nothing to compute.")
    return found


def tree(system: Any) -> Tree:
    """The tree of segments of a robot, or beneath another system."""
    return tree_system(system).tree


def tree_system(system: Any) -> TreeSystem:
    """The system, if it rests on a tree of links."""
    found = system_of(system)
    if not isinstance(found, TreeSystem):
        raise ModelError(f"system {found.name!r}: it has no tree of links, on which this rests. Ask for recipes of its own.")
    return found


def ask(system: Any, quantity: Any, options: tuple[Any, ...], arrays: tuple[Any, ...], out: Any, threads: int | None) -> Any:
    """Run the kernel of a quantity: by its door for one configuration if that is what is asked, else through NumPy."""
    if out is None:
        try:
            result = system.kernels[quantity, options].single(*arrays)
            if result is not NotImplemented and (threads is None or thread_count(threads)):
                return result
        except NO_KERNEL:
            pass
    return kernel(system, quantity, *options)(*arrays, out=out, threads=threads)


__all__ = [
    "NO_KERNEL",
    "QUANTITIES",
    "Forces",
    "ask",
    "kept",
    "kernel",
    "name_of",
    "not_a_robot",
    "program",
    "program_of",
    "request_of",
    "size",
    "system_of",
    "tree",
    "tree_system",
    "with_solved",
]
