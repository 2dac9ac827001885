"""What may pass where streams join, case by case."""

from __future__ import annotations

import pytest
from numbered_rows import rows

from formatter import errors, flow


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def checkpoint(number: int) -> flow.Barrier:
    return flow.Barrier("checkpoint", number)


def aligner(*names: str, **options) -> flow.BarrierAligner:
    return flow.BarrierAligner(upstreams=list(names) or ["a", "b"], **options)


def test_a_barrier_passes_once_when_every_upstream_has_delivered_it():
    join = aligner("a", "b", "c")
    assert join.deliver("a", checkpoint(1)) == []
    assert join.deliver("c", checkpoint(1)) == []
    assert join.missing(1) == ("b",)
    assert join.deliver("b", checkpoint(1)) == [checkpoint(1)]
    assert join.pending == ()


def test_one_upstream_twice_does_not_stand_for_two():
    join = aligner()
    join.deliver("a", checkpoint(1))
    with pytest.raises(errors.FlowError, match=r"upstream 'a', Barrier.*id=1.*duplicate"):
        join.deliver("a", checkpoint(1))
    assert join.deliver("b", checkpoint(1)) == [checkpoint(1)]
    with pytest.raises(errors.FlowError, match="duplicate"):
        join.deliver("b", checkpoint(1))


def test_a_regression_and_an_unknown_upstream_are_named():
    join = aligner()
    join.deliver("a", checkpoint(5))
    with pytest.raises(errors.FlowError, match="regression, it has delivered 5"):
        join.deliver("a", checkpoint(4))
    with pytest.raises(errors.FlowError, match="unknown upstream 'z'; expected one of a, b"):
        join.deliver("z", checkpoint(6))
    assert issubclass(errors.FlowError, ValueError)


def test_several_ids_may_be_pending_and_pass_in_order():
    join = aligner()
    assert [join.deliver("a", checkpoint(n)) for n in (1, 2, 3)] == [[], [], []]
    assert [join.deliver("b", checkpoint(n)) for n in (1, 2, 3)] == [[checkpoint(n)] for n in (1, 2, 3)]


def test_a_barrier_that_an_upstream_skipped_is_an_error_at_once():
    join = aligner()
    join.deliver("a", checkpoint(1))
    with pytest.raises(errors.FlowError, match=r"never delivered .*id=1"):
        join.deliver("b", checkpoint(2))
    other = aligner()
    other.deliver("a", checkpoint(7))
    with pytest.raises(errors.FlowError, match="'a' is at 7"):
        other.deliver("b", checkpoint(6))


def test_one_id_with_two_kinds_is_an_error():
    join = aligner()
    join.deliver("a", checkpoint(1))
    with pytest.raises(errors.FlowError, match=r"a delivered .*checkpoint"):
        join.deliver("b", flow.Barrier("flush", 1))


def test_an_instant_passes_at_once_even_where_rows_wait():
    join = aligner(hold_data=True)
    join.deliver("a", checkpoint(1))
    join.deliver("a", rows(0, 1))
    assert join.deliver("a", flow.Instant("cancel")) == [flow.Instant("cancel")]


def test_without_holding_rows_pass_while_a_barrier_waits():
    join = aligner()
    first = rows(0, 2)
    join.deliver("a", checkpoint(1))
    assert join.deliver("a", first) == [first]


def test_holding_rows_gives_a_consistent_cut():
    join = aligner(hold_data=True)
    before_a, after_a, before_b, after_b = (rows(n, 1) for n in range(4))
    assert join.deliver("a", before_a) == [before_a]
    assert join.deliver("a", checkpoint(1)) == []
    assert join.deliver("a", after_a) == []
    assert join.deliver("b", before_b) == [before_b]
    assert join.held_rows == 1
    assert join.deliver("b", checkpoint(1)) == [checkpoint(1), after_a]
    assert join.deliver("b", after_b) == [after_b]
    assert join.held_rows == 0


def test_barriers_behind_held_rows_wait_their_turn():
    join = aligner(hold_data=True)
    mine, theirs = rows(0, 1), rows(1, 1)
    for item in (checkpoint(1), mine, checkpoint(2)):
        assert join.deliver("a", item) == []
    assert join.deliver("b", checkpoint(1)) == [checkpoint(1), mine]
    assert join.deliver("b", theirs) == [theirs]
    assert join.deliver("b", checkpoint(2)) == [checkpoint(2)]


def test_holding_is_bounded_and_a_refused_batch_can_be_delivered_again():
    join = aligner(hold_data=True, max_held_rows=5)
    late = rows(4, 2)
    join.deliver("a", checkpoint(1))
    join.deliver("a", rows(0, 4))
    with pytest.raises(errors.BackpressureError, match="not taken"):
        join.deliver("a", late)
    join.deliver("b", checkpoint(1))
    assert join.deliver("a", late) == [late]


def test_an_upstream_that_closes_early_shrinks_the_set():
    join = aligner("a", "b", "c")
    join.deliver("a", checkpoint(1))
    join.deliver("b", checkpoint(1))
    assert join.close("c") == [checkpoint(1)]
    assert join.deliver("a", checkpoint(2)) == []
    assert join.close("b") == [checkpoint(2)]
    with pytest.raises(errors.FlowError, match="'b' is closed"):
        join.deliver("b", rows(0, 1))
    assert join.close("b") == []
    join.close("a")
    assert join.finished


