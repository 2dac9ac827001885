# In: sequences and delimiter flags of one origin's buffers, from any thread. Out: claims, holes, a saved state.
# Knows no bytes. The ring it shares is declared in shredder_ring.pxi, what it refuses worded in shredder_refusals.pxi.
#
# The lock is never held while the GIL is waited for, and never waited for with the GIL held.
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cdef enum:
    SHRED_WITH_GIL = 512  # so few take microseconds: less than handing the GIL to another thread and getting it back
    SHRED_COPIED = 8192  # claims of so few stay in memory that the allocator has at hand
cdef size_t SHRED_DRAWN = 4096  # slots debug_dump draws


cdef class SequenceShredder:
    """Claims each spanning record exactly once, whatever the order and the threads its buffers come from.

    A claim (first, last): a record begins after the last delimiter of buffer `first` and ends at the first delimiter of
    buffer `last`, none in between. The stream's start counts as a delimiter before buffer 1.

    Args:
        capacity: How many buffers beyond the complete prefix have a slot at first; it grows.
        max_sequence: The number after which sequences begin again at 1. None: they never do.
        on_duplicate: A sequence that comes again: "raise", or "ignore" it.

    Raises:
        OptionError: An option is out of its range.

    Example:
        >>> import formatter as fm
        >>> shredder = fm.SequenceShredder()
        >>> shredder.process(3, True), shredder.process(1, True)  # buffer 2 is missing
        ((), ())
        >>> shredder.process(2, False)  # a record begins in 1 and ends in 3
        ((1, 3),)
    """
    cdef LockedShredRing* shared
    cdef bint skip_duplicates

    def __cinit__(self, capacity=512, *, max_sequence=None, on_duplicate="raise"):
        cdef uint64_t slots = shred_option("capacity", capacity, max_shred_slots)
        cdef uint64_t wrap = 0
        if max_sequence is not None:
            wrap = shred_option("max_sequence", max_sequence, 0xFFFFFFFFFFFFFFFF)
        if on_duplicate not in ("raise", "ignore"):
            raise OptionError(f"shredder: on_duplicate: expected 'raise' or 'ignore', found {on_duplicate!r}")
        self.skip_duplicates = on_duplicate == "ignore"
        self.shared = new LockedShredRing(wrap, slots)
        if self.shared.ring.slots() < slots:
            raise MemoryError(f"shredder: no memory for capacity={slots}")

    def __dealloc__(self):
        del self.shared

    def process(self, sequence, bint has_delimiter):
        """Takes buffer `sequence`; `has_delimiter`: whether a record ends in it.

        Returns:
            The claims it completes, in stream order: none, one or two.

        Raises:
            SequenceError: It came before, or is out of range.
        """
        cdef uint64_t number = shred_sequence(sequence)
        cdef Claims claims
        cdef ShredStatus status
        if self.shared.try_lock():  # the common case is too short to let go of the GIL for
            status = self.shared.ring.process(number, has_delimiter, claims)
            self.shared.unlock()
        else:
            with nogil:
                self.shared.lock()
                status = self.shared.ring.process(number, has_delimiter, claims)
                self.shared.unlock()
        if status != ShredStatus.ok and not (status == ShredStatus.duplicate and self.skip_duplicates):
            raise shred_refusal(status, number, self._facts())
        return shred_claims(&claims)

    def process_many(self, sequences, has_delimiter):
        """Takes buffers `sequences` in the order given, `has_delimiter`: whether a record ends in each; returns their
        claims as uint64[k, 2], in no particular order.

        If one is refused, those before it are taken, none after it: the SequenceError's `index` is its place in
        `sequences`, `claims` are those of the buffers before it.
        """
        sequences = shred_sequence_array(sequences)
        has_delimiter = shred_flag_array(has_delimiter)
        if sequences.ndim != 1 or has_delimiter.shape != sequences.shape:
            raise OptionError(
                f"shredder: process_many: expected two one-dimensional arrays of one length, "
                f"found shapes {sequences.shape} and {has_delimiter.shape}")
        cdef Py_buffer numbers, flags, room
        cdef SequenceSpan* spans = NULL
        cdef size_t count = sequences.shape[0], span_count = 0, taken = 0
        cdef ShredStatus status = ShredStatus.ok
        cdef bint copied = count <= SHRED_COPIED
        # Seldom more claims than buffers, at most two each. Small results are copied to their size; of a large array,
        # the pages beyond the claims made are never touched.
        claims = None if copied else np.empty((2 * count + 1, 2), shred_uint64)
        PyObject_GetBuffer(sequences, &numbers, PyBUF_SIMPLE)
        PyObject_GetBuffer(has_delimiter, &flags, PyBUF_SIMPLE)
        if copied:
            spans = <SequenceSpan*> malloc((2 * count + 1) * sizeof(SequenceSpan))
        else:
            PyObject_GetBuffer(claims, &room, PyBUF_WRITABLE)
            spans = <SequenceSpan*> room.buf
        if spans != NULL and not (count <= SHRED_WITH_GIL and self.shared.try_process_many(
                <const uint64_t*> numbers.buf, <const uint8_t*> flags.buf, count, self.skip_duplicates, spans,
                span_count, taken, status)):
            with nogil:
                status = self.shared.process_many(<const uint64_t*> numbers.buf, <const uint8_t*> flags.buf, count,
                                                  self.skip_duplicates, spans, span_count, taken)
        PyBuffer_Release(&numbers)
        PyBuffer_Release(&flags)
        if spans == NULL:
            raise MemoryError(f"shredder: no memory for the claims of {count} buffers")
        if copied:
            try:
                claims = np.empty((span_count, 2), shred_uint64)
                PyObject_GetBuffer(claims, &room, PyBUF_WRITABLE)
                memcpy(room.buf, spans, span_count * sizeof(SequenceSpan))
            finally:
                free(spans)
        PyBuffer_Release(&room)
        if not copied:
            claims.resize((span_count, 2), refcheck=False)  # nobody else has it yet
        if status == ShredStatus.ok:
            return claims
        error = shred_refusal(status, sequences[taken], self._facts(), f" at index {taken} of {count}")
        error.index = taken
        error.claims = claims
        raise error

    def finish(self, last_sequence):
        """Ends the stream after `last_sequence` (0: it had no buffers); returns the claim of what stands after the last
        delimiter, (last buffer with a delimiter, or 1, last_sequence). New sequences are refused from then on.
        """
        cdef uint64_t last = 0 if last_sequence == 0 else shred_sequence(last_sequence)
        cdef Claims claims
        cdef ShredStatus status
        with nogil:
            self.shared.lock()
            status = self.shared.ring.finish(last, claims)
            self.shared.unlock()
        if status != ShredStatus.ok:
            holes = self._holes(last) if status == ShredStatus.hole else ()
            raise shred_finish_refusal(status, last, self._facts(), holes)
        return shred_claims(&claims)

    def holes(self):
        """The spans of sequences not seen yet, below the highest one seen."""
        return self._holes(0)

    cdef tuple _holes(self, uint64_t last):
        cdef SequenceSpan* spans = NULL
        cdef size_t count, i
        with nogil:
            self.shared.lock()
            count = self.shared.ring.holes(NULL, 0, last)
            if count:
                spans = <SequenceSpan*> malloc(count * sizeof(SequenceSpan))
                if spans:
                    self.shared.ring.holes(spans, count, last)
            self.shared.unlock()
        if count and not spans:
            raise MemoryError(f"shredder: no memory to list {count} holes")
        try:
            return tuple([(spans[i].first, spans[i].last) for i in range(count)])
        finally:
            free(spans)

    @property
    def tail(self):
        """The end of the complete prefix: every sequence up to it was seen. 0 before the first."""
        return self._facts().prefix

    @property
    def pending(self):
        """How many buffers were seen beyond `tail`."""
        return self._facts().pending

    @property
    def capacity(self):
        """How many sequences beyond `tail` have a slot now; grows by doubling, shrinks when idle."""
        return self._facts().slots

    @property
    def nbytes(self):
        """Bytes of native memory, the object itself included."""
        return self._facts().heap_bytes + sizeof(LockedShredRing) + type(self).__basicsize__

    @property
    def finished(self):
        """Whether its end is known."""
        return self._facts().finished

    @property
    def max_sequence(self):
        """The number after which sequences begin again at 1, or None."""
        return self.shared.ring.max_sequence() or None

    @property
    def on_duplicate(self):
        """"raise" or "ignore"."""
        return "ignore" if self.skip_duplicates else "raise"

    def snapshot(self):
        """The whole state as bytes: versioned, checksummed, independent of the machine."""
        cdef bytes image = None
        cdef size_t size, needed = 0
        cdef uint8_t* out
        while True:  # the state may grow while the bytes are allocated outside the lock
            size = needed
            image = PyBytes_FromStringAndSize(NULL, size)
            out = <uint8_t*> PyBytes_AS_STRING(image)
            with nogil:
                self.shared.lock()
                needed = self.shared.ring.serialized_size()
                if needed == size:
                    self.shared.ring.serialize(out, self.skip_duplicates)
                self.shared.unlock()
            if needed == size:
                return image

    @staticmethod
    def restore(state):
        """A shredder that goes on where `snapshot()` gave `state`, options included. Other bytes: CheckpointError."""
        cdef SequenceShredder restored = SequenceShredder(64)
        cdef Py_buffer view
        cdef uint8_t owner_byte = 0
        cdef ShredRestoreStatus status
        PyObject_GetBuffer(state, &view, PyBUF_SIMPLE)
        with nogil:
            status = ShredRing.restore(<const uint8_t*> view.buf, view.len, restored.shared.ring, &owner_byte)
        size = view.len
        PyBuffer_Release(&view)
        if status != ShredRestoreStatus.ok:
            raise shred_restore_refusal(status, size)
        restored.skip_duplicates = owner_byte != 0
        return restored

    def __repr__(self):
        facts = self._facts()
        return (f"<SequenceShredder tail={facts.prefix} last_delimiter={facts.last_delimiter} "
                f"pending={facts.pending} capacity={facts.slots}{' finished' if facts.finished else ''}>")

    def debug_dump(self):
        """Both bitmaps as text, a column a buffer: '#' seen, '.' not seen; '|' a delimiter, '-' none."""
        cdef size_t count, i
        cdef uint64_t sequence
        cdef ShredFacts facts
        cdef char* drawn = <char*> malloc(3 * SHRED_DRAWN)
        if not drawn:
            raise MemoryError("shredder: no memory to draw")
        with nogil:
            self.shared.lock()
            facts = shred_facts(&self.shared.ring)
            count = min(SHRED_DRAWN, facts.highest_position - facts.prefix_position)
            for i in range(count):
                sequence = self.shared.ring.sequence_at(facts.prefix_position + 1 + i)
                drawn[i] = 48 + sequence % 10
                drawn[SHRED_DRAWN + i] = 35 if self.shared.ring.seen(sequence) else 46
                drawn[2 * SHRED_DRAWN + i] = (
                    46 if drawn[SHRED_DRAWN + i] == 46 else 124 if self.shared.ring.delimited(sequence) else 45)
            self.shared.unlock()
        rows = [drawn[line * SHRED_DRAWN:line * SHRED_DRAWN + count].decode() for line in range(3)]
        free(drawn)
        return shred_drawing(facts, rows)

    cdef ShredFacts _facts(self):
        cdef ShredFacts facts
        with nogil:
            self.shared.lock()
            facts = shred_facts(&self.shared.ring)
            self.shared.unlock()
        return facts
