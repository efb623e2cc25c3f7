"""The machine code of workers.py, as LLVM IR text.

A job is an array of words:

    0   the kernel's loop                   5   pieces in a run of rows
    1   number of arrays                    6   pieces in all
    2   rows of a piece                     7   number of further axes
    3   rows                                8   rows in all; the loop gets the address of this word
    4   the next piece                      9   set by a loop that finds no memory
    10  where the axes' lengths are, 11 the arrays' addresses, 12 their strides along the axes, 13 the strides of the loop

All of this is the same for every program, so it stands here as LLVM IR and not through ir.py.
"""

from __future__ import annotations

MOST_ARRAYS = 64
MOST_WORKERS = 63
LINE = 8  # words of a cache line
WAKE_LOCKS = MOST_WORKERS + 1
_PAUSE_US = 200  # of one that waits long
_API = ("leave", "enter", "interrupted", "acquire", "release", "acquire_timed")


def module(triple: str, spin_turns: int) -> str:
    """The whole module; waiting workers go to sleep after so many turns."""
    declared, pause = _pause(triple)
    tables = [
        f"@api = global [{len(_API)} x ptr] zeroinitializer, align 64",
        f"@wake_locks = global [{WAKE_LOCKS} x ptr] zeroinitializer, align 64",
        f"@slots = global [{LINE * MOST_WORKERS} x i64] zeroinitializer, align 64",
        f"@busy = global [{LINE} x i64] zeroinitializer, align 64",
    ]
    text = "\n".join([declared, *tables, _TAKE, _POST, _WORK_AND_LOOK, _FINISH, _RUN, _SERVE])
    return text.replace("PAUSE", pause).replace("SPIN_TURNS", str(spin_turns))


def _pause(triple: str) -> tuple[str, str]:
    """A hint to the processor that this is a waiting loop: its declaration and the call."""
    if triple.startswith(("x86_64", "i386", "i686")):
        return "declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"
    if triple.startswith(("aarch64", "arm64")):
        return "declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"
    return "", "fence seq_cst"


def _words(*names: str) -> str:
    """Words of the job by name, in their order; `.at` is where a word is, `.p` a word that is an address."""
    lines = []
    for k, name in enumerate(names):
        kind = "ptr" if name.endswith(".p") else "i64"
        lines += [f"  %{name}.at = getelementptr i64, ptr %job, i64 {k}", f"  %{name} = load {kind}, ptr %{name}.at, align 8"]
    return "\n".join(lines)


def _functions(*names: str) -> str:
    """Functions of the interpreter by name."""
    lines = []
    for name in names:
        lines += [f"  %{name}.at = getelementptr ptr, ptr @api, i64 {_API.index(name)}", f"  %{name} = load ptr, ptr %{name}.at"]
    return "\n".join(lines)


def _for_each_worker(name: str, needed: str, lines: str) -> str:
    """A function of a job that does something for each of `%workers`, by lines that end at the label `next`.

    They find the worker's number in `%k`, its slot in `%slot`, the job's address in `%word`, and one function of the interpreter.
    """
    return f"""
define internal void @{name}(ptr %job, i64 %workers) {{
entry:
{_functions(needed)}
  %word = ptrtoint ptr %job to i64
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %more = icmp slt i64 %k, %workers
  br i1 %more, label %worker, label %done
worker:
  %place = mul i64 %k, {LINE}
  %slot = getelementptr i64, ptr @slots, i64 %place{lines}
next:
  %k.next = add i64 %k, 1
  br label %each
done:
  ret void
}}"""


_WORDS = (
    *("loop.p", "count", "piece", "rows", "next", "run", "pieces", "axes", "all", "failed"),
    *("extents.p", "bases.p", "far.p", "steps.p"),
)

