"""Write `components.py` of each pack: the names under which graphs find its calculators, and where they are.

    python scripts/components.py            write the files
    python scripts/components.py --check    name the files that are not current, and exit 1

The names come from the code itself:

* Every public class of a package that is a calculator, a subgraph, an input stream handler or an executor is
  registered under its own name, and every `.pbtxt` file with a `type` under that type.
* Every message of `messages/` that extends `CalculatorOptions` or `MediaPipeOptions` is registered with the
  number of its extension, and without a number where it is the options message of a registered class.

The table `[tool.penstock.components.PACKAGE]` of a pack's pyproject.toml says what the code does not say:
`bases` are public classes that other classes derive from and that no graph names; `aliases` are further names
of a class. Services, codecs and hooks stay in `plugin.py`, which reads what this script writes.

A package takes part when its `plugin.py` imports `components`. The packs' modules are imported, so their
own requirements must be installed; extras need not be.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import penstock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT: Final = Path(__file__).resolve().parents[1]
#: Kind of a component → the class that components of this kind derive from.
KINDS: Final = {
    "CALCULATORS": penstock.Calculator,
    "SUBGRAPHS": penstock.Subgraph,
    "INPUT_STREAM_HANDLERS": penstock.InputStreamHandler,
    "EXECUTORS": penstock.Executor,
}
_TYPE: Final = re.compile(r'^type: "(\w+)"', re.MULTILINE)


@dataclass(frozen=True)
class Package:
    """One package that has a `plugin.py`."""

    name: str
    #: Its directory, absolute.
    path: Path
    #: Public classes that no graph names.
    bases: Sequence[str]
    #: Further name → name of the class.
    aliases: Mapping[str, str]


@dataclass
class Found:
    """What a package registers."""

    #: Kind → name → "module:attribute".
    components: dict[str, dict[str, str]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    #: Full name of a message → what `Components.options` takes.
    options: dict[str, tuple[str, int, str] | str] = field(default_factory=dict)

    def names(self) -> set[str]:
        """Return the names of all components."""
        return {name for names in self.components.values() for name in names}


def packages(root: Path) -> Iterator[Package]:
    """Yield every package of an official pack whose `plugin.py` imports `components`."""
    for pyproject in sorted(
        [*root.glob("plugins/*/pyproject.toml"), *root.glob("subgraphs/*/pyproject.toml")]
    ):
        tables = tomllib.loads(pyproject.read_text(encoding="utf-8")).get("tool", {}).get("penstock", {})
        for plugin in sorted(pyproject.parent.glob("src/*/plugin.py")):
            if f"from {plugin.parent.name}.components import" not in plugin.read_text(encoding="utf-8"):
                continue
            own = tables.get("components", {}).get(plugin.parent.name, {})
            yield Package(plugin.parent.name, plugin.parent, own.get("bases", ()), own.get("aliases", {}))


def find(package: Package) -> Found:
    """Return what a package registers.

    Raises:
        SystemExit: `bases` or `aliases` name a class that the package does not have.
    """
    found = Found()
    bases = set(package.bases)
    modules = sorted(
        pkgutil.walk_packages([str(package.path)], f"{package.name}."), key=lambda each: each.name
    )
    for each in modules:
        if each.name.endswith(("_pb2", ".components", ".__main__", ".template")):
            continue
        if ".client" in each.name:  # needs an extra, and has no component
            continue
        for name, kind in _classes(importlib.import_module(each.name)):
            if name in bases:
                bases.remove(name)
            else:
                found.components[kind][name] = f"{each.name}:{name}"
    if bases:
        sys.exit(f"{package.name}: no class is called {', '.join(sorted(bases))}; see `bases`")
    for file in sorted(package.path.glob("*.pbtxt")):
        named = _TYPE.search(file.read_text(encoding="utf-8"))
        if named is not None:
            found.components["SUBGRAPHS"][named[1]] = f"{package.name}:{file.name}"
    _add_aliases(found, package)
    _add_options(found, package)
    return found


def _classes(module: Any) -> Iterator[tuple[str, str]]:
    """Yield (name, kind) of each component that is defined in a module."""
    for name, value in vars(module).items():
        if name.startswith("_") or not inspect.isclass(value) or value.__module__ != module.__name__:
            continue
        for kind, base in KINDS.items():
            if issubclass(value, base):
                yield name, kind


def _add_aliases(found: Found, package: Package) -> None:
    for alias, name in package.aliases.items():
        kinds = [names for names in found.components.values() if name in names]
        if not kinds:
            sys.exit(f"{package.name}: {alias} is to be another name of {name}, which is no component")
        kinds[0][alias] = kinds[0][name]


def _add_options(found: Found, package: Package) -> None:
    names = found.names()
    for file in sorted(package.path.glob("messages/*_pb2.py")):
        module = importlib.import_module(f"{package.name}.messages.{file.stem}")
        for name, message in module.DESCRIPTOR.message_types_by_name.items():
            target = f"{module.__name__}:{name}"
            own = [each for each in message.extensions if each.message_type is message]
            if own:
                found.options[message.full_name] = (own[0].containing_type.full_name, own[0].number, target)
            elif name.removesuffix("Options") in names:
                found.options[message.full_name] = target


def text(package: Package, found: Found) -> str:
    """Return the text of `components.py`."""
    lines = [
        f'"""The components of {package.name} by name; a module is imported when a graph uses it.',
        "",
        "Written by `python scripts/components.py` from the classes and messages of the package.",
        '"""',
        "",
        "from collections.abc import Mapping",
        "from typing import Final",
        "",
    ]
    for kind, names in found.components.items():
        if names:
            lines += [
                f"{kind}: Final[Mapping[str, str]] = {{",
                *(_entry(name, names[name]) for name in sorted(names)),
                "}",
                "",
            ]
    if found.options:
        lines += ["OPTIONS: Final[Mapping[str, tuple[str, int, str] | str]] = {"]
        lines += [_entry(name, found.options[name]) for name in sorted(found.options)]
        lines += ["}", ""]
    return "\n".join(lines)


def _entry(name: str, value: tuple[str, int, str] | str) -> str:
    if isinstance(value, str):
        return f'    "{name}": "{value}",'
    extended, number, target = value
    return f'    "{name}": ("{extended}", {number}, "{target}"),'


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or name those that are not current; return the exit status."""
    parser = argparse.ArgumentParser(description="Write components.py of each pack.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where a file is stale")
    options = parser.parse_args(arguments)
    stale = 0
    for package in packages(ROOT):
        file = package.path / "components.py"
        new = text(package, find(package))
        if file.exists() and file.read_text(encoding="utf-8") == new:
            continue
        if options.check:
            stale = 1
            sys.stdout.write(f"{file.relative_to(ROOT)} is stale; run: python scripts/components.py\n")
        else:
            file.write_text(new, encoding="utf-8", newline="\n")
    return stale


if __name__ == "__main__":
    sys.exit(main())
