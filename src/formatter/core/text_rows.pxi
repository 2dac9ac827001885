# In: batches whose columns are texts, how each is written. Out: lines of JSON or of CSV, as bytes. The GIL is released.

cdef extern from "engine/writing/text_rows.hpp" namespace "formatter" nogil:
    cdef enum class WrittenAs(uint8_t):
        bare
    cdef cppclass WrittenColumn:
        string name
        WrittenAs way "as"
        cbool large
    cdef cppclass CsvWriting:
        uint8_t delimiter, quote
        string null
        vector[string] nulls
    cdef cppclass LineBuffer:
        const uint8_t* data() except +
        size_t size() except +
    void write_json_lines(const ArrowArray&, const vector[WrittenColumn]&, LineBuffer*) except +
    void write_csv_lines(const ArrowArray&, const vector[WrittenColumn]&, const CsvWriting&, LineBuffer*) except +


cdef class LineWriter:
    """`columns`: (name, a number of WrittenAs, whether its offsets have 64 bits). `csv`: (delimiter, quote, what null
    is written as, what reads as null), or None for lines of JSON."""
    cdef vector[WrittenColumn] columns
    cdef CsvWriting csv
    cdef bint is_csv

    def __cinit__(self, list columns, tuple csv):
        cdef size_t i
        self.columns.resize(len(columns))
        for i in range(self.columns.size()):
            name, way, large = columns[i]
            set_text(&self.columns[i].name, name)
            self.columns[i].way = <WrittenAs><uint8_t>way
            self.columns[i].large = large
        self.is_csv = csv is not None
        if csv is not None:
            delimiter, quote, null, nulls = csv
            self.csv.delimiter = delimiter
            self.csv.quote = quote
            set_text(&self.csv.null, null)
            set_texts(&self.csv.nulls, nulls)

    def written(self, capsule):
        """The rows of a struct array, which stays with its capsule."""
        cdef ArrowArray* batch = <ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array")
        cdef LineBuffer lines
        with nogil:
            if self.is_csv:
                write_csv_lines(batch[0], self.columns, self.csv, &lines)
            else:
                write_json_lines(batch[0], self.columns, &lines)
        return PyBytes_FromStringAndSize(<const char*>lines.data(), lines.size())
