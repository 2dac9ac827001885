# In: a Python callable that looks at a column's texts. Out: the same as the engine calls it, from any thread, without
# the GIL.
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.string cimport memcpy

cdef extern from *:
    """
    #include "engine/columns/text_check.hpp"

    typedef void (*TextsChecked)(PyObject*, const formatter::TextRows*, uint64_t*);

    class KeptObject {
      public:
        explicit KeptObject(PyObject* object) : object_(object) { Py_INCREF(object_); }
        ~KeptObject() {
            const PyGILState_STATE state = PyGILState_Ensure();  // the last decoder that had it may be any thread's
            Py_DECREF(object_);
            PyGILState_Release(state);
        }
        KeptObject(const KeptObject&) = delete;
        PyObject* get() const { return object_; }

      private:
        PyObject* object_;
    };

    class PythonTextCheck : public formatter::TextCheck {
      public:
        PythonTextCheck(PyObject* callable, TextsChecked call) : callable_(callable), call_(call) {}
        void check(const formatter::TextRows& rows, uint64_t* failed) const override {
            call_(callable_.get(), &rows, failed);
        }

      private:
        KeptObject callable_;
        TextsChecked call_;
    };

    std::shared_ptr<formatter::TextCheck> python_text_check(PyObject* callable, TextsChecked call) {
        return std::make_shared<PythonTextCheck>(callable, call);
    }
    """
    ctypedef void (*TextsChecked)(object, const TextRows*, uint64_t*) noexcept with gil
    # `callable` takes (row count, offsets, text, a bit a row that has some) as bytes, and gives the words of failed
    # rows' bits, or None. It raises nothing.
    shared_ptr[TextCheck] python_text_check(object callable, TextsChecked) except +


cdef void check_texts(object callable, const TextRows* texts, uint64_t* failed) noexcept with gil:
    cdef uint32_t row, words = (texts.rows + 63) // 64
    cdef int32_t begin = texts.offsets[0], end = texts.offsets[texts.rows]
    cdef bytes offsets = PyBytes_FromStringAndSize(NULL, (texts.rows + 1) * sizeof(int32_t))
    cdef int32_t* offset = <int32_t*><char*>offsets
    for row in range(texts.rows + 1):
        offset[row] = texts.offsets[row] - begin
    text = PyBytes_FromStringAndSize(<const char*>texts.text + begin, end - begin)
    present = PyBytes_FromStringAndSize(<const char*>texts.present, words * sizeof(uint64_t))
    found = callable(texts.rows, offsets, text, present)
    if found is not None:
        memcpy(failed, <const char*><bytes>found, words * sizeof(uint64_t))
