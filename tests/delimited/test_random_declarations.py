"""Declarations that nobody would write, of few bytes that mean much, against a slow oracle: levels that share bytes, keys that
end as parts do, record ends that begin as separators.

In: random declarations, and bytes made of what matters to them. Out: verdicts.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from oracle import delimited_oracle
from oracle.random_declarations import BYTES, KEYS, declaration
from oracle.stream_runs import row_tuples

import formatter as fm
from formatter import Level

WORDS = [*KEYS, *BYTES, *BYTES, "longer than 8 bytes!", "x", " ", "%2", "%%", "+", "%", *"\n" * 4]
DECLARATIONS = 400


@pytest.mark.parametrize("seed", range(5))
def test_any_declaration_reads_any_bytes_as_the_oracle_says(seed):
    rng = random.Random(seed)
    read = 0
    for _ in range(DECLARATIONS):
        try:
            format = declaration(rng)
        except (fm.OptionError, fm.SchemaError):  # a path that leads behind a step to the rest
            continue
        data = "".join(rng.choices(WORDS, k=rng.randint(0, 120))).encode()
        wanted, _ = delimited_oracle.read(data, format, "skip")
        rejects: list[pa.Table] = []
        assert row_tuples([fm.read(data, format, on_error="collect", rejects=rejects)]) == wanted, (format, data)
        read += len(wanted)
    assert read > DECLARATIONS


def test_keys_may_end_as_parts_do():
    schema = pa.schema([("k", pa.int64()), ("n", pa.string())])
    format = fm.Delimited(schema, levels=[Level(";", key=";")])
    assert row_tuples([fm.read(b"k;1;n;x\nn;;k;2\n1;k;n;n;k\n", format, on_error="null")]) == [
        (1, "x"), (2, None), (None, "n"),
    ]  # fmt: skip
