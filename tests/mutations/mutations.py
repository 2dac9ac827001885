"""Single changes that make the package wrong, each with the tests that have to notice. `make mutate` tries them all.

In: nothing. Out: what is changed where, and which tests to run. Refuses to know: how a change is built and undone.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    name: str
    file: str  # in src/formatter
    before: str  # stands there once
    after: str
    tests: str  # arguments for pytest, in tests/


CLAIMS = "shredder/test_shredder_claims.py shredder/test_shredder_properties.py"
BLOCKS = "shredder/test_thread_sanitizer.py -k block"
SNAPSHOT = "shredder/test_shredder_snapshot.py"
CUTS = "stream/test_chunking_does_not_matter.py"
LIMITS = "stream/test_limits_and_refusals.py"
GROWING = "stream/test_growing_records.py"
MALFORMED = "csv/test_malformed_inputs.py"
FILTERS = "properties/test_filters_agree.py"
SPILL = "flow/test_spill.py -m 'not slow'"
FRAMED = "native/test_framed_records.py"
RING = "engine/shred/shred_ring.cpp"
MERGE = "engine/shred/shred_merge.cpp"
IMAGE = "engine/shred/shred_ring_image.cpp"
SHREDDING = "engine/stream/stream_shredding.cpp"
SETTLING = "engine/stream/stream_settling.cpp"
BUILDERS = "engine/stream/stream_builders.cpp"
EXACT = "engine/values/exact_values.cpp"
COLUMNS = "engine/columns/columns.cpp"
ROW_FILTER = "engine/columns/row_filter.cpp"

CLAIM_RULE = [
    Mutation("buffer 1 ends a record that it did not begin", RING, "ends = before != at;", "ends = 1;", CLAIMS),
    Mutation("a buffer without a delimiter bridges nothing", RING, "if (!delimited) ends = 1;", "if (!delimited) ends = 0;", CLAIMS),
    Mutation("a record ends behind the buffer that ends it", RING, "{before, delimited ? at : after};", "{before, after};", CLAIMS),
    Mutation("a delimiter ends nothing by itself", RING, "ends & (delimited | begins);", "ends & begins;", CLAIMS),
    Mutation("a record begins before its end is known", RING, "count += delimited & begins;", "count += delimited;", CLAIMS),
    Mutation("the prefix remembers its first delimiter", RING, "at - bit + topmost(delimiters)", "at - bit + lowest(delimiters)", CLAIMS),
    Mutation("the prefix stops at the end of a word", RING, "if (bit + run < 64) break;", "if (bit + run <= 64) break;", "shredder"),
    Mutation("a stream with a hole ends", RING, "if (prefix_ < at) return Status::hole;", "", "shredder/test_shredder_refusals.py"),
    Mutation("a stream ends before its last buffer", RING, "if (highest_ > at) return", "if (highest_ > at + 1) return", "shredder/test_shredder_refusals.py"),
    Mutation("a finished stream takes more", RING, "    if (finished_) return Status::finished;\n    const uint64_t ahead", "    const uint64_t ahead", "shredder/test_shredder_refusals.py"),
    Mutation("a round is longer by one", RING, "if (ahead < max_sequence_ / 2 + (max_sequence_ & 1)) {", "if (ahead <= max_sequence_ / 2 + (max_sequence_ & 1)) {", "shredder/test_shredder_claims.py shredder/test_shredder_refusals.py"),
    Mutation("a duplicate beyond the prefix is taken again", RING, "if (pair.seen & bit) return Status::duplicate;", "", "shredder/test_shredder_refusals.py"),
    Mutation("a block claims the record that buffer 1 ends by itself", MERGE, "(lacking == 0) & (from != to);", "lacking == 0;", BLOCKS),
    Mutation("a block claims over a hole", MERGE, "broken = missing >> top != 0;", "broken = 0;", BLOCKS),
    Mutation("a block forgets what is new behind its last delimiter", MERGE, "fresh = arrived.seen >> top != 0;", "fresh = 0;", BLOCKS),
]  # fmt: skip

VERSIONS_AND_CHECKSUMS = [
    Mutation("any version of a shredder's image is read", IMAGE, "if (get(bytes + 4, 2) != version)", "if (false)", SNAPSHOT),
    Mutation("a shredder's image needs no checksum", IMAGE, "!= checksum(bytes, size - sum_size))", "== 1)", SNAPSHOT),
    Mutation("a delimiter of a buffer that was not seen is restored", IMAGE, "(delimited & ~seen) != 0 || ", "", SNAPSHOT),
    Mutation("a word of the image is cut a bit too short", IMAGE, "seen |= high.seen << (64 - shift);", "seen |= high.seen << (63 - shift);", SNAPSHOT),
    Mutation("a stream's image needs no checksum", "engine/stream/state_image.hpp", "fine_ = sum == checksum64(", "fine_ = true || sum == checksum64(", "stream/test_checkpoints.py"),
    Mutation("a stream's image may be of any version", "engine/stream/state_image.hpp", "&& std::memcmp(image.data(), magic, 8) == 0;", ";", "stream/test_checkpoints.py"),
    Mutation("a checkpoint needs no checksum", "checkpoints.py", "hashlib.sha256(state[:-32]).digest() != state[-32:]", "False", "stream/test_checkpoints.py"),
    Mutation("a spilled frame needs no checksum", "flow/spill.py", "and xxh64(head[:16] + payload) == checksum", "", SPILL),
    Mutation("a spilled segment needs no magic", "flow/spill.py", "magic != MAGIC or ", "", SPILL),
    Mutation("what was dealt with is replayed", "flow/spill.py", "acknowledged = position = noted", "pass", SPILL),
    Mutation("a chunk of framed snappy needs no checksum", "snappy_stream.py", "if found != expected:", "if False:", "csv/test_compressed_inputs.py"),
    Mutation("checksums of framed snappy are turned by another number", "snappy_stream.py", "checksum >> 15 | checksum << 17", "checksum >> 17 | checksum << 15", "csv/test_compressed_inputs.py"),
    Mutation("a byte counts for another place in a checksum", "engine/whole/crc32c.cpp", "next ^= tables.of[at_once - 1 - i][data[i]];", "next ^= tables.of[i][data[i]];", "csv/test_compressed_inputs.py"),
    Mutation("a changed projection keeps its number", "engine/stream/stream_replan.cpp", "plan->version = ++change.version;", "plan->version = change.version;", "shared/test_projection.py"),
    Mutation("a batch goes on under an older projection", BUILDERS, "const bool outdated = builder->plan != plan_;", "const bool outdated = false;", "stream/test_sanitizers.py -m slow -k undefined"),
]  # fmt: skip

QUOTES_AND_DELIMITERS = [
    Mutation("quotes only ever open", "engine/records/framing.cpp", "state->inside ^= quotes & 1;", "state->inside |= quotes & 1;", CUTS),
    Mutation("the last record end is looked for inside quotes", "engine/records/framing.cpp", "if (!inside) return end + 1;", "if (inside) return end + 1;", CUTS),
    Mutation("a quote inside quotes does not close", "engine/csv/csv_structure.cpp", "inside = !inside;", "inside = true;", MALFORMED),
    Mutation("text behind a closing quote is a value", "engine/csv/csv_structure.cpp", "if (at + 1 != end) return Quoting::malformed;  // text behind the closing quote", "", MALFORMED),
    Mutation("an escape may be the last byte of a field", "engine/csv/csv_structure.cpp", "if (++at == end) return Quoting::malformed;", "if (++at == end) break;", f"{MALFORMED} properties/test_csv_bytes_match_oracle.py"),
    Mutation("records end inside quotes", "engine/csv/csv_scanner.cpp", "if (state->inside) continue;", "", CUTS),
    Mutation("an escaped quote is one", "engine/csv/csv_scanner.cpp", "            state->escaped = false;\n            continue;", "            state->escaped = false;", CUTS),
    Mutation("a delimiter that begins within itself is missed", "engine/csv/csv_scanner.cpp", "uint8_t shorter = matched - 1;", "uint8_t shorter = 0;", "stream/test_headers_of_streams.py properties/test_csv_bytes_match_oracle.py"),
    Mutation("what is open behind leading buffers is outside quotes", "engine/stream/run_parsing.cpp", "job.inside = options_.format.framing.count_quotes(job.tail.data(), job.tail.size) & 1;", "job.inside = false;", "stream/test_leading_buffers.py stream/test_large_buffers.py"),
    Mutation("a lost buffer leaves the stream inside quotes", "engine/stream/stream_admission.cpp", "origin.state = ScanState{};", "", LIMITS),
]  # fmt: skip

BOUNDS = [
    Mutation("a record of max_record_bytes is too long", "engine/stream/run_parsing.cpp", "if (size - framing.record_end_size > options_.max_record_bytes)", "if (size - framing.record_end_size >= options_.max_record_bytes)", f"{LIMITS} {GROWING}"),
    Mutation("a record that grows is never too long", SHREDDING, "if (work.open_bytes >= options_.too_many_bytes()) report_open_record(origin);", "", GROWING),
    Mutation("twice the pending bytes may wait", "engine/stream/stream_admission.cpp", "+ undecided + kept > options_.max_pending_bytes", "+ undecided + kept > 2 * options_.max_pending_bytes", LIMITS),
    Mutation("a batch's text outgrows its offsets", COLUMNS, "return offsets_most - std::min(used, offsets_most);", "return offsets_most;", "limits/test_offsets_of_text.py -m 'not slow'"),
    Mutation("a frame is complete that lacks its last bytes", "engine/records/prefixed_records.cpp", "size - record.prefix >= value", "size >= value", f"{FRAMED} limits/test_guard_pages.py"),
    Mutation("a length without end is one", "engine/records/prefixed_records.cpp", "if (*count == varint_most && byte & 0x80) *value = endless;", "", FRAMED),
    Mutation("a record may be longer than its fixed row", "engine/binary/binary_decoder.cpp", ": record.size == format_->row_width;", ": record.size >= format_->row_width;", FRAMED),
    Mutation("JSON is nested a bracket too deep", "engine/json/json_text.cpp", "if (depth_ == json_depth_limit) return false;", "if (depth_ > json_depth_limit) return false;", "json/test_json_hostile.py json/test_json_decisions.py"),
    Mutation("digits are read in front of a field", EXACT, "} else if (end - first >= 8) {", "} else if (end - first >= 7) {", "limits/test_guard_pages.py"),
    Mutation("an integer may be larger than its type by one", EXACT, "default: return {uint64_t(INT64_MAX), uint64_t(INT64_MAX) + 1};", "default: return {uint64_t(INT64_MAX) + 1, uint64_t(INT64_MAX) + 1};", MALFORMED),
    Mutation("the smallest integer is too small", EXACT, "case ColumnType::int8: return {127, 128};", "case ColumnType::int8: return {127, 127};", f"{MALFORMED} properties/test_hostile_spellings.py"),
    Mutation("a decimal has a digit too many", EXACT, "if (!over) value = value * 10 + unsigned(*at - '0');\n            over |= value >= limit;", "if (!over) value = value * 10 + unsigned(*at - '0');\n            over |= value > limit;", f"{MALFORMED} types/test_column_types.py properties/test_hostile_spellings.py"),
]  # fmt: skip

POSITIONS = [
    Mutation("bytes before a run are not counted", SETTLING, "origin.bytes_before += t.bytes;", "", CUTS),
    Mutation("records before a run are counted twice", SETTLING, "origin.records_before += t.records;", "origin.records_before += t.records + t.span_records;", CUTS),
    Mutation("the unterminated record stands where its run begins", SETTLING, "at.bytes += int64_t(run.bytes);", "", f"{CUTS} {GROWING}"),
    Mutation("a record behind a spanning one has its number", SETTLING, "at.records += run.span_records;", "", f"{CUTS} {LIMITS}"),
    Mutation("a spanning record stands where its last buffer begins", SHREDDING, "    head->offset = -int64_t(head->whole_bytes());", "    head->offset = 0;", CUTS),
    Mutation("a run is counted before its head has come", SHREDDING, "uint32_t(run.delimited) + uint32_t(has_head)", "uint32_t(run.delimited)", CUTS),
    Mutation("a range's errors count from its window", "engine/whole/range_reader.cpp", "const int64_t begin = request.byte_offset + int64_t(at);", "const int64_t begin = int64_t(at);", "csv"),
    Mutation("a range's records are counted from its own first", "engine/whole/range_crew.cpp", "records_given_ += result.records;", "", "csv properties"),
    Mutation("the error of a later record comes first", SETTLING, "return a.what.at.records < b.what.at.records;", "return a.what.at.records > b.what.at.records;", f"{CUTS} json/test_json_layouts.py"),
    Mutation("an error names the run's first buffer", "engine/stream/run_parsing.cpp", "return piece_position + (i - pieces_before);", "return run_first;", CUTS),
    Mutation("a rejected row of binary rows has the number behind it", "engine/binary/binary_decoder.cpp", "    note(ErrorCode::unterminated_record, -1, data, size, records_, data, size, false);\n    records_++;", "    records_++;\n    note(ErrorCode::unterminated_record, -1, data, size, records_, data, size, false);", "native"),
]  # fmt: skip

FILTERS_AND_NULLS = [
    Mutation("null is never in a list and never out of it", ROW_FILTER, "case Compare::not_in: return !p.holds_null;", "case Compare::not_in: return p.holds_null;", FILTERS),
    Mutation("NaN is in no list", ROW_FILTER, "(value == value ? is_listed(value) : holds_nan)", "(value == value ? is_listed(value) : false)", FILTERS),
    Mutation("less or equal is less", ROW_FILTER, "return value <= b;", "return value < b;", FILTERS),
    Mutation("null is what is not null", ROW_FILTER, "p.compare == Compare::is_null ? ~uint64_t(0) : 0;", "p.compare == Compare::is_null ? 0 : ~uint64_t(0);", FILTERS),
    Mutation("only the last alternative counts", ROW_FILTER, "any[w] |= all[w];", "any[w] = all[w];", FILTERS),
    Mutation("a null compares as what lies under it", ROW_FILTER, "bits = (bits & valid) | (nulls & ~valid);", "bits = bits | (nulls & ~valid);", FILTERS),
    Mutation("a list is searched as if it were sorted downwards", ROW_FILTER, "std::binary_search(begin, end, value)", "std::binary_search(begin, end, value, std::greater<>())", f"{FILTERS} csv/test_filtered_reads.py"),
    Mutation("a column never has nulls", COLUMNS, "c.null_count += count - count_bits(valid_words, count);", "c.null_count += 0;", MALFORMED),
    Mutation("marks of rows are cut at the end of a byte", COLUMNS, "byte[8] = uint8_t(word >> (64 - shift));", "byte[8] = 0;", f"{MALFORMED} properties"),
    Mutation("a value that must be there may be null", "engine/csv/csv_undecided.cpp", "    if (c.spec.nullable)\n        clear_bit(c.marks.valid.data(), row);", "    if (true)\n        clear_bit(c.marks.valid.data(), row);", MALFORMED),
    Mutation("a null marker in quotes is null", "engine/csv/csv_undecided.cpp", "quoting == Quoting::none ? is_null_token(", "true ? is_null_token(", f"{MALFORMED} properties/test_hostile_spellings.py"),
    Mutation("a bad value of binary rows is null where none may be", "engine/binary/binary_decoder.cpp", "return format_->on_error == OnError::null && format_->columns[i].nullable;", "return format_->on_error == OnError::null;", "native"),
    Mutation("a text met before is another one", "engine/columns/text_dictionary.cpp", "        size_t at = slot.hash & mask_;", "        size_t at = 0;", "csv types properties"),
]  # fmt: skip

MUTATIONS = [
    *CLAIM_RULE,
    *VERSIONS_AND_CHECKSUMS,
    *QUOTES_AND_DELIMITERS,
    *BOUNDS,
    *POSITIONS,
    *FILTERS_AND_NULLS,
]
