"""The methods of a calculator, as numbers and by name."""

from __future__ import annotations

from typing import Final

OPEN: Final = 0
PROCESS: Final = 1
CLOSE: Final = 2
METHODS: Final = ("open", "process", "close")
