"""`DoctorCheck`: one result of a plugin's check of its own environment."""

from __future__ import annotations

import attrs


@attrs.frozen
class DoctorCheck:
    """One thing that a plugin needs, and whether it was found in order."""

    #: The thing, in a few words: "EGL device", "FFmpeg libraries".
    what: str
    #: Whether the thing is as the plugin needs it.
    is_well: bool
    #: What was found: a version, a device name, an error's message.
    detail: str = ""
    #: What to do if it failed; "" if nothing can or need be done.
    cure: str = ""
