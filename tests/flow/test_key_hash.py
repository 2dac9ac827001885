"""The key's hash is XXH64 as published, over canonical bytes, and equals Spark's xxhash64."""

from __future__ import annotations

import datetime
import subprocess
import sys

import pyarrow as pa
import pytest

from formatter import _core, errors, flow
from formatter.flow.key_hash import key_hashes

PRIME32 = 2654435761
PRIME64 = 11400714785074694797


def published_buffer(size: int) -> bytes:
    """The byte sequence the author's own test vectors are made from."""
    word, out = PRIME32, bytearray()
    for _ in range(size):
        out.append(word >> 56)
        word = word * PRIME64 % 2**64
    return bytes(out)


@pytest.mark.parametrize(
    ("size", "seed", "expected"),
    [
        (0, 0, 0xEF46DB3751D8E999),
        (0, PRIME32, 0xAC75FDA2929B17EF),
        (1, 0, 0xE934A84ADB052768),
        (1, PRIME32, 0x5014607643A9B4C3),
        (4, 0, 0x9136A0DCA57457EE),
        (14, 0, 0x8282DCC4994E35C8),
        (14, PRIME32, 0xC3BD6BF63DEB6DF0),
        (222, 0, 0xB641AE8CB691C174),
        (222, PRIME32, 0x20CB8AB7AE10C14A),
    ],
)
def test_published_vectors_of_xxh64(size, seed, expected):
    assert _core.xxh64(published_buffer(size), seed) == expected


@pytest.mark.parametrize(("text", "expected"), [(b"a", 0xD24EC4F1A98C6E5B), (b"abc", 0x44BC2CF5AD770999)])
def test_well_known_digests_of_xxh64(text, expected):
    assert _core.xxh64(text) == expected


def hashes(array: pa.Array, *more: pa.Array) -> list[int]:
    arrays = [array, *more]
    names = [f"c{i}" for i in range(len(arrays))]
    return key_hashes(pa.record_batch(arrays, names=names), names).to_pylist()


def test_text_hashes_as_xxh64_of_its_bytes_with_seed_42():
    words = ["", "a", "short", "thirty-two bytes are a boundary!", "longer than the thirty-two byte stripe of it"]
    assert hashes(pa.array(words)) == [_core.xxh64(word.encode(), 42) for word in words]


def test_columns_chain_and_a_null_leaves_the_hash_as_it_is():
    first, second = pa.array(["a", None, "a"]), pa.array([1, 1, None], pa.int64())
    a = _core.xxh64(b"a", 42)
    one = (1).to_bytes(8, "little")
    assert hashes(first, second) == [_core.xxh64(one, a), _core.xxh64(one, 42), a]


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(),
        pa.dictionary(pa.int8(), pa.string()),
    ],
)  # fmt: skip
def test_one_text_has_one_hash_in_every_layout_and_slice(kind):
    words = ["x", "key", None, "a longer key, over thirty-two bytes"]
    array = pa.array(words).cast(pa.binary() if pa.types.is_large_binary(kind) else pa.string()).cast(kind)
    assert hashes(array) == hashes(pa.array(words))
    assert hashes(array.slice(1, 2)) == hashes(pa.array(words))[1:3]


@pytest.mark.parametrize("narrow", [pa.int8(), pa.int16(), pa.uint8(), pa.uint16(), pa.int32()])
def test_small_integers_have_one_hash_whatever_their_width(narrow):
    assert hashes(pa.array([0, 5, None, 100], narrow)) == hashes(pa.array([0, 5, None, 100], pa.int32()))


def test_equal_floats_have_equal_hashes():
    for kind in (pa.float32(), pa.float64()):
        assert len(set(hashes(pa.array([0.0, -0.0], kind)))) == 1
    quiet, odd = (pa.array([bits], pa.int64()).view(pa.float64()) for bits in (0x7FF8000000000000, 0x7FF8000000000123))
    assert hashes(quiet) == hashes(odd)


def test_equal_times_have_equal_hashes_in_every_unit_down_to_microseconds():
    noon = datetime.datetime(2024, 5, 1, 12)
    assert len({hashes(pa.array([noon], pa.timestamp(unit)))[0] for unit in ("s", "ms", "us")}) == 1


def test_a_type_without_canonical_bytes_is_refused_when_the_bridge_is_made():
    with pytest.raises(errors.SchemaError, match="no canonical bytes"):
        flow.Bridge(pa.schema([("deep", pa.list_(pa.int8()))]), key="deep")
    with pytest.raises(errors.SchemaError, match="already has a column 'key_hash'"):
        flow.Bridge(pa.schema([("key_hash", pa.int8())]), key="key_hash")


def test_the_bridge_adds_the_column_once_and_last():
    schema = pa.schema([("k", pa.string()), ("v", pa.int64())])
    bridge = flow.Bridge(schema, key=["k"])
    bridge.producer.send(pa.record_batch([pa.array(["a", "b"]), pa.array([1, 2])], schema=schema))
    bridge.producer.close()
    (action,) = bridge.consumer
    assert action.batch.schema.names == ["k", "v", "key_hash"]
    assert action.batch.schema == bridge.schema
    assert action.batch.column("key_hash").to_pylist() == [_core.xxh64(b"a", 42), _core.xxh64(b"b", 42)]


def test_another_process_computes_the_same_hash():
    code = "from formatter.flow.key_hash import key_hashes; import pyarrow as pa; " \
           "print(key_hashes(pa.record_batch([pa.array(['k', 'j'])], names=['c']), ['c']).to_pylist())"  # fmt: skip
    paths = f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}; "
    other = subprocess.run([sys.executable, "-c", paths + code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == str(hashes(pa.array(["k", "j"])))
