"""What a docstring must say, and whether its example runs.

In: functions and classes. Out: their own text, what it leaves out, what its example prints that it does not say it prints.
"""

from __future__ import annotations

import doctest
import inspect
import re

import formatter as fm

OF_STREAM = re.compile(r"^As `fm\.Stream\.(\w+)`")


def docstring(owner):
    """Its own one: not what a base class says."""
    return inspect.cleandoc((vars(owner).get("__doc__") if isinstance(owner, type) else owner.__doc__) or "")


def parameters(function):
    try:
        taken = inspect.signature(function).parameters.values()
    except ValueError:  # compiled, without a signature
        return []
    return [one.name for one in taken if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) and one.name != "self"]


def undescribed(function, text):
    """Parameters that a docstring neither lists nor names; it may send to that of a stream, which has the same."""
    if same := OF_STREAM.match(text):
        text = docstring(inspect.getattr_static(fm.Stream, same[1]) if same[1] != "restore" else fm.Stream.restore)
    return [name for name in parameters(function) if not re.search(rf"^ +{name}: |`{name}`", text, re.MULTILINE)]


def complaints(name, text, names):
    """What running the example prints in place of what it says; `names`: what it may use."""
    test = doctest.DocTestParser().get_doctest(text, dict(names), name, None, 0)
    assert test.examples
    report = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    return "".join(report)
