"""Small pieces by the clock: pytest-benchmark suites, compared by `make bench-compare`, asked by the door as "micro"."""
