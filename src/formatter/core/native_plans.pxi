# In: columns of binary rows as plain Python values, already checked by native_plans.py.
# Out: a Plan, as plans.pxi makes them for other formats.

cdef extern from "engine/binary/native_format.hpp" namespace "formatter" nogil:
    cdef enum class NativeReading(uint8_t):
        copy
    cdef cppclass NativeField:
        NativeReading reading
        uint32_t offset, width
    cdef cppclass FrameLength:
        uint8_t width
        cbool big_endian
    cdef cppclass NativeFormat:
        vector[ColumnSpec] columns
        vector[NativeField] fields
        uint32_t output_columns, row_width
        cbool has_rest, big_endian
        FrameLength length
        OnError on_error
        cbool note_nulled
        RowFilter filter
        const Kernel* kernel

cdef extern from "engine/binary/native_record_format.hpp" namespace "formatter" nogil:
    RecordFormat native_record_format(shared_ptr[NativeFormat])
    RecordFormat framed_record_format(const RecordFormat&, FrameLength, cbool)


def native_plan(dict options, list columns, Py_ssize_t output_columns, list filters):
    """`columns`: dicts of a spec, a reading, an offset and a width, those of the output first."""
    cdef Plan plan = Plan.__new__(Plan)
    cdef shared_ptr[NativeFormat] shared = make_shared[NativeFormat]()
    cdef NativeFormat* native = shared.get()
    cdef NativeField field
    for column in columns:
        native.columns.push_back(column_spec(column["spec"]))
        field.reading = <NativeReading><uint8_t>column["reading"]
        field.offset = column["offset"]
        field.width = column["width"]
        native.fields.push_back(field)
    native.output_columns = output_columns
    native.row_width = options["row_width"]
    native.has_rest = options["has_rest"]
    native.big_endian = options["big_endian"]
    native.length = frame_length(options["length"])
    native.on_error = <OnError><uint8_t>options["on_error"]
    native.note_nulled = options["note_nulled"]
    fill_filter(&native.filter, filters)
    native.kernel = active
    plan.format = native_record_format(shared)
    plan.column_names = tuple(column["spec"]["name"] for column in columns)
    return plan


def framed_plan(Plan inner, tuple length, bint tells_errors):
    """The plan for records of `inner` behind their length: (bytes of it, whether the highest comes first)."""
    cdef Plan plan = Plan.__new__(Plan)
    plan.format = framed_record_format(inner.format, frame_length(length), tells_errors)
    plan.column_names = inner.column_names
    return plan


cdef FrameLength frame_length(tuple length) except *:
    cdef FrameLength native
    native.width, native.big_endian = length
    return native
