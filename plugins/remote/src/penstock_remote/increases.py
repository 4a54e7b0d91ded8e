"""What has been counted since the last answer: an answer brings the driver only that."""

from __future__ import annotations

from typing import Generic, TypeVar

Key = TypeVar("Key")


class Increases(Generic[Key]):
    """Counts that only grow, and how much of each has been sent."""

    def __init__(self) -> None:
        self._told: dict[Key, int] = {}

    def of(self, counts: dict[Key, int]) -> dict[Key, int]:
        """Return by how much each count has grown since the last call, without those that have not.

        Args:
            counts: all counts until now; kept, so the caller must not change it afterwards.
        """
        told, self._told = self._told, counts
        if counts == told:
            return {}
        return {key: count - told.get(key, 0) for key, count in counts.items() if count != told.get(key, 0)}
