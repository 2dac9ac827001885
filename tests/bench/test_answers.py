"""A wrong answer is found wherever it is wrong, and flavours of a right one are no difference.

In: tables made here. Out: verdicts. Refuses to know: who races.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

from bench.answers import Answer, answer_of, difference, verdicts

NESTED = [{"a": [1, 2], "b": {"c": "x", "d": None}}, {"a": [], "b": None}, {"a": None, "b": {"c": None, "d": 7}}]
TABLE = pa.table({"n": [1, None, 3], "t": ["x", "", None], "f": [0.5, -0.0, None]})


def of(**columns):
    return answer_of(pa.table(columns))


def test_the_same_values_in_other_flavours_and_chunks_are_the_same_answer():
    coded = pa.table(
        {
            "n": pa.array([1, None, 3], pa.int32()),
            "t": pa.array(["x", "", None]).dictionary_encode(),
            "f": [0.5, 0.0, None],
        }
    )
    views = coded.set_column(1, "t", TABLE["t"].cast(pa.string_view()))
    large = pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]).set_column(1, "t", TABLE["t"].cast(pa.large_string()))
    for other in (coded, views, large):
        assert answer_of(other) == answer_of(TABLE)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (TABLE.slice(0, 2), "2 rows instead of 3"),
        (TABLE.set_column(0, "n", pa.array([1, 0, 3])), "other values in n"),
        (TABLE.set_column(1, "t", pa.array(["x", None, None])), "other values in t"),
        (TABLE.set_column(2, "f", pa.array([0.5, 1e-300, None])), "other values in f"),
        (TABLE.rename_columns(["m", "t", "f"]), "columns ['m', 't', 'f'] instead of ['n', 't', 'f']"),
        (TABLE.set_column(0, "n", pa.array([3, None, 1])), "the values of a column are right, but stand in other rows"),
        (TABLE.take([1, 0, 2]), "the rows are right, but in another order"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(changed, said):
    assert difference(answer_of(changed), answer_of(TABLE)) == said


def test_rows_in_any_order_are_right_for_who_promises_none():
    assert difference(answer_of(TABLE.take([2, 0, 1]), ordered=False), answer_of(TABLE)) is None


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time64("us"), pa.duration("ms"), pa.date32(), pa.timestamp("us")])
def test_times_of_every_kind_are_told_apart(kind):
    seconds = [
        pa.array(values).cast(pa.int32() if kind in (pa.time32("s"), pa.date32()) else pa.int64())
        for values in ([1, 2], [1, 3])
    ]
    one, other = (answer_of(pa.table({"t": column.cast(kind)})) for column in seconds)
    assert difference(one, other) == "other values in t"
    assert difference(one, one) is None


def test_lists_and_objects_are_told_apart_by_every_item_and_member():
    right = of(r=NESTED)
    for row, path, value in ((0, "a", [2, 1]), (0, "a", [1, 2, None]), (1, "a", [None]), (2, "b", {"c": "", "d": 7})):
        changed = [dict(record) for record in NESTED]
        changed[row][path] = value
        assert difference(of(r=changed), right), (row, path, value)
    assert of(r=NESTED) == right


def test_items_of_neighbouring_lists_cannot_change_places():
    assert difference(of(a=[[1], [2, 3]]), of(a=[[1, 2], [3]]))


def test_the_one_that_differs_from_the_others_is_wrong_and_the_others_are_not():
    right, other = answer_of(TABLE), of(n=[1, 2, 3], t=["x", "", None], f=[0.5, 0.0, None])
    assert verdicts({"a": right, "b": other, "c": right}) == {"a": None, "b": "other values in n", "c": None}


def test_without_a_majority_nobody_is_right():
    right, other = answer_of(TABLE), answer_of(TABLE.slice(1))
    assert set(verdicts({"a": right, "b": other}).values()) == {"no two contestants agree"}
    assert all(verdicts({"a": right, "b": other, "c": right, "d": other}).values())


def test_a_truth_outvotes_any_number():
    right, other = answer_of(TABLE), answer_of(TABLE.slice(1))
    assert verdicts({"a": other, "b": other, "c": right}, right) == {
        "a": "2 rows instead of 3",
        "b": "2 rows instead of 3",
        "c": None,
    }


def test_answers_hashed_elsewhere_compare_by_their_rows():
    assert difference(Answer(3, {"all": 1}, 1, None, "spark"), answer_of(TABLE)) is None
    assert difference(Answer(4, {"all": 1}, 1, None, "spark"), answer_of(TABLE)) == "4 rows instead of 3"


def test_an_answer_comes_back_from_json_as_it_was():
    assert Answer.from_json(answer_of(TABLE).to_json()) == answer_of(TABLE)
