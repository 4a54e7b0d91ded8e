"""Says which Ray there is, and whether a cluster is at hand. Imported when `penstock doctor` runs."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from penstock import DoctorCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHAT = "Ray"


def checks() -> Iterator[DoctorCheck]:
    """Yield one check: the version of Ray. It starts nothing, since a cluster takes seconds to start."""
    get_it = 'pip install "penstock-remote[ray]"'
    if find_spec("ray") is None:
        yield DoctorCheck(_WHAT, is_well=True, detail=f"not installed; a RayExecutor needs it: {get_it}")
        return
    try:
        import ray
    except ImportError as error:
        yield DoctorCheck(_WHAT, is_well=False, detail=f"it cannot be imported: {error}", cure=get_it)
        return
    address = os.environ.get("RAY_ADDRESS", "")
    cluster = f"the cluster is at {address!r} (RAY_ADDRESS)" if address else "RAY_ADDRESS names no cluster"
    yield DoctorCheck(_WHAT, is_well=True, detail=f"{ray.__version__}; {cluster}")
