"""Write the table of packs for a program that is frozen, or print the options of a bundler.

    python -m penstock.freezing                      writes penstock_table.py into the current folder
    python -m penstock.freezing build/               writes it into a folder, which is on the program's path
    python -m penstock.freezing --options nuitka     prints what Nuitka must know: the table, and data
    python -m penstock.freezing --options cx_freeze  likewise

PyInstaller needs neither. PENSTOCK_PLUGINS and PENSTOCK_BLOCK_PLUGINS choose the packs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock.freezing.pack_contents import data_of, installed_packs
from penstock.freezing.table import MODULE, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.freezing.pack_contents import Pack

_BUNDLERS: Final = ("nuitka", "cx_freeze")


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m penstock.freezing", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), help="where to write the table")
    parser.add_argument("--options", choices=_BUNDLERS, help="print options of this bundler; write nothing")
    given = parser.parse_args(arguments)
    try:
        packs = chosen_packs()
    except InvalidArgumentError as error:
        parser.error(str(error))
    if given.options:
        sys.stdout.write(options_for(given.options, packs) + "\n")
        return 0
    file = given.folder / f"{MODULE}.py"
    try:
        file.write_text(table_of(packs), encoding="utf-8")
    except OSError as error:
        sys.stderr.write(f"{file} cannot be written: {error.strerror or error}\n")
        return 1
    sys.stdout.write(f"{file}: {', '.join(pack.name for pack in packs)}\n")
    return 0


def chosen_packs() -> list[Pack]:
    """Return the packs that the environment's switches let through.

    Raises:
        InvalidArgumentError: a switch is not what it must be.
    """
    from penstock.plugins.discovery import Switches

    switches = Switches.from_environment()
    return installed_packs(lambda name: switches.verdict(name) is None)


def options_for(bundler: str, packs: Iterable[Pack]) -> str:
    """Return the options with which a bundler takes along the packages that hold data.

    Args:
        bundler: "nuitka" or "cx_freeze".
        packs: what to take along.
    """
    packages = sorted({name for pack in packs for name in pack.packages})
    with_data = [name for name in packages if any(True for _ in data_of(name))]
    if bundler == "nuitka":
        data = " ".join(f"--include-package-data={name}" for name in with_data)
        return f"--include-module={MODULE} {data}"
    return f"--packages={','.join(packages)} --includes={MODULE}"


if __name__ == "__main__":
    sys.exit(main())
