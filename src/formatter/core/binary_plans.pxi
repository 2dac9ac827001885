# In: columns of binary rows as plain Python values, already checked by binary_plans.py.
# Out: a Plan, as plans.pxi makes them for other formats.

cdef extern from "engine/binary/binary_format.hpp" namespace "formatter" nogil:
    cdef cppclass BinaryField:
        uint32_t offset, width
    cdef cppclass BinaryFormat(DecodeOptions):
        vector[ColumnSpec] columns
        vector[BinaryField] fields
        uint32_t row_width
        cbool has_rest, big_endian
        LengthPrefix length

cdef extern from "engine/binary/binary_record_format.hpp" namespace "formatter" nogil:
    RecordFormat binary_record_format(shared_ptr[BinaryFormat]) except +


def binary_plan(dict options, list columns):
    """`columns`: dicts of a spec, an offset and a width (0: all that is left), those of the output first."""
    cdef Plan plan = Plan.__new__(Plan)
    cdef shared_ptr[BinaryFormat] shared = make_shared[BinaryFormat]()
    cdef BinaryFormat* binary = shared.get()
    cdef BinaryField field
    binary.columns.resize(len(columns))
    for column in columns:
        describe_column(&binary.columns[binary.fields.size()], column["spec"])
        field.offset = column["offset"]
        field.width = column["width"]
        binary.fields.push_back(field)
    binary.row_width = options["row_width"]
    binary.has_rest = options["has_rest"]
    binary.big_endian = options["big_endian"]
    binary.length = length_prefix(options["length"])
    fill_options(binary, options)
    plan.format = binary_record_format(shared)
    plan.column_names = tuple(column["spec"]["name"] for column in columns)
    return plan
