"""Benchmarks: `python -m bench`. Every answer is checked before it is timed, every contestant has its own process."""
