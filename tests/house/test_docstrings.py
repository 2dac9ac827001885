"""`help(...)` is enough: every public name says what it takes, gives and raises, and has an example that runs.

In: the public names of formatter. Out: their docstrings, held to what the code has; examples run as they stand.
"""

from __future__ import annotations

import inspect
import re

import pytest
from docstring_rules import complaints, docstring, parameters, undescribed

import formatter as fm

NAMES = sorted(fm.__all__)
CLASSES = [name for name in NAMES if isinstance(getattr(fm, name), type)]
FUNCTIONS = [name for name in NAMES if inspect.isroutine(getattr(fm, name))]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_an_example_that_runs(name):
    value = getattr(fm, name)
    text = docstring(value if isinstance(value, type) or inspect.isroutine(value) else type(value))
    assert "\nExample:\n" in text
    assert complaints(name, text, {}) == ""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_what_it_takes_and_gives(name):
    text = docstring(getattr(fm, name))
    assert undescribed(getattr(fm, name), text) == []
    assert "\nReturns:\n" in text
    assert "\nRaises:\n" in text or not parameters(getattr(fm, name))


@pytest.mark.parametrize("name", CLASSES)
def test_a_public_class_describes_what_it_is_made_of(name):
    kind = getattr(fm, name)
    names = parameters(kind)
    if issubclass(kind, Exception):  # what one is made of can be read from it, but for the message
        names = [one for one in names if one in vars(kind(""))]
    text = docstring(kind)
    inherited = "".join(docstring(base) for base in kind.__mro__[1:-1])
    assert [one for one in names if not re.search(rf"^ +{one}: ", text + inherited, re.MULTILINE)] == []


def methods(kind):
    for name, value in vars(kind).items():
        if name.startswith("_") or isinstance(value, type):
            continue
        value = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        if inspect.isroutine(value) or isinstance(value, property):
            yield name, value


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_says_what_it_does_and_what_its_arguments_are(name):
    lacking = []
    for method, value in methods(getattr(fm, name)):
        text = inspect.cleandoc(value.__doc__ or "")
        if not text:
            lacking += [] if re.search(rf"^ +{method}: ", docstring(getattr(fm, name)), re.MULTILINE) else [method]
        elif inspect.isroutine(value):
            lacking += [f"{method}({one})" for one in undescribed(value, text) if one != "cls"]
    assert lacking == []
