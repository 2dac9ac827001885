# The engine's C++ names, for every part below. Declarations only.
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr, unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport move
from libcpp.vector cimport vector

cdef extern from "engine/columns/arrow_abi.hpp" nogil:
    cdef struct ArrowArray:
        int64_t length, n_children
        ArrowArray** children
        ArrowArray* dictionary
        void (*release)(ArrowArray*)

cdef extern from "engine/columns/buffer_pool.hpp" namespace "formatter" nogil:
    cdef struct PoolStats:
        uint64_t live_bytes, live_blocks, idle_bytes, fresh_blocks
    PoolStats c_pool_stats "formatter::pool_stats"()
    void c_pool_trim "formatter::pool_trim"()

cdef extern from "engine/columns/memory_reserve.hpp" namespace "formatter" nogil:
    void c_keep_memory_reserves "formatter::keep_memory_reserves"(cbool)
    cbool memory_is_reserved(size_t)
    void begin_reserved_call()
    void end_reserved_call()

cdef extern from "kernels/kernel.hpp" namespace "formatter" nogil:
    cdef enum class TimeUnit(uint8_t):
        second
    cdef enum class QuoteRule(uint8_t):
        strict
        lenient
        sticky

cdef extern from "engine/columns/column_type.hpp" namespace "formatter" nogil:
    cdef enum class Operands(uint8_t):
        integers
    cdef cppclass ColumnType:
        const char* name
        uint32_t width
        Operands operands
    cdef cppclass Spelling:
        uint8_t decimal_point
        vector[string] trues, falses, timestamp_formats

cdef extern from "engine/types/column_types.hpp" namespace "formatter" nogil:
    const vector[const ColumnType*]& c_column_types "formatter::column_types"()

cdef extern from "engine/columns/owned_array.hpp" namespace "formatter" nogil:
    cdef cppclass OwnedArray:
        pass

cdef extern from "engine/columns/text_check.hpp" namespace "formatter" nogil:
    cdef cppclass TextCheck:
        pass
    cdef cppclass TextRows:
        uint32_t rows
        const int32_t* offsets
        const uint8_t* text
        const uint64_t* present

cdef extern from "engine/columns/columns.hpp" namespace "formatter" nogil:
    cdef enum class BinaryEncoding(uint8_t):
        plain
    cdef enum class EpochUnit(uint8_t):
        none
    cdef enum class TextLayout(uint8_t):
        offsets
    uint64_t offsets_most
    cdef cppclass ColumnSpec:
        const ColumnType* type
        TimeUnit unit
        BinaryEncoding encoding
        TextLayout layout
        cbool nullable, raw, nulls_in_quotes, any_value, time_of_day, plain, zoned
        EpochUnit epoch
        int32_t byte_width
        uint8_t precision
        int8_t scale
        uint32_t field
        string name, type_name
        shared_ptr[TextCheck] check

cdef extern from "engine/values/number_text.hpp" namespace "formatter" nogil:
    shared_ptr[TextCheck] number_texts(
        const ColumnSpec&, const ColumnType*, uint8_t precision, int8_t scale, uint8_t decimal_point) except +

cdef extern from "engine/columns/row_filter.hpp" namespace "formatter" nogil:
    cdef enum class Compare(uint8_t):
        equal
    cdef cppclass Predicate:
        uint32_t column
        Compare compare
        vector[int64_t] integers
        vector[uint64_t] naturals
        vector[double] floats
        vector[string] texts
        cbool holds_null, holds_nan
    cdef cppclass RowFilter:
        vector[vector[Predicate]] any_of

cdef extern from "engine/records/decode_options.hpp" namespace "formatter" nogil:
    cdef enum class OnError(uint8_t):
        raise_ "formatter::OnError::raise"
    cdef cppclass DecodeOptions:
        uint32_t output_columns
        OnError on_error
        cbool note_nulled, rescues, counts_unmatched
        int32_t rescue_column
        RowFilter filter
        const Kernel* kernel

cdef extern from "engine/records/text_encoding.hpp" namespace "formatter" nogil:
    cdef enum class TextErrors(uint8_t):
        strict

cdef extern from "engine/csv/csv_format.hpp" namespace "formatter" nogil:
    cdef enum class Ragged(uint8_t):
        error
    cdef cppclass CsvFormat(DecodeOptions):
        string delimiter, record_end
        cbool quoting, newlines_in_quotes, escaping, commenting, trim_left, trim_right
        cbool quoted_nulls, quoted_null_texts, repeated_headers, unique_names
        cbool trim_names, names_in_any_case, absent_is_null
        QuoteRule quote_rule
        TextErrors errors
        uint64_t max_quoted_lines, max_quoted_bytes, skip_lines, skip_records
        vector[uint32_t] header_at
        uint8_t quote, escape, comment
        Ragged ragged
        vector[string] nulls
        Spelling spelling
        uint32_t fields
        vector[string] known_names
        vector[ColumnSpec] columns

