"""Check the types of each distribution on its own: mypy --strict, once for each.

    python scripts/typecheck.py [NAME ...]

One run for each, since a package is typed for whoever installs it alone, and since tests of several
distributions may have the same module name. What a distribution imports is followed silently: it
has a run of its own. Generated modules are left out. The tools of the workspace come last.

(Not `types.py`: the directory of a script is first on its path, and that name is the standard
library's.)
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from members import ROOT, members

if TYPE_CHECKING:
    from collections.abc import Sequence

TOOLS: Final = ("scripts", "toxfile.py")


def _mypy(arguments: Sequence[str], search_path: str) -> int:
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", *arguments]
    environment = {**os.environ, "MYPYPATH": search_path}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603


def main(wanted: Sequence[str]) -> int:
    """Check the distributions of these names, or all and the tools. Return the exit status."""
    found = members()
    if unknown := set(wanted) - {member.name for member in found}:
        print(f"no distribution {sorted(unknown)}, expected some of {[member.name for member in found]}")
        return 2
    search_path = os.pathsep.join(str(member.path / "src") for member in found)
    failed = []
    for member in found:
        if wanted and member.name not in wanted:
            continue
        print(f"{member.name}:", flush=True)
        if _mypy(["-p", member.import_name], search_path):
            failed.append(member.name)
    if not wanted:
        print("tools:", flush=True)
        scripts = str(ROOT / "scripts")
        if _mypy(TOOLS, os.pathsep.join([scripts, search_path])):
            failed.append("tools")
    if failed:
        print(f"types are wrong in {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
