"""The oracle is held against the hand-written tables, so that the engine is not held against a mistake."""

import math

import pyarrow as pa
import pytest
from oracle.csv_oracle import Dialect, parse
from oracle.malformed_dialects import SHAPES as DIALECT_SHAPES
from oracle.malformed_structure import SHAPES as RECORD_SHAPES
from oracle.malformed_values import BAD, GOOD

SHAPES = RECORD_SHAPES + DIALECT_SHAPES


def value_schema(kind: pa.DataType | pa.Field) -> pa.Schema:
    column = kind if isinstance(kind, pa.Field) else pa.field("v", kind)
    return pa.schema([pa.field("id", pa.int64()), column, pa.field("tail", pa.string())])


def test_the_table_of_malformed_inputs_has_at_least_sixty_kinds():
    assert len(BAD) + sum(bool(shape.problems) for shape in SHAPES) >= 60


@pytest.mark.parametrize(("kind", "text", "code"), BAD)
def test_oracle_gives_the_decided_code(kind, text, code):
    outcome = parse(b"7," + text + b",x\n", Dialect(value_schema(kind)))
    assert outcome.error is not None
    assert outcome.error.position() == (2, 0, "v", code)


@pytest.mark.parametrize(("kind", "text", "value"), GOOD)
def test_oracle_gives_the_decided_value(kind, text, value):
    outcome = parse(b"7," + text + b",x\n", Dialect(value_schema(kind)))
    assert outcome.error is None
    (found,) = outcome.columns["v"]
    if isinstance(value, float) and math.isnan(value):
        assert math.isnan(found)
    else:
        assert (type(found), repr(found)) == (type(value), repr(value))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_oracle_gives_the_decided_rows_and_problems(shape):
    dialect = Dialect(shape.schema, **shape.options)
    collected = parse(shape.data, dialect, on_error="collect")
    assert list(zip(*collected.columns.values(), strict=True)) == shape.rows
    assert [problem.position() for problem in collected.rejects] == shape.problems
    nulled = parse(shape.data, dialect, on_error="null")
    expected = shape.rows if shape.nulled is None else shape.nulled
    assert list(zip(*nulled.columns.values(), strict=True)) == expected
