"""Images to tensors, models, and what models say.

The names are imported when they are first used, so finding this pack imports neither NumPy nor a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.lowlevel import late_names

if TYPE_CHECKING:
    from penstock_tensors.anchor_pb2 import Anchor as Anchor

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_tensors.anchor_pb2": "Anchor",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
