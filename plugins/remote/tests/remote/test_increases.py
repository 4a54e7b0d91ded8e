"""What has been counted since the last answer."""

from __future__ import annotations

from penstock_remote.increases import Increases


def test_the_first_answer_has_all_counts_and_the_next_only_what_has_grown() -> None:
    increases = Increases[str]()

    assert increases.of({"a": 2, "b": 1}) == {"a": 2, "b": 1}
    assert increases.of({"a": 5, "b": 1, "c": 4}) == {"a": 3, "c": 4}


def test_nothing_is_told_twice() -> None:
    increases = Increases[tuple[int, str]]()
    increases.of({(0, "late"): 3})

    assert increases.of({(0, "late"): 3}) == {}
    assert increases.of({(0, "late"): 4}) == {(0, "late"): 1}
