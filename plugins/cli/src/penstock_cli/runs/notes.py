"""Notes on a run that ended without an error but not as its author may think.

There are four kinds: nodes waited with packets in their queues until the run closed them, nodes never
ran, packets were dropped, limits cut elements from lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_cli.failures import RunFailed
from penstock_cli.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.explain import Ledger, Snapshot
    from penstock_cli.runs.watch import Outcome

#: So many notes are printed.
_SHOWN: Final = 20


def notes(outcome: Outcome) -> list[str]:
    """Return what is worth a look, each with the names of nodes and streams."""
    return [*_waited(outcome), *lost(outcome.snapshot, outcome.ledger), *map(str, outcome.ledger.cuts)]


def lost(snapshot: Snapshot, ledger: Ledger) -> list[str]:
    """Return which nodes never ran, and which packets were dropped, where and why."""
    return [*_never_ran(snapshot, ledger), *_dropped(ledger)]


def shown(outcome: Outcome) -> list[str]:
    """Return the notes as they are printed: of many, the first ones and how many there are."""
    found = notes(outcome)
    left_out = len(found) - _SHOWN
    return found if left_out <= 0 else [*found[:_SHOWN], f"{left_out:,} more are in the output of --json"]


def refuse_notes(outcome: Outcome) -> None:
    """Fail if there is anything to note.

    Raises:
        RunFailed: there is; the message has all notes.
    """
    found = notes(outcome)
    if found:
        words = f"--strict: {plural(len(found), 'note')} on the run"
        raise RunFailed("\n  ".join([words, *shown(outcome)]))


def refuse_nothing_done(outcome: Outcome) -> None:
    """Fail if packets came and every one of them was dropped: the run did nothing with its data.

    Raises:
        RunFailed: so it was; the message says where packets were dropped, and why.
    """
    readers = [reader for stream in outcome.ledger.streams for reader in stream.readers]
    if any(reader.delivered for reader in readers) or not any(reader.dropped for reader in readers):
        return
    raise RunFailed("\n  ".join(["every packet was dropped", *_dropped(outcome.ledger)]))


def _waited(outcome: Outcome) -> Iterator[str]:
    for wait in outcome.why.waits:
        first = wait.chain[0]
        words = [first.text] if first is wait.culprit else [first.text, f"culprit: {wait.culprit.text}"]
        held = plural(wait.held, "packet")
        yield f"{held} waited at node {wait.node!r} when the sources had ended: {'; '.join(words)}"


def _never_ran(snapshot: Snapshot, ledger: Ledger) -> Iterator[str]:
    came: dict[str, int] = {}
    writers = set()
    for stream in ledger.streams:
        writers.add(stream.place)
        for reader in stream.readers:
            came[reader.node] = came.get(reader.node, 0) + reader.seen
    for node in snapshot.nodes:
        if node.steps or not (node.name in came or f"node {node.name!r}" in writers):
            continue  # it ran, or has no streams and runs only when it opens
        packets = came.get(node.name)
        why = "" if packets is None else f"; {plural(packets, 'packet')} came to it"
        yield f"node {node.name!r} ({node.calculator}) never ran{why}"


def _dropped(ledger: Ledger) -> Iterator[str]:
    added = {stream.name: stream.added for stream in ledger.streams}
    for drop in ledger.drops:
        share = f"{drop.count:,} of {plural(added[drop.stream], 'packet')}"
        yield f"{share} on {drop.stream!r} dropped at {drop.place}: {drop.reason}"
