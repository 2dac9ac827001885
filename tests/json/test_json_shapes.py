"""Records whose structure the reader expects, and those that break what it expects: results never depend on the guess.

In: streams of records in a few alternating shapes, spoiled here and there. The oracle is Python's json; for what is wrong it
is the same line read alone and without its line end, which is decided by its text.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pytest
from json_documents import read_back

import formatter as fm

ITEM = pa.struct([("sku", pa.string()), ("price", pa.float64()), ("sizes", pa.list_(pa.int16()))])
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("kind", pa.string()),
        ("user", pa.struct([("id", pa.int64()), ("name", pa.string()), ("home", pa.struct([("city", pa.string())]))])),
        ("items", pa.list_(ITEM)),
        ("labels", pa.map_(pa.string(), pa.int64())),
        ("box", pa.list_(pa.float32(), 2)),
        ("note", pa.string()),
    ]
)
WORDS = [
    "",
    "a",
    "plain words",
    'a "quote"',
    "back\\slash",
    "line\nbreak",
    "日本語",
    "\U0001f600",
    "x" * 70,
    "tab\tend\\",
]


def user(rng: random.Random) -> dict[str, Any]:
    # "in" has the length of "id", "nama" that of "name": equal in size, never in bytes.
    made = {
        "id": rng.randrange(10**12),
        "name": rng.choice(WORDS),
        "in": 1,
        "nama": "no",
        "home": {"city": "Köln", "zip": 5},
    }
    return {key: made[key] for key in made if rng.random() < 0.8}


def item(rng: random.Random) -> Any:
    made = {
        "sku": rng.choice(WORDS),
        "price": round(rng.uniform(-9, 9), 3),
        "sizes": [rng.randrange(99) for _ in range(rng.randrange(4))],
    }
    return None if rng.random() < 0.1 else {key: made[key] for key in made if rng.random() < 0.9}


def record(rng: random.Random, i: int) -> dict[str, Any]:
    if i % 3 == 0:
        made = {"id": i, "kind": "short", "note": None}
    elif i % 3 == 1:
        made = {
            "kind": rng.choice(WORDS),
            "user": user(rng),
            "id": -i,
            "items": [item(rng) for _ in range(rng.randrange(4))],
            "box": [0.5, i],
        }
    else:
        made = {
            "other": {"id": 1, "items": [[{}], []]},
            "labels": {"a": i, 'b"': None},
            "items": None,
            "id": i,
            "note": rng.choice(WORDS),
        }
    if rng.random() < 0.1:
        pairs = list(made.items())
        rng.shuffle(pairs)
        made = dict(pairs)
    if rng.random() < 0.1:
        made[rng.choice(["extra", "ix", "kine", "k" * 40])] = [1, {"id": 2}]
    return made


SPELLINGS: list[dict[str, Any]] = [{"separators": (",", ":")}, {}, {"separators": (" , ", "\t: ")}]


def line(rng: random.Random, i: int, spelling: dict[str, Any]) -> bytes:
    text = json.dumps(record(rng, i), ensure_ascii=rng.random() < 0.3, **spelling)
    if rng.random() < 0.05:
        text = text.replace('"id"', '"\\u0069d"', 1)
    return text.encode()


@pytest.mark.parametrize("spelling", SPELLINGS, ids=["minified", "spaced", "wide"])
@pytest.mark.parametrize("validate", ["touched", "full"])
def test_alternating_shapes_with_nested_values_read_as_python_reads_them(kernel, validate, spelling):
    rng = random.Random(11)
    lines = [line(rng, i, spelling) for i in range(900)]
    format = fm.Json(SCHEMA, validate=validate)
    table = fm.read(b"\n".join(lines) + b"\n", format, threads=1)
    table.validate(full=True)
    assert table.to_pylist() == [read_back(each, SCHEMA) for each in lines]
    few = fm.read(b"\n".join(lines), format, columns=["user.home.city", "items[].price", "id"], threads=1).to_pylist()
    for found, whole in zip(few, table.to_pylist(), strict=True):
        home = whole["user"] and {"home": whole["user"]["home"]}
        items = whole["items"] and [each and {"price": each["price"]} for each in whole["items"]]
        assert found == {"user": home, "items": items if whole["items"] else whole["items"], "id": whole["id"]}


def test_filters_drop_the_items_of_dropped_records(kernel):
    rng = random.Random(3)
    lines = [line(rng, i, {}) for i in range(600)]
    table = fm.read(
        b"\n".join(lines), fm.Json(SCHEMA), filters=[("id", ">", 0)], columns=["items", "user", "box"], threads=1
    )
    expected = [row for row in (read_back(each, SCHEMA) for each in lines) if row["id"] is not None and row["id"] > 0]
    assert table.to_pylist() == [{name: row[name] for name in ("items", "user", "box")} for row in expected]


def verdict(data: bytes, schema: pa.Schema, **options: Any) -> tuple[list[Any], list[tuple[Any, ...]]]:
    rejects: list[pa.Table] = []
    policy = options.pop("on_error", "collect")
    wanted = {"rejects": rejects} if policy == "collect" else {}
    table = fm.read(data, fm.Json(schema, **options), on_error=policy, threads=1, **wanted)
    table.validate(full=True)
    found = rejects[0].to_pylist() if rejects else []
    return table.to_pylist(), [(r["byte_offset"], r["column"], r["code"], r["raw"]) for r in found]


SPOILED = [
    b'{"id":1,"kind":"x","id":2}', b'{"user":{"id":1,"id":2}}', b'{"items":[{"sku":"a","sku":"b"}]}',
    b'{"user":{},"user":null}',
    b'{"items":[1]}', b'{"items":[{"price":"1"}]}', b'{"items":[{"price":01}]}', b'{"items":[{"sizes":[1,,2]}]}',
    b'{"box":[1]}',
    b'{"items":{"sku":1}}', b'{"user":[1]}', b'{"user":"x"}', b'{"user":{"name":{"a":1}}}',
    b'{"items":[{"sizes":[99999]}]}',
    b'{"items":[{"price":1.5},{"price":1e999}]}', b'{"items":[{"sku":"\\ud800"}]}', b'{"items":[{"sku" 1}]}',
    b'{"items":[x]}',
    b'{"items":[{}x]}', b'{"items":x[]}', b'{"labels":{"a":1,"a":2}}', b'{"labels":{"a":"x"}}', b'{"labels":[]}',
    b'{"unknown":{"id":1}}',
    b'{"user":{"unknown":1}}', b'{"id":1}{"id":2}', b'{"id":1} x', b'{"user":{"id":1]}', b'{"user":{"id":1}}}',
    b'{"id":,"kind":"x"}',
    b'{"other":}', b'{"id":1,}', b'{,"id":1}', b'{"id":1 "kind":"x"}', b'{"id" "kind":1}', b'{id:1}',
    b'{"a":{"b":1,2}}', b'{"a":[1,"b":2]}',
    b'{"items":[{"sku":"a\tb"}]}', b'{"user":{"home":null,"id":007}}', b'{"user":{"home":{"city":nul}}}',
    b'{"i\\u0064":5,"id":6}',
]  # fmt: skip


@pytest.mark.parametrize("options", [
    {"on_duplicate_key": "last"}, {"on_duplicate_key": "first"}, {"on_duplicate_key": "error"}, {"unknown": "error"},
    {"on_error": "null"}, {"on_error": "null", "on_duplicate_key": "first"}, {"on_error": "skip"},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("validate", ["touched", "full"])
def test_a_spoiled_record_among_expected_ones_ends_as_it_does_alone(options, validate):
    rng = random.Random(5)
    good = [
        json.dumps({"id": i, "user": {"id": i, "name": "n"}, "items": [{"sku": "s", "price": 1.5}]}).encode()
        for i in range(4)
    ]
    for spoiled in SPOILED:
        rows, rejects = verdict(spoiled, SCHEMA, validate=validate, **options)
        before = [rng.choice(good) for _ in range(rng.randrange(1, 6))]
        data = b"\n".join([*before, spoiled, good[0], b""])
        together, found = verdict(data, SCHEMA, validate=validate, **options)
        around = verdict(b"\n".join([*before, b""]), SCHEMA, validate=validate, **options)[0]
        behind = verdict(good[0], SCHEMA, validate=validate, **options)[0]
        assert together == around + rows + behind, spoiled
        start = len(b"\n".join(before)) + 1
        assert [(at - start, *rest) for at, *rest in found] == rejects, spoiled


def test_values_that_may_not_be_missing_are_missed_inside_lists_and_structures(kernel):
    inner = pa.struct([pa.field("a", pa.int64(), nullable=False), ("b", pa.int64())])
    schema = pa.schema([pa.field("s", inner), pa.field("l", pa.list_(pa.field("item", inner, nullable=False)))])
    good = b'{"s":{"a":1},"l":[{"a":2,"b":3}]}'
    lines = [
        good,
        b'{"l":[]}',
        b'{"s":null}',
        b'{"s":{"b":1}}',
        good,
        b'{"l":[{"b":1}]}',
        b'{"s":{"a":null}}',
        b'{"l":[null]}',
        good,
    ]
    rows, rejects = verdict(b"\n".join(lines) + b"\n", schema)
    assert [code for _, _, code, _ in rejects] == ["missing_required"] * 4
    assert (
        rows
        == [{"s": {"a": 1, "b": None}, "l": [{"a": 2, "b": 3}]}, {"s": None, "l": []}, {"s": None, "l": None}]
        + [{"s": {"a": 1, "b": None}, "l": [{"a": 2, "b": 3}]}] * 2
    )


VALUES = [
    (b"0", True), (b"-0", True), (b"10", True), (b"-1.5", True), (b"0.25", True), (b"1e5", True), (b"1E+05", True),
    (b"-1.5e-07", True),
    (b"123456789012345678901234567890", True), (b"1" * 70, True), (b"0." + b"3" * 70, True),
    (b"1.5e" + b"0" * 70, True), (b"true", True),
    (b"false", True), (b"null", True), (b'"\\u00e9\\n\\""', True), (b'"\xc3\xa9"', True), (b" [ 1 , { } ] ", True),
    (b"[]", True),
    (b'{"a":[true,{"b":null}]}', True), (b'"' + b"\\\\" * 70 + b'"', True),
    (b"01", False), (b"-01", False), (b"-", False), (b"+1", False), (b"1.", False), (b".5", False),
    (b"1.5.2", False), (b"1e", False),
    (b"1e+", False), (b"1e5.2", False), (b"1e5e2", False), (b"1-2", False), (b"--1", False), (b"0x1", False),
    (b"1a", False), (b"NaN", False),
    (b"tru", False), (b"truex", False), (b"nul l", False), (b"True", False), (b"falsenull", False), (b"1 2", False),
    (b'"a" "b"', False),
    (b'"a"1', False), (b'1"a"', False), (b'"\\x"', False), (b'"\\u12g4"', False), (b'"\\u123', False),
    (b'"a\tb"', False), (b"[1,]", False),
    (b"[,1]", False), (b"[1 2]", False), (b"[1,,2]", False), (b'{"a"}', False), (b'{"a":}', False),
    (b'{"a":1,}', False), (b'{"a":1 "b":2}', False),
    (b"{1:2}", False), (b'{"a":1:2}', False), (b'["a":1]', False), (b'["x","a":1]', False), (b'{"a":1,2}', False),
    (b"[1}", False), (b"", False),
    (b'{"a" "b":1}', False), (b"[][]", False), (b"{}[]", False), (b"[{]}", False), (b"\x0b1", False),
    (b"1" * 70 + b".", False),
    (b"3" * 70 + b".5.5", False), (b'{[]:1}', False),
]  # fmt: skip


@pytest.mark.parametrize(("value", "valid"), VALUES, ids=lambda v: repr(v)[:30])
def test_the_whole_grammar_is_checked_wherever_a_value_lies_among_blocks(kernel, value, valid):
    schema = pa.schema([("n", pa.int64())])
    format = fm.Json(schema, validate="full")
    lines = []
    for padding in range(70):
        lines += [b'{"n":%d}' % padding, b'{"p":"' + b"x" * padding + b'","v":' + value + b',"n":-1}']
    rejects: list[pa.Table] = []
    table = fm.read(b"\n".join(lines) + b"\n", format, on_error="collect", rejects=rejects, threads=1)
    rows = [[padding, -1] if valid else [padding] for padding in range(70)]
    assert table["n"].to_pylist() == [n for row in rows for n in row]
    assert rejects[0].num_rows == (0 if valid else 70)


def test_the_bad_record_is_found_among_many_that_are_in_order(kernel):
    rng = random.Random(8)
    for _ in range(20):
        lines = [line(rng, i, SPELLINGS[0]) for i in range(300)]
        at = rng.randrange(300)
        bad = rng.choice([value for value, valid in VALUES if not valid])
        lines[at] = b'{"id":1,"other":' + bad + b"}"
        rejects: list[pa.Table] = []
        table = fm.read(
            b"\n".join(lines) + b"\n", fm.Json(SCHEMA, validate="full"), on_error="collect", rejects=rejects, threads=1
        )
        assert (table.num_rows, [r["record"] for r in rejects[0].to_pylist()]) == (299, [at])


def test_strings_of_every_length_are_copied_with_their_escapes(kernel):
    schema = pa.schema([("s", pa.string()), ("l", pa.list_(pa.large_string()))])
    rng = random.Random(2)
    pieces = ["a", "bc", "é", "日", "\U0001f600", '"', "\\", "\n", "\t", "/", "\b", "\f", "\r", "\x01", "x" * 20]
    texts = ["".join(rng.choice(pieces) for _ in range(size)) for size in range(150)] + ["\\" * n for n in range(140)]
    for ascii_only in (True, False):
        lines = [json.dumps({"s": text, "l": [text, None, text]}, ensure_ascii=ascii_only) for text in texts]
        table = fm.read("\n".join(lines).encode(), fm.Json(schema), threads=1)
        assert table.to_pylist() == [{"s": text, "l": [text, None, text]} for text in texts]


def test_objects_of_many_keys_and_keys_that_never_repeat_read_right():
    wide = pa.schema([(f"column_number_{i:03}", pa.int64()) for i in range(200)])
    rng = random.Random(4)
    rows = [{name: rng.randrange(10**6) for name in wide.names} for _ in range(50)]
    shuffled = [dict(rng.sample(list(row.items()), len(row))) for row in rows]
    data = "\n".join(json.dumps(row) for row in rows + shuffled)
    assert fm.read(data.encode(), fm.Json(wide)).to_pylist() == rows + rows
    schema = pa.schema([("a", pa.int64()), ("s", pa.struct([("b", pa.int64())]))])
    lines = [f'{{"k{i}":1,"a":{i},"s":{{"j{i}":[2],"b":{i},"{"y" * 30}{i}":0}}}}' for i in range(5000)]
    expected = [{"a": i, "s": {"b": i}} for i in range(5000)]
    assert fm.read("\n".join(lines).encode(), fm.Json(schema), threads=1).to_pylist() == expected
    spaces = [" " * (i % 30) for i in range(5000)]
    lines = [f'{{{s}"a"{s}:{i},{s}"s":{{"b"{s}:{s}{i}}}}}' for i, s in enumerate(spaces)]
    assert fm.read("\n".join(lines).encode(), fm.Json(schema), threads=1).to_pylist() == expected


def test_values_nested_deeper_than_a_byte_counts_are_passed_over(kernel):
    schema = pa.schema([("a", pa.int64())])
    for depth in (1, 60, 126, 127, 128, 200, 1000):
        value = "[" * depth + "]" * depth
        data = f'{{"a":1}}\n{{"deep":{value},"a":2}}\n{{"a":3}}\n'.encode()
        for validate in ("touched", "full"):
            assert fm.read(data, fm.Json(schema, validate=validate))["a"].to_pylist() == [1, 2, 3]


def test_columns_that_share_a_path_agree():
    schema = pa.schema(
        [("whole", pa.struct([("id", pa.int64())])), ("part", pa.int64()), ("same", pa.int64()), ("n", pa.string())]
    )
    format = fm.Json(schema, paths={"whole": "/user", "part": "/user/id", "same": "/user/id"})
    data = b'{"user":{"id":5},"n":"a"}\n{"n":"b"}\n{"user":null,"n":"c"}\n{"user":{"id":6}}\n'
    assert fm.read(data, format).to_pylist() == [
        {"whole": {"id": 5}, "part": 5, "same": 5, "n": "a"}, {"whole": None, "part": None, "same": None, "n": "b"},
        {"whole": None, "part": None, "same": None, "n": "c"}, {"whole": {"id": 6}, "part": 6, "same": 6, "n": None},
    ]  # fmt: skip


FLAT = pa.schema(
    [("id", pa.int64()), ("text", pa.string()), ("price", pa.float64()), ("ok", pa.bool_()), ("absent", pa.string())]
)
FLAT_SPOILED = [
    b'{"id":01,"text":"a","price":1.5,"ok":true}', b'{"id":-01,"text":"a","price":1.5,"ok":true}',
    b'{"id":1,"text":"a","price":00.5,"ok":true}', b'{"id":,"text":"a","price":1.5,"ok":true}',
    b'{"id": ,"text":"a","price":1.5,"ok":true}', b'{"id":1 ,"text":\t"a","price":1.5 ,"ok":true }',
    b'{"id":  1,"text":  "a","price":  1.5,"ok":  true}', b'{"id":1,"text":"a"b","price":1.5,"ok":true}',
    b'{"id":"1","text":1,"price":"x","ok":0}', b'{"id":1,"text":"","price":null,"ok":null}',
    b'{"id":1,"text":"\\n\\u00e9","price":-0,"ok":true}', b'{"id":1,"text":","price":1.5,"ok":true}',
    b'{"id":1,"text":"a","price":1.5,"ok":true}x', b'{"id":1,"text":"a","price":1.5,"ok":tru}',
    b'{"id":1,"text":"a","price":1.5,"ok":true}\r', b'{"id":1,"text":"a","price":1.5,"no":true}',
    b'{"id":1,"text":"\xff","price":1.5,"ok":true}', b' {"id":1,"text":"a","price":1.5,"ok":true}', b"", b"[]",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS, ids=["minified", "spaced", "wide"])
def test_flat_records_in_a_row_read_as_python_reads_them(kernel, spelling):
    rng = random.Random(7)
    lines = []
    for i in range(20_000):  # more than a block of rows
        price = rng.choice([0.25, -0.5, 0, None, i / 8])
        made = {"id": i - 5000, "text": rng.choice(WORDS), "price": price, "ok": i % 3 == 0}
        if rng.random() < 0.001:
            made = {"other": 1, **made}
        lines.append(json.dumps(made, ensure_ascii=False, **spelling).encode())
    data = b"\n".join(lines) + b"\n"
    expected = [read_back(each, FLAT) for each in lines]
    assert fm.read(data, fm.Json(FLAT)).to_pylist() == expected
    kept = fm.read(data, fm.Json(FLAT), columns=["text", "absent"], filters=[("ok", "==", True)]).to_pylist()
    assert kept == [{"text": row["text"], "absent": None} for row in expected if row["ok"]]
    assert [row for batch in fm.open(data, fm.Json(FLAT), threads=2) for row in batch.to_pylist()] == expected


@pytest.mark.parametrize("policy", ["collect", "null", "skip"])
@pytest.mark.parametrize("place", [1, 2, 3, 4, 70])
def test_a_spoiled_record_in_a_row_of_flat_ones_ends_as_it_does_alone(kernel, policy, place):
    good = [b'{"id":%d,"text":"t%d","price":%d.5,"ok":true}' % (i, i, i) for i in range(80)]
    around = verdict(b"\n".join([*good, b""]), FLAT)[0]
    for spoiled in FLAT_SPOILED:
        rows, rejects = verdict(spoiled + b"\n", FLAT, on_error=policy)
        together, found = verdict(b"\n".join([*good[:place], spoiled, *good[place:], b""]), FLAT, on_error=policy)
        assert together == around[:place] + rows + around[place:], spoiled
        start = len(b"\n".join(good[:place])) + 1
        assert [(at - start, *rest) for at, *rest in found] == rejects, spoiled
