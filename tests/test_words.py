"""`scripts/words.py` finds phrases that make sentences hard to read; there are no more of them."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def words():
    spec = importlib.util.spec_from_file_location("penstock_workspace_words", ROOT / "scripts" / "words.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_each_pattern_is_where_it_is_allowed_and_the_numbers_are_current(words):
    counts = Counter(place.phrase.pattern.pattern for place in words.places(ROOT))

    assert counts == {one.pattern.pattern: one.allowed for one in words.PHRASES if one.allowed}, (
        "where a number is smaller now, write it into scripts/words.py"
    )


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("two regions come of that", "'depends on', 'follows from'"),
        ("# the error is\n    # told at the end", "'is reported', 'is logged', 'gets'"),
        ("for whoever asks", "name the caller, the thread or the node"),
        ("all streams, less those dropped", "a formula: written - dropped = taken"),
    ],
)
def test_a_phrase_is_found_also_over_the_end_of_a_line(words, text, better):
    (place,) = words.found_in("file.py", 7, text)

    assert (place.file, place.line, place.phrase.better) == ("file.py", 7, better)


def test_words_that_only_look_alike_are_not_found(words):
    assert not list(
        words.found_in("file.py", 1, "they are told apart; henceforth; some of them, come off it")
    )


def test_more_places_than_allowed_are_printed_and_fail(words, monkeypatch, capsys):
    place = words.Place("a.md", 3, "waits for a full queue", words.PHRASES[5])
    monkeypatch.setattr(words, "places", lambda _: [place])

    assert words.main([]) == 1
    assert capsys.readouterr().out == (
        "a.md:3: ...waits for a full queue...; better: 'waits because a queue is full'\n"
    )
