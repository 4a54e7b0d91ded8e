"""What a plugin answers when it is asked how it is."""

from __future__ import annotations

import attrs


@attrs.frozen
class DoctorCheck:
    """One thing that a plugin looked at when asked how it is.

    Attributes:
        what: the thing, in a few words: "EGL device", "FFmpeg libraries".
        is_well: whether it is as the plugin needs it.
        detail: what was found: a version, a device name, an error's message.
        cure: what to do where it is not well; "" where nothing can be done or need be.
    """

    what: str
    is_well: bool
    detail: str = ""
    cure: str = ""
