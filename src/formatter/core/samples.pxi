# In: the start of an input, a reading as plain Python values. Out: what speaks for the reading, what stands in its
# columns. Which reading and which types win is decided in inference/.

cdef extern from "engine/sample/sample_scan.hpp" namespace "formatter" nogil:
    cdef cppclass SampleReading:
        string delimiter, record_end
        int quote, escape, comment
        QuoteRule rule
        cbool newlines_in_quotes
    cdef cppclass SampleField:
        uint32_t begin, end
        uint8_t marks
    cdef struct QuoteEvidence:
        uint64_t quoted, doubled, multiline, spaced, escaped, reopened, swallowed, inside_text, unclosed
        int64_t first_stray
    cdef cppclass SampleScan:
        SampleScan(const SampleReading&, const uint8_t*, size_t, cbool, size_t) except +
        cbool next() except +
        const vector[SampleField]& fields()
        size_t begin()
        size_t end()
        size_t after()
        cbool blank()
        cbool comment()
        cbool damaged()
    void append_content(const SampleReading&, const uint8_t*, const SampleField&, string*) except +

cdef extern from "engine/values/exact_values.hpp" namespace "formatter" nogil:
    cdef cppclass FieldBytes "formatter::Bytes":
        const uint8_t* data
        size_t size

cdef extern from "engine/sample/value_kind.hpp" namespace "formatter" nogil:
    cdef enum class ValueKind(uint8_t):
        empty
    cdef cppclass ValueLook:
        ValueKind kind
    const unsigned VALUE_KIND_COUNT "formatter::VALUE_KINDS"
    const char* const* c_null_markers "formatter::null_markers"(unsigned*)
    ValueLook look_at(FieldBytes, cbool) except +

cdef extern from "engine/sample/dialect_tally.hpp" namespace "formatter" nogil:
    cdef struct DialectCounts:
        uint64_t records, bytes, blank, comments, used, table_first, table_records, table_bytes
        uint64_t cells, grades, typed, empty
        uint32_t width
        cbool last_always_empty
        QuoteEvidence quotes
    cdef cppclass CDialectTally "formatter::DialectTally":
        vector[uint64_t] inside_typed, inside_text
        vector[uint32_t] widths
    void c_tally_dialect "formatter::tally_dialect"(
        const SampleReading&, const uint8_t*, size_t, cbool, uint64_t, CDialectTally*) except +

cdef extern from "engine/sample/date_pattern.hpp" namespace "formatter" nogil:
    cdef cppclass DatePattern:
        string format
        cbool has_date, has_time, has_zone

cdef extern from "engine/sample/column_tally.hpp" namespace "formatter" nogil:
    cdef cppclass PatternTally:
        DatePattern pattern
        uint64_t values, month_first, day_first, place
    cdef cppclass WordTally:
        string word
        uint64_t values
    cdef cppclass ColumnTally:
        uint64_t kinds[22]
        uint64_t places[22]
        uint64_t records[22]
        vector[PatternTally] patterns
        vector[WordTally] words
        uint64_t other_patterns, other_words, spellings, markers, spaced, quoted, fineness, digits, negative
    cdef cppclass WidthTally:
        uint32_t width
        uint64_t records, first
    cdef cppclass TableTally:
        uint64_t records, blank, comments, repeats, damaged, used, even
        uint64_t tail_first, tail_uneven, tail_begin, head_uneven, first_damaged
        vector[WidthTally] others
        QuoteEvidence quotes
        vector[ColumnTally] columns
    cdef cppclass TableExtent:
        size_t begin
        uint64_t records_most
        uint32_t width
        string header
    void c_tally_columns "formatter::tally_columns"(
        const SampleReading&, const uint8_t*, size_t, cbool, const TableExtent&, TableTally*) except +