# Compute one piece of the job, and tell whether one was left. Its number gives the places along the further axes, last one first.
_TAKE = f"""
define internal i1 @take(ptr %job) {{
entry:
  %args = alloca [{MOST_ARRAYS} x ptr], align 16
  %dims = alloca i64, align 8
{_words(*_WORDS)}
  %k = atomicrmw add ptr %next.at, i64 1 monotonic
  %none = icmp sge i64 %k, %pieces
  br i1 %none, label %done, label %take
done:
  ret i1 false
take:
  %outer = udiv i64 %k, %run
  %inner = urem i64 %k, %run
  %first = mul i64 %inner, %piece
  %left = sub i64 %rows, %first
  %last = icmp slt i64 %left, %piece
  %some = select i1 %last, i64 %left, i64 %piece
  store i64 %some, ptr %dims, align 8
  br label %aim
aim:
  %a = phi i64 [ 0, %take ], [ %a.next, %aimed ]
  %own = mul i64 %a, %axes
  br label %axis
axis:
  %d = phi i64 [ %axes, %aim ], [ %d.next, %along ]
  %rest = phi i64 [ %outer, %aim ], [ %rest.next, %along ]
  %offset = phi i64 [ 0, %aim ], [ %offset.next, %along ]
  %d.none = icmp eq i64 %d, 0
  br i1 %d.none, label %aimed, label %along
along:
  %d.next = sub i64 %d, 1
  %extent.at = getelementptr i64, ptr %extents.p, i64 %d.next
  %extent = load i64, ptr %extent.at, align 8
  %index = urem i64 %rest, %extent
  %rest.next = udiv i64 %rest, %extent
  %place = add i64 %own, %d.next
  %stride.at = getelementptr i64, ptr %far.p, i64 %place
  %stride = load i64, ptr %stride.at, align 8
  %way = mul i64 %index, %stride
  %offset.next = add i64 %offset, %way
  br label %axis
aimed:
  %base.at = getelementptr ptr, ptr %bases.p, i64 %a
  %base = load ptr, ptr %base.at, align 8
  %step.at = getelementptr i64, ptr %steps.p, i64 %a
  %step = load i64, ptr %step.at, align 8
  %down = mul i64 %first, %step
  %all.way = add i64 %offset, %down
  %row = getelementptr i8, ptr %base, i64 %all.way
  %arg = getelementptr ptr, ptr %args, i64 %a
  store ptr %row, ptr %arg, align 8
  %a.next = add i64 %a, 1
  %a.more = icmp slt i64 %a.next, %count
  br i1 %a.more, label %aim, label %go
go:
  call void %loop.p(ptr %args, ptr %dims, ptr %steps.p, ptr %all.at)
  ret i1 true
}}"""

# Give the job to every worker, and wake those that sleep.
_POST = _for_each_worker(
    "post",
    "release",
    """
  %old = atomicrmw xchg ptr %slot, i64 %word acq_rel
  %sleeps = icmp eq i64 %old, 1
  br i1 %sleeps, label %wake, label %next
wake:
  %lock.at = getelementptr ptr, ptr @wake_locks, i64 %k
  %lock = load ptr, ptr %lock.at, align 8
  call void %release(ptr %lock)
  br label %next""",
)

# Compute pieces until none is left, and check for an interrupt after every so many; an interrupt leaves no pieces to take.
_WORK_AND_LOOK = f"""
define internal i32 @work_and_look(ptr %job, i64 %every, ptr %thread) {{
entry:
{_functions("leave", "enter", "interrupted")}
  %next = getelementptr i64, ptr %job, i64 4
  %pieces.at = getelementptr i64, ptr %job, i64 6
  %pieces = load i64, ptr %pieces.at, align 8
  br label %again
again:
  %i = phi i64 [ 1, %entry ], [ %i.next, %taken ], [ 1, %go.on ]
  %some = call i1 @take(ptr %job)
  br i1 %some, label %taken, label %done
taken:
  %i.next = add i64 %i, 1
  %now = icmp sgt i64 %i, %every
  br i1 %now, label %look, label %again
look:
  %own = load ptr, ptr %thread, align 8
  call void %enter(ptr %own)
  %state = call i32 %interrupted()
  %new = call ptr %leave()
  store ptr %new, ptr %thread, align 8
  %stop = icmp ne i32 %state, 0
  br i1 %stop, label %cancel, label %go.on
go.on:
  br label %again
cancel:
  store atomic i64 %pieces, ptr %next monotonic, align 8
  ret i32 -1
done:
  ret i32 0
}}"""

