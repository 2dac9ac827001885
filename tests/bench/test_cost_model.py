"""The cost model finds what numbers were made of, and says of what it left out how far it is off.

In: records made up here, of costs that are known. Out: constants, errors, words. Refuses to know: any machine.
"""

from __future__ import annotations

import math

import pytest

from bench.record import Record, Result, Run
from bench.report.cost_curves import EACH, ONCE, at_most, beyond, fitted, misfit, settling
from bench.report.cost_model import FIRST, PYTHON, SCRIPT, SPARK, TASK, WITHIN, model_of

MB, GB = 1e6, 1e9
SESSION_S, COMPILING_S, AROUND_S = 4.0, 1.5, 6.0


def result(question, contestant, seconds, amount=1.0, role="ours", **point):
    return Result(question, point, contestant, role, amount, "B", [seconds] * 4, [seconds] * 4)


def warm(amount):
    return 0.1 + amount * 1e-9


def first(amount):
    return warm(amount) + SESSION_S + COMPILING_S * (1 - math.exp(-amount / 100e6))


def spark_record():
    results = [
        result("spark sizes", "spark_udfs", warm(a), a, workload="mixed", size=str(a))
        for a in (MB, 10 * MB, 100 * MB, GB)
    ]
    for amount in (10 * MB, 100 * MB, GB, 4 * GB):
        for stage, seconds in (("first call", first(amount)), ("whole process", first(amount) + AROUND_S)):
            results.append(
                result(
                    "spark cold",
                    "spark_udfs",
                    seconds,
                    amount,
                    workload="mixed",
                    columns="all",
                    size=str(amount),
                    stage=stage,
                )
            )
    for tasks in (2, 8, 32, 128):
        results.append(result("spark tasks", "spark_udfs", 0.05 + 0.006 * tasks, tasks, tasks=tasks))
        results.append(result("spark tasks", "empty tasks", 0.03 + 0.002 * tasks, tasks, "limit", tasks=tasks))
    return Record([Run("2026-01-01", "python -m bench", {"cpus": 2}, ["spark sizes"])], results)


def test_a_line_is_found():
    line = fitted([(0, 2.0), (10, 2.5), (100, 7.0)])
    assert (round(line.cost("once"), 6), round(line.cost("each"), 6)) == (2.0, 0.05)


def test_a_cost_below_nothing_is_never_fitted():
    line = fitted([(1, 1.0), (2, 2.5), (4, 6.0)])
    assert min(line.costs) >= 0


@pytest.mark.parametrize(
    "term", [beyond("beyond", 50.0), at_most("at most", 30.0), settling("settling", 20.0)], ids=lambda term: term.name
)
def test_a_term_that_bends_a_curve_is_told_from_the_others(term):
    points = [(float(amount), 1.0 + 0.1 * amount + 3.0 * term.of(amount)) for amount in (1, 5, 20, 80, 300)]
    curve = fitted(points, (ONCE, EACH, term))
    assert [round(cost, 6) for cost in curve.costs] == [1.0, 0.1, 3.0]
    assert misfit(curve, points) < 1e-9 < misfit(fitted(points), points)


def test_costs_of_a_session_its_compiling_and_its_bytes_are_told_apart_and_predict_what_was_left_out():
    model = model_of(spark_record())
    assert abs(model.curves[SPARK].cost("each") - 1e-9) < 1e-12
    assert [round(cost, 3) for cost in model.curves[FIRST].costs] == [SESSION_S, COMPILING_S]
    assert [round(cost, 3) for cost in model.curves[SCRIPT].costs] == [AROUND_S]
    held = {one.what: one for one in model.held}
    assert {"spark sizes", "spark cold", "spark tasks"} == {what.partition(":")[0].partition(",")[0] for what in held}
    assert all(abs(one.error) < 0.001 for one in model.held)
    assert sum("first call" in what for what in held) == 1
    assert sum("whole process" in what for what in held) == 3
    assert model.verdict() == f"{len(held)} of {len(held)} predictions lie within {WITHIN:.0%}."


def test_a_prediction_that_is_off_is_named():
    record = spark_record()
    off = next(r for r in record.results if r.point.get("stage") == "first call" and r.amount == 100 * MB)
    off.wall_s = [seconds * 2 for seconds in off.wall_s]
    assert "; not so: spark cold: workload mixed, columns all" in model_of(record).verdict()


def test_results_that_outgrow_what_the_pool_keeps_cost_new_pages():
    def seconds(amount):
        return 1e-4 + amount * 1e-10 + max(0.0, amount - (512 << 20)) * 1e-10

    record = spark_record()
    record.results += [
        result("sizes", "formatter", seconds(a), a, workload="mixed", size=str(a))
        for a in (1e3, 16e3, 256e3, 4e6, 64e6, GB)
    ]
    model = model_of(record)
    assert [round(cost * 1e10, 3) for cost in model.curves[PYTHON].costs] == [1e6, 1.0, 1.0]


def test_the_driver_is_what_a_task_without_python_costs():
    model = model_of(spark_record())
    assert round(model.driver_s, 6) == 0.002
    assert round(model.curves[TASK].cost("each"), 6) == 0.006
    assert "takes 2 ms, most of it the driver's" in model.breaks_first()
    assert model.seconds(1e14, 10**6) == pytest.approx(0.1 + 1e14 / (128 << 20) * 0.002, rel=1e-3)