cdef class Reading:
    """One way to read a sample: separators, quote, escape and comment as bytes, None for none."""
    cdef SampleReading reading

    def __init__(self, bytes delimiter, bytes record_end, quote, escape, comment, bint sticky, bint newlines_in_quotes):
        set_text(&self.reading.delimiter, delimiter)
        set_text(&self.reading.record_end, record_end)
        self.reading.quote = -1 if quote is None else quote[0]
        self.reading.escape = -1 if escape is None else escape[0]
        self.reading.comment = -1 if comment is None else comment[0]
        self.reading.rule = QuoteRule.sticky if sticky else QuoteRule.lenient
        self.reading.newlines_in_quotes = newlines_in_quotes

    def tally_dialect(self, const uint8_t[::1] sample, bint whole, uint64_t records_most):
        """A dict: the fields of DialectTally."""
        cdef CDialectTally found
        cdef const uint8_t* data = &sample[0] if sample.shape[0] else NULL
        cdef size_t size = sample.shape[0]
        with nogil:
            c_tally_dialect(self.reading, data, size, whole, records_most, &found)
        cdef dict tally = (<DialectCounts*>&found)[0]
        tally.update(inside_typed=found.inside_typed, inside_text=found.inside_text, widths=found.widths)
        return tally

    def records(self, const uint8_t[::1] sample, bint whole, size_t begin, size_t count):
        """[(first byte, byte behind its text, byte of the next, damaged, [(content, kind, quoted), ...]), ...]: records
        from `begin` on, blank lines without fields, comments left out."""
        cdef const uint8_t* data = &sample[0] if sample.shape[0] else NULL
        cdef SampleScan* scan = new SampleScan(self.reading, data, sample.shape[0], whole, begin)
        cdef string content
        cdef FieldBytes view
        cdef cbool quoted
        cdef size_t i
        found = []
        try:
            while <size_t>len(found) < count and scan.next():
                if scan.comment():
                    continue
                fields = []
                if not scan.blank():
                    for i in range(scan.fields().size()):
                        content.clear()
                        append_content(self.reading, data, scan.fields()[i], &content)
                        quoted = scan.fields()[i].marks & 1 and not scan.fields()[i].marks & 4
                        view.data, view.size = <const uint8_t*>content.data(), content.size()
                        fields.append((<bytes>content, <int>look_at(view, quoted).kind, bool(quoted)))
                found.append((scan.begin(), scan.end(), scan.after(), scan.damaged(), fields))
        finally:
            del scan
        return found

    def tally_columns(self, const uint8_t[::1] sample, bint whole, size_t begin, uint64_t records_most, uint32_t width,
                      bytes header):
        """(the fields of TableTally as a dict, those of each ColumnTally as a tuple of dicts)"""
        cdef TableTally found
        cdef TableExtent extent
        cdef const uint8_t* data = &sample[0] if sample.shape[0] else NULL
        cdef size_t size = sample.shape[0]
        extent.begin, extent.records_most, extent.width = begin, records_most, width
        set_text(&extent.header, header)
        with nogil:
            c_tally_columns(self.reading, data, size, whole, extent, &found)
        return {
            "records": found.records, "blank": found.blank, "comments": found.comments, "repeats": found.repeats,
            "damaged": found.damaged, "used": found.used, "even": found.even, "tail_first": found.tail_first,
            "tail_uneven": found.tail_uneven, "tail_begin": found.tail_begin, "head_uneven": found.head_uneven,
            "first_damaged": <int64_t>found.first_damaged, "quotes": found.quotes,
            "others": [(found.others[i].width, found.others[i].records, found.others[i].first)
                       for i in range(found.others.size())],
        }, [column_tally(&found.columns[i]) for i in range(found.columns.size())]


cdef dict column_tally(ColumnTally* column):
    cdef unsigned kind
    kinds = {
        kind: (column.kinds[kind], column.places[kind], column.records[kind])
        for kind in range(VALUE_KIND_COUNT)
        if column.kinds[kind]
    }
    cdef size_t i
    cdef PatternTally* tally
    patterns = []
    for i in range(column.patterns.size()):
        tally = &column.patterns[i]
        patterns.append((tally.pattern.format, tally.values, tally.month_first, tally.day_first, tally.place,
                         tally.pattern.has_date, tally.pattern.has_time, tally.pattern.has_zone))
    return {
        "kinds": kinds, "patterns": patterns, "other_patterns": column.other_patterns,
        "words": [(column.words[i].word, column.words[i].values) for i in range(column.words.size())],
        "other_words": column.other_words,
        "spellings": column.spellings, "markers": column.markers, "spaced": column.spaced, "quoted": column.quoted,
        "fineness": column.fineness, "digits": column.digits, "negative": column.negative,
    }


def null_markers():
    """The words that may stand for no value, in the order of the bits of ColumnTally.markers."""
    cdef unsigned count
    cdef const char* const* words = c_null_markers(&count)
    return [words[i].decode() for i in range(count)]


def look(bytes content, bint quoted=False):
    """The kind of value that a field's content looks like, as a number."""
    cdef FieldBytes view
    view.data, view.size = <const uint8_t*><const char*>content, len(content)
    return <int>look_at(view, quoted).kind