# Take the job back from every worker that has not begun, and wait for those at work, with pauses if that takes long.
_FINISH = _for_each_worker(
    "finish",
    "acquire_timed",
    f"""
  br label %look
look:
  %i = phi i64 [ 0, %worker ], [ %i.next, %wait ], [ %i.next, %pause ]
  %was = cmpxchg ptr %slot, i64 %word, i64 0 acq_rel acquire
  %found = extractvalue {{ i64, i1 }} %was, 0
  %busy = icmp eq i64 %found, 2
  br i1 %busy, label %wait.some, label %next
wait.some:
  %i.next = add i64 %i, 1
  %long = icmp ugt i64 %i, SPIN_TURNS
  br i1 %long, label %pause, label %wait
wait:
  PAUSE
  br label %look
pause:
  %never.at = getelementptr ptr, ptr @wake_locks, i64 {MOST_WORKERS}
  %never = load ptr, ptr %never.at, align 8
  %none = call i32 %acquire_timed(ptr %never, i64 {_PAUSE_US}, i32 0)
  br label %look""",
)

# A whole job, called by Python: without workers if another job has them.
_RUN = f"""
define i32 @run(ptr %job, i64 %workers, i64 %every) {{
entry:
{_functions("leave", "enter")}
  %thread = alloca ptr, align 8
  %own = call ptr %leave()
  store ptr %own, ptr %thread, align 8
  %was = cmpxchg ptr @busy, i64 0, i64 1 acq_rel acquire
  %free = extractvalue {{ i64, i1 }} %was, 1
  %count = select i1 %free, i64 %workers, i64 0
  call void @post(ptr %job, i64 %count)
  %state = call i32 @work_and_look(ptr %job, i64 %every, ptr %thread)
  call void @finish(ptr %job, i64 %count)
  br i1 %free, label %release, label %back
release:
  store atomic i64 0, ptr @busy release, align 8
  br label %back
back:
  %mine = load ptr, ptr %thread, align 8
  call void %enter(ptr %mine)
  ret i32 %state
}}"""

# The life of a worker: asleep until it is woken, then looking for jobs until none has come for some time.
_SERVE = f"""
define void @serve(i64 %k) {{
entry:
{_functions("acquire")}
  %place = mul i64 %k, {LINE}
  %slot = getelementptr i64, ptr @slots, i64 %place
  %lock.at = getelementptr ptr, ptr @wake_locks, i64 %k
  %lock = load ptr, ptr %lock.at, align 8
  br label %sleep
sleep:
  %woken = call i32 %acquire(ptr %lock, i32 1)
  %up = cmpxchg ptr %slot, i64 1, i64 0 acq_rel acquire
  br label %look
look:
  %i = phi i64 [ 0, %sleep ], [ %i.next, %wait ], [ 0, %rest ], [ 0, %give_up ]
  %word = load atomic i64, ptr %slot acquire, align 8
  %called = icmp ugt i64 %word, 2
  br i1 %called, label %take, label %wait
take:
  %taken = cmpxchg ptr %slot, i64 %word, i64 2 acq_rel acquire
  %mine = extractvalue {{ i64, i1 }} %taken, 1
  br i1 %mine, label %work, label %wait
work:
  %job = inttoptr i64 %word to ptr
  %some = call i1 @take(ptr %job)
  br i1 %some, label %work, label %rest
rest:
  store atomic i64 0, ptr %slot release, align 8
  br label %look
wait:
  PAUSE
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, SPIN_TURNS
  br i1 %more, label %look, label %give_up
give_up:
  %down = cmpxchg ptr %slot, i64 0, i64 1 acq_rel acquire
  %asleep = extractvalue {{ i64, i1 }} %down, 1
  br i1 %asleep, label %sleep, label %look
}}"""
