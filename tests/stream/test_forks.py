"""A process is forked while other threads use a stream: the child has its memory, but none of those threads.

In: streams, threads, os.fork. Out: what a child can do with the stream: use it, or hear that it is closed, and never wait for
a thread that is not there. Refuses to know: values.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable

import pyarrow as pa
from patience import PATIENCE_S

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
PIECE = b"".join(b"%d,text %d\n" % (i, i) for i in range(40_000))
USED, CLOSED, OTHER = range(3)


def in_child(use: Callable[[], object]) -> int:
    """USED, CLOSED or OTHER; a child that waits for ever is killed by its own alarm."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer versions of Python warn of what is tested here
        child = os.fork()
    if child == 0:
        signal.alarm(int(PATIENCE_S))
        code = OTHER
        try:
            use()
            code = USED
        except fm.ClosedError as error:
            code = CLOSED if "forked" in str(error) else OTHER
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_child_of_an_idle_stream_goes_on_with_it() -> None:
    stream = fm.Stream(fm.Csv(SCHEMA))
    stream.push(b"1,x\n2,", sequence=1)

    def go_on() -> None:
        batches = stream.push(b"y\n", sequence=2) + stream.finish()
        assert [row["b"] for batch in batches for row in batch.data.to_pylist()] == ["x", "y"]

    assert in_child(go_on) == USED
    go_on()  # and so does the parent


def test_a_child_forked_while_another_thread_pushes_uses_the_stream_or_hears_that_it_is_closed() -> None:
    stream = fm.Stream(fm.Csv(SCHEMA))
    pushed, stopping = [0], threading.Event()

    def push() -> None:
        while not stopping.is_set():
            pushed[0] += 1
            stream.push(PIECE, sequence=pushed[0])

    def use() -> None:
        stream.push(b"1,x\n", sequence=1_000_000)
        stream.flush()
        stream.checkpoint()

    pusher = threading.Thread(target=push)
    pusher.start()
    ends = {in_child(use) for _ in range(20)}
    for _ in range(500):  # until one was forked within a call, which most are
        if CLOSED in ends:
            break
        ends.add(in_child(use))
    stopping.set()
    pusher.join()
    assert CLOSED in ends <= {USED, CLOSED}
    stream.finish()
    assert stream.stats.rows == 40_000 * pushed[0]


def test_a_shared_stream_stays_with_the_process_that_made_it() -> None:
    stream = fm.SharedStream(fm.Csv(SCHEMA), idle="discard")
    subscription = stream.subscribe(["a"])
    stream.push(b"1,x\n", sequence=1)

    def read() -> None:
        for _ in subscription:
            pass

    def fails_with_the_stream() -> None:
        try:
            read()
        except fm.FlowError as error:
            raise error.__cause__ or error from None

    assert in_child(lambda: stream.push(b"2,y\n", sequence=2)) == CLOSED
    assert in_child(lambda: stream.subscribe(["b"])) == CLOSED
    assert in_child(fails_with_the_stream) == CLOSED
    stream.push(b"2,y\n", sequence=2)
    stream.finish()
    assert [value for batch in subscription for value in batch.column("a").to_pylist()] == [1, 2]


def test_a_child_forked_while_consumers_wait_hears_it_too() -> None:
    stream = fm.SharedStream(fm.Csv(SCHEMA), idle="discard")
    subscription = stream.subscribe(["a"])
    found: list[int] = []
    reader = threading.Thread(target=lambda: found.extend(v for b in subscription for v in b.column("a").to_pylist()))
    reader.start()
    ends = {in_child(lambda: stream.push(b"9,x\n", sequence=9)) for _ in range(10)}
    stream.push(b"1,x\n", sequence=1)
    stream.finish()
    reader.join()
    assert ends == {CLOSED}
    assert found == [1]
