"""What a user meets first: the import, its cost, the kernels by name, the stubs, the errors with a remedy."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import formatter as fm
from formatter import _core

ROOT = Path(__file__).resolve().parents[2]
MOST_MODULES_OF_OTHERS = 30  # what takes the time of an import, counted where a clock would measure the machine


def python(code, *flags, **environment):
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *flags, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        stdin=subprocess.DEVNULL,
    )


def test_importing_loads_little_more_than_pyarrow_alone_and_starts_no_thread():
    code = (
        "import sys, threading, pyarrow, numpy; before = set(sys.modules); import formatter; "
        "print(threading.active_count(), *set(sys.modules) - before)"
    )
    threads, *loaded = python(code).stdout.split()
    assert threads == "1"
    assert len([name for name in loaded if name.split(".")[0] != "formatter"]) <= MOST_MODULES_OF_OTHERS


def test_importing_loads_no_spark_no_pandas_and_no_other_reader():
    loaded = python("import sys, formatter; print(*sys.modules)").stdout.split()
    assert not {"pyspark", "pandas", "polars", "simdjson", "spark_udfs"} & set(loaded)


def test_every_public_name_exists_and_none_is_listed_twice():
    assert len(fm.__all__) == len(set(fm.__all__))
    assert [name for name in fm.__all__ if not hasattr(fm, name)] == []


def test_an_unknown_kernel_name_is_one_line_with_the_names_there_are():
    result = python("import formatter", FORMATTER_KERNEL="sse9")
    assert result.returncode != 0
    last = result.stderr.strip().splitlines()[-1]
    assert "sse9" in last
    assert all(name in last for name in fm.kernels())


@pytest.mark.parametrize("kernel", fm.kernels())
def test_the_environment_chooses_the_kernel(kernel):
    assert (
        python("import formatter; print(formatter.active_kernel())", FORMATTER_KERNEL=kernel).stdout.strip() == kernel
    )


def test_kernels_are_listed_best_first_and_end_with_scalar():
    order = ["avx512", "avx2", "sse42", "neon", "scalar"]
    assert list(fm.kernels()) == [name for name in order if name in fm.kernels()]
    assert fm.kernels()[-1] == "scalar"


def test_without_pyspark_the_spark_front_says_what_to_install():
    code = "import sys; sys.modules['pyspark'] = None; import spark_udfs"
    last = python(code).stderr.strip().splitlines()[-1]
    assert last == "ImportError: spark_udfs needs pyspark; run: pip install 'formatter[spark]'"


def stub_names(body):
    """Names a stub declares: functions, classes and constants; for classes, their members too."""
    names = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = stub_names(node.body)
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] = None
    return names


STUBS = stub_names(ast.parse((ROOT / "src" / "formatter" / "_core.pyi").read_text()).body)


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_stubs_name_exactly_what_the_core_has():
    own = {
        name
        for name, value in vars(_core).items()
        if getattr(value, "__module__", None) == _core.__name__ or isinstance(value, (int, str, tuple, np.dtype))
    }
    assert public(STUBS) == public(own)


@pytest.mark.parametrize("name", sorted(name for name, members in STUBS.items() if isinstance(members, dict)))
def test_stubs_name_every_public_member_of_a_class(name):
    assert public(STUBS[name]) == public(vars(getattr(_core, name)))


def test_stubs_say_what_a_pattern_takes_apart():
    stub = ast.parse((ROOT / "src" / "formatter" / "_core.pyi").read_text()).body
    said = {
        node.name: ast.literal_eval(member.value)
        for node in stub
        if isinstance(node, ast.ClassDef)
        for member in node.body
        if isinstance(member, ast.Assign) and ast.unparse(member.targets[0]) == "__match_args__"
    }
    assert said == {
        name: value.__match_args__
        for name, value in vars(_core).items()
        if "__match_args__" in getattr(value, "__dict__", ())
    }


FUNCTIONS = sorted(name for name, node in STUBS.items() if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_stubs_name_the_parameters_of_a_function(name):
    signature = inspect.signature(getattr(_core, name))
    arguments = STUBS[name].args
    declared = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    assert declared == list(signature.parameters)


@pytest.mark.parametrize("error", ["FormatError", "SchemaError", "OptionError", "SequenceError"])
def test_errors_about_input_are_also_value_errors(error):
    assert issubclass(getattr(fm, error), ValueError)
    assert importlib.import_module("formatter.errors").__dict__[error] is getattr(fm, error)


PACKAGES = {"formatter": ROOT / "src" / "formatter", "spark_udfs": ROOT / "spark_udfs"}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_gives_on_demand_what_its_stub_says(package):
    given = importlib.import_module(package)
    stub = ast.parse((PACKAGES[package] / "__init__.pyi").read_text()).body
    imported = [(n.module, alias.name) for n in stub if isinstance(n, ast.ImportFrom) for alias in n.names]
    listed = next(ast.literal_eval(n.value) for n in stub if isinstance(n, ast.Assign))
    assert sorted(listed) == given.__all__
    assert {name for module, name in imported if module != package} == set(listed)
    for module, name in imported:
        assert getattr(given, name) is getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_given_on_demand_is_that_of_a_module_which_would_take_its_place(package):
    given = importlib.import_module(package)
    assert [name for name in given.__all__ if (PACKAGES[package] / f"{name}.py").exists()] == []
    assert [name for name in given.__all__ if (PACKAGES[package] / name / "__init__.py").exists()] == []


def test_rooms_that_a_process_does_not_use_are_not_imported():
    code = (
        "import sys, formatter as fm; fm.read; print(*(name for name in sys.modules if name.startswith('formatter.')))"
    )
    rooms = {name.split(".")[1] for name in python(code).stdout.split()}
    assert not {"flow", "shared", "inference", "drift", "declared", "stream"} & rooms


def test_an_unknown_name_is_an_attribute_error_and_a_room_is_there_as_ever():
    with pytest.raises(AttributeError, match="module 'formatter' has no attribute 'strem'"):
        _ = fm.strem
    with pytest.raises(ImportError):
        exec("from formatter import strem")
    assert python("import formatter as fm; print(fm.declared.logfmt.__name__, 'Stream' in dir(fm))").stdout.split() == [
        "logfmt",
        "True",
    ]
