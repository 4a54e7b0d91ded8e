"""What stands in a packet for a payload that has stayed in another process."""

from __future__ import annotations


class RemotePayload:
    """A payload that the driver does not have: an executor's pack knows where it is.

    The other end has checked its type, and only nodes of the same executor may read it.
    """

    __slots__ = ()
