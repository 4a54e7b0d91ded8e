"""Passwords of addresses, which errors, logs and pages leave out.

Code that puts an address into one of these writes `redacted(address)` in its place.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["redacted"]

# Compiled when they are needed: each graph imports this module, and few have an address.
#: An address within a text. Quotes and blanks end it.
_ADDRESS: Final = r"([A-Za-z][A-Za-z0-9+.-]*://)([^\s\"'<>]+)"
#: Fields of a query whose values are secrets.
_FIELD: Final = (
    r"(?i:([?&;#](?:[\w.-]*(?:token|passw(?:or)?d|passphrase|secret|signature|api_?key|credential)[\w.-]*"
    r"|pass|pwd|pw|sig|key|auth|streamid)=)[^&;#\s]*)"
)
_HIDDEN: Final = "***"


def redacted(text: str) -> str:
    """Return a text whose addresses have no passwords: `rtsp://ann:***@10.0.0.5/cam?token=***`.

    Hidden are the password before the host, and the values of fields such as token, password and key. The
    user's name stays; where there is a name alone, that is hidden too, since some servers take a token there.
    A text without an address comes back as it is.
    """
    return re.sub(_ADDRESS, _without_secrets, text) if "://" in text else text


def _without_secrets(found: re.Match[str]) -> str:
    scheme, rest = found[1], found[2]
    place = re.split(r"[/?#]", rest, maxsplit=1)[0]
    user, mark, _ = place.rpartition("@")
    if not mark and "@" in rest and not re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]+)(:\d*)?", place):
        # A password with an unescaped "/" or "?": what is before its first one is no host and port.
        user, mark, _ = rest.rpartition("@")
    if mark:
        name, colon, _ = user.partition(":")
        rest = f"{name}:{_HIDDEN}@{rest[len(user) + 1 :]}" if colon else f"{_HIDDEN}@{rest[len(user) + 1 :]}"
    return scheme + re.sub(_FIELD, rf"\1{_HIDDEN}", rest)
