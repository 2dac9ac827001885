# In: a dialect and columns as plain Python values, already checked by formats/ and csv_plans.py.
# Out: a Plan, the engine's immutable description that any number of decoders and threads share.

# What Cython makes of `native = python` for strings and vectors does not say when there is no memory; these do.
cdef int set_text(string* to, bytes text) except -1:
    to.assign(<const char*>text, len(text))
    return 0


cdef int set_texts(vector[string]* to, texts) except -1:
    cdef size_t i
    to.resize(len(texts))
    for i in range(to.size()):
        set_text(&to[0][i], texts[i])
    return 0


cdef int set_numbers(vector[uint32_t]* to, numbers) except -1:
    cdef size_t i
    to.resize(len(numbers))
    for i in range(to.size()):
        to[0][i] = numbers[i]
    return 0


cdef class Plan:
    cdef RecordFormat format
    cdef shared_ptr[CsvFormat] csv  # of a plan for CSV, as it was before any header was read
    cdef TextEncoding encoding
    cdef readonly tuple column_names
    cdef readonly bytes header_text  # of a plan that a header was read for: its lines, as UTF-8

    def read_header(self, const uint8_t[::1] start, bint whole=False):
        """(the plan with its columns where the header names them, bytes through its end, the names it lacks), or None
        if the header does not end within these bytes. `whole`: they are all there is, their end is its end."""
        cdef Plan plan = Plan.__new__(Plan)
        cdef Preamble preamble
        if start.shape[0] == 0 or not self.format.header:
            return None
        preamble = self.format.header.get().read(&start[0], start.shape[0], Extent.whole if whole else Extent.beginning)
        if not preamble.complete:
            return None
        copy_format(&plan.format, preamble.format.get()[0])
        plan.column_names = self.column_names
        plan.header_text = preamble.header
        return plan, preamble.size, names_of(preamble.missing)

    def bytes_before_footer(self, const uint8_t[::1] data, uint64_t footer_records, *, bint input_ends):
        """How many bytes the records have that stand before the last ones, of bytes that begin at a record."""
        cdef size_t size = data.shape[0], before = 0
        if size:
            with nogil:
                before = bytes_before_footer(self.format, &data[0], size, footer_records, input_ends)
        return before

    @property
    def splittable(self):
        """Whether a range of the input can find its own first record."""
        cdef RecordEnding* ending
        ending = &self.format.ending
        return ending.kind != EndingKind.scanned or ending.fixed_size() > 0 or ending.guesses_records()

    @property
    def first_state(self):
        """The state of quotes and escapes that an input begins in: a number, whose lowest bit says inside quotes."""
        return first_state(self.format.ending)

    @property
    def record_state(self):
        """That in which a record begins behind others."""
        cdef ScanState fresh
        return packed_state(self.format.ending, fresh)

    @property
    def part_states(self):
        """Those in which a part of an input may begin that is not the first."""
        return list(part_states(self.format.ending))

    def follow(self, const uint8_t[::1] data, uint16_t state):
        """(the state after bytes that begin in the given one, the position behind their first record end or -1).

        Many threads may call at once; the GIL is released.
        """
        cdef RecordEnds ends
        cdef RecordEnding* ending = &self.format.ending
        cdef ScanState reached = unpacked_state(ending[0], state)
        cdef const uint8_t* begin = &data[0] if data.shape[0] else NULL
        cdef size_t size = data.shape[0]
        with nogil:
            ends = ending.ends_after(begin, size, &reached)
        return packed_state(ending[0], reached), <int64_t>ends.first if ends.any() else -1

    def guess_record(self, const uint8_t[::1] data, size_t begin):
        """Where the first record behind byte `begin` of these probably starts, -1 if nothing tells; to be proven."""
        cdef uint64_t guess
        cdef size_t size = data.shape[0]
        if begin >= size:
            return -1
        with nogil:
            guess = self.format.ending.scanner.get().guess_record(&data[0], size, begin, size)
        return -1 if guess == record_ends_none else <int64_t>guess


