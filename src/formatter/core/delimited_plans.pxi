# In: a declared format as plain Python values, already checked by formats/delimited.py and delimited_plans.py.
# Out: a Plan, as plans.pxi makes them for other formats.

cdef extern from "engine/delimited/escape_table.hpp" namespace "formatter" nogil:
    cdef cppclass Escape:
        string written, meant
    cdef cppclass EscapeTable:
        EscapeTable(vector[Escape]) except +

cdef extern from "engine/delimited/delimited_format.hpp" namespace "formatter" nogil:
    cdef cppclass Level:
        string separator, key_end
        cbool collapses, marks
    cdef cppclass Mark:
        uint8_t open, close
        cbool kept
    cdef cppclass ByteRange:
        uint32_t begin, end
    cdef cppclass PathTarget "formatter::PathNode::Target":
        uint32_t column
        ByteRange range
        cbool raw
    cdef cppclass PathStep:
        string key
        uint32_t number
        cbool rest
    cdef cppclass DelimitedFormat:
        shared_ptr[CsvFormat] fields
        string record_start, comment
        cbool trim
        vector[Level] levels
        vector[Mark] marks
        EscapeTable escapes
        cbool bare_escapes
    void add_path(DelimitedFormat*, const vector[PathStep]&, const PathTarget&) except +

cdef extern from "engine/delimited/delimited_record_format.hpp" namespace "formatter" nogil:
    RecordFormat delimited_record_format(shared_ptr[DelimitedFormat]) except +


def delimited_plan(dict declared, dict dialect, list columns):
    """`columns`: dicts of a spec, the steps of a path and a range of bytes, those of the output first."""
    cdef Plan plan = Plan.__new__(Plan)
    cdef shared_ptr[CsvFormat] fields = make_shared[CsvFormat]()
    cdef shared_ptr[DelimitedFormat] shared = make_shared[DelimitedFormat]()
    cdef DelimitedFormat* target = shared.get()
    cdef Level level
    cdef Mark mark
    cdef Escape escape
    cdef vector[Escape] escapes
    cdef PathStep step
    cdef PathTarget place
    cdef vector[PathStep] steps
    fill_csv(fields.get(), dialect, [column["spec"] for column in columns])
    target.fields = fields
    set_text(&target.record_start, declared["record_start"])
    set_text(&target.comment, declared["comment"])
    target.trim = declared["trim"]
    for separator, key_end, level.collapses, level.marks in declared["levels"]:
        set_text(&level.separator, separator)
        set_text(&level.key_end, key_end)
        target.levels.push_back(level)
    for mark.open, mark.close, mark.kept in declared["marks"]:
        target.marks.push_back(mark)
    for written, meant in declared["escapes"]:
        set_text(&escape.written, written)
        set_text(&escape.meant, meant)
        escapes.push_back(escape)
    target.escapes = EscapeTable(escapes)
    target.bare_escapes = declared["bare_escapes"]
    for number, column in enumerate(columns):
        steps.clear()
        for key, step.number, step.rest in column["steps"]:
            set_text(&step.key, key)
            steps.push_back(step)
        place.column = number
        place.range.begin, place.range.end = column["range"]
        place.raw = column["spec"]["raw"]
        add_path(target, steps, place)
    plan.format = delimited_record_format(shared)
    plan.column_names = tuple(column["spec"]["name"] for column in columns)
    return plan
