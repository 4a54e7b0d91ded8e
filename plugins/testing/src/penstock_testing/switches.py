"""What a run under a seeded order has chosen, and the fewest choices that still show what it showed.

An order is a list of choices, each among what could be done then. The choice 0 is the first of these; any
other is a switch. A failing order with two switches says more than one of forty.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias, TypeVar

    T = TypeVar("T")
    #: A seed; or place among the choices → choice, where it is not 0.
    Order: TypeAlias = int | Mapping[int, int]

#: How often a failing order is run again to make it smaller.
_MOST_TRIES: Final = 400


class Decisions:
    """Chooses by a seed, or as it is given, and remembers its choices."""

    def __init__(self, order: Order) -> None:
        self._switches: Final = {} if isinstance(order, int) else dict(order)
        self._random: Final = random.Random(order) if isinstance(order, int) else None  # noqa: S311  # for tests
        #: The choices so far.
        self.made: Final[list[int]] = []

    def randrange(self, count: int) -> int:
        """Return a number below `count`. Given choices that are too large here mean the last."""
        if self._random is not None:
            chosen = self._random.randrange(count)
        else:
            chosen = min(self._switches.get(len(self.made), 0), count - 1)
        self.made.append(chosen)
        return chosen

    def happens(self, share: float) -> bool:
        """Return, as the choice 1, that something happens; with this probability where a seed decides."""
        if self._random is not None:
            chosen = self._random.random() < share
        else:
            chosen = self._switches.get(len(self.made), 0) > 0
        self.made.append(int(chosen))
        return chosen

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.randrange(len(items))]

    def switches(self) -> dict[int, int]:
        """Return the choices that are not 0, by their place."""
        return {place: chosen for place, chosen in enumerate(self.made) if chosen}


def fewest(
    items: Sequence[T], fails: Callable[[Sequence[T]], bool], most_tries: int = _MOST_TRIES
) -> list[T]:
    """Return items without which `fails` is no longer true: none of them can be left out alone.

    Larger parts are left out first. After `most_tries` calls the best so far is returned.
    """
    kept = list(items)
    size = max(1, len(kept) // 2)
    tries = 0
    while kept:
        smaller = None
        for start in range(0, len(kept), size):
            tries += 1
            if tries > most_tries:
                return kept
            rest = kept[:start] + kept[start + size :]
            if fails(rest):
                smaller = rest
                break
        if smaller is not None:
            kept = smaller
            size = min(size, max(1, len(kept)))
        elif size == 1:
            return kept
        else:
            size //= 2
    return kept


def as_text(order: Order) -> str:
    """Return an order as the option `--penstock-order` takes it: a seed, or "4:1,9:2"."""
    if isinstance(order, int):
        return str(order)
    return ",".join(f"{place}:{chosen}" for place, chosen in sorted(order.items())) or "-"


def from_text(text: str) -> Order:
    """Return the order of a text.

    Raises:
        InvalidArgumentError: it is neither a seed nor pairs of numbers.
    """
    try:
        if text == "-":
            return {}
        if ":" not in text:
            return int(text)
        pairs = [part.split(":") for part in text.split(",")]
        return {int(place): int(chosen) for place, chosen in pairs}
    except ValueError:
        raise InvalidArgumentError(
            f"order of switches {text!r}: give a seed, or places and choices as a failing test prints "
            "them (4:1,9:2; - for none)"
        ) from None


class Wanted:
    """Which orders tests take where they name none; the options of pytest change it."""

    #: How many orders, or feeds of `check_calculator`, where no option says otherwise.
    usual: Final = 24

    def __init__(self) -> None:
        self.count = self.usual
        self.only: Order | None = None

    def orders(self) -> Iterable[Order]:
        """Return the orders of a test that names none."""
        return range(self.count) if self.only is None else [self.only]


#: What this process takes.
WANTED: Final = Wanted()


def again(order: Order) -> str:
    """Return the command that takes one order again, where a test of pytest runs; else what to pass."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if test:
        return f"pytest --penstock-order {as_text(order)} {test!r}"
    return f"seeds=[{order!r}]"
