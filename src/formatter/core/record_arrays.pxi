# In: a plan and values by address. Out: one batch, which row belongs to which value, what was wrong with the others.
import numpy as np


cdef RecordValues* values_at(const uint64_t[::1] addresses, const uint64_t[::1] sizes,
                             const uint8_t[::1] valid) except NULL:
    if addresses.shape[0] == 0:
        return new RecordValues(NULL, NULL, NULL, 0)
    return new RecordValues(&addresses[0], &sizes[0], &valid[0], addresses.shape[0])


cdef object numbers_of(const vector[int64_t]& numbers):
    cdef size_t i
    found = np.empty(numbers.size(), np.int64)
    cdef int64_t[::1] view = found
    for i in range(numbers.size()):
        view[i] = numbers[i]
    return found


def parse_record_array(Plan plan, const uint64_t[::1] addresses, const uint64_t[::1] sizes, const uint8_t[::1] valid,
                       bytes record_end):
    """(array capsule, rows, findings, values decoded per column)

    rows: of each value, -1 for none and -2 if filtered; None where row i is value i. Findings: `record` is the value,
    bytes are counted from its begin. None if a column of one batch cannot hold the text of all values."""
    cdef unique_ptr[RecordValues] values
    cdef RecordArrayResult result
    cdef string ending
    set_text(&ending, record_end)
    values.reset(values_at(addresses, sizes, valid))
    with nogil:
        result = read_record_array(plan.format, values.get()[0], ending)
    if result.too_large:
        return None
    rows = None
    if not result.in_order:
        rows = numbers_of(result.row_of_value)
    cdef size_t j
    findings = [finding_at(result.findings[j], 0, result.findings[j].at.bytes, result.findings[j].at.value)
                for j in range(result.findings.size())]
    return take_array(&result.batch), rows, findings, tuple(result.values_decoded)


def explode_record_values(Plan plan, const uint64_t[::1] addresses, const uint64_t[::1] sizes,
                          const uint8_t[::1] valid):
    """(array capsule, values, rows, findings, the record of each, values decoded per column), of values that hold any
    number of records each. By record, which value it is from, and its row as in parse_record_array. None if a column
    of one batch cannot hold the text of all values."""
    cdef unique_ptr[RecordValues] values
    cdef ExplodedValues result
    values.reset(values_at(addresses, sizes, valid))
    with nogil:
        result = explode_values(plan.format, values.get()[0])
    if result.too_large:
        return None
    cdef size_t j
    findings = [finding_at(result.findings[j], 0, result.findings[j].at.bytes, result.findings[j].at.value)
                for j in range(result.findings.size())]
    records = [result.findings[j].at.record for j in range(result.findings.size())]
    return (take_array(&result.batch), numbers_of(result.value_of_record), numbers_of(result.row_of_record), findings,
            records, tuple(result.values_decoded))
