"""From nothing to the first result of a closed loop: fresh processes with an empty cache, mechanism and closure included."""

from __future__ import annotations

from .chain import empty_cache
from .effort import Effort
from .start import run_fresh
from .tables import Column, Table

FIRST = """
import time, numpy, dalembert as dal
from benchmarks.mechanism_subjects import MECHANISMS
start = time.perf_counter()
mechanism = MECHANISMS["{name}"]()
state = mechanism.q0, numpy.full(mechanism.n, 0.1)
{call}
print(time.perf_counter() - start)
"""
CALLS = {
    "inverse dynamics": "dal.inverse_dynamics(mechanism, *state, state[1])",
    "forward dynamics": "dal.forward_dynamics(mechanism, *state, state[1])",
    "both": "dal.inverse_dynamics(mechanism, *state, state[1]), dal.forward_dynamics(mechanism, *state, state[1])",
    "derivatives": "dal.derivatives(mechanism, *state, state[1])",
    "derivatives of forward dynamics": "dal.derivatives(mechanism, *state, tau=state[1])",
    "simulate": "dal.simulate(mechanism, *state, t_end=0.01)",
}
MEASURED = ("five_bar", "stewart")
COLUMNS = (
    Column("mechanism", "mechanism"),
    Column("what", "first result"),
    Column("best", "best [s]", ".2f"),
    Column("median", "median [s]", ".2f"),
)


def measure(effort: Effort) -> Table:
    """The table of all calls."""
    note = f"Fresh processes after the import, best and median of {effort.starts}; the mechanism is made in them, too."
    table = Table("mechanism_start", "Closed loops from nothing", note, COLUMNS)
    found: dict[tuple[str, str], list[float]] = {(name, what): [] for name in MEASURED for what in CALLS}
    for _ in range(effort.starts):
        for (name, what), seconds in found.items():  # in turns
            with empty_cache():
                seconds.append(run_fresh(FIRST.format(name=name, call=CALLS[what])))
    for (name, what), seconds in found.items():
        middle = sorted(seconds)[len(seconds) // 2]
        table.records.append({"mechanism": name, "what": what, "best": min(seconds), "median": middle})
    return table
