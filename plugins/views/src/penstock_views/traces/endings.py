"""The endings of names of trace files, by which their form is chosen."""

from __future__ import annotations

from typing import Final

#: Of files in Perfetto's own format; all others are JSON.
PERFETTO_ENDINGS: Final = (".pftrace", ".perfetto-trace")
