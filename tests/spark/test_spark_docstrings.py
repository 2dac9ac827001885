"""`help(su.read)` is enough: every public name says what it takes, gives and raises, and has an example that runs."""

from __future__ import annotations

import inspect
import re

import pytest
from docstring_rules import complaints, docstring, parameters, undescribed

import spark_udfs as su

NAMES = sorted(su.__all__)
FUNCTIONS = [name for name in NAMES if inspect.isroutine(getattr(su, name))]
REFUSE_NOTHING = {
    "enable_pushdown",
    "enable_direct_rows",
    "disable_pushdown",
    "disable_direct_rows",
    "register",
    "register_chunks",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_of_spark_udfs_has_an_example_that_runs(spark, name):
    assert complaints(name, docstring(getattr(su, name)), {"spark": spark}) == ""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_of_spark_udfs_says_what_it_takes_and_gives(name):
    function = getattr(su, name)
    text = docstring(function)
    assert undescribed(function, text) == []
    assert "\nReturns:\n" in text or inspect.signature(function).return_annotation == "None"
    assert "\nRaises:\n" in text or name in REFUSE_NOTHING


def test_a_reading_describes_its_fields():
    text = docstring(su.Reading)
    assert [one for one in parameters(su.Reading) if not re.search(rf"^ +{one}: ", text, re.MULTILINE)] == []
