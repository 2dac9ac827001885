"""The gate on instructions judges rightly and names the function that grew; its questions are answered rightly.

In: counts made up here, a profile as callgrind writes it. Out: verdicts. Refuses to know: valgrind, which need not be there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.instructions.__main__ import store, verdict
from bench.instructions.ask import asked, compilers
from bench.instructions.builds import STORED, write_inputs
from bench.instructions.callgrind import OTHERS, CountingFailed, Counts, read_counts, short_name
from bench.instructions.questions import QUESTIONS
from bench.instructions.records import Record, grown, not_comparable

ROOT = Path(__file__).resolve().parents[2]
PROFILE = """\
version: 1
positions: line
events: Ir
summary: 0

ob=/a/src/formatter/_core.cpython-311-x86_64-linux-gnu.so
fl=decoder.cpp
fn=formatter::avx2::decode(unsigned char const*, long)
0 700
fi=inlined.hpp
0 50
cob=/lib/libc.so.6
cfn=memcpy
calls=3 0
0 99000
0 7
fn=void formatter::gather<true>(int) [clone .constprop.0]
0 200

ob=/lib/libc.so.6
fn=memcpy
0 90
ob=/lib/libpython3.11.so.1.0
fn=_PyEval_EvalFrameDefault'2
0 40

