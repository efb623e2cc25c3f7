"""The whole fuzz suite by one command: `python -m tests.fuzz`, or `make fuzz`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile

from .runner import CAMPAIGNS, Tally, run, table
from .worker import module_of


def main() -> int:
    """Run campaigns, print every fault and a table; 1 if there was a fault."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="dalembert-fuzz-") as cache:
        os.environ["DALEMBERT_CACHE"] = cache
        tallies = [_run(name, options) for name in options.only or CAMPAIGNS]
    print(table(tallies))
    return int(any(tally.found for tally in tallies))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--only", action="append", choices=CAMPAIGNS, help="this campaign; may be given several times")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--effort", choices=("quick", "full"), default="full", help="quick: what the tests run")
    parser.add_argument("--cases", type=int, help="so many cases of each campaign, in place of its own number")
    parser.add_argument("--number", type=int, help="this case alone")
    return parser.parse_args()


def _run(name: str, options: argparse.Namespace) -> Tally:
    campaign = module_of(name)
    count = options.cases or (campaign.QUICK if options.effort == "quick" else campaign.FULL)
    first, end = (options.number, options.number + 1) if options.number is not None else (0, count)
    print(f"{name}: {end - first} cases from seed {options.seed}", file=sys.stderr)
    return run(name, options.seed, first, end, lambda found: print(found, flush=True))


if __name__ == "__main__":
    sys.exit(main())
