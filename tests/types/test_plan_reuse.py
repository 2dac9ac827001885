"""Plans of formats that are read with again. In: formats, filters. Out: the same plan, or a refusal."""

from __future__ import annotations

import pyarrow as pa
import pytest

import formatter as fm
from formatter.plans import make_plan

FORMAT = fm.Csv(pa.schema([("a", pa.int64()), ("b", pa.string())]))


@pytest.mark.parametrize("nothing", [None, [], (), [[]]])
def test_a_plan_is_made_once_however_no_filter_is_written(nothing):
    assert make_plan(FORMAT, columns=["b"], filters_wanted=nothing) is make_plan(FORMAT, columns=["b"])


def test_a_plan_with_a_filter_is_not_the_one_without():
    assert make_plan(FORMAT, filters_wanted=[("a", ">", 1)]) is not make_plan(FORMAT)


@pytest.mark.parametrize("wrong", [0, False, "x", {"a": 1}])
def test_what_is_no_filter_is_refused_even_if_it_counts_as_false(wrong):
    with pytest.raises((TypeError, KeyError, fm.OptionError)):
        fm.read(b"1,x\n", FORMAT, filters=wrong)
