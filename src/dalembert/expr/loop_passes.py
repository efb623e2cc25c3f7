"""Named passes that save a loop program memory traffic: what one turn hands to the next need not be stored and read again.

A sweep (algorithms/loop_sweep.py) writes every result to a row of a buffer, which is right for any tree. Along a chain most rows
are read once, in the very next turn. Each pass takes a program and gives one with the same results; none of them
changes programs with repetitions or with an index per configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .graph import Expr, reachable
from .loops import Address, Carry, IntArray, LoopProgram, Stage, Write
from .ops import is_zero

Place = tuple[int, Write]  # the number of a stage, and a write of it


def streamlined(program: LoopProgram) -> LoopProgram:
    """All passes, one after another."""
    if not all(isinstance(stage, Stage) and _is_direct(stage) for stage in program.stages):
        return program
    for change in PASSES.values():
        program = change(program)
    return program


def _is_direct(stage: Stage) -> bool:
    return all(a.index is None for a in (*(a for _, a in stage.reads), *(w.address for w in stage.writes)))


def _stages(program: LoopProgram) -> list[Stage]:
    return [stage for stage in program.stages if isinstance(stage, Stage)]


def entries(stage: Stage, address: Address) -> IntArray:
    """The entry that an address means, turn by turn."""
    return stage.columns[address.column] * address.stride + address.offset


def sums_once(program: LoopProgram) -> LoopProgram:
    """A sum into an entry that is still zero, and gets no other summand, is a plain write."""
    stages = _stages(program)
    places = list(_writes(stages))

    def changed(number: int, write: Write) -> Write:
        if not write.add or write.address.kind != "buffer":
            return write
        own = entries(stages[number], write.address)
        others = [(k, w) for k, w in places if (k, id(w)) != (number, id(write)) and _meet(stages, (k, w), write.address, own)]
        zeroed = [entries(stages[k], w.address) for k, w in others if k < number and not w.add and is_zero(w.scalar)]
        single = len(np.unique(own)) == len(own) and len(zeroed) == len(others)
        return replace(write, add=False) if single and zeroed and np.isin(own, np.concatenate(zeroed)).all() else write

    return _replaced(
        program,
        [replace(stage, writes=tuple(changed(k, w) for w in stage.writes)) for k, stage in enumerate(stages)],
    )


def copies_at_the_source(program: LoopProgram) -> LoopProgram:
    """A loop that only copies a buffer to an output is removed: the results are written to the output at once."""
    stages = _stages(program)
    for number, stage in enumerate(stages):
        sources = {node.index: address for node, address in stage.reads}
        for write in stage.writes:
            if (
                isinstance(write.scalar, Expr)
                and write.scalar.index in sources
                and write.address.kind == "output"
                and not write.add
            ):
                _redirect(stages, number, write, sources[write.scalar.index])
    return _replaced(program, stages)


def _redirect(stages: list[Stage], number: int, copy: Write, source: Address) -> None:
    """Let the writes of what is copied go to the output instead, if nothing else reads or writes it."""
    wanted = entries(stages[number], source)
    writers = [place for place in _writes(stages) if _meet(stages, place, source, wanted)]
    readers = [k for k, s in enumerate(stages) for _, a in s.reads if _same(a, source) and np.isin(entries(s, a), wanted).any()]
    if source.kind != "buffer" or readers != [number] or any(k >= number or writer.add for k, writer in writers):
        return
    goal = entries(stages[number], copy.address)
    written = [entries(stages[k], writer.address) for k, writer in writers]
    if sum(_meet(stages, place, copy.address, goal) for place in _writes(stages)) > 1:
        return
    if not written or not np.array_equal(np.sort(np.concatenate(written)), np.sort(wanted)):
        return
    targets = dict(zip(wanted.tolist(), goal.tolist(), strict=True))
    for (k, writer), found in zip(writers, written, strict=True):
        column = np.array([targets[e] for e in found.tolist()], dtype=np.int64)
        address = replace(copy.address, column=len(stages[k].columns), stride=1, offset=0)
        kept = tuple(replace(w, address=address) if w is writer else w for w in stages[k].writes)
        stages[k] = replace(stages[k], columns=(*stages[k].columns, column), writes=kept)
    stages[number] = _pruned(stages[number], [w for w in stages[number].writes if w is not copy])


def hand_on(program: LoopProgram) -> LoopProgram:
    """What a turn reads of a buffer, where the turn before has just written it, is carried from turn to turn."""
    return _replaced(program, [_handing_on(stage) for stage in _stages(program)])


def _handing_on(stage: Stage) -> Stage:
    carried, reads = list(stage.carried), []
    for node, address in stage.reads:
        written = _written_before(stage, address) if address.kind == "buffer" and stage.turns > 1 else None
        if written is None:
            reads.append((node, address))
        else:
            carried.append(Carry(node, address, written.scalar))
    return replace(stage, reads=tuple(reads), carried=tuple(carried))


def _written_before(stage: Stage, address: Address) -> Write | None:
    """The write whose result of the turn before is at this address, in every turn but the first."""
    read = entries(stage, address)
    meeting = [w for w in stage.writes if _same(w.address, address) and np.isin(entries(stage, w.address), read).any()]
    if len(meeting) != 1 or meeting[0].add or len(np.unique(read)) < len(read):
        return None
    return meeting[0] if np.array_equal(read[1:], entries(stage, meeting[0].address)[:-1]) else None


def without_dead_writes(program: LoopProgram) -> LoopProgram:
    """Leave out writes that are never read, what only they needed, and loops that then do nothing."""
    stages = _stages(program)
    before = -1
    while before != (before := sum(len(stage.writes) * stage.turns for stage in stages)):
        live = _live(program, stages)
        stages = [_living(stage, live) for stage in stages]
    return _replaced(program, stages)


def _live(program: LoopProgram, stages: list[Stage]) -> list[Any]:
    """For each buffer, which of its entries are read."""
    live = [np.zeros(size, bool) for size in program.buffers]
    for stage in stages:
        for _, address in stage.reads:
            if address.kind == "buffer":
                live[address.number][entries(stage, address)] = True
        for carry in stage.carried:
            live[carry.first.number][entries(stage, carry.first)[0]] = True
    return live


def _living(stage: Stage, live: list[Any]) -> Stage:
    def needed(write: Write) -> Any:
        a = write.address
        return live[a.number][entries(stage, a)] if a.kind == "buffer" else np.ones(stage.turns, bool)

    stage = _pruned(stage, [_at_last(write, needed(write)) for write in stage.writes if needed(write).any()])
    turns = np.any([needed(write) for write in stage.writes], axis=0) if stage.writes else np.ones(stage.turns, bool)
    if stage.carried or turns.all():
        return stage
    return replace(stage, turns=int(turns.sum()), columns=tuple(column[turns] for column in stage.columns))


def _at_last(write: Write, needed: Any) -> Write:
    """Of what a loop carries along, often only the last turn's result is wanted afterwards."""
    return replace(write, last=True) if len(needed) > 1 and needed[-1] and not needed[:-1].any() and not write.add else write


