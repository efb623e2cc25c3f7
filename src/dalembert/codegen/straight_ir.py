"""A program as LLVM IR text: one SIMD lane per configuration, inputs and outputs in NumPy's layout.

A module has two entry points, `@loop` for batches (batch_loop_ir.py) and `@call` for a single configuration (single_call.py).
Both call `@body` for each block of W rows, with a table of lane pointers, one row per lane. `@body` is the graph, cut into
`@part_k` of bounded size when large, with values that cross a cut kept in a scratch buffer: compile time then grows linearly.
`@tile` takes several blocks through one part before the next, so that its code is fetched and decoded once for all of them.
`@constants` writes entries of results that are the same for every configuration, where there are many (constants_ir.py).
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..expr import Expr, Program
from .batch_loop_ir import Layout, emit_loop, run_name
from .constants_ir import Constants, constants_of, emit_constants
from .ir import CONSTANT, FunctionBuilder, function
from .node_ir import GROUP, ConstantPool, NodeCode, declarations, sincos_pairs
from .precision import DOUBLE, Real
from .prefetch_ir import DECLARATION, PrefetchCode, lines_ahead
from .rows_ir import lane_pointers, load_run_length, runs, store_run_length
from .single_call import emit_call, fail_function

PART_SIZE = 2500  # nodes per function: compile time grows faster than linearly in the size of one function
WHOLE = 5000  # nodes of a program that is left in one part: a cut costs stores and loads, and breaks runs of results
WIDE = 2  # times as many in registers of 512 bits with many results: each instruction that is fetched does twice the work
MANY_RESULTS = 75  # operations for each number of the results up to which these are many
SHORT_ROW = 112  # numbers of the results: eight such rows fill a small part of the first cache
STORE_WEIGHT = 6  # nodes that an output counts for in these: it is transposed and stored
TILE = 8  # blocks that go through one part before the next
TILE_BYTES = 2**19  # of their scratch buffers: they have to stay in the second cache
# Spilled registers lie across cache lines unless the stack is aligned, and LLVM does not align it once it uses the frame pointer
# for other values. That costs up to a quarter of the time of a large kernel, depending on where the stack happens to be.
ALIGNED = "alignstack(64)"
# AMD's Zen cores keep decoded instructions, but turn to them only at a taken branch: after a miss, long code without one is
# decoded again to its end. So it gets jumps to the next instruction; `python -m benchmarks --only jumps` shows what they gain.
JUMP = 'call void asm sideeffect "jmp 1f\\0A1:", ""()'
JUMP_EVERY = 400  # nodes; shorter code than two such pieces gains nothing
# LLVM moves nothing across an empty piece of assembly: that halves its time for long code, spills fewer registers where much is
# stored, and leaves no instruction.
FENCE = 'call void asm sideeffect "", ""()'


def emit(program: Program, lanes: int, *, x86: bool = True, real: Real = DOUBLE, zen: bool = False) -> str:
    """The whole module of an unrolled program; `zen` is for one of AMD's Zen processors."""
    pool = ConstantPool(lanes, real)
    constants = constants_of(program)
    ahead = x86 and not zen
    whole = _ProgramParts(program, pool, zen, constants, prefetch=ahead)
    parts, scratch = whole.emit()
    names = [f"part_{k}" for k in range(len(parts))]
    tile = tile_of(len(parts), scratch * lanes * real.bytes)
    layout = Layout(
        program.inputs, program.outputs, lanes, x86, real, tile, tuple(constants), ahead and not whole.ahead, bool(whole.ahead)
    )
    code = [line for part in parts for line in part]
    lines = [*declarations(code, lanes, real), *([DECLARATION] if whole.ahead else []), *code]
    lines += emit_constants(program, constants, lanes, real) if constants else []
    for again in (False, True) if constants else (False,):
        wanted = names if again or not constants else ["constants", *names]
        lines += [*_body(wanted, again), *_tile(wanted, layout, scratch * lanes * real.bytes, again)]
    return "\n".join([*lines, *pool.definitions(), *entry_points(layout, scratch)])


