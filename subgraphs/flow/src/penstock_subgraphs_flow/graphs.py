"""Where the graph files of this package lie, one constant for each; paths only, nothing is read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).resolve().parent

#: `TwoPassThroughSubgraph`: stream "in" to stream "out" through two pass-through nodes.
TWO_PASS_THROUGH: Final = _HERE / "two_pass_through.pbtxt"
