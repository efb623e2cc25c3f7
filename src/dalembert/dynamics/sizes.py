"""From which size on another way is taken: straight code, loops over the joints, or a composition of several kernels.

A size is a number of coordinates, of segments, or of pairs or triples: of a segment and one, or two, on its path to the base.
Straight code grows with them, and so does the time to compile it. All figures come from measurements
(docs/develop/decisions.md); they are a matter of speed alone, each way gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..model.tree import Tree

Large = Callable[[Tree], bool]

ARTICULATED_FROM = 10  # coordinates: below, mass matrix and LᵀDL take less time than articulated bodies
COMPOSITE_DERIVATIVES_FROM = 300  # triples: below, derivatives of the graph take less operations than those of composite bodies
REWRITTEN_NODES = 3000  # up to which a graph is searched for common factors, a tenth of a second per thousand nodes
ENTRIES = 4_000_000  # results per configuration that are served at most: 32 megabytes

RECURSION = 151  # segments of a tree from which a recursion is a loop: branches wait in memory, so straight code is faster before
CHAIN_RECURSION = 25  # the same along a chain, where one turn of the loop hands its results to the next in registers
FORWARD_RECURSION = 101  # as RECURSION, for articulated bodies
CHAIN_FORWARD_RECURSION = 30
MATRIX_PAIRS = 700  # from which the mass matrix is made by loops
DERIVATIVE_TRIPLES = 2400  # from which first derivatives are
CHRISTOFFEL_TRIPLES = 1000
SECOND_TRIPLES = 150

DENSE_FROM = 45  # coordinates from which a traced LᵀDL factorisation takes too long to compile
SOLVED_COLUMNS = 8  # coordinates up to which M⁻¹ times a regressor is traced
REGRESSOR_PAIRS = 500  # from which a regressor is computed pair by pair
SPIN_SECOND_PAIRS = 12  # from which second derivatives of systems with full rotors are taken along directions
TABLED_TRIPLES = 80_000  # from which tensors of all systems are: tables of that many places take seconds to make


def long_recursion(tree: Tree) -> bool:
    """Whether an outward and inward recursion is a loop."""
    return len(tree.segments) >= (CHAIN_RECURSION if tree.is_chain else RECURSION)


def long_rest(tree: Tree) -> bool:
    """The same for a recursion at rest, which has little to do per segment."""
    return len(tree.segments) >= RECURSION


def long_forward(tree: Tree) -> bool:
    """The same for articulated bodies."""
    return len(tree.segments) >= (CHAIN_FORWARD_RECURSION if tree.is_chain else FORWARD_RECURSION)


def many_pairs(limit: int) -> Large:
    """So many pairs or more."""
    return lambda tree: tree.pairs >= limit


def many_triples(limit: int) -> Large:
    """So many triples or more."""
    return lambda tree: tree.triples >= limit


def is_dense(tree: Tree) -> bool:
    """Whether forward dynamics solves with LAPACK: many coordinates, and rotors or couplings that rule out a recursion."""
    return tree.n >= DENSE_FROM and (tree.has_spin or not tree.is_plain)


def has_many_rotor_terms(tree: Tree) -> bool:
    """Whether full rotors, which rule out composite bodies, make straight code of first derivatives too long."""
    return tree.has_spin and tree.triples > DERIVATIVE_TRIPLES


def articulated(tree: Tree) -> bool:
    """Whether forward dynamics goes by articulated bodies."""
    return tree.is_plain and not tree.has_spin and tree.n >= ARTICULATED_FROM


def by_composite_bodies(tree: Tree, straight: bool) -> bool:
    """Whether first derivatives are those of composite bodies: always in loops, and in straight code where they take less."""
    return not tree.has_spin and (not straight or tree.triples >= COMPOSITE_DERIVATIVES_FROM)


Refusal = tuple[Callable[[int, int], int], str]
CUBIC: Refusal = (lambda n, m: n**3, "Ask for coriolis_matrix, which has their sum along a velocity")
FOUR_CUBIC: Refusal = (lambda n, m: 4 * n**3, "Ask for derivatives, and take differences of them")
WIDE: Refusal = (lambda n, m: 13 * n * m, "Fix what you do not identify, or cut the chain")


def entries(tree: Tree, refusal: Refusal) -> int:
    """How many entries per configuration a quantity has."""
    return refusal[0](tree.n, len(tree.segments))


def options_are_default(options: tuple[Any, ...], default: str) -> bool:
    """Whether the formulation among the options, if there is one, is the default, which alone has loops and compositions."""
    return all(option == default for option in options if isinstance(option, str))


def has_many_tensor_entries(tree: Tree) -> bool:
    """Whether Christoffel symbols are taken along directions."""
    return has_many_rotor_terms(tree) or tree.triples > TABLED_TRIPLES


def has_many_second_entries(tree: Tree) -> bool:
    """Whether second derivatives are taken along directions."""
    return tree.triples > TABLED_TRIPLES or (tree.has_spin and tree.pairs > SPIN_SECOND_PAIRS)
