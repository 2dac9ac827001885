"""With unmatched="counted" rows and counts are those of reading everything; errors are those in records that hold a needle."""

import json

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from kernel_choice import under_kernel
from oracle.needle_model import is_looked_at
from oracle.stream_runs import covered, pieces_of, shuffled, streamed, whole_read

import formatter as fm

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string()), ("v", pa.int16())])
NUMBERS = [0, 7, -7, 12, 70, 120]
CITIES = ["Oslo", "Rome", 'O"slo', "a,b", "x\ny", "", "7", "sl", " Oslo ", "Bé", "1e5", "back\\slash"]
PADS = ["", "x" * 30, "y" * 300]  # blocks without anything in them
FORMATS = {"csv": fm.Csv, "json": fm.Json}

numbers = st.sampled_from(NUMBERS)
cities = st.sampled_from(CITIES)
clauses = st.one_of(
    st.tuples(st.sampled_from(["id", "v"]), st.just("=="), numbers),
    st.tuples(st.sampled_from(["id", "v"]), st.just("in"), st.lists(numbers, min_size=1, max_size=3)),
    st.tuples(st.just("city"), st.just("=="), cities),
    st.tuples(st.just("city"), st.just("in"), st.lists(cities | st.none(), min_size=1, max_size=3)),
    st.tuples(st.just("city"), st.sampled_from(["starts_with", "ends_with", "contains"]), cities),
    st.tuples(st.just("id"), st.sampled_from([">", "!="]), numbers),
)
filters = st.lists(st.lists(clauses, min_size=1, max_size=3), min_size=1, max_size=2)
columns = st.sampled_from([None, ["v"], ["city", "id"], []])


def csv_number(n: int, sign: str, zeros: int, quoted: bool) -> str:
    text = ("-" if n < 0 else sign) + "0" * zeros + str(abs(n))
    return f'"{text}"' if quoted else text


def json_number(n: int, way: int) -> str:
    return [f"{n}", f"{n}.0", f"{n}.000", f"{n}e0", f"{n * 10}e-1", f"{n / 100}E2", f"{n / 10}e+1"][way]


csv_numbers = st.builds(csv_number, numbers, st.sampled_from(["", "+"]), st.integers(0, 2), st.booleans())
csv_texts = st.one_of(
    st.builds(lambda c: '"' + c.replace('"', '""') + '"', cities),
    st.sampled_from([c for c in CITIES if not set(c) & set(',"\n')]),
)
csv_records = st.one_of(
    st.builds(lambda *fields: ",".join(fields), csv_numbers, csv_texts, csv_numbers),
    st.builds(
        lambda *fields: ",".join(fields),
        st.sampled_from(["x7", " 7", "", "99999999999999999999"]),
        csv_texts,
        csv_numbers,
    ),
    st.sampled_from(["", "\r", "7", "7,Oslo", "7,Oslo,7,8", 'zz,"a"b,3', "7,Oslo,99999", "1,\ufffe,0"]),
    st.sampled_from(PADS).map(lambda pad: f"5,{pad},3"),
)


def escaped(text: str, every: int) -> str:
    plain = [json.dumps(c, ensure_ascii=False)[1:-1] for c in text]
    return '"' + "".join(f"\\u{ord(c):04x}" if i % every == 0 else plain[i] for i, c in enumerate(text)) + '"'


json_numbers = st.builds(json_number, numbers, st.integers(0, 6))
json_texts = st.builds(lambda c: json.dumps(c, ensure_ascii=False), cities) | st.builds(
    escaped, cities, st.integers(1, 3)
)
json_members = st.tuples(
    json_numbers.map(lambda n: f'"id": {n}'),
    json_texts.map(lambda c: f'"city":{c}'),
    json_numbers.map(lambda n: f'"v":{n}'),
).flatmap(lambda members: st.permutations([*members, '"f":1.5e-7'])) | st.permutations(
    ['"id":7', '"city":"Oslo"', '"v":12']
)
json_records = st.one_of(
    st.tuples(json_members, st.integers(1, 4), st.sampled_from(PADS)).map(
        lambda parts: "{" + ",".join([*parts[0][: parts[1]], f'"pad":"{parts[2]}"']) + "}"
    ),
    st.sampled_from(["", " ", "\t\r", '{"id":7', "[7]", '{"id":"7","city":"Oslo"}', '{"id":7} x', '{"v":99999}']),
    st.just('{"city":"Oslo","v":1'),
)


def inputs(records: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    parts = st.tuples(st.lists(records, max_size=30), st.sampled_from(["\n", "\r\n"]), st.booleans())
    return parts.map(lambda p: (p[1].join(p[0]) + (p[1] if p[2] else "")).encode())


never_closed = st.sampled_from([b"", b'5,"open,7\n6,Oslo,3\n7,x,5'])
csv_inputs = st.builds(lambda data, tail: data + tail, inputs(csv_records), never_closed)
cases = st.one_of(
    st.tuples(st.just("csv"), csv_inputs),
    st.tuples(st.just("json"), inputs(json_records)),
)


@given(cases, filters, columns, st.integers(0, 99))
def test_rows_and_counts_are_those_of_checked_records_and_errors_those_of_records_with_a_needle(
    case, clauses, names, seed
):
    kind, data = case
    wanted = {"columns": names, "filters": clauses}
    counted, checked = FORMATS[kind](SCHEMA, unmatched="counted"), FORMATS[kind](SCHEMA)
    all_checked = whole_read(data, checked, on_error="collect", **wanted)
    raw = [reject[-1] for reject in all_checked.rejects]
    expected = [
        reject for reject, record in zip(all_checked.rejects, raw, strict=True) if is_looked_at(record, clauses, kind)
    ]
    records = streamed([data], checked, on_error="collect", **wanted).stats.records
    for name in fm.kernels():
        with under_kernel(name):
            formats = FORMATS[kind](SCHEMA, unmatched="counted")
            found = whole_read(data, formats, on_error="collect", **wanted)
        assert (found.rows, found.rejects) == (all_checked.rows, expected), name
    for size in (1, 2, 7, 63, 64, 65, len(data) + 1):
        pieces = pieces_of(data, size)
        run = streamed(pieces, counted, shuffled(len(pieces), seed), on_error="collect", **wanted)
        assert (run.rows, run.rejects) == (all_checked.rows, expected), size
        assert run.stats.records == records
        assert covered(run.batches) == list(range(1, len(pieces) + 1))
