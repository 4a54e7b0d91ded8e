"""Names in the `Host` headers of requests, for servers that answer only under some of them."""

from __future__ import annotations

import re
from typing import Final

#: An address of IPv6 in brackets, or a name or other address; and a port.
_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?")


def name_in_host(host: str) -> str:
    """Return the name in a `Host` header, in lower case, without port and brackets; "" where it is none."""
    found = _HOST.fullmatch(host)
    return "" if found is None else (found[1] or found[2]).lower()