def csv_plan(dict dialect, list columns):
    """`columns`: dicts of one ColumnSpec each, those of the output first. `dialect`: see csv_plans.py."""
    cdef Plan plan = Plan.__new__(Plan)
    cdef shared_ptr[CsvFormat] shared = make_shared[CsvFormat]()
    fill_csv(shared.get(), dialect, columns)
    shared.get().fields = dialect["fields"]
    plan.csv = shared
    plan.encoding = <TextEncoding><uint8_t>dialect["encoding"]
    plan.format = csv_record_format(shared, plan.encoding)
    plan.column_names = tuple(column["name"] for column in columns)
    return plan


cdef class TableEndSearch:
    """Where the first table of one input ends, window by window. For one thread at a time."""
    cdef unique_ptr[CxxTableEndSearch] search

    def __init__(self, Plan plan not None, uint8_t sign):
        """`plan`: of CSV. `sign`: a number of TableEnd in engine/csv/table_end.hpp."""
        self.search.reset(new CxxTableEndSearch(plan.csv, plan.encoding, plan.format.ending, <TableEnd>sign))

    def begin(self, const uint8_t[::1] start, bint whole):
        """The input begins so. `whole`: that is all of it."""
        if start.shape[0]:
            self.search.get().begin(&start[0], start.shape[0], whole)

    def find(self, const uint8_t[::1] data, *, bint input_ends):
        """How many of these bytes, which begin at a record, are the table's."""
        cdef size_t size = data.shape[0], found = 0
        if size:
            with nogil:
                found = self.search.get().find(&data[0], size, input_ends)
        return found

    @property
    def ended(self):
        """Whether the end was found: what `find` left is not the table's, and nothing behind it is."""
        return self.search.get().ended()


cdef class RecordFollower:
    """Follows records over bytes of an input, from a record's start on. For one thread at a time."""
    cdef Plan plan
    cdef ScanState state

    def __init__(self, Plan plan, *, bint input_start):
        self.plan = plan
        if input_start:
            self.state = ScanState.of_stream_start()

    def passes(self, const uint8_t[::1] data, *, bint first_only):
        """The position behind the first record end in the next bytes, or -1. `first_only`: followed no further."""
        cdef RecordEnds ends
        cdef size_t size = data.shape[0]
        if size == 0:
            return -1
        with nogil:
            ends = self.plan.format.ending.scanner.get().scan(&data[0], size, &self.state, first_only)
        return <int64_t>ends.first if ends.any() else -1


cdef list names_of(const vector[string]& names):
    cdef size_t i
    return [names[i].decode("utf-8", "replace") for i in range(names.size())]


def column_types():
    """The types the engine knows, by code: (its name, which of a predicate's lists it is compared with)."""
    lists = ("integers", "naturals", "floats", "wide", "texts")
    cdef const ColumnType* kind
    cdef list described = []
    for code in range(c_column_types().size()):
        kind = column_type(code)
        described.append((kind.name.decode(), lists[<uint8_t>kind.operands]))
    return described


cdef const ColumnType* column_type(uint8_t code) except NULL:
    if code >= c_column_types().size():
        raise IndexError(code)
    return c_column_types()[code]


cdef int describe_column(ColumnSpec* spec, dict column) except -1:
    spec.type = column_type(column["type"])
    spec.unit = <TimeUnit><uint8_t>column["unit"]
    spec.encoding = <BinaryEncoding><uint8_t>column["encoding"]
    spec.layout = <TextLayout><uint8_t>column.get("layout", 0)
    spec.raw = column["raw"]
    spec.any_value = column["any_value"]
    spec.time_of_day = column["time_of_day"]
    spec.plain = column["plain"]
    spec.zoned = column["zoned"]
    spec.epoch = <EpochUnit><uint8_t>column["epoch"]
    spec.byte_width = column["byte_width"]
    spec.precision = column["precision"]
    spec.scale = column["scale"]
    spec.field = column["field"]
    name_column(spec, column)
    if column.get("check") is not None:
        spec.check = python_text_check(column["check"], check_texts)
    if column.get("number") is not None:
        describe_number(spec, column["number"])
    return 0


cdef int name_column(ColumnSpec* spec, dict column) except -1:
    spec.nullable = column["nullable"]
    set_text(&spec.name, column["name"].encode())
    set_text(&spec.type_name, column["type_name"].encode())
    return 0


