# In: a JSON format's columns as plain Python values, already checked by json_plans.py.
# Out: a Plan, as plans.pxi makes them for other formats.

cdef extern from "engine/json/json_format.hpp" namespace "formatter" nogil:
    cdef enum class JsonKind(uint8_t):
        scalar
    cdef enum class JsonLayout(uint8_t):
        lines
    cdef enum class DuplicateKey(uint8_t):
        last
    cdef enum class Surrogate(cbool):
        error
    cdef cppclass JsonNodeSpec:
        JsonKind kind
        ColumnSpec scalar
        uint32_t list_size
        Surrogate lone_surrogates
        vector[JsonNodeSpec] children
        vector[string] ignored_keys
    cdef cppclass JsonColumn:
        JsonNodeSpec node
        vector[string] path
    cdef cppclass JsonFormat(DecodeOptions):
        vector[JsonColumn] columns
        vector[ColumnSpec] flat
        vector[string] ignored_keys
        JsonLayout layout
        LengthPrefix length
        cbool validate_full, unknown_is_error
        DuplicateKey duplicates

cdef extern from "engine/json/json_record_format.hpp" namespace "formatter" nogil:
    RecordFormat json_record_format(shared_ptr[JsonFormat])


def json_plan(dict options, list columns, Py_ssize_t output_columns, list filters):
    """`columns`: dicts of a node and its path, those of the output first. `options`: see json_plans.py."""
    cdef Plan plan = Plan.__new__(Plan)
    cdef shared_ptr[JsonFormat] shared = make_shared[JsonFormat]()
    cdef JsonFormat* json = shared.get()
    cdef JsonColumn wanted
    for column in columns:
        wanted.node = json_node(column["node"], options["replace_surrogates"])
        wanted.path = column["path"]
        json.columns.push_back(wanted)
        if wanted.node.kind == JsonKind.scalar:
            json.flat.push_back(wanted.node.scalar)
    json.ignored_keys = options["ignored_keys"]
    json.layout = <JsonLayout><uint8_t>options["layout"]
    json.length = length_prefix(options["length"])
    json.validate_full = options["validate_full"]
    json.unknown_is_error = options["unknown_is_error"]
    json.duplicates = <DuplicateKey><uint8_t>options["duplicates"]
    fill_options(json, options, output_columns, filters)
    plan.format = json_record_format(shared)
    plan.column_names = tuple(column["node"]["scalar"]["name"] for column in columns)
    return plan


cdef JsonNodeSpec json_node(dict node, bint replace_surrogates) except *:
    cdef JsonNodeSpec spec
    spec.kind = <JsonKind><uint8_t>node["kind"]
    spec.scalar = column_spec(node["scalar"])
    spec.list_size = node["list_size"]
    spec.lone_surrogates = <Surrogate>replace_surrogates
    spec.ignored_keys = node["ignored_keys"]
    for child in node["children"]:
        spec.children.push_back(json_node(child, replace_surrogates))
    return spec