cdef extern from "engine/columns/error_codes.hpp" namespace "formatter" nogil:
    cdef enum class ErrorCode(uint8_t):
        none
    const char* code_name(ErrorCode)
    cbool is_of_stream(ErrorCode)
    const size_t error_code_count

cdef extern from "engine/records/findings.hpp" namespace "formatter" nogil:
    cdef cppclass EngineFinding "formatter::Finding":
        ErrorCode code
        int32_t column
        uint32_t expected_fields, found_fields
        uint64_t opened
        string found, raw
    cdef cppclass StretchPosition:
        int64_t bytes
        uint64_t records
    cdef cppclass OriginPosition:
        uint64_t sequence, records
        int64_t bytes
    cdef cppclass FindingAt[Position](EngineFinding):
        Position at

cdef extern from "engine/records/record_decoder.hpp" namespace "formatter" nogil:
    cdef struct DecodeCounters:  # structs become dicts by themselves
        uint64_t records, rows, filtered, rejects "rejected", nulled
    cdef cppclass RecordDecoder:
        vector[uint64_t] values_decoded

cdef extern from "engine/records/record_scanner.hpp" namespace "formatter" nogil:
    cdef cppclass ScanState:
        @staticmethod
        ScanState of_stream_start()
    cdef cppclass RecordEnds:
        uint64_t first
        cbool any()
    uint64_t record_ends_none "formatter::RecordEnds::none"
    cdef cppclass RecordScanner:
        RecordEnds scan(const uint8_t*, size_t, ScanState*, cbool) except +
        uint64_t guess_record(const uint8_t*, size_t, size_t, size_t) except +

cdef extern from "engine/records/prefixed_records.hpp" namespace "formatter" nogil:
    cdef cppclass LengthPrefix:
        uint8_t width
        cbool big_endian

cdef extern from "engine/records/record_ending.hpp" namespace "formatter" nogil:
    cdef enum class EndingKind(uint8_t):
        stateless
        parity
        scanned
    cdef cppclass RecordEnding:
        EndingKind kind
        shared_ptr[RecordScanner] scanner
        RecordEnds ends_after(const uint8_t*, size_t, ScanState*) except +
        cbool guesses_records()
        size_t fixed_size()

cdef extern from "engine/records/record_format.hpp" namespace "formatter" nogil:
    cdef enum class Extent(uint8_t):
        beginning
        whole
    cdef cppclass Preamble:
        cbool complete
        size_t size
        vector[string] missing
        string header
        shared_ptr[RecordFormat] format
    cdef cppclass HeaderReader:
        Preamble read(const uint8_t*, size_t, Extent) except +
    cdef cppclass RecordFormat:
        RecordEnding ending
        shared_ptr[HeaderReader] header
        unique_ptr[RecordDecoder] make_decoder() except +

cdef extern from * nogil:
    """
    // A copy may run out of memory; made by a call, that becomes a MemoryError.
    static void formatter_copy(formatter::RecordFormat* to, const formatter::RecordFormat& from) { *to = from; }
    """
    void copy_format "formatter_copy"(RecordFormat*, const RecordFormat&) except +

cdef extern from "engine/csv/csv_record_format.hpp" namespace "formatter" nogil:
    cdef enum class TextEncoding(uint8_t):
        utf8
    RecordFormat csv_record_format(shared_ptr[CsvFormat], TextEncoding) except +

cdef extern from "engine/csv/table_end.hpp" namespace "formatter" nogil:
    cdef enum class TableEnd(uint8_t):
        blank_line
    cdef cppclass CxxTableEndSearch "formatter::TableEndSearch":
        CxxTableEndSearch(shared_ptr[CsvFormat], TextEncoding, RecordEnding, TableEnd) except +
        void begin(const uint8_t*, size_t, cbool) except +
        size_t find(const uint8_t*, size_t, cbool) except +
        cbool ended()

cdef extern from "engine/whole/footer.hpp" namespace "formatter" nogil:
    size_t bytes_before_footer(const RecordFormat&, const uint8_t*, size_t, uint64_t, cbool) except +

cdef extern from "engine/whole/range_crew.hpp" namespace "formatter" nogil:
    cdef cppclass CrewWindow:
        const uint8_t* data
        size_t size, first_record, range_bytes, smallest_range_bytes
        cbool splittable, input_ends
        int64_t byte_offset
    cdef cppclass CrewRange:
        uint64_t records
        vector[OwnedArray] batches
        vector[FindingAt[OriginPosition]] findings
        DecodeCounters counters
    cdef cppclass RangeCrew:
        RangeCrew(RecordFormat, unsigned, uint64_t, uint64_t) except +
        void begin(const CrewWindow&) except +
        cbool next(CrewRange*) except +
        size_t used()
        void abandon()

cdef extern from "engine/whole/file_bytes.hpp" namespace "formatter" nogil:
    Py_ssize_t read_file_bytes(int, uint64_t, uint8_t*, size_t, unsigned)