cdef int describe_number(ColumnSpec* spec, tuple number) except -1:
    """Of text that is a number and stays text: (its type's code, precision, scale, the decimal point)."""
    cdef uint8_t code, precision, decimal_point
    cdef int8_t scale
    code, precision, scale, decimal_point = number
    spec.nulls_in_quotes = True
    spec.check = number_texts(spec[0], column_type(code), precision, scale, decimal_point)
    return 0


cdef LengthPrefix length_prefix(tuple length) except *:
    """(Bytes of it, whether the highest comes first)."""
    cdef LengthPrefix prefix
    prefix.width, prefix.big_endian = length
    return prefix


cdef int fill_options(DecodeOptions* target, dict options) except -1:
    """What is asked for of every format alike: see PlanRequest."""
    target.output_columns = options["output_columns"]
    target.on_error = <OnError><uint8_t>options["on_error"]
    target.note_nulled = options["note_nulled"]
    target.rescues = options["rescues"]
    target.rescue_column = options["rescue_column"]
    fill_filter(&target.filter, options["filters"])
    target.counts_unmatched = options.get("counts_unmatched", False)
    target.kernel = active
    return 0


cdef int fill_csv(CsvFormat* csv, dict dialect, list columns) except -1:
    set_text(&csv.delimiter, dialect["delimiter"])
    set_text(&csv.record_end, dialect["record_end"])
    csv.quoting = dialect["quote"] is not None
    csv.quote = dialect["quote"][0] if csv.quoting else 0
    csv.quote_rule = <QuoteRule><uint8_t>dialect["quotes"]
    csv.newlines_in_quotes = dialect["newlines_in_quotes"]
    csv.max_quoted_lines = dialect["max_quoted_lines"]
    csv.max_quoted_bytes = dialect["max_quoted_bytes"]
    csv.escaping = dialect["escape"] is not None
    csv.escape = dialect["escape"][0] if csv.escaping else 0
    csv.commenting = dialect["comment"] is not None
    csv.comment = dialect["comment"][0] if csv.commenting else 0
    csv.trim_left, csv.trim_right = dialect["trim"]
    csv.skip_lines = dialect["skip_lines"]
    set_numbers(&csv.header_at, dialect["header_at"])
    csv.skip_records = dialect["skip_records"]
    csv.quoted_nulls = bool(dialect["quoted_nulls"])
    csv.quoted_null_texts = dialect["quoted_nulls"] == "everywhere"
    csv.repeated_headers = dialect["repeated_headers"]
    csv.unique_names = dialect["unique_names"]
    csv.trim_names = dialect["trim_names"]
    csv.names_in_any_case = dialect["names_in_any_case"]
    csv.absent_is_null = dialect["absent_is_null"]
    csv.errors = <TextErrors><uint8_t>dialect["errors"]
    csv.spelling.decimal_point = dialect["decimal"][0]
    csv.ragged = <Ragged><uint8_t>dialect["ragged"]
    set_texts(&csv.nulls, dialect["nulls"])
    set_texts(&csv.known_names, dialect.get("known_names", ()))
    set_texts(&csv.spelling.trues, dialect["trues"])
    set_texts(&csv.spelling.falses, dialect["falses"])
    set_texts(&csv.spelling.timestamp_formats, dialect["timestamp_formats"])
    cdef size_t i
    csv.columns.resize(len(columns))
    for i in range(csv.columns.size()):
        describe_column(&csv.columns[i], columns[i])
    fill_options(csv, dialect)
    return 0


cdef int fill_filter(RowFilter* target, list filters) except -1:
    cdef Predicate* predicate
    cdef size_t i, j
    target.any_of.resize(len(filters))
    for i in range(target.any_of.size()):
        target.any_of[i].resize(len(filters[i]))
        for j in range(target.any_of[i].size()):
            predicate, clause = &target.any_of[i][j], filters[i][j]
            predicate.column = clause["column"]
            predicate.compare = <Compare><uint8_t>clause["compare"]
            for integer in clause["integers"]:
                predicate.integers.push_back(integer)
            for natural in clause["naturals"]:
                predicate.naturals.push_back(natural)
            for number in clause["floats"]:
                predicate.floats.push_back(number)
            set_texts(&predicate.texts, clause["texts"])
            predicate.holds_null = clause["holds_null"]
            predicate.holds_nan = clause["holds_nan"]
    return 0
