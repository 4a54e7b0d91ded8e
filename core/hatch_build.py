# ruff: noqa: INP001  # hatchling finds it by its path

"""What the build of a compiled engine records; see `build_record.py`."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RecordHook(BuildHookInterface):  # type: ignore[type-arg]  # not generic in the oldest hatchling that we take
    """Writes the record of what was compiled; to stand after the hook that compiles."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take the digests of the sources: all hooks are made before the first of them compiles anything."""
        super().__init__(*args, **kwargs)
        self._package = Path(self.root, "src", "penstock")
        self._build = runpy.run_path(str(Path(self.root, "build_record.py")))
        self._before = self._build["source_digests"](self._package)

    def clean(self, versions: list[str]) -> None:  # noqa: ARG002  # hatchling's signature
        """Remove the record."""
        (self._package / self._build["RECORD"]).unlink(missing_ok=True)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  # hatchling's signature
        """Write the record beside what has just been compiled, and put it into the wheel."""
        record = self._build["write_record"](self._package, self._before)
        build_data["artifacts"].append(f"/{record.relative_to(self.root).as_posix()}")
