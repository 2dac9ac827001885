# In: a JSON format's columns as plain Python values, already checked by json_plans.py.
# Out: a Plan, as plans.pxi makes them for other formats.

cdef extern from "engine/json_text/json_format.hpp" namespace "formatter" nogil:
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
        shared_ptr[const Spelling] spelling
        vector[JsonNodeSpec] children
        vector[string] ignored_keys
    cdef cppclass JsonColumn:
        JsonNodeSpec node
        vector[string] path
    cdef cppclass JsonFormat(DecodeOptions):
        vector[JsonColumn] columns
        vector[ColumnSpec] flat
        vector[string] ignored_keys
        vector[vector[string]] unwanted_paths
        JsonLayout layout
        vector[string] array_path
        LengthPrefix length
        cbool whole_records, validate_full, unknown_is_error
        DuplicateKey duplicates
        Surrogate lone_surrogates

cdef extern from "engine/json/json_scalars.hpp" namespace "formatter" nogil:
    shared_ptr[const Spelling] json_spelling_with(vector[string] timestamp_formats) except +

cdef extern from "engine/json/json_record_format.hpp" namespace "formatter" nogil:
    RecordFormat json_record_format(shared_ptr[JsonFormat]) except +


def json_plan(dict options, list columns):
    """`columns`: dicts of a node and its path, those of the output first. `options`: see json_plans.py."""
    cdef Plan plan = Plan.__new__(Plan)
    cdef shared_ptr[JsonFormat] shared = make_shared[JsonFormat]()
    cdef JsonFormat* json = shared.get()
    cdef shared_ptr[const Spelling] spelling
    cdef vector[string] timestamp_formats
    cdef size_t i
    if options["timestamp_formats"]:
        set_texts(&timestamp_formats, options["timestamp_formats"])
        spelling = json_spelling_with(timestamp_formats)
    json.columns.resize(len(columns))
    for i in range(json.columns.size()):
        describe_json_node(&json.columns[i].node, columns[i]["node"], options["replace_surrogates"], spelling)
        set_texts(&json.columns[i].path, columns[i]["path"])
        if json.columns[i].node.kind == JsonKind.scalar:
            json.flat.push_back(json.columns[i].node.scalar)
    set_texts(&json.ignored_keys, options["ignored_keys"])
    json.unwanted_paths.resize(len(options["unwanted_paths"]))
    for i in range(json.unwanted_paths.size()):
        set_texts(&json.unwanted_paths[i], options["unwanted_paths"][i])
    json.layout = <JsonLayout><uint8_t>options["layout"]
    set_texts(&json.array_path, options["array_path"])
    json.length = length_prefix(options["length"])
    json.whole_records = options["whole_records"]
    json.validate_full = options["validate_full"]
    json.unknown_is_error = options["unknown_is_error"]
    json.duplicates = <DuplicateKey><uint8_t>options["duplicates"]
    json.lone_surrogates = <Surrogate><cbool>options["replace_surrogates"]
    fill_options(json, options)
    plan.format = json_record_format(shared)
    plan.column_names = tuple(column["node"]["scalar"]["name"] for column in columns)
    return plan


cdef int describe_json_node(
    JsonNodeSpec* spec, dict node, bint replace_surrogates, shared_ptr[const Spelling] spelling
) except -1:
    cdef size_t i
    spec.kind = <JsonKind><uint8_t>node["kind"]
    if spec.kind == JsonKind.scalar:
        describe_column(&spec.scalar, node["scalar"])
    else:
        name_column(&spec.scalar, node["scalar"])
    spec.list_size = node["list_size"]
    spec.lone_surrogates = <Surrogate>replace_surrogates
    spec.spelling = spelling
    set_texts(&spec.ignored_keys, node["ignored_keys"])
    spec.children.resize(len(node["children"]))
    for i in range(spec.children.size()):
        describe_json_node(&spec.children[i], node["children"][i], replace_surrogates, spelling)
    return 0
