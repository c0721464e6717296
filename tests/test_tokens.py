"""Tokens: the estimate is near, never above the bytes, and the exact counters are exact."""

from __future__ import annotations

import base64
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.errors import MissingExtraError, UsageError
from spillover.tokens import ENCODINGS, at_most_bytes, estimate, exact, resolve, scale

NOISE = random.Random(1).randbytes(3_000)
#: Any str Python can hold, lone surrogates included.
ANY_TEXT = st.text(st.characters(exclude_categories=()))

# A text, how often, and its exact o200k tokens.
KINDS = {
    "a log": ("2026-08-22T10:15:42.113Z INFO worker-7 compiled src/module/file.c in 0.37 s (cached)\n", 40, 1_320),
    "a test run": ("tests/test_tokens.py::test_a_name_that_is_a_sentence PASSED                 [ 42%]\n", 40, 800),
    "JSON": ('{"id": 48213, "name": "worker-7", "ok": true, "score": 0.8125, "tags": ["eu", "prod"]}\n', 40, 1_520),
    "base64": (base64.b64encode(NOISE).decode(), 1, 2_723),
    "hex": (NOISE.hex(), 1, 3_384),
    "code": ("    for name, value in sorted(options.items()):\n        print(f'{name} = {value!r}')\n", 40, 880),
    "prose": ("The quick brown fox jumps over the lazy dog, and nobody in the village was surprised. ", 40, 721),
    "Chinese": ("构建失败。没有找到配置文件。请检查后重试。\n", 40, 600),
    "Russian": ("Сборка завершена: ошибка, файл не найден.\n", 40, 480),
    "a rule": ("-" * 4_096, 1, 64),
    "one letter": ("x" * 8_000, 1, 1_000),
    "spaces": (" " * 12_800, 1, 100),
    "empty lines": ("\n" * 1_600, 1, 100),
}
#: How far off it may be. Long runs of one character are counted far too high: that wastes room, and never floods.
ROOM = {
    "spaces": (0.9, 2.5),
    "empty lines": (0.9, 10),
    "one letter": (0.9, 8),
    "prose": (0.9, 1.4),
    "Russian": (0.9, 1.6),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimate_is_near_the_truth(kind):
    text, times, tokens = KINDS[kind]
    low, high = ROOM.get(kind, (0.9, 1.25))
    assert low * tokens <= estimate(text * times) <= high * tokens


@pytest.mark.parametrize("kind", KINDS)
def test_the_truth_is_what_the_table_says(kind):
    text, times, tokens = KINDS[kind]
    assert exact()(text * times) == tokens


@given(ANY_TEXT)
def test_no_text_has_more_tokens_than_bytes_and_only_the_empty_one_has_none(text):
    size = len(text.encode("utf-8", "replace"))
    for count in (estimate, exact()):
        assert count(text) <= size
        assert (count(text) == 0) == (text == "")


@given(ANY_TEXT, ANY_TEXT)
def test_a_longer_text_is_never_estimated_lower(text, more):
    assert estimate(text) <= estimate(text + more)
    assert estimate(text) <= estimate(more + text)


def test_a_run_of_one_letter_that_goes_on_is_never_estimated_lower():
    sizes = [estimate("-" * 500 + "x" * length) for length in range(2_000)]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("text", ["", "a", " ", "\n", "\0", "中", "\U0001d160", "\ud800", "\ufb2c", "e\u0301"])
def test_every_encoding_counts_the_odd_characters_within_their_bytes(name, text):
    assert bool(text) <= exact(name)(text) <= len(text.encode("utf-8", "replace"))


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("o200k_base", "hello world", 2),
        ("cl100k_base", "hello world", 2),
        ("o200k_base", "中文", 1),
        ("cl100k_base", "中文", 2),
        ("o200k_base", "1234567", 3),
        ("o200k_base", " " * 128, 1),
    ],
)
def test_exact_counts_are_those_of_the_encoding(name, text, tokens):
    assert exact(name)(text) == tokens


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("marker", ["<|endoftext|>", "<|im_start|>", "<|think|>", "<s>", "[INST]"])
def test_text_that_spells_a_special_token_is_ordinary_text(name, marker):
    assert exact(name)(marker) > 1


def test_a_lone_surrogate_counts_as_a_question_mark():
    assert exact()("a \ud800 b") == exact()("a ? b")


def test_an_exact_counter_is_loaded_once():
    assert exact("o200k_base") is exact("o200k_base") is exact()


def test_an_unknown_encoding_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match=r"'p50k_base'.*o200k_base, cl100k_base, llama3"):
        exact("p50k_base")


def test_without_the_extra_the_way_to_install_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "splintr", None)
    monkeypatch.setattr("spillover.tokens._exact", {})
    with pytest.raises(MissingExtraError, match=r"pip install 'spillover\[tokens\]'"):
        exact()


def test_a_choice_becomes_a_counter():
    assert resolve("estimate") is estimate
    assert resolve("cl100k_base") is exact("cl100k_base")
    assert resolve(len) is len


@pytest.mark.parametrize("choice", ["words", "", None, 4, ["estimate"]])
def test_what_is_no_counter_is_refused_with_those_there_are(choice):
    with pytest.raises(UsageError, match="estimate, o200k_base"):
        resolve(choice)


def test_only_our_own_counters_are_known_to_stay_within_the_bytes():
    assert at_most_bytes(estimate)
    assert at_most_bytes(exact())
    assert not at_most_bytes(len)
    assert not at_most_bytes(str.__len__)


@pytest.mark.parametrize(
    ("tokens", "of_bytes", "to_bytes", "whole"),
    [
        (0, 0, 5_000, 0),
        (0, 10, 5_000, 0),
        (250, 1_000, 1_000, 250),
        (999, 1_000, 1_000, 999),
        (250, 1_000, 3_000, 750),
        (333, 1_000, 10_000, 3_330),
        (12_345, 50_000, 50_000, 12_300),
        (12_355, 50_000, 50_000, 12_400),
        (9_999, 10, 10, 10_000),
        (12_345, 50_000, 5_000_000_000, 1_230_000_000),
    ],
)
def test_a_whole_is_scaled_from_a_part_to_three_digits(tokens, of_bytes, to_bytes, whole):
    assert scale(tokens, of_bytes, to_bytes) == whole


def test_estimating_loads_no_tokenizer():
    code = "import sys; had = {*sys.modules}; import spillover.tokens as t; t.estimate('a'); print(*({*sys.modules} - had))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "splintr" not in run.stdout.split()
