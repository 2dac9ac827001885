"""`make drift` in small: values of a stream that drifts arrive once, whoever is killed; and one that does not is noticed."""

from __future__ import annotations

import json

import long_drift
import numpy as np
import pyarrow as pa
import pytest
from long_drift import Life, Report, run_killed
from oracle.drifting_records import DriftingRecords
from oracle.schema_growth import wrongly_grown
from oracle.value_sums import ValueSums, leaves_of_json, read_json

SOURCE = DriftingRecords(7, 4800, fields=80, conflicts=40, block_records=240)


def expected_of(source: DriftingRecords) -> ValueSums:
    sums = ValueSums()
    for block in range(source.blocks):
        source.expect(block, sums)
    return sums


def report_of(folder, policy: str) -> Report:
    life = Life(folder, SOURCE, policy)
    return Report(SOURCE, policy, life.run(), life.watch, expected_of(SOURCE), 0, 1)


def test_the_lines_say_what_is_expected_of_them():
    said = ValueSums()
    for block in range(SOURCE.blocks):
        for line in SOURCE.block(block).decode().splitlines():
            record = read_json(line)
            number = np.array([int(record["id"])], np.uint64)
            for path, code in leaves_of_json("", record):
                said.add(path, number, np.array([code], np.uint64))
    assert str(said.against(expected_of(SOURCE))) == "0 values lost, 0 twice, 0 paths with other values"
    assert said.values > 5 * SOURCE.records


@pytest.mark.parametrize("policy", ["add", "rescue"])
def test_every_value_of_a_stream_that_drifts_arrives_once(policy, tmp_path):
    report = report_of(tmp_path, policy)
    assert report.wrong == []
    assert report.kept.restarts > 10 if policy == "add" else report.kept.restarts == 0
    assert report.kept.rescued > 0


@pytest.mark.parametrize("policy", ["add", "rescue"])
def test_what_is_killed_goes_on_where_it_was(policy, tmp_path):
    report = run_killed(SOURCE, policy, 2, tmp_path)
    assert report.wrong == []
    assert report.kills == 2


@pytest.mark.parametrize("spoil", ["lose", "repeat", "change"])
def test_a_value_that_is_lost_repeated_or_changed_is_noticed(spoil, tmp_path, monkeypatch):
    right, spoilt = ValueSums.add_batch, []

    def wrong(sums, batch, rescued):
        if not spoilt:
            spoilt.append(spoil)
            names = list(batch.column("name").to_pylist())
            names[0] = {"lose": None, "repeat": names[0], "change": "wx"}[spoil]
            batch = batch.set_column(batch.schema.get_field_index("name"), "name", pa.array(names, pa.string()))
            if spoil == "repeat":
                right(sums, batch.slice(3, 1), rescued)
        right(sums, batch, rescued)

    monkeypatch.setattr(long_drift.ValueSums, "add_batch", wrong)
    found = report_of(tmp_path, "rescue").kept.sums.against(expected_of(SOURCE))
    assert (found.lost > 0, found.twice > 0, found.changed) == (
        spoil == "lose",
        spoil == "repeat",
        ["name"] if spoil == "change" else [],
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([("a", pa.int64())], [("a", pa.int32())]),
        ([("a", pa.int64())], [("a", pa.float64())]),
        ([("a", pa.decimal128(9, 3))], [("a", pa.decimal128(9, 4))]),
        ([("a", pa.string())], [("a", pa.int64())]),
        ([("a", pa.int64()), ("b", pa.int64())], [("b", pa.int64()), ("a", pa.int64())]),
        ([("a", pa.int64()), ("b", pa.int64())], [("a", pa.int64())]),
        ([("a", pa.struct([("x", pa.int64())]))], [("a", pa.struct([("y", pa.int64()), ("x", pa.int64())]))]),
    ],
)
def test_a_schema_that_does_not_only_grow_is_noticed(before, after):
    schemas = [pa.schema([*fields, ("_rescued", pa.string())]) for fields in (before, after)]
    assert wrongly_grown(*schemas, "_rescued")
    assert not wrongly_grown(schemas[0], schemas[0], "_rescued")


def test_numbers_are_the_same_whatever_column_they_are_in():
    columns = [pa.array([5], pa.int8()), pa.array([5.0]), pa.array([5], pa.decimal128(9, 2)), pa.array(["5"])]
    sums = []
    for column in columns:
        one = ValueSums()
        batch = pa.record_batch({"id": pa.array([1]), "n": column, "_rescued": pa.array([None], pa.string())})
        one.add_batch(batch, "_rescued")
        sums.append(one.sums["n"])
    rescued = ValueSums()
    text = json.dumps({"n": 5})
    rescued.add_batch(pa.record_batch({"id": pa.array([1]), "_rescued": pa.array([text])}), "_rescued")
    assert {*sums, rescued.sums["n"]} == {sums[0]}
