# In: a plan and values by address. Out: one batch, which row belongs to which value, what was wrong with the others.
import numpy as np


def parse_record_array(Plan plan, const uint64_t[::1] addresses, const uint64_t[::1] sizes, const uint8_t[::1] valid,
                       bytes record_end):
    """(array capsule, rows, findings, values decoded per column)

    rows: of each value, -1 for none and -2 if filtered; None where row i is value i. Findings: `record` is the value,
    bytes are counted from its begin. None if a column of one batch cannot hold the text of all values."""
    cdef vector[RecordValue] values
    cdef Py_ssize_t i, count = addresses.shape[0]
    cdef RecordArrayResult result
    cdef string ending = record_end
    values.resize(count)
    with nogil:
        for i in range(count):
            values[i].data = <const uint8_t*><size_t>addresses[i]
            values[i].size = sizes[i]
            values[i].null = not valid[i]
        result = read_record_array(plan.format, values.data(), count, ending)
    if result.too_large:
        return None
    rows = None
    cdef int64_t[::1] row_view
    if not result.in_order:
        rows = np.empty(count, np.int64)
        row_view = rows
        for i in range(count):
            row_view[i] = result.row_of_value[i]
    cdef size_t j
    findings = [finding_at(result.findings[j], 0, result.findings[j].at.bytes, result.findings[j].at.value)
                for j in range(result.findings.size())]
    return take_array(&result.batch), rows, findings, tuple(result.values_decoded)
