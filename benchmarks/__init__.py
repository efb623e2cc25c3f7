"""Timings as ratios to other libraries, measured in one run: `python -m benchmarks` (or `make bench`)."""