def _pruned(stage: Stage, writes: list[Write]) -> Stage:
    """A stage with only these writes, and what they need."""
    carried = stage.carried
    while True:
        nodes = reachable([*(w.scalar for w in writes), *(c.scalar for c in carried)])
        used = {node.index for node in nodes}
        kept = tuple(c for c in carried if c.node.index in used)
        if len(kept) == len(carried):
            break
        carried = kept
    reads = tuple((node, a) for node, a in stage.reads if node.index in used)
    return replace(stage, reads=reads, carried=carried, nodes=tuple(n for n in nodes if n.op != "input"), writes=tuple(writes))


def _writes(stages: list[Stage]) -> Iterator[Place]:
    return ((k, write) for k, stage in enumerate(stages) for write in stage.writes)


def _same(a: Address, b: Address) -> bool:
    """Whether two addresses are in the same array."""
    return a.kind == b.kind and a.number == b.number


def _meet(stages: list[Stage], place: Place, address: Address, wanted: IntArray) -> bool:
    """Whether a write puts something where these entries of an address are."""
    number, write = place
    return _same(write.address, address) and bool(np.isin(entries(stages[number], write.address), wanted).any())


def _replaced(program: LoopProgram, stages: list[Stage]) -> LoopProgram:
    return replace(program, stages=tuple(stage for stage in stages if stage.writes))


PASSES: dict[str, Callable[[LoopProgram], LoopProgram]] = {
    "sums_once": sums_once,
    "copies_at_the_source": copies_at_the_source,
    "hand_on": hand_on,
    "without_dead_writes": without_dead_writes,
}
