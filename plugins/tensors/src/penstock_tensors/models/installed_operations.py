"""The custom operations that are installed: of this pack, and of all packs that bring some.

A pack brings its own by an entry point in the group `penstock_tensors.custom_ops`, which names a mapping from
(name, version) to `CustomOp`.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from penstock.packs import entry_points
from penstock_tensors.models import landmark_operations, resampler
from penstock_tensors.models.custom_ops import OpResolver

#: The group of entry points of packs that bring operations.
GROUP: Final = "penstock_tensors.custom_ops"


@functools.cache
def standard_operations() -> OpResolver:
    """Return the operations of this pack and of all packs that bring some."""
    found = {**landmark_operations.OPERATIONS, **resampler.OPERATIONS}
    for entry in entry_points(GROUP):
        brought: Any = entry.load()
        found.update(brought)
    return OpResolver(found)
