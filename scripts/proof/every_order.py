"""Take all orders of small graphs, and count them.

    python scripts/proof/every_order.py                 the short form, in less than a minute
    python scripts/proof/every_order.py --long          all graphs
    python scripts/proof/every_order.py --only Latest   graphs whose name has this word
    python scripts/proof/every_order.py --long --write  write the counts into docs/how-we-know.md

The graphs are in `order_cases.py`: one for each input policy, and others that may depend on order. In
each order the invariants of the engine hold after each event, the run ends, its ledger adds up, and its
packets are the same as in every other order, or fit what the graph
says of them. The exit status is 1 where that
is not so.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from order_cases import CASES, registry

from penstock.errors import InternalError

if TYPE_CHECKING:
    from penstock import Registry

PAGE: Final = Path(__file__).resolve().parents[2] / "docs/how-we-know.md"
BEGIN: Final = "<!-- orders: begin (written by scripts/proof/every_order.py) -->"
END: Final = "<!-- orders: end -->"
_HEAD: Final = ("| graph | orders | states | results |", "|---|--:|--:|--:|")


def table(word: str, registry: Registry, *, long: bool) -> tuple[list[str], list[str]]:
    """Return the rows of the table and what is wrong, and print each row when it is there."""
    rows: list[str] = []
    faults: list[str] = []
    for case in CASES:
        if word.lower() not in case.name.lower() or (case.is_long and not long):
            continue
        began = time.monotonic()
        try:
            orders = case.orders(registry)
            fault = case.fault(orders)
        except InternalError as error:
            faults.append("\n".join([f"{case.name}: {error}", *getattr(error, "__notes__", ())]))
            continue
        if fault:
            faults.append(f"{case.name}: {fault}")
        rows.append(f"| {case.name} | {orders.orders:,} | {orders.states:,} | {len(orders.outcomes)} |")
        print(f"{rows[-1]} {time.monotonic() - began:.1f} s", flush=True)
    return rows, faults


def _states(row: str) -> int:
    return int(row.split("|")[3].replace(",", ""))


def written(page: str, rows: list[str]) -> str:
    """Return the page with these rows.

    Raises:
        ValueError: the page lacks a mark.
    """
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} lacks {BEGIN!r} or {END!r}")
    return "\n".join((f"{head}{BEGIN}\n", *_HEAD, *rows, f"\n{END}{tail}"))


def main() -> int:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--long", action="store_true", help="also the graphs that take longer")
    parser.add_argument("--only", default="", metavar="WORD", help="only graphs whose name has this word")
    parser.add_argument("--write", action="store_true", help="write the counts into docs/how-we-know.md")
    arguments = parser.parse_args()
    if arguments.write and (arguments.only or not arguments.long):
        parser.error("--write needs --long, and no --only: the page has all graphs")
    rows, faults = table(arguments.only, registry(), long=arguments.long)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"all orders: {len(rows)} graphs, {sum(map(_states, rows)):,} states, {len(faults)} findings")
    if not rows and not faults:
        parser.error(f"no graph has {arguments.only!r} in its name")
    if arguments.write and not faults:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