totals: 1087
"""
WAS = Counts({"decode": 600, "gather": 400, OTHERS: 10}, {"libc": 1_000})


def record(**counts: Counts) -> Record:
    return Record({"compiler": ["one"], "kernel": "avx2"}, dict.fromkeys(counts, "abc"), counts)


def test_a_profile_is_read_by_function_and_what_a_callee_cost_is_not_its_callers():
    counts = read_counts(PROFILE.splitlines(keepends=True))
    assert counts == Counts(
        {"formatter::avx2::decode": 757, "formatter::gather<true>": 200}, {"libc": 90, "libpython3.11": 40}
    )
    assert (counts.ours, counts.whole) == (957, 1087)


def test_functions_that_hardly_count_are_kept_together():
    small = "".join(f"fn=small{n}()\n0 1\n" for n in range(9))
    counts = read_counts((PROFILE + "ob=/a/src/formatter/_core.so\n" + small).splitlines())
    assert counts.functions[OTHERS] == 9


def test_a_profile_without_our_extension_is_no_answer():
    with pytest.raises(CountingFailed, match="no instruction of our extension"):
        read_counts(["ob=/lib/libc.so.6\n", "fn=memcpy\n", "0 90\n"])


@pytest.mark.parametrize(
    ("mangled_no_more", "said"),
    [
        ("formatter::read(char const*, unsigned long) const", "formatter::read"),
        (
            "unsigned int formatter::avx2::cut<false, (formatter::Way)1>(int&)",
            "formatter::avx2::cut<false, (formatter::Way)1>",
        ),
        ("formatter::(anonymous namespace)::fill(formatter::A (*)(int))'2", "formatter::{anonymous}::fill"),
        ("formatter::Less::operator()(int, int) const", "formatter::Less::operator()"),
        (
            "std::vector<int, std::allocator<int> >::push_back(int const&)",
            "std::vector<int, std::allocator<int> >::push_back",
        ),
        ("__pyx_pw_9formatter_5_core_8Producer_5send", "__pyx_pw_9formatter_5_core_8Producer_5send"),
    ],
)
def test_a_function_is_named_without_arguments_result_or_clone(mangled_no_more, said):
    assert short_name(mangled_no_more) == said


def test_growth_within_the_limit_passes():
    assert grown(WAS, replace(WAS, functions={"decode": 615, "gather": 400, OTHERS: 10}), 2) is None


def test_growth_beyond_the_limit_names_the_function_that_grew_and_not_the_one_that_shrank():
    now = replace(WAS, functions={"decode": 700, "gather": 350, OTHERS: 10})
    assert grown(WAS, now, 2) == "our code 1,010 -> 1,060 (+5.0%): decode +100 (from 600)"


def test_a_function_that_was_not_there_is_named_as_new():
    now = replace(WAS, functions={"decode": 600, "gather": 400, "measure": 90, OTHERS: 12})
    assert grown(WAS, now, 2) == "our code 1,010 -> 1,102 (+9.1%): measure +90 (new, or too small to be recorded)"


def test_growth_in_a_library_that_we_call_is_found_too_and_the_library_named():
    assert grown(WAS, replace(WAS, libraries={"libc": 1_100}), 2) == (
        "with what it calls 2,010 -> 2,110 (+5.0%): libc +100 (from 1,000)"
    )


def test_a_tighter_limit_can_be_asked_for():
    now = replace(WAS, functions={"decode": 615, "gather": 400, OTHERS: 10})
    assert grown(WAS, now, 1) is not None


def test_the_verdict_fails_by_name_and_passes_what_shrank(capsys):
    cheaper = replace(WAS, functions={"decode": 500, "gather": 400, OTHERS: 10})
    dearer = replace(WAS, functions={"decode": 700, "gather": 400, OTHERS: 10})
    assert verdict(record(a=WAS, b=WAS), record(a=cheaper, b=WAS), 2) == 0
    assert "cheaper by more than 2%: a" in capsys.readouterr().out
    assert verdict(record(a=WAS, b=WAS), record(a=dearer, b=WAS), 2) == 1
    assert "FAILED a: our code 1,010 -> 1,110 (+9.9%): decode +100" in capsys.readouterr().out


def test_a_verdict_over_nothing_is_no_pass(capsys):
    assert verdict(record(), record(a=WAS), 2) == 1
    assert "nothing to compare with: a" in capsys.readouterr().out


def test_records_of_another_compiler_or_input_say_why_they_do_not_compare():
    before = record(a=WAS)
    assert not_comparable(before, record(a=WAS)) == []
    other = Record({"compiler": ["one", "two"], "kernel": "avx2"}, {"a": "abd", "new": "x"}, {"a": WAS})
    assert not_comparable(before, other) == ["compiler: no other before, two now", "input of 'a' is another one"]


def test_a_record_comes_back_from_disk_as_it_was_and_takes_a_part_of_the_questions(tmp_path, capsys):
    path = tmp_path / "counts.json"
    assert store(record(a=WAS, b=WAS), path, partly=False) == 0
    assert Record.load(path) == record(a=WAS, b=WAS)
    other = replace(WAS, libraries={})
    assert store(record(b=other), path, partly=True) == 0
    assert Record.load(path) == record(a=WAS, b=other)
    with pytest.raises(CountingFailed, match="made otherwise"):
        store(replace(record(b=other), made_by={}), path, partly=True)


def test_the_compiler_and_its_flags_are_read_from_the_extension_itself():
    extension = (
        b"\x7fELF\0GNU C++17 12.2.0 -mavx2 -O3\0rest\0GCC: (Debian 12.2.0-14) 12.2.0\0\1\2Debian clang version 14.0.6\0"
    )
    assert compilers(extension) == [
        "Debian clang version 14.0.6",
        "GCC: (Debian 12.2.0-14) 12.2.0",
        "GNU C++17 12.2.0 -mavx2 -O3",
    ]


def test_without_valgrind_the_gate_says_in_one_line_what_to_install(tmp_path):
    (tmp_path / "g++").symlink_to("/bin/true")
    ran = subprocess.run(
        [sys.executable, "-m", "bench.instructions"],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 2
    assert ran.stderr == "instructions: valgrind not found; run: apt-get install valgrind\n"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    return folder, write_inputs(folder, list(QUESTIONS))


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_answered_rightly(name, inputs):
    question = asked(inputs[0], name)
    assert not question.wrong(question.run())


def test_the_stored_record_knows_every_question_and_no_other():
    assert sorted(Record.load(STORED.with_name("x86_64.json")).counts) == sorted(QUESTIONS)
