"""The ports of a node, found by index, by tag, or by tag and index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from penstock.errors import NotFoundError
from penstock.port_tags import PortKey, port_id, port_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

P = TypeVar("P")


class Ports(Generic[P]):
    """A fixed set of ports in id order: tags in byte order (no tag first), then by index.

    `len`, iteration and ids follow that order, not the order of the config: calculators of the
    reference rely on it.
    """

    __slots__ = ("_by_key", "_ids", "_what", "items")

    def __init__(self, what: str, ids: Sequence[tuple[str, int]], items: Sequence[P]) -> None:
        self._what = what
        self._ids = tuple(ids)
        #: The ports in id order.
        self.items = tuple(items)
        #: Made at the first look-up by key: most ports are only iterated over, and a graph has many.
        self._by_key: dict[PortKey, P] | None = None

    def _keys(self) -> dict[PortKey, P]:
        """Return the ports by every key that means them."""
        found = self._by_key
        if found is None:
            found = {}
            for (tag, index), item in zip(self._ids, self.items, strict=True):
                found[tag, index] = item
                if not tag:
                    found[index] = item
                if index == 0:
                    found[tag] = item
            self._by_key = found
        return found

    def __getitem__(self, key: object) -> P:
        try:
            return self._by_key[key]  # type: ignore[index]  # a key that is no PortKey is refused below
        except (KeyError, TypeError):
            pass
        if self._by_key is None:
            self._keys()
            return self[key]
        tag, index = port_id(key)
        raise NotFoundError(
            f"there is no {self._what} {port_name(tag, index)}; "
            f"connected are: {', '.join(port_name(*i) for i in self._ids) or 'none'}"
        )

    def __contains__(self, key: object) -> bool:
        return key in self._keys()

    def __iter__(self) -> Iterator[P]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def ids(self) -> tuple[tuple[str, int], ...]:
        """Return the (tag, index) of each port, in order."""
        return self._ids

    def tags(self) -> tuple[str, ...]:
        """Return the tags in order, each once; "" where untagged ports exist."""
        return tuple(dict.fromkeys(tag for tag, _ in self._ids))

    def count(self, tag: str = "") -> int:
        """Return how many ports have `tag`."""
        return sum(1 for t, _ in self._ids if t == tag)