def is_cut(program: Program, register_bytes: int) -> bool:
    """Whether a program is cut into parts: a cut breaks runs of results, but code of a part is fetched once for a tile."""
    wide = register_bytes == 64 and program.work < MANY_RESULTS * result_count(program)
    return length(program) >= (WIDE * WHOLE if wide else WHOLE)


def length(program: Program) -> int:
    """The nodes of a program, an output counting for more."""
    return sum(node.op not in ("const", "input") for node in program.nodes) + STORE_WEIGHT * result_count(program)


def result_count(program: Program) -> int:
    """The numbers among the results of a configuration that are no constants."""
    return _stored(program).total()


def row_length(program: Program) -> int:
    """The numbers among the results of a configuration, with constants."""
    return sum(slot.size for slot in program.outputs)


def _stored(program: Program) -> Counter[int]:
    """How often each node is a result."""
    return Counter(scalar.index for result in program.results for scalar in result if isinstance(scalar, Expr))


def tile_of(parts: int, scratch_bytes: int) -> int:
    """How many blocks go through one part before the next; one if there is only one part."""
    return 1 if parts == 1 else max(1, min(TILE, TILE_BYTES // max(scratch_bytes, 1)))


def _body(names: list[str], again: bool) -> list[str]:
    """`@body`: one block through all parts; `@body_again` where its rows have their constants already."""
    calls = [f"  call void @{name}(ptr %lanes, ptr %scratch)" for name in names]
    return function(f"internal void @{run_name('body', again)}(ptr noalias %lanes, ptr noalias %scratch)", [*calls, "  ret void"])


def _tile(names: list[str], layout: Layout, scratch_bytes: int, again: bool) -> list[str]:
    """`@tile`: some blocks, each part for all of them in a row; `@tile_again` as above."""
    if layout.tile == 1:
        return []
    code = FunctionBuilder()
    code.label("start")
    code.go("turn0")
    before = "start"
    for k, name in enumerate(names):
        with code.loop(f"b{k}", "%count", f"turn{k}", f"turn{k + 1}", before=before) as block:
            lanes = code.at("%lanes", code.let(f"mul i64 {block}, {layout.lane_bytes}"))
            scratch = code.at("%scratch", code.let(f"mul i64 {block}, {scratch_bytes}"))
            code.line(f"call void @{name}(ptr {lanes}, ptr {scratch})")
        before = f"turn{k}"
    code.line("ret void")
    head = f"internal void @{run_name('tile', again)}(ptr noalias %lanes, ptr noalias %scratch, i64 %count)"
    return function(head, code.lines)


def entry_points(layout: Layout, scratch: int) -> list[str]:
    """The two entry points of a module, and what they call."""
    return [*emit_loop(layout, scratch), *emit_call(layout, scratch), *fail_function(alone=True)]


Result = tuple[int, int, Expr | float]  # output, entry, what goes there


class _ProgramParts:
    """The graph of a program, cut into functions of bounded size."""

    def __init__(self, program: Program, pool: ConstantPool, zen: bool, constants: Constants, *, prefetch: bool) -> None:
        self.program = program
        self.elsewhere = {(i, j) for i, fixed in constants.items() for run in fixed for j in run}
        self.pool = pool
        self.pairs = sincos_pairs(program.nodes)
        self.cuts = self._cut([node for node in program.nodes if node.op not in ("const", "input")])
        long = len(self.cuts) > 1 or len(self.cuts[0]) >= 2 * JUMP_EVERY
        self.mark = FENCE if not zen else JUMP if long else ""
        self.home = {node.index: k for k, part in enumerate(self.cuts) for node in part}
        self.slots: dict[int, int] = {}
        pairs = not zen and (len(self.cuts) > 1 or row_length(program) > SHORT_ROW)
        longest = store_run_length(pool.lanes, pool.real, pairs=pairs)
        self.run_of = [[run for run in runs(slot.size, longest) for _ in run] for slot in program.outputs]
        wanted = prefetch and len(self.cuts) == 1  # parts take several blocks each in turn, and the next rows are others
        self.ahead = lines_ahead(program.outputs, pool.lanes, pool.real) if wanted else []

    def _cut(self, order: list[Expr]) -> list[list[Expr]]:
        """Parts of about PART_SIZE nodes, an output counting for more; one part if the program is small enough."""
        if not is_cut(self.program, self.pool.lanes * self.pool.real.bytes):
            return [order]
        stored = _stored(self.program)
        part = np.cumsum([1 + STORE_WEIGHT * stored[node.index] for node in order]) // PART_SIZE
        return [[order[i] for i in np.flatnonzero(part == k)] for k in np.unique(part)] or [order]

    def emit(self) -> tuple[list[list[str]], int]:
        """The functions, and the number of scratch vectors they need."""
        for k, part in enumerate(self.cuts):
            for a in (a for node in part for a in node.args):
                if a.op not in ("const", "input") and self.home[a.index] != k:
                    self.slots.setdefault(a.index, len(self.slots))
        results = self._results_by_part()
        return [self._part(k, results[k]) for k in range(len(self.cuts))], len(self.slots)

    def _results_by_part(self) -> list[list[Result]]:
        by_part: list[list[Result]] = [[] for _ in self.cuts]
        for i, result in enumerate(self.program.results):
            for j, scalar in enumerate(result):
                if (i, j) in self.elsewhere:
                    continue
                k = self.home.get(scalar.index, 0) if isinstance(scalar, Expr) else 0
                by_part[k].append((i, j, scalar))
        return by_part

    def _part(self, k: int, results: list[Result]) -> list[str]:
        code = NodeCode(self.pool.lanes, self.pool.real, self.pool)
        reader = _ValueReader(code, self, k, results)
        writer = _ResultWriter(code, reader, results)
        self._bring_near(self.cuts[k], code, reader)
        prefetch = PrefetchCode(code, self.ahead, len(self.cuts[k]))
        if self.ahead:
            prefetch.begin(reader.head, reader.lanes_of(len(self.program.inputs)))
        for place, node in enumerate(self.cuts[k], start=1):
            prefetch.ask(place, lambda output: reader.lanes_of(len(self.program.inputs) + output)[0])
            if self.mark and place % JUMP_EVERY == 0:
                code.line(self.mark)
            if node.op in ("sin", "cos") and node.index not in self.slots and node.index not in writer.places:
                continue  # computed where it is first needed, between other work
            for a in node.args:
                reader.fetch(a)
            reader.fetch(node)
            if node.index in self.slots:
                reader.keep(node)
            writer.put(node)
        for node in writer.left():  # bare inputs
            reader.fetch(node)
            writer.put(node)
        code.line("ret void")
        head = f"internal void @part_{k}(ptr noalias %lanes, ptr noalias %scratch) noinline {ALIGNED}"
        return function(head, [*code.head, *reader.head.lines, *code.lines])

    def _bring_near(self, part: list[Expr], code: NodeCode, reader: _ValueReader) -> None:
        """Bring arguments of sine and cosine that depend on inputs only within reach first, others where they are computed."""
        early = {a.index: a for node in part if node.op in ("sin", "cos") for a in node.args if _is_simple(a)}
        if not early:
            return
        for a in early.values():
            for b in a.args:
                reader.fetch(b)
            reader.fetch(a)
        code.bring_near(list(early.values()))


def _is_simple(node: Expr) -> bool:
    """An input, or an operation on inputs and constants."""
    return node.op == "input" or (bool(node.args) and all(a.op in ("input", "const") for a in node.args))


class _ValueReader:
    """Lane pointers of the arrays, loaded once at the head; inputs and scratch values, loaded at first use."""

    def __init__(self, code: NodeCode, parts: _ProgramParts, part: int, results: list[Result]) -> None:
        self.code = code
        self.parts = parts
        self.part = part
        self.head = FunctionBuilder("a")
        self.pointers: dict[int, list[str]] = {}
        wanted = [a for node in parts.cuts[part] for a in node.args] + [x for *_, x in results if isinstance(x, Expr)]
        self.wanted = {node.index for node in wanted}
        self.turned: set[int] = set()  # arguments whose sine and cosine are computed
        self.pairs = {node.args[0].index: parts.pairs[node.index] for node in parts.cuts[part] if node.op in ("sin", "cos")}

    def lanes_of(self, array: int) -> list[str]:
        """The pointers to an array's rows."""
        if array not in self.pointers:
            self.pointers[array] = lane_pointers(self.head, array, self.code.lanes)
        return self.pointers[array]

    def fetch(self, node: Expr) -> None:
        """Make a node's value available: load it, or compute it from available values."""
        code, parts = self.code, self.parts
        if node.op == "const" or node.index in code.values or node.index in code.masks:
            return
        if parts.home.get(node.index) == self.part:
            if node.op in ("sin", "cos"):
                self._sincos(node)
            else:
                code.compute(node)
        elif node.op == "input":
            self._load(node)
        else:
            code.values[node.index] = code.v.load(self._slot(node))

    def _sincos(self, node: Expr) -> None:
        """A sine or cosine, and with it the next ones whose arguments are within reach: their operations can overlap in time."""
        code, argument = self.code, node.args[0]
        self.fetch(argument)
        if argument.index not in code.near:
            code.bring_near([argument])
        near = list(code.near)
        first = near.index(argument.index)
        for index in near[first : first + GROUP]:
            if index not in self.turned:
                self.turned.add(index)
                code.sincos(*self.pairs[index])

    def _load(self, node: Expr) -> None:
        """An input, and its neighbours with it if most of them are wanted."""
        code = self.code
        array, entry = self.parts.program.input_places[node.index]
        entries, pointers = self.parts.program.entries[array], self.lanes_of(array)
        (run,) = (r for r in runs(len(entries), load_run_length(code.lanes, code.real)) if entry in r)
        if 2 * sum(entries[j].index in self.wanted for j in run) <= len(run):
            code.values[node.index] = code.load_lanes(pointers, entry * code.real.bytes)
            return
        for j, value in zip(run, code.rows.load(pointers, run[0], len(run), CONSTANT), strict=True):
            code.values.setdefault(entries[j].index, value)

    def keep(self, node: Expr) -> None:
        """Store a value for other parts."""
        self.code.v.store(self.code.value(node), self._slot(node))

    def _slot(self, node: Expr) -> str:
        return self.code.at("%scratch", self.parts.slots[node.index] * self.code.v.size)


class _ResultWriter:
    """Results to memory: adjacent entries of a row wait for each other and are stored together."""

    def __init__(self, code: NodeCode, reader: _ValueReader, results: list[Result]) -> None:
        self.code = code
        self.reader = reader
        self.nodes = {scalar.index: scalar for *_, scalar in results if isinstance(scalar, Expr)}
        self.places: dict[int, list[tuple[int, int]]] = {}  # by node, where it goes
        self.values: dict[tuple[int, int], str] = {}
        self.runs = self._runs({(i, j) for i, j, _ in results})
        for i, j, scalar in results:
            if isinstance(scalar, Expr):
                self.places.setdefault(scalar.index, []).append((i, j))
            else:
                self._put((i, j), code.v.number(scalar))

    def _runs(self, here: set[tuple[int, int]]) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """For each place: those it is stored with. A run with entries of other parts is stored entry by entry."""
        together = {}
        for i, j in here:
            places = [(i, k) for k in self.reader.parts.run_of[i][j]]
            together[i, j] = places if all(place in here for place in places) else [(i, j)]
        return together

    def put(self, node: Expr) -> None:
        """A node's value is known."""
        for place in self.places.pop(node.index, ()):
            self._put(place, self.code.value(node))

    def left(self) -> list[Expr]:
        """Nodes whose value has not been put yet."""
        return [self.nodes[index] for index in self.places]

    def _put(self, place: tuple[int, int], value: str) -> None:
        self.values[place] = value
        run = self.runs[place]
        if not all(other in self.values for other in run):
            return
        output, first = run[0]
        pointers = self.reader.lanes_of(len(self.reader.parts.program.inputs) + output)
        if len(run) == 1:
            self.code.store_lanes(value, pointers, first * self.code.real.bytes)
        else:
            self.code.rows.store([self.values[other] for other in run], pointers, first)
