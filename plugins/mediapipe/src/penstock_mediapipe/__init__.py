"""Programs for MediaPipe's Python solutions run after one changed import: that of `penstock_mediapipe`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.lowlevel import late_names

if TYPE_CHECKING:
    from penstock_mediapipe import solutions as solutions

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, {}, ("solutions",))
