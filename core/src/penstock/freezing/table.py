"""The module `penstock_table`: the packs of a frozen program, where no metadata of distributions is.

It is written when the program is built, lies beside the program's own modules, and is looked for by discovery
in frozen programs and where no distribution has a plugin. It imports all modules of the packs in a function
that nobody calls: bundlers follow imports wherever they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.freezing.pack_contents import modules_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.freezing.pack_contents import Pack

#: The name of the module; `penstock.entry_points` imports it.
MODULE: Final = "penstock_table"


def table_of(packs: Iterable[Pack]) -> str:
    """Return the source of the module for some packs."""
    chosen = list(packs)
    rows = [
        (point.group, point.name, point.value, pack.name, pack.version)
        for pack in chosen
        for point in pack.points
    ]
    modules = sorted({module for pack in chosen for name in pack.packages for module in modules_of(name)})
    return "".join(
        [
            '"""The packs of a frozen program. Written by `python -m penstock.freezing`."""\n\n',
            "#: Group, name and target of each entry point; name and version of its distribution.\n",
            "POINTS = [\n",
            *(f"    {row!r},\n" for row in rows),
            "]\n\n\n",
            "def _followed_by_bundlers():\n",
            *(f"    import {module}\n" for module in modules if not module.endswith("__main__")),
        ]
    )
