"""The names that somebody may have meant who wrote another one. All errors that suggest names ask here."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from penstock.shown import LONGEST_QUOTE, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Names that are less similar than this, from 0 to 1, are not suggested.
_CUTOFF: Final = 0.66
#: Nor are those that are so much less similar than the best one.
_BEHIND_BEST: Final = 0.15
#: If none is more similar than this, names that begin with the unknown one are meant.
_SURE: Final = 0.7
#: So many are looked at closely: all that end with one word seem similar at first.
_CLOSELY: Final = 20
#: So many names are compared, and fewer where the name is long: its letters are compared with those of each.
_MOST: Final = 2000
_MOST_LETTERS: Final = 500_000
#: Shorter words are part of too many names.
_SHORTEST_PART: Final = 3
#: So many times longer than a word are the names that it stands for.
_LONGEST: Final = 6
#: A word that most names have, also in their middle: "LuminanceCalculatorCpu".
_COMMON: Final = "Calculator"
#: The package of a class or message: "penstock." of "penstock.GateCalculatorOptions".
_PACKAGE: Final = r"^[\w.]+\.(?=[A-Z])"
#: The last word of a name that has others before it: "Calculator" of "GateCalculator".
_LAST_WORD: Final = r"(?<=.)[A-Z][a-z]+$"


def near_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names that are similar to a name, or else those that contain it; the best come first.

    Packages do not count, nor do the words that both names end with: "MergeCalculator" is not similar to
    "PassThroughCalculator".
    """
    from difflib import SequenceMatcher, get_close_matches  # only where something is wrong

    if len(name) > LONGEST_QUOTE.get():  # like no other, and finding that out would take long
        return []
    wanted = re.sub(_PACKAGE, "", name)
    full_names: dict[str, list[str]] = {}
    for one in islice(dict.fromkeys(known), min(_MOST, _MOST_LETTERS // (len(name) ** 2 or 1))):
        full_names.setdefault(re.sub(_PACKAGE, "", one), []).append(one)
    parts = {one: _distinct(wanted, one) for one in full_names}
    similar = get_close_matches(wanted, full_names, _CLOSELY, _CUTOFF)
    ratios = {one: SequenceMatcher(None, *parts[one]).ratio() for one in similar}
    least = max(_CUTOFF, max(ratios.values(), default=0) - _BEHIND_BEST)
    near = [one for one in similar if ratios[one] >= least]
    if max(ratios.values(), default=0) < _SURE:
        long = {one: pair for one, pair in parts.items() if len(pair[0]) >= _SHORTEST_PART}
        named = [
            one
            for one, (part, whole) in long.items()
            if (whole.startswith(part) if near else part in whole)
            and len(whole.replace("calculator", "")) <= _LONGEST * len(part)
        ]
        near = sorted(named, key=len) or near
    return [full for one in near for full in full_names[one]][:most]


def did_you_mean(name: str, known: Iterable[str], most: int = 3) -> str:
    """Return " (did you mean 'GateCalculator'?)", to be written after an unknown name; "" if none is near."""
    near = near_names(name, known, most)
    return f" (did you mean {', '.join(map(quoted, near))}?)" if near else ""


def _distinct(one: str, other: str) -> tuple[str, str]:
    """Return two names without the words that both end with, in small letters."""
    while (word := re.search(_LAST_WORD, one)) and other.endswith(word[0]) and other != word[0]:
        one, other = one[: word.start()], other[: -len(word[0])]
    if _COMMON in one and _COMMON in other and _COMMON not in (one, other):
        one, other = one.replace(_COMMON, "", 1), other.replace(_COMMON, "", 1)
    return one.casefold(), other.casefold()
