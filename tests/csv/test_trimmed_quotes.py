"""Quotes by the rules of place where blanks around fields are trimmed: which of them let a quote open.

In: random bytes, mostly separators, quotes and blanks. Out: what the oracle says, from a whole read and from streams of any cut
and order.
"""

import random

import pyarrow as pa
import pytest
from oracle.csv_oracle import Dialect, parse
from oracle.csv_runs import difference, through_read, through_stream

import formatter as fm

SCHEMA = pa.schema([("a", pa.string()), ("b", pa.string()), ("c", pa.string())])
LETTERS = (b'"" ,\n', b'"" ,\nxx', b'" ,,\t\nx', b'"  \t,\n\r', b'""",,\n  xyz')


def text_of(chance):
    size = chance.randrange(1, chance.choice((20, 130, 700)))
    text = bytes(chance.choices(chance.choice(LETTERS), k=size))
    if chance.random() < 0.3:  # blanks over more than a block
        at = chance.randrange(len(text))
        text = text[:at] + bytes(chance.choices(b"  \t", k=chance.randrange(150))) + text[at:]
    return text


@pytest.mark.parametrize("trim", [True, "left", "right"])
@pytest.mark.parametrize("rule", ["lenient", "sticky"])
def test_any_bytes_read_as_the_oracle_reads_them(kernel, rule, trim):
    chance = random.Random(f"{rule} {trim}")
    for case in range(150):
        delimiter = chance.choice((",", ",", "\t", " "))
        data = text_of(chance).replace(b",", delimiter.encode())
        ragged, within = chance.choice(("error", "fit")), chance.random() < 0.8
        dialect = Dialect(SCHEMA, delimiter=delimiter, quotes=rule, trim=trim, ragged=ragged, newlines_in_quotes=within)
        outcome = parse(data, dialect, on_error="collect")
        assert not difference(through_read(data, dialect, "collect"), outcome, "collect"), data
        cuts = sorted(chance.sample(range(1, len(data)), min(len(data) - 1, chance.choice((1, 3, 60)))))
        run = through_stream(data, dialect, "collect", cuts, shuffle=case)
        assert not difference(run, outcome, "collect"), (data, cuts)


@pytest.mark.parametrize("rule", ["strict", "lenient", "sticky"])
@pytest.mark.parametrize("trim", [True, "left", "right"])
@pytest.mark.parametrize("delimiter", ["\t", " "])
def test_a_blank_that_separates_fields_closes_quotes_where_blanks_are_trimmed(kernel, rule, trim, delimiter):
    rows = [("a", "x", "y"), ("b", "c", None), (None, "d", "e"), ("f", None, None)]
    data = '"a",x,"y"\n"b","c",\n,d,"e"\n"f",,\n'.replace(",", delimiter).encode()
    table = fm.read(data, fm.Csv(SCHEMA, delimiter=delimiter, quotes=rule, trim=trim))
    assert [tuple(row.values()) for row in table.to_pylist()] == rows
