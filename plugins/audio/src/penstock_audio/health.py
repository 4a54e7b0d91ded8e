"""What `penstock doctor` says of microphones. Imported when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import DoctorCheck, PenstockError
from penstock_audio.microphone.sound_devices import check_microphone

if TYPE_CHECKING:
    from collections.abc import Iterator


def checks() -> Iterator[DoctorCheck]:
    """Yield what microphone there is. Without one all is well: few need it."""
    try:
        found = f"default: {check_microphone()}"
    except PenstockError as error:
        found = f"none: {error}"
    yield DoctorCheck("microphone", is_well=True, detail=found)
