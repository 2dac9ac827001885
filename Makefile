# Every target uses .venv at the root, which `make env` makes once. FORMATTER_KERNEL and pytest's ARGS pass through.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

BIN := .venv/bin
export PATH := $(CURDIR)/.venv/bin:$(PATH)
PYTEST := $(BIN)/python -m pytest -p no:benchmark
# One worker a core; everything that starts a Spark shares one worker, hence one JVM.
PARALLEL := -n $(shell nproc) --dist loadgroup
PYTHON_FILES := src spark_udfs tests bench demo tools setup.py
NATIVE_FILES := $(shell find src tests bench -name '*.cpp' -o -name '*.hpp' | grep -v _core.cpp)
CYTHON_FILES := $(shell find src -name '*.pyx' -o -name '*.pxi' -o -name '*.pxd')
OTHER_KERNELS := import formatter; print(*formatter.kernels()[1:])

.PHONY: schedules shred soup drift help env build test memory test-fast test-kernels lint format docs bench bench-store bench-compare demo soak crash
.PHONY: test-spark-matrix spark-queries spark-compat spark-variants wheel clean clean-env instructions mutate fuzz coverage

help:  ## this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' Makefile

env: .venv/.ready  ## .venv with the package (editable) and everything tests, demo and benchmarks need

.venv/.ready: requirements/dev.txt tools/make_env.sh
	@tools/make_env.sh $(PYTHON)

build: env  ## compile what changed, in place
	@$(BIN)/python setup.py --quiet build_ext --inplace

test: build  ## every test; ARGS="-k name" narrows
	@$(PYTEST) $(PARALLEL) $(ARGS)

test-fast: build  ## the quick ones, without Spark
	@$(PYTEST) $(PARALLEL) -m "not slow and not spark" $(ARGS)

test-kernels: build  ## the quick ones that a kernel could decide, under each but the best, which `make test` uses
	@for kernel in $$($(BIN)/python -c '$(OTHER_KERNELS)'); do \
	  echo "== FORMATTER_KERNEL=$$kernel"; \
	  FORMATTER_KERNEL=$$kernel $(PYTEST) $(PARALLEL) -q -m "by_kernel and not slow and not spark" $(ARGS); \
	done

lint: build  ## ruff, mypy --strict, cython-lint, clang-format; changes nothing
	@$(BIN)/ruff check $(wildcard $(PYTHON_FILES))
	@$(BIN)/ruff format --check $(wildcard $(PYTHON_FILES))
	@$(BIN)/mypy
	@$(BIN)/cython-lint $(CYTHON_FILES)
	@$(BIN)/clang-format --dry-run -Werror $(NATIVE_FILES)

format:  ## lets ruff and clang-format rewrite files
	@$(BIN)/ruff check --fix-only --quiet $(wildcard $(PYTHON_FILES))
	@$(BIN)/ruff format $(wildcard $(PYTHON_FILES))
	@$(BIN)/clang-format -i $(NATIVE_FILES)

docs: build .venv/.docs  ## the guides and a reference of every public name as a static site, in build/docs
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "make docs: build/docs/index.html"

.venv/.docs: requirements/docs.txt .venv/.ready
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements/docs.txt
	@touch $@

bench: build .venv/.contestants  ## every question, checked answers first; ARGS="--list" shows them, ARGS="FILE..." races on yours
	@$(BIN)/python -m bench $(ARGS)
	@$(BIN)/python -m bench.report --documents

.venv/.contestants: .venv/.ready requirements/bench.txt
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps -r requirements/bench.txt && touch $@

bench-store: build  ## the micro suites, kept in .benchmarks to compare with
	@$(BIN)/python -m pytest -q bench/micro --benchmark-autosave --benchmark-columns=min,median,rounds $(ARGS)

bench-compare: build  ## the micro suites against the run stored last; fails if one takes a fifth longer
	@$(BIN)/python -m pytest -q bench/micro --benchmark-compare --benchmark-compare-fail=min:20% --benchmark-columns=min,median $(ARGS)

instructions: build  ## instructions of every question of bench/instructions, by valgrind; fails if one grew by 2%
	@$(BIN)/python -m bench.instructions $(ARGS)

demo: build  ## quoted files, shuffled chunks and JSON records beside what Spark does with them; answers checked
	@$(BIN)/python demo/spark_demo.py $(ARGS)

