"""Orders for graphs that have too many to try them all."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

from penstock_testing.switches import Decisions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock_testing.every_order.stepping import Action, Chooser
    from penstock_testing.switches import Order


def by_order(order: Order) -> Chooser:
    """Return a chooser for `SteppedRun.to_the_end`: by a seed, all actions as likely, or given choices."""
    decisions = Decisions(order)
    return lambda actions: decisions.randrange(len(actions))


class Priorities:
    """A chooser by priorities: the one with the highest goes on, and now and then falls behind all others.

    Who acts (a node, a feed, an observer) gets a priority at random; at `changes` moments of a run, drawn
    among its first `length` actions, the one whose turn it is gets the lowest. So an error that needs
    `changes` switches at the right moments is found more often than by choosing each action at random: this
    is the scheduling of probabilistic concurrency testing (PCT).
    """

    def __init__(self, seed: int, *, changes: int = 3, length: int = 100) -> None:
        order = random.Random(seed)  # noqa: S311  # a test's order
        self._random: Final = order
        self._moments: Final = set(order.sample(range(length), min(changes, length)))
        self._priority: Final[dict[str, float]] = {}
        self._lowest = 0.0
        self._count = 0

    def __call__(self, actions: Sequence[Action]) -> int:
        """Return the place of the action with the highest priority."""
        for action in actions:
            self._priority.setdefault(action.by, 1 + self._random.random())
        if self._count in self._moments:
            first = max(actions, key=lambda one: self._priority[one.by])
            self._lowest -= 1
            self._priority[first.by] = self._lowest
        self._count += 1
        return max(range(len(actions)), key=lambda place: self._priority[actions[place].by])
