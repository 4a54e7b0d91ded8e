"""`DoctorCheck`: one result of a plugin's check of its own environment."""

from __future__ import annotations

import attrs


@attrs.frozen
class DoctorCheck:
    """One thing that a plugin needs, and whether it was found in order.

    Attributes:
        what: the thing, in a few words: "EGL device", "FFmpeg libraries".
        is_well: whether the thing is as the plugin needs it.
        detail: what was found: a version, a device name, an error's message.
        cure: what to do if it failed; "" if nothing can or need be done.
    """

    what: str
    is_well: bool
    detail: str = ""
    cure: str = ""
