"""Lists of rows that are as long as each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input


def check_list(port: Input, values: Sequence[Any]) -> None:
    """Accept a list with elements.

    Raises:
        InvalidArgumentError: it is empty.
    """
    if not values:
        raise InvalidArgumentError(
            f"input {port.name!r} holds an empty list, but the rows of a tensor need at least one element; "
            "look at the node that made it"
        )


def check_rows(port: Input, rows: Sequence[Sequence[Any]]) -> None:
    """Accept a list of rows of the same length, with elements.

    Raises:
        InvalidArgumentError: it is empty, its first row is, or a row is longer or shorter than the first.
    """
    check_list(port, rows)
    check_list(port, rows[0])
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InvalidArgumentError(
                f"input {port.name!r} holds rows of {len(rows[0])} elements, but row {number} has "
                f"{len(row)}; make all rows as long"
            )
