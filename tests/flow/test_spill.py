"""Spilling keeps order, keeps its bounds, and replays exactly the complete messages after a kill."""

from __future__ import annotations

import datetime
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest
from numbered_rows import SCHEMA, flat, rows

from formatter import errors, flow

WAIT = flow.BatchPolicy(max_rows=1, max_latency_ms=0)


def spilling(directory: Path, **options) -> flow.Bridge:
    mode = flow.SpillToDisk(directory, **options)
    return flow.Bridge(SCHEMA, capacity=2, policy=WAIT, backpressure=mode)


def segments(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.seg"))


def as_killed(directory: Path) -> Path:
    """What a kill at this moment would leave: nothing is flushed, closed or acknowledged."""
    return Path(shutil.copytree(directory, directory.with_name(directory.name + " after the kill")))


def test_order_is_kept_across_memory_and_disk_and_back(tmp_path):
    bridge = spilling(tmp_path, segment_bytes=2000)
    sent: list[object] = []
    got: list[object] = []
    for n in range(300):
        bridge.producer.send(rows(n, 1))
        sent.append(n)
        if n % 7 == 0:
            bridge.producer.watermark(n)
            sent.append(flow.Watermark(n))
        if n % 31 == 0:
            bridge.producer.checkpoint(n)
            sent.append(flow.Checkpoint(n))
        if n % 3 == 0 or 100 < n < 160:
            got += flat([bridge.consumer.poll(), bridge.consumer.poll()]) if bridge.stats.pending else []
            got = [each for each in got if each is not None]
        assert bridge.stats.balanced
    assert bridge.stats.spilled > 0
    bridge.producer.close()
    assert got + flat(bridge.consumer) == sent
    assert segments(tmp_path) == []


def test_times_keep_their_kind_on_disk(tmp_path):
    bridge = spilling(tmp_path)
    for n in range(4):
        bridge.producer.send(rows(n, 1))
    noon = datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.UTC)
    bridge.producer.watermark(noon)
    bridge.producer.close()
    assert flat(bridge.consumer) == [0, 1, 2, 3, flow.Watermark(noon)]


def test_dictionary_columns_and_keys_survive_the_disk(tmp_path):
    schema = pa.schema([("word", pa.dictionary(pa.int32(), pa.string()))])
    mode = flow.SpillToDisk(tmp_path)
    bridge = flow.Bridge(schema, capacity=1, policy=WAIT, backpressure=mode, key="word")
    words = ["a", "b", "a", "c"]
    for word in words:
        bridge.producer.send(pa.record_batch([pa.array([word]).dictionary_encode()], schema=schema))
    bridge.producer.close()
    out = [action.batch for action in bridge.consumer]
    assert [batch.column("word").to_pylist()[0] for batch in out] == words
    hashes = [batch.column("key_hash")[0].as_py() for batch in out]
    assert hashes[0] == hashes[2] != hashes[1]


def test_the_size_cap_raises_and_controls_pass_it(tmp_path):
    bridge = spilling(tmp_path, max_bytes=4000)
    sent = 0
    refused = None
    while refused is None:
        try:
            bridge.producer.send(rows(sent, 1))
            sent += 1
        except errors.BackpressureError as error:
            refused = error
    assert "max_bytes=4000" in str(refused)
    bridge.producer.checkpoint(1)
    assert sum(path.stat().st_size for path in segments(tmp_path)) < 4000 + 4 * 600
    assert bridge.stats.balanced
    out = flat(bridge.consumer.poll(1) for _ in range(sent))
    bridge.producer.send(rows(sent, 1))  # there is room again
    bridge.producer.close()
    assert out + flat(bridge.consumer) == [*range(sent), flow.Checkpoint(1), sent]


def test_a_directory_belongs_to_one_bridge(tmp_path):
    first = spilling(tmp_path)
    with pytest.raises(errors.FlowError, match="in use by another bridge"):
        spilling(tmp_path)
    del first
    spilling(tmp_path)


def test_another_schema_in_the_directory_is_refused_and_kept(tmp_path):
    bridge = spilling(tmp_path)
    for n in range(5):
        bridge.producer.send(rows(n, 1))
    after = as_killed(tmp_path)
    with pytest.raises(errors.SchemaError, match="was written with the schema"):
        flow.Bridge(pa.schema([("other", pa.int8())]), backpressure=flow.SpillToDisk(after))
    assert flat_of(spilling(after)) == [2, 3, 4]


def flat_of(bridge: flow.Bridge) -> list[object]:
    bridge.producer.close()
    return flat(bridge.consumer)


def test_what_was_dealt_with_is_not_replayed_and_the_rest_is_once(tmp_path):
    bridge = spilling(tmp_path, segment_bytes=1500)
    for n in range(40):
        bridge.producer.send(rows(n, 1))
    taken = flat(next(bridge.consumer) for _ in range(20))
    assert taken == list(range(20))
    again = spilling(as_killed(tmp_path))
    assert again.stats.recovered == again.stats.spilled_pending == 21  # the 20th was returned, not yet dealt with
    assert again.stats.balanced
    again.producer.send(rows(40, 1))
    assert flat_of(again) == list(range(19, 41))


