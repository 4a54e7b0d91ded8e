"""The cost of finding a plugin: its module is loaded in a fresh interpreter, with what it imports.

Every program that runs a graph loads the module of every installed plugin. Seconds depend on the machine
and on what is in its caches, so the rule is about imports: beside the standard library and what
Penstock itself imports, loading a plugin imports nothing of other distributions, and none of the modules
that its components are in.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import attrs

from penstock_testing.packs.report import PackFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Top-level modules that Penstock itself imports before it loads plugins, or has: the last one is the
#: engine where it is compiled, see `pyproject.toml`.
_FREE: Final = frozenset({"attr", "attrs", "penstock", "pluggy", "penstock_engine__mypyc"})
#: Seconds after which a plugin module that is still being imported counts as hanging.
TIMEOUT_S: Final = 60.0

#: Output of a plugin goes to stderr; stdout has the one line of this program.
_PROBE: Final = """
import contextlib, json, sys
path, name = json.loads(sys.argv[1])
sys.path[:] = path
from time import perf_counter
from penstock import Components, hookimpl
from penstock.plugins.discovery import PluginHost
with contextlib.redirect_stdout(sys.stderr):
    PluginHost(none=True)  # files are read from the disk once
    began = perf_counter()
    PluginHost(none=True)
    scanned = perf_counter()
    before = set(sys.modules)
    PluginHost(block=(), only=(name,), none=False)
    ended = perf_counter()
took_s = max(0.0, (ended - scanned) - (scanned - began))
print(json.dumps({"took_s": took_s, "modules": sorted(set(sys.modules) - before)}))
"""


@attrs.frozen
class Loading:
    """How a plugin was loaded in an interpreter of its own."""

    #: Milliseconds that it took, without the search for entry points.
    ms: float | None = None
    #: Full names of the modules that were imported for it.
    modules: tuple[str, ...] = ()
    #: Why it could not be loaded; "" where it could.
    refusal: str = ""


def load_apart(name: str, timeout_s: float = TIMEOUT_S) -> Loading:
    """Load a plugin in a fresh interpreter that has this one's `sys.path`.

    Args:
        name: of its entry point.
        timeout_s: seconds after which the interpreter is ended.
    """
    command = [sys.executable, "-c", _PROBE, json.dumps([list(map(str, sys.path)), name])]
    try:
        done = subprocess.run(  # noqa: S603  # this interpreter, and a program that stands above
            command, capture_output=True, text=True, check=False, timeout=timeout_s, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return Loading(
            refusal=f"it is still being loaded after {timeout_s:g} s; plugin modules only name things"
        )
    try:
        found = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().splitlines()
        last = f": {said[-1]}" if said else ""
        return Loading(
            refusal=f"loading it ended the interpreter with exit code {done.returncode}{last}; "
            "plugin modules only name things"
        )
    return Loading(found["took_s"] * 1000, tuple(found["modules"]))


def check_loading(loading: Loading, subject: str, module: str, homes: Iterable[str]) -> Iterator[PackFault]:
    """Yield what is wrong with how a plugin was loaded.

    Args:
        loading: how it was loaded.
        subject: of the faults.
        module: that the entry point names.
        homes: modules that its components are in.
    """
    if loading.refusal:
        yield PackFault(subject, loading.refusal)
        return
    own = module.partition(".")[0]
    roots = {name.partition(".")[0] for name in loading.modules}
    foreign = sorted(roots - _FREE - sys.stdlib_module_names - {own})
    if foreign:
        yield PackFault(
            subject,
            f"loading it costs the import of {', '.join(foreign)}; every program with the pack installed "
            f"would pay for that: let {module!r}, and what it imports, only name things",
        )
    eager = sorted(
        name for name in set(homes) & set(loading.modules) if not f"{module}.".startswith(f"{name}.")
    )
    if eager:
        yield PackFault(
            subject,
            f"loading it costs the import of {', '.join(eager)}, where its components lie; name them as "
            "'module:attribute', which is imported when a graph uses it",
        )
