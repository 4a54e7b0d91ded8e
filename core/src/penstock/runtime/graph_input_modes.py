"""What a graph input does with a packet that it cannot take now, or cannot take as it is."""

from __future__ import annotations

import enum
from typing import TypeVar

from penstock.engine.schedule import CLAMP_LATE, DROP_LATE
from penstock.errors import InvalidArgumentError

E = TypeVar("E", bound=enum.Enum)


class GraphInputStreamAddMode(enum.Enum):
    """What adding a packet does while full queues throttle the graph input."""

    WAIT_TILL_NOT_FULL = 0
    ADD_IF_NOT_FULL = 1


class LatePacketMode(enum.Enum):
    """What adding does with a packet whose timestamp is below the bound of the graph input.

    RAISE: it raises TimestampOrderError. DROP: the packet is dropped, and counted in the ledger as "late".
    CLAMP: the packet gets the smallest timestamp that is still allowed, the present bound; it is dropped if
    no timestamp is left.
    """

    RAISE = 0
    DROP = DROP_LATE
    CLAMP = CLAMP_LATE


def mode_of(kind: type[E], mode: E | str, what: str) -> E:
    """Return the member that is given as such or by its name.

    Raises:
        InvalidArgumentError: there is no such member; the message lists the names.
    """
    try:
        return kind[mode] if isinstance(mode, str) else kind(mode)
    except (KeyError, ValueError):
        known = " or ".join(member.name for member in kind)
        raise InvalidArgumentError(f"{what} {mode!r}: must be {known}") from None
