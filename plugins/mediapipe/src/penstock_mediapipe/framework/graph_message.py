"""The message of a graph, where programs for MediaPipe import it from."""

from __future__ import annotations

from typing import Any

from penstock_mediapipe.message_names import graph_message

__all__ = ["CalculatorGraphConfig"]  # noqa: F822  # of __getattr__


def __getattr__(name: str) -> Any:
    """Return the message's class, which takes the options of all packs: made when a program first asks."""
    if name == "CalculatorGraphConfig":
        return graph_message()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
