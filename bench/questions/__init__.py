"""Every question by name, in the order they are asked."""

from __future__ import annotations

from bench.question import Question
from bench.questions import buffers, costs, declared, needles, reading, spark

FILES = reading.FILES
ALL = (
    *reading.QUESTIONS,
    *needles.QUESTIONS,
    *declared.QUESTIONS,
    *buffers.QUESTIONS,
    *costs.QUESTIONS,
    *spark.QUESTIONS,
)
QUESTIONS: dict[str, Question] = {question.name: question for question in ALL}
