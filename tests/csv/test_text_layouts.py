"""Dictionary and view columns hold what string columns hold: whatever the fields are, and however they are cut."""

import random

import pyarrow as pa
import pytest
from kernel_choice import under_kernel

import formatter as fm

CODED = pa.dictionary(pa.int32(), pa.string())
LAYOUTS = {
    "dictionary": CODED,
    "dictionary of large strings": pa.dictionary(pa.int16(), pa.large_string()),
    "ordered dictionary": pa.dictionary(pa.uint32(), pa.string(), ordered=True),
    "dictionary of bytes": pa.dictionary(pa.int32(), pa.binary()),
    "string view": pa.string_view(),
    "binary view": pa.binary_view(),
}
TEXTS = ["", "a", "ab", "abcdefgh", "twelve chars", "thirteen char", 'say "x"', '"', '""', "a,b", "line\nbreak", "zoë"]
TEXTS += ["NA", " pad ", "\\"]
WRITTEN = [*TEXTS, '"x"y', 'x"y"z', "x" * 300, "\udcff"]
CLAUSES = [
    [("s", "==", "a")],
    [("s", ">", "ab"), ("t", "!=", "zoë")],
    [[("s", "is_null")], [("t", "in", ["a", 'say "x"'])]],
]
DIALECTS = {
    "plain": {},
    "crlf": {"record_delimiter": "\n"},
    "null tokens": {"nulls": ("", "NA", '"ab"')},
    "empty is text": {"nulls": ("NA",)},
    "trimmed": {"trim": True},
    "escaped": {"escape": "\\"},
    "not quoted": {"quote": None},
    "long delimiter": {"delimiter": "||"},
    "padded": {"ragged": "pad"},
}


def field(text: str, rng: random.Random) -> str:
    if text in TEXTS and (rng.random() < 0.5 or any(c in text for c in ',"\n')):
        return '"' + text.replace('"', '""') + '"'
    return text


def some_csv(seed: int, options: dict, rows: int = 3_000) -> bytes:
    rng = random.Random(seed)
    delimiter, end = options.get("delimiter", ","), "\r\n" if "record_delimiter" in options else "\n"
    lines = []
    for number in range(rows):
        fields = [str(number), *(field(rng.choice(WRITTEN), rng) for _ in range(2))]
        lines.append(delimiter.join(fields[: 3 if rng.random() < 0.9 or "ragged" not in options else 2]) + end)
    return "".join(lines).encode("utf-8", "surrogateescape")


def schema(kind: pa.DataType) -> pa.Schema:
    return pa.schema([("n", pa.int64()), ("s", kind), ("t", kind)])


def value_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.string() if kind == pa.string_view() else pa.binary()


def plain(table: pa.Table, kind: pa.DataType) -> list:
    table.validate(full=True)
    assert table.schema.field("s").type == kind
    return table.to_pylist()


@pytest.mark.parametrize("on_error", ["skip", "null", "collect"])
@pytest.mark.parametrize("options", DIALECTS.values(), ids=DIALECTS)
@pytest.mark.parametrize("kind", LAYOUTS.values(), ids=LAYOUTS)
def test_a_layout_changes_no_value_and_no_error(kind, options, on_error):
    data = some_csv(1, options)
    expected_rejects: list[pa.Table] = []
    rejects: list[pa.Table] = []
    as_text = fm.Csv(schema(value_type(kind)), **options)
    expected = fm.read(data, as_text, on_error=on_error, rejects=expected_rejects).to_pylist()
    read = fm.read(data, fm.Csv(schema(kind), **options), on_error=on_error, rejects=rejects)
    assert plain(read, kind) == expected
    if on_error == "collect":
        without = ["message", "expected"]
        columns = [name for name in rejects[0].column_names if name not in without]
        assert rejects[0].select(columns).to_pylist() == expected_rejects[0].select(columns).to_pylist()


@pytest.mark.parametrize("kind", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("clauses", CLAUSES, ids=str)
def test_a_layout_changes_no_filter(kind, clauses):
    data = some_csv(2, {})
    expected = fm.read(data, fm.Csv(schema(value_type(kind))), filters=clauses, on_error="skip").to_pylist()
    assert plain(fm.read(data, fm.Csv(schema(kind)), filters=clauses, on_error="skip"), kind) == expected
    assert 0 < len(expected) < 2_000


@pytest.mark.parametrize("kind", [CODED, pa.string_view()], ids=str)
def test_streams_and_threads_give_the_same_texts(kind):
    data = some_csv(3, {}, rows=20_000)
    for kernel in fm.kernels():
        with under_kernel(kernel):
            csv = fm.Csv(schema(kind))
            expected = fm.read(data, fm.Csv(schema(pa.string())), on_error="skip").to_pylist()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("formatter.readers.RANGE_BYTES", 50_000)
                assert plain(fm.read(data, csv, on_error="skip", threads=2), kind) == expected
            stream = fm.Stream(csv, on_error="skip", ordered=True)
            pieces = [data[at : at + 4_096] for at in range(0, len(data), 4_096)]
            batches = stream.push_many(pieces, sequences=range(1, len(pieces) + 1))
            batches += stream.finish(last_sequence=len(pieces))
            assert [row for batch in batches for row in batch.data.to_pylist()] == expected


def test_codes_stay_the_same_from_batch_to_batch_while_there_are_few():
    data = "".join(f"{n},{n % 7},{n % 5}\n" for n in range(200_000)).encode()
    batches = list(fm.open(data, fm.Csv(schema(CODED)), threads=1))
    assert len(batches) > 1
    assert all(batch["s"].dictionary.equals(batches[0]["s"].dictionary) for batch in batches)


def test_a_text_stands_once_in_a_dictionary_however_far_that_has_grown():
    texts = [f"text {i * 7919 % 3_000}" for i in range(9_000)]
    table = fm.read("".join(f"{text}\n" for text in texts).encode(), fm.Csv(pa.schema([("s", CODED)])), threads=1)
    assert table["s"].to_pylist() == texts
    assert sorted(table["s"].chunk(0).dictionary.to_pylist()) == sorted(set(texts))


def test_a_dictionary_of_many_texts_is_replaced_and_a_table_has_one():
    rows = 300_000
    data = "".join(f"{n},{n * 7919 % rows},x\n" for n in range(rows)).encode()
    csv = fm.Csv(schema(CODED))
    batches = list(fm.open(data, csv, threads=1))
    assert len(batches) > 2
    assert max(len(batch["s"].dictionary) for batch in batches) < rows
    assert [text for batch in batches for text in batch["s"].to_pylist()] == [str(n * 7919 % rows) for n in range(rows)]
    table = fm.read(data, csv, threads=2)
    assert all(chunk.dictionary.equals(table["s"].chunk(0).dictionary) for chunk in table["s"].chunks)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    assert pa.ipc.open_file(sink.getvalue()).read_all()["s"].to_pylist() == table["s"].to_pylist()


def test_more_texts_than_an_index_type_can_number_are_refused():
    data = "".join(f"{n},{n},x\n" for n in range(200)).encode()
    with pytest.raises(fm.SchemaError, match="too many for dictionary"):
        fm.read(data, fm.Csv(schema(pa.dictionary(pa.int8(), pa.string()))))


def test_a_column_of_nulls_has_an_empty_dictionary():
    table = fm.read(b"1,,\n2,,\n", fm.Csv(schema(CODED)))
    assert plain(table, CODED) == [{"n": 1, "s": None, "t": None}, {"n": 2, "s": None, "t": None}]
    assert len(table["s"].chunk(0).dictionary) == 0
