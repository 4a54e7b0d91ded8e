"""The libraries of the pack's extras: what is missing says which extra brings it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from penstock.errors import FailedPreconditionError

#: Extra → the modules that its part imports.
MODULES: Final = {
    "kafka": ("confluent_kafka",),
    "mqtt": ("paho",),
    "rerun": ("rerun",),
    "ros": ("rosbags", "PIL"),
}


def check_needs(what: str, extra: str) -> None:
    """Refuse to begin without one of the libraries of an extra.

    Args:
        what: uses them, as an error names it.
        extra: one of `MODULES`.

    Raises:
        FailedPreconditionError: one is not installed; says which, and how to get them all.
    """
    missing = [name for name in MODULES[extra] if find_spec(name) is None]
    if missing:
        raise FailedPreconditionError(
            f'{what} needs {missing[0]}, which is not installed; pip install "penstock-bridges[{extra}]"'
        )