def test_an_upstream_that_closes_early_fails_the_set_by_option():
    join = aligner(on_close="fail")
    join.deliver("a", checkpoint(1))
    with pytest.raises(errors.FlowError, match="'b' closed before it delivered"):
        join.close("b")
    with pytest.raises(errors.FlowError, match="'b' closed before it delivered"):
        join.deliver("a", rows(0, 1))


def test_a_barrier_after_an_early_close_fails_at_once_by_option():
    join = aligner(on_close="fail")
    join.close("b")
    with pytest.raises(errors.FlowError, match="'b' has closed"):
        join.deliver("a", checkpoint(1))


def test_barriers_that_complete_together_pass_in_the_order_of_their_ids():
    join = aligner("a", "b", "c")
    join.deliver("b", checkpoint(2))
    join.close("b")
    join.deliver("a", checkpoint(1))  # b is closed: nobody open has gone past it
    join.close("a")
    assert join.close("c") == [checkpoint(1), checkpoint(2)]


def test_what_a_closed_upstream_still_holds_counts():
    join = aligner(hold_data=True)
    kept = rows(0, 1)
    for item in (checkpoint(1), kept, checkpoint(2)):
        join.deliver("a", item)
    assert join.close("a") == []
    assert join.deliver("b", checkpoint(1)) == [checkpoint(1), kept]
    assert join.deliver("b", checkpoint(2)) == [checkpoint(2)]


def test_a_timeout_cancels_in_band_and_lets_held_rows_go():
    clock = Clock()
    join = aligner(hold_data=True, timeout=10, clock=clock)
    kept = rows(0, 1)
    join.deliver("a", checkpoint(1))
    join.deliver("a", kept)
    clock.now = 9.9
    assert join.poll() == []
    clock.now = 10
    assert join.poll() == [flow.Cancelled(checkpoint(1), missing=("b",)), kept]
    assert join.deliver("b", checkpoint(1)) == []  # too late: swallowed, not an error
    assert join.deliver("a", checkpoint(2)) == []
    assert join.deliver("b", checkpoint(2)) == [checkpoint(2)]


def test_the_timeout_counts_from_the_first_arrival():
    clock = Clock()
    join = aligner("a", "b", "c", timeout=10, clock=clock)
    join.deliver("a", checkpoint(1))
    clock.now = 9
    join.deliver("b", checkpoint(1))
    clock.now = 10
    assert join.poll() == [flow.Cancelled(checkpoint(1), missing=("c",))]


def test_what_was_held_follows_upstream_by_upstream():
    join = aligner("a", "b", "c", hold_data=True)
    for name in "ba":
        join.deliver(name, checkpoint(1))
        for number in range(3):
            join.deliver(name, f"{name}{number}")
    assert join.deliver("c", checkpoint(1)) == [checkpoint(1), "a0", "a1", "a2", "b0", "b1", "b2"]


def test_a_call_that_raises_loses_nothing_that_a_timeout_released():
    clock = Clock()
    join = aligner(timeout=1, clock=clock)
    join.deliver("a", checkpoint(1))
    clock.now = 2
    with pytest.raises(errors.FlowError):
        join.deliver("z", rows(0, 1))
    assert join.poll() == [flow.Cancelled(checkpoint(1), missing=("b",))]


def test_control_and_data_are_aligned_apart():
    join = aligner(hold_data=True)
    assert join.deliver("a", checkpoint(1), channel="data") == []
    assert join.deliver("a", checkpoint(1), channel="control") == []
    assert join.deliver("b", checkpoint(1), channel="control") == [checkpoint(1)]
    assert join.pending == (checkpoint(1),)
    with pytest.raises(errors.FlowError, match="data on the control channel"):
        join.deliver("a", rows(0, 1), channel="control")


def test_a_terminal_signal_never_overtakes_held_rows():
    join = aligner(hold_data=True)
    kept, stop = rows(0, 1), flow.Barrier("shutdown", 9)
    join.deliver("a", checkpoint(1))
    join.deliver("a", kept)
    assert join.deliver("a", stop, channel="control") == []
    assert join.deliver("b", stop, channel="control") == []
    assert join.deliver("b", checkpoint(1)) == [checkpoint(1), kept, stop]


def test_nothing_follows_a_terminal_barrier():
    join = aligner()
    join.deliver("a", flow.Barrier("end", 3))
    with pytest.raises(errors.FlowError, match="terminal barrier"):
        join.deliver("a", rows(0, 1))
    last = rows(1, 1)
    assert join.deliver("b", last) == [last]
    assert join.deliver("b", flow.Barrier("end", 3)) == [flow.Barrier("end", 3)]


@pytest.mark.parametrize(
    "options",
    [{"upstreams": []}, {"upstreams": ["a", "a"]}, {"upstreams": "ab"}, {"upstreams": ["a"], "timeout": -1},
     {"upstreams": ["a"], "on_close": "hang"}],
)  # fmt: skip
def test_options_are_checked_when_the_aligner_is_made(options):
    with pytest.raises(errors.OptionError):
        flow.BarrierAligner(**options)
    with pytest.raises(errors.OptionError):
        flow.Barrier("", 1)
    with pytest.raises(errors.OptionError):
        flow.Barrier("checkpoint", True)
