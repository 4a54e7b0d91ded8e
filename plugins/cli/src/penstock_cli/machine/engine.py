"""Which engine runs, and how to get the compiled one in a clone."""

from __future__ import annotations

import sysconfig
from typing import Final

from penstock.packs import engine_form
from penstock_cli.machine.clone import root_of_clone

#: Compiles the core in the folder of a clone, where `uv run` finds it.
COMPILE: Final = "HATCH_BUILD_HOOKS_ENABLE=1 uv sync --inexact --reinstall-package penstock-core"


def engine_words() -> str:
    """Return "plain Python" or how much is compiled; in a clone with plain Python also what compiles it."""
    form = engine_form()
    if form != "plain Python":
        return form
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return f"{form}, as on each Python that can run without its lock"
    if root_of_clone() is None:
        return form
    return f"{form} (to compile it: {COMPILE})"