soak: build  ## random stream schedules for SECONDS (default 600), then the long forms of the flow and stream tests
	@$(BIN)/python tests/stream/soak.py $(or $(SECONDS),600)
	@FORMATTER_SOAK=1 FORMATTER_SOAK_SECONDS=$(or $(SECONDS),600) $(PYTEST) tests/flow/test_backpressure.py \
	  tests/flow/test_barriers_against_model.py tests/stream/test_memory.py tests/stream/test_sanitizers.py $(ARGS)

fuzz: build .venv/.fuzz  ## libFuzzer with sanitizers on the engine, atheris on Python, MINUTES of CPU (default 40) for all; ARGS="csv infer" chooses
	@$(BIN)/python tests/fuzz/fuzz.py $(or $(MINUTES),40) $(ARGS)

.venv/.fuzz: requirements/fuzz.txt .venv/.ready
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements/fuzz.txt && touch $@

coverage: build .venv/.coverage  ## lines of Python and C++ that the quick tests run; those they do not, in build/coverage/missing.txt
	@$(BIN)/python tools/measure_coverage.py $(PARALLEL) -m "not slow and not spark" $(ARGS)

.venv/.coverage: requirements/coverage.txt .venv/.ready
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements/coverage.txt && touch $@

mutate: build  ## the changes of tests/mutations one by one, in a copy: the tests notice each; ARGS="shred_ring.cpp" narrows
	@$(BIN)/python tests/mutations/mutate.py $(ARGS)

schedules: env  ## SEEDS (default 1000000) schedules of the engine's threads, each decided by its seed, from FIRST (default 1) on
	@$(BIN)/python tests/schedules/schedules.py $(or $(SEEDS),1000000) $(or $(FIRST),1)

shred: build  ## BUFFERS (default 1000000000) through the shredder in random order, against their exact claims
	@$(BIN)/python tests/shredder/long_run.py $(or $(BUFFERS),1000000000)

drift: build  ## RECORDS (default 10000000) that drift (SEED) through streams killed KILLS times (default 20), SPARK_RECORDS through Spark
	@$(BIN)/python tests/drift/long_drift.py $(or $(RECORDS),10000000) $(or $(SEED),1) $(or $(KILLS),20)
	@$(BIN)/python tests/spark/drift_harness.py $(or $(SPARK_RECORDS),200000) $(or $(SEED),1) $(or $(KILLS),20)

memory: build  ## each allocation of many runs fails in turn; then RUNS (default 10000) runs under random limits of memory
	@$(BIN)/python tests/memory/short_of_memory.py $(or $(RUNS),10000)

soup: build  ## CASES (default 1000000) random texts by the lenient quote rule and by Python's csv module, which must agree
	@$(BIN)/python tests/csv/lenient_soup.py $(or $(CASES),1000000) $(or $(SEED),1)

SPARKS := 4.0.5 4.1.4 4.2.1 4.3.0

test-spark-matrix: build  ## what has to work everywhere under the newest patch of every Spark 4 (or SPARKS="4.0.5 ...")
	@tools/spark_matrix.sh $(SPARKS)

spark-queries: build  ## N (default 1000) random queries over our tables and those of Spark's readers, which must agree; SPARK=4.0.5 is an older one
	@tools/spark_home.sh $(SPARK)
	@PYTHONPATH=$(if $(SPARK),$(CURDIR)/.spark/$(SPARK)) $(BIN)/python tests/spark/query_soup.py $(or $(N),1000) $(or $(SEED),1)

spark-compat: build  ## RECORDS (default 100000) random records, with options, by compat="spark" and by from_json and from_csv, which must agree
	@$(BIN)/python tests/spark/compat_soup.py $(or $(RECORDS),100000) $(or $(SEED),1)

spark-variants: build  ## RECORDS (default 1000000) random JSON records of five kinds as variants, which must have the bytes of parse_json
	@$(BIN)/python tests/spark/variant_soup.py $(or $(RECORDS),1000000) $(or $(SEED),1)

crash: build  ## kills a streaming query's driver, executors, workers KILLS times (default 20) at random, on two masters; checks its sink
	@$(BIN)/python tests/spark/crash_harness.py $(or $(KILLS),20) 1 "local[2,4]"
	@$(BIN)/python tests/spark/crash_harness.py $(or $(KILLS),20) 1 "local-cluster[2,1,1024]"

wheel: env  ## sdist and wheel in dist/
	@$(BIN)/python -m build --no-isolation

clean:  ## build products
	@rm -rf build dist src/*.egg-info src/formatter/_core.cpp src/formatter/_core.*.so .demo

clean-env: clean  ## build products and the environment
	@rm -rf .venv