cdef extern from "engine/whole/chunk_survey.hpp" namespace "formatter" nogil:
    cdef cppclass ChunkCourse:
        uint16_t start, end
        uint32_t last_end
    cdef cppclass ChunkSurvey:
        vector[ChunkCourse] courses
        size_t likely
    void survey_chunk(const RecordEnding&, const uint8_t*, size_t, ChunkSurvey*) except +
    uint16_t first_state(const RecordEnding&)
    vector[uint16_t] part_states(const RecordEnding&) except +
    uint16_t packed_state(const RecordEnding&, const ScanState&) except +
    ScanState unpacked_state(const RecordEnding&, uint16_t) except +

cdef extern from "engine/whole/chunk_reader.hpp" namespace "formatter" nogil:
    cdef cppclass PlacedChunk:
        const uint8_t* data
        const uint8_t* carry
        size_t size, carry_size
        uint16_t state
        int64_t begin, byte_offset
        cbool stream_start, ends_stream
    cdef cppclass ChunkLimits:
        uint64_t max_rows, max_batch_bytes
        cbool count_rows
    cdef cppclass ChunkFinding:
        size_t chunk
        FindingAt[StretchPosition] what
    cdef cppclass ChunkRows:
        vector[OwnedArray] batches
        vector[ChunkFinding] findings
        DecodeCounters counters
        vector[uint64_t] rows_through
        uint64_t spanning
    void read_chunks(const RecordFormat&, RecordDecoder&, const PlacedChunk*, size_t, const ChunkLimits&,
                     ChunkRows*) except +

cdef extern from "engine/whole/record_array.hpp" namespace "formatter" nogil:
    cdef cppclass RecordValues:
        RecordValues(const uint64_t*, const uint64_t*, const uint8_t*, size_t) except +
    cdef cppclass ValuePosition:
        size_t value
        int64_t bytes
    cdef cppclass RecordArrayResult:
        cbool too_large
        OwnedArray batch
        vector[int64_t] row_of_value
        cbool in_order
        vector[uint64_t] values_decoded
        vector[FindingAt[ValuePosition]] findings
        DecodeCounters counters
    RecordArrayResult read_record_array(const RecordFormat&, const RecordValues&, const string&) except +

cdef extern from "engine/whole/value_explosion.hpp" namespace "formatter" nogil:
    cdef cppclass ExplodedPosition:
        size_t value
        uint64_t record
        int64_t bytes
    cdef cppclass ExplodedValues:
        cbool too_large
        OwnedArray batch
        vector[int64_t] value_of_record, row_of_record
        vector[FindingAt[ExplodedPosition]] findings
        vector[uint64_t] values_decoded
    ExplodedValues explode_values(const RecordFormat&, const RecordValues&) except +

cdef extern from "engine/stream/stream_engine.hpp" namespace "formatter" nogil:
    cdef cppclass StreamOptions:
        RecordFormat format
        cbool ordered, ignore_duplicates
        uint64_t max_sequence, max_record_bytes, max_pending_bytes, max_rows, max_batch_bytes
        int64_t max_latency_ns
    cdef cppclass PushedBuffer:
        uint64_t origin, sequence
        const uint8_t* data
        size_t size
    cdef cppclass StreamPlan:
        uint64_t version
    cdef cppclass FinishedBatch:
        uint64_t origin, number
        shared_ptr[StreamPlan] plan
        vector[SequenceSpan] spans
        OwnedArray array
    cdef cppclass OriginFinding:
        uint64_t origin
        FindingAt[OriginPosition] what
    cdef enum class PushStatus(uint8_t):
        ok
        duplicate
        zero
        out_of_range
        finished
        pending_limit
        hole
        beyond
    cdef cppclass PushResult:
        PushStatus status
        vector[uint32_t] not_taken
        uint64_t appended
        vector[FinishedBatch] batches
        vector[OriginFinding] findings
        vector[SequenceSpan] holes
    cdef cppclass PlanChange:
        cbool applied, parsing
        uint64_t version, oldest, buffers, bytes, batches
        vector[string] missing
    cdef cppclass StreamProgress:
        uint64_t batches, open_origins
    cdef struct StreamTotals:
        uint64_t buffers, bytes, spanning, duplicates, lost, pending_buffers, pending_bytes, origins, open_batches
        DecodeCounters decode
    cdef cppclass StreamCounts:
        vector[uint64_t] values_decoded
    cdef enum class StreamClosed(uint8_t):
        no
        out_of_memory
        forked
    cdef cppclass StreamEngine:
        StreamEngine(StreamOptions) except +
        StreamClosed closed()
        void close(StreamClosed)
        PushResult push(const PushedBuffer*, size_t, cbool) except +
        PushResult lost(uint64_t, uint64_t) except +
        PushResult finish(uint64_t, cbool, uint64_t) except +
        PushResult flush(cbool) except +
        PlanChange replan(RecordFormat, vector[uint32_t], cbool, PushResult*) except +
        uint64_t await_older(uint64_t, int64_t) except +
        StreamCounts counts() except +
        StreamProgress progress()
        vector[uint64_t] open_origins() except +
        string checkpoint(PushResult*) except +
        cbool restore(const string&) except +
