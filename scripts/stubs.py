"""Write the stubs of modules whose names load late: what type checkers and editors read of them.

    python scripts/stubs.py            write them
    python scripts/stubs.py --check    say which are stale, and exit 1

Such a module has a table `_HOMES`, in which each name stands once. The stub imports each name from its home
as itself, which makes it a public name of the module.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).resolve().parents[1]
CORE: Final = ROOT / "core" / "src" / "penstock"
_NAMES: Final = (
    "error_text", "explain/__init__", "lowlevel", "packs", "ports", "readers", "runs", "tracing/__init__",
    "types",
)  # fmt: skip
#: The modules that have a stub.
MODULES: Final = tuple(CORE / f"{name}.py" for name in _NAMES)
_HEAD: Final = "# Written by scripts/stubs.py, of the table in the module.\n\n"


def stub_of(source: str) -> str:
    """Return the stub of a module.

    Raises:
        ValueError: the module has no table `_HOMES`.
    """
    for node in ast.parse(source).body:
        if (
            isinstance(node, ast.AnnAssign)
            and ast.unparse(node.target) == "_HOMES"
            and node.value is not None
        ):
            homes: dict[str, str] = ast.literal_eval(node.value)
            names = sorted((name, home) for home, named in homes.items() for name in named.split())
            return _HEAD + "".join(f"from {home} import {name} as {name}\n" for name, home in names)
    raise ValueError("the module has no table _HOMES")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the stubs, or compare them; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the stubs of modules whose names load late.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where one is stale")
    check = parser.parse_args(arguments).check
    stale = []
    for module in MODULES:
        stub, wanted = module.with_suffix(".pyi"), stub_of(module.read_text(encoding="utf-8"))
        if stub.exists() and stub.read_text(encoding="utf-8") == wanted:
            continue
        stale.append(stub.relative_to(ROOT).as_posix())
        if not check:
            stub.write_text(wanted, encoding="utf-8")
    for name in stale:
        print(f"{name}: {'stale; run python scripts/stubs.py' if check else 'written'}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