def test_an_end_written_before_the_crash_does_not_end_the_replay(tmp_path):
    bridge = spilling(tmp_path)
    for n in range(4):
        bridge.producer.send(rows(n, 1))
    bridge.producer.close()
    again = spilling(as_killed(tmp_path))
    again.producer.send(rows(4, 1))
    assert flat_of(again) == [2, 3, 4]


def test_truncation_at_every_byte_replays_exactly_the_complete_messages(tmp_path):
    source, work = tmp_path / "source", tmp_path / "work"
    bridge = spilling(source)
    ends = []  # size of the segment after each message on disk
    on_disk: list[object] = []
    for n in range(2):
        bridge.producer.send(rows(n, 1))
    for n in range(2, 8):
        if n == 4:
            bridge.producer.watermark(n)
            on_disk.append(flow.Watermark(n))
        else:
            bridge.producer.send(rows(n, 1))
            on_disk.append(n)
        ends.append(segments(source)[-1].stat().st_size)
    (segment,) = segments(source)
    whole = segment.read_bytes()
    for size in range(len(whole) + 1):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        (work / segment.name).write_bytes(whole[:size])
        again = spilling(work)
        complete = [message for message, end in zip(on_disk, ends, strict=True) if end <= size]
        recovery = again.stats.recovery
        assert recovery.messages == len(complete)
        last_end = max((end for end in ends if end <= size), default=None)
        if last_end is not None:
            assert recovery.truncated_bytes == size - last_end
        assert bool(recovery.truncated_segments) == (recovery.truncated_bytes > 0)
        assert flat_of(again) == complete


def test_a_flipped_bit_ends_the_replay_there_and_is_reported(tmp_path):
    bridge = spilling(tmp_path)
    for n in range(6):
        bridge.producer.send(rows(n, 1))
    (segment,) = segments(tmp_path)
    damaged = bytearray(segment.read_bytes())
    damaged[-3] ^= 4
    after = as_killed(tmp_path)
    (after / segment.name).write_bytes(damaged)
    again = spilling(after)
    assert again.stats.recovery.truncated_bytes > 0
    assert flat_of(again) == [2, 3, 4]


def test_a_segment_of_another_version_is_not_read_as_one_of_ours(tmp_path):
    bridge = spilling(tmp_path)
    for n in range(6):
        bridge.producer.send(rows(n, 1))
    (segment,) = segments(tmp_path)
    whole = segment.read_bytes()
    after = as_killed(tmp_path)
    (after / segment.name).write_bytes(b"FMSPILL9" + whole[8:])
    again = spilling(after)
    assert again.stats.recovery.messages == 0
    assert again.stats.recovery.truncated_bytes == len(whole)


CHILD = """
import sys
sys.path[:0] = {paths!r}
from numbered_rows import SCHEMA, rows
from formatter import flow
mode = flow.SpillToDisk(sys.argv[1], segment_bytes=20_000)
bridge = flow.Bridge(SCHEMA, capacity=2, policy=flow.BatchPolicy(max_rows=1, max_latency_ms=0), backpressure=mode)
for n in range(1_000_000):
    bridge.producer.send(rows(n, 1))
    if n % 50 == 0:
        bridge.producer.watermark(n)
    if n == 100:
        print("spilling", flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.011, 0.023, 0.05])
def test_kill_9_while_spilling_replays_a_gapless_prefix(tmp_path, delay):
    paths = [path for path in sys.path if path]
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD.format(paths=paths)), str(tmp_path)],
        stdout=subprocess.PIPE,
        env=os.environ,
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"spilling\n"
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
    out = flat_of(spilling(tmp_path))
    replayed = [each for each in out if isinstance(each, int)]
    assert replayed == list(range(2, 2 + len(replayed)))
    assert len(replayed) >= 98
    watermarks = [each.ts for each in out if isinstance(each, flow.Watermark)]
    assert watermarks == list(range(50, 2 + len(replayed) + 1, 50))[: len(watermarks)]
    for position, each in enumerate(out):
        if isinstance(each, flow.Watermark):
            assert out[position - 1] == each.ts
    assert segments(tmp_path) == []


def test_a_header_that_promises_gigabytes_gets_no_room_for_them(tmp_path):
    bridge = spilling(tmp_path)
    for n in range(5):
        bridge.producer.send(rows(n, 1))
    after = as_killed(tmp_path)
    [path] = segments(after)
    with path.open("r+b") as file:
        file.seek(24)  # where the size of the schema stands
        file.write(b"\xff\xff\xff\xff")
    tracemalloc.start()
    recovery = spilling(after).stats.recovery
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 20
    assert recovery.messages == 0
    assert recovery.truncated_segments == (path.name,)
