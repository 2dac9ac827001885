# In: texts as Arrow holds them, a capsule with a parser. Out: their values and which of them failed, as bytes. The
# GIL is released.
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport memset

cdef extern from "include/formatter.h" nogil:
    uint32_t FORMATTER_VERSION
    const char* FORMATTER_PARSER
    ctypedef struct formatter_texts:
        uint32_t count
        const int32_t* offsets
        const uint8_t* text
        const uint8_t* present
        void* values
        uint8_t* failed
    ctypedef struct formatter_parser:
        uint32_t version
        void* context
        void (*parse)(void*, formatter_texts*) noexcept nogil


cdef bytes zeros(size_t size):
    cdef bytes made = PyBytes_FromStringAndSize(NULL, size)
    memset(PyBytes_AS_STRING(made), 0, size)
    return made


def parse_texts(object capsule, uint32_t count, present, offsets, text, size_t byte_width):
    """(values, a bit for each text that is none). `present`: None where all are there."""
    cdef const formatter_parser* parser = <const formatter_parser*>PyCapsule_GetPointer(capsule, FORMATTER_PARSER)
    if parser.version != FORMATTER_VERSION:
        raise ValueError(f"a parser of version {parser.version}, not of {FORMATTER_VERSION}")
    cdef bytes values = zeros(count * byte_width), failed = zeros((count + 7) // 8)
    cdef const uint8_t[::1] present_bytes, text_bytes
    cdef const int32_t[::1] offset_view
    cdef formatter_texts texts
    memset(&texts, 0, sizeof(texts))
    texts.count = count
    if count == 0:
        return values, failed
    offset_view = memoryview(offsets).cast("B").cast("i")
    texts.offsets = &offset_view[0]
    if text is not None and len(text):
        text_bytes = memoryview(text).cast("B")
        texts.text = &text_bytes[0]
    if present is not None:
        present_bytes = memoryview(present).cast("B")
        texts.present = &present_bytes[0]
    texts.values = <void*>PyBytes_AS_STRING(values)
    texts.failed = <uint8_t*>PyBytes_AS_STRING(failed)
    with nogil:
        parser.parse(parser.context, &texts)
    return values, failed
