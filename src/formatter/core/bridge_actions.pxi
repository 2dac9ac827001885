# In: what a producer sent. Out: what a consumer meets, in order: rows, watermarks, checkpoints. Knows no queue.
from cpython.ref cimport Py_DECREF, Py_INCREF


cdef class Rows:
    """A batch of rows, as a bridge's consumer gives it. Speaks the Arrow PyCapsule protocol.

    Args:
        batch: The `pyarrow.RecordBatch`.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> rows = fm.Rows(pa.record_batch({"id": pa.array([1, 2])}))
        >>> rows.num_rows, pa.record_batch(rows).column("id").to_pylist()
        (2, [1, 2])
    """
    __match_args__ = ("batch",)
    cdef readonly object batch

    def __init__(self, batch):
        self.batch = batch

    @property
    def num_rows(self):
        """How many rows it has."""
        return self.batch.num_rows

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)

    def __arrow_c_schema__(self):
        return self.batch.schema.__arrow_c_schema__()

    def __eq__(self, other):
        return self.batch.equals((<Rows> other).batch) if isinstance(other, Rows) else NotImplemented

    __hash__ = None

    def __reduce__(self):
        return Rows, (self.batch,)

    def __repr__(self):
        return f"Rows({self.batch.num_rows} rows)"


cdef class Watermark:
    """No row that follows is older than `ts` (unless it is late).

    Args:
        ts: A time, or anything that is ordered.

    Example:
        >>> import formatter as fm
        >>> fm.Watermark(7) == fm.Watermark(7)
        True
    """
    __match_args__ = ("ts",)
    cdef readonly object ts

    def __init__(self, ts):
        self.ts = ts

    def __eq__(self, other):
        return self.ts == (<Watermark> other).ts if isinstance(other, Watermark) else NotImplemented

    def __hash__(self):
        return hash((Watermark, self.ts))

    def __reduce__(self):
        return Watermark, (self.ts,)

    def __repr__(self):
        return f"Watermark({self.ts!r})"


cdef class Checkpoint:
    """Everything before it belongs to the snapshot `epoch`, nothing after it does.

    Args:
        epoch: The number of the snapshot.

    Example:
        >>> import formatter as fm
        >>> fm.Checkpoint(3)
        Checkpoint(3)
    """
    __match_args__ = ("epoch",)
    cdef readonly object epoch

    def __init__(self, epoch):
        self.epoch = epoch

    def __eq__(self, other):
        return self.epoch == (<Checkpoint> other).epoch if isinstance(other, Checkpoint) else NotImplemented

    def __hash__(self):
        return hash((Checkpoint, self.epoch))

    def __reduce__(self):
        return Checkpoint, (self.epoch,)

    def __repr__(self):
        return f"Checkpoint({self.epoch!r})"
