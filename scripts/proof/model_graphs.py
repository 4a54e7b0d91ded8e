"""The graphs on which the model is checked: all of a size, counted; and cycles and sources."""

from __future__ import annotations

import random
from itertools import combinations, product
from typing import TYPE_CHECKING, Final

from stream_model import Box, Drawing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Kind and timestamp offset of a node.
KINDS: Final[tuple[tuple[str, int | None], ...]] = (
    ("both", None), ("both", 0), ("odd", None), ("odd", 0), ("later", 1),
)  # fmt: skip
#: Queues of one packet, and without limit.
LIMITS: Final = (1, 0)
PACKETS: Final = 3


def shapes(inputs: int, nodes: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Return what the nodes read: one or two of the streams above each; all streams but the last are read."""
    choices = [
        [reads for count in (1, 2) for reads in combinations(range(inputs + node), count)]
        for node in range(nodes)
    ]
    for shape in product(*choices):
        if set(range(inputs + nodes - 1)) <= {stream for reads in shape for stream in reads}:
            yield shape


def feeds(inputs: int) -> list[tuple[tuple[int, ...], ...]]:
    """Return all ways to spread three packets at the timestamps 0, 1 and 2 over the graph inputs."""
    some = [stamps for count in range(PACKETS + 1) for stamps in combinations(range(3), count)]
    return [fed for fed in product(some, repeat=inputs) if sum(map(len, fed)) == PACKETS]


def all_graphs(nodes: int) -> Sequence[Drawing]:
    """Return every graph of so many nodes, with one or two graph inputs and three packets, as a sequence.

    Each stream but the output of the last node is read by some node. Graphs that differ only in the order of
    their inputs count once.
    """
    return _Graphs(nodes)


def _swapped(
    shape: tuple[tuple[int, ...], ...], feed: tuple[tuple[int, ...], ...]
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """Return the same graph with its two graph inputs in the other order."""
    other = tuple(tuple(sorted({0: 1, 1: 0}.get(stream, stream) for stream in reads)) for reads in shape)
    return other, feed[::-1]


class _Graphs(list[Drawing]):
    """Graphs that are made when they are asked for: there are too many to keep them."""

    def __init__(self, nodes: int) -> None:
        super().__init__()
        self._nodes: Final = nodes
        self._parts: Final = [
            (shape, feed)
            for inputs in (1, 2)
            for shape in shapes(inputs, nodes)
            for feed in feeds(inputs)
            if inputs == 1 or (shape, feed) <= _swapped(shape, feed)
        ]
        self._kinds: Final = list(product(KINDS, repeat=nodes))

    def __len__(self) -> int:
        return len(self._parts) * len(self._kinds) * len(LIMITS)

    def __getitem__(self, number: int) -> Drawing:  # type: ignore[override]  # no slices
        rest, limit = divmod(number, len(LIMITS))
        part, kinds = divmod(rest, len(self._kinds))
        shape, feed = self._parts[part]
        boxes = [
            Box(kind, reads, offset) for (kind, offset), reads in zip(self._kinds[kinds], shape, strict=True)
        ]
        return Drawing(feed, tuple(boxes), LIMITS[limit])


def special_graphs() -> dict[str, Drawing]:
    """Return graphs with sources and cycles."""
    source = Box("source", stamps=(0, 1, 2))
    end = Box("both", (0, 1))
    # the way back is one later than the way there: what comes back from a packet is there for the next
    cycle = (Box("both", (0, 2), 0, back=(1,)), Box("again", (1,), first=1))
    return {
        "a source": Drawing((), (source, Box("both", (0,)))),
        "a source, queues of one packet": Drawing((), (source, Box("both", (0,), 0), Box("odd", (1,))), 1),
        "two sources that meet": Drawing((), (source, Box("source", stamps=(1,)), end), 1),
        "a source and an input that meet": Drawing(((0, 2),), (Box("source", stamps=(1,)), end), 1),
        "a source, two ways that meet": Drawing(
            (), (source, Box("odd", (0,)), Box("both", (0,), 0), Box("both", (1, 2))), 1
        ),
        "a cycle": Drawing(((1, 2, 3),), cycle),
        "a cycle that nothing begins": Drawing(((1, 2, 3),), (cycle[0], cycle[1]._replace(first=None))),
        "a cycle, queues of one packet": Drawing(((1, 2, 3),), cycle, 1),
        "a cycle behind a node": Drawing(
            ((1, 2),),
            (Box("both", (0,)), Box("both", (1, 3), 0, back=(1,)), Box("again", (2,), first=1)),
            1,
        ),
    }


def random_graph(seed: int) -> Drawing:
    """Return a graph of up to four nodes with sources, cycles and observers, fed up to four packets."""
    order = random.Random(seed)  # noqa: S311  # not for secrets
    inputs = tuple(_stamps(order) for _ in range(order.choice((1, 1, 2))))
    boxes: list[Box] = []
    for _ in range(order.randint(1, 4)):
        above = range(len(inputs) + len(boxes))
        kind, offset = order.choice(KINDS)
        if order.randrange(6) == 0:
            boxes.append(Box("source", stamps=_stamps(order)))
            continue
        boxes.append(Box(kind, tuple(sorted(order.sample(above, order.choice((1, min(2, len(above))))))),
                         offset))  # fmt: skip
    if order.randrange(4) == 0:
        here = len(inputs) + len(boxes)
        first = order.choice((None, 0))
        boxes += [
            Box("both", (order.randrange(here), here + 1), 0, back=(1,)), Box("again", (here,), first=first)
        ]  # fmt: skip
    streams = range(len(inputs) + len(boxes))
    observed = tuple(sorted(order.sample(streams, order.randrange(3))))
    return Drawing(inputs, tuple(boxes), order.choice(LIMITS), observed)


def large_graph(seed: int) -> Drawing:
    """Return a graph of up to ten nodes without cycles, some of which overlap their calls."""
    order = random.Random(f"large {seed}")  # noqa: S311  # not for secrets
    inputs = tuple(_stamps(order, 8) for _ in range(order.randint(1, 3)))
    boxes: list[Box] = []
    for _ in range(order.randint(3, 10)):
        above = range(len(inputs) + len(boxes))
        kind, offset = order.choice(KINDS)
        if order.randrange(8) == 0:
            boxes.append(Box("source", stamps=_stamps(order, 8)))
            continue
        reads = tuple(sorted(order.sample(above, order.choice((1, 1, min(2, len(above)))))))
        boxes.append(Box(kind, reads, offset, calls=order.choice((1, 1, 1, 2, 3))))
    streams = range(len(inputs) + len(boxes))
    observed = tuple(sorted({*order.sample(streams, 2), streams[-1]}))
    return Drawing(inputs, tuple(boxes), order.choice((1, 1, 2, 0)), observed)


def _stamps(order: random.Random, most: int = 5) -> tuple[int, ...]:
    return tuple(sorted(order.sample(range(most), order.randrange(most - 1))))
