"""Check the types of each distribution on its own: mypy --strict, once for each.

    python scripts/typecheck.py [NAME ...]

There is one run for each, since a package must type-check when it is installed alone, and since tests of
several distributions may have the same module name. Imports of other distributions are followed silently:
those have runs of their own. Generated modules are left out. The benchmarks and the tools of the workspace
come last, and have names too: `python scripts/typecheck.py benchmarks tools`.

(The file is not called `types.py`, since the directory of a script is first on its path, and that name is
the standard library's.)
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from members import ROOT, members

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Code outside the distributions: name → files and directories.
OTHERS: Final = {
    "benchmarks": ("benchmarks",),
    "tools": ("scripts", "toxfile.py", "core/build_record.py", "core/hatch_build.py"),
}
#: The directories from which files of `OTHERS` import each other: those that are run have theirs on the path.
FOLDERS: Final = (
    "benchmarks",
    "scripts",
    "scripts/proof",
    "scripts/proof/ends",
    "scripts/trials",
    "scripts/trials/beside",
    "scripts/trials/exports",
)


def _mypy(arguments: Sequence[str], search_path: str) -> int:
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", *arguments]
    environment = {**os.environ, "MYPYPATH": search_path}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603


def main(wanted: Sequence[str]) -> int:
    """Check the distributions with these names, or all. Return the exit status."""
    found = members()
    known = [*(member.name for member in found), *OTHERS]
    if unknown := set(wanted) - set(known):
        print(f"nothing is called {sorted(unknown)}, expected some of {known}")
        return 2
    search_path = os.pathsep.join(str(member.path / "src") for member in found)
    failed = []
    for member in found:
        if wanted and member.name not in wanted:
            continue
        print(f"{member.name}:", flush=True)
        if _mypy([part for name in member.import_names for part in ("-p", name)], search_path):
            failed.append(member.name)
    for name, paths in OTHERS.items():
        if wanted and name not in wanted:
            continue
        print(f"{name}:", flush=True)
        folders = [str(ROOT / path) for path in FOLDERS]
        if _mypy(["--explicit-package-bases", *paths], os.pathsep.join([*folders, search_path])):
            failed.append(name)
    if failed:
        print(f"types are wrong in {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
