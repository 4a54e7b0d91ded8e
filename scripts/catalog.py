"""Write core/src/penstock/plugins/catalog.json: which official pack has which name.

    python scripts/catalog.py            write it
    python scripts/catalog.py --check    say what is stale, and exit 1

The official packs are the distributions in plugins/ and subgraphs/. Each one's plugin module is
imported from the checkout, installed or not, and lists its components; the components are not imported.
The core uses this file for one purpose: an unknown name's error says what to install.

Needs only penstock-core's own requirements, not those of the packs.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]


def packs(root: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield (distribution, its src directory, its plugin module) for each official pack."""
    for folder in ("plugins", "subgraphs"):
        for file in sorted(root.glob(f"{folder}/*/pyproject.toml")):
            project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
            for module in project.get("entry-points", {}).get("penstock", {}).values():
                yield project["name"], file.parent / "src", module


def commands(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (command, distribution) for each console script of an official pack."""
    for file in sorted(root.glob("plugins/*/pyproject.toml")):
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        for name in project.get("scripts", {}):
            yield name, project["name"]


def subcommands(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, distribution) for each command that an official pack adds to `penstock` by a hook.

    Each pack lists them in the table `tool.penstock` of its pyproject.toml, since the hooks import click.
    """
    for file in sorted(root.glob("plugins/*/pyproject.toml")):
        pyproject = tomllib.loads(file.read_text(encoding="utf-8"))
        for name in pyproject.get("tool", {}).get("penstock", {}).get("commands", ()):
            yield name, pyproject["project"]["name"]


def components(sources: Path, module: str) -> Any:
    """Import a pack's plugin module from `sources`; return its components, None if it has only hooks."""
    if str(sources) not in sys.path:
        sys.path.insert(0, str(sources))
    plugin = importlib.import_module(module)
    return plugin.penstock_components() if hasattr(plugin, "penstock_components") else None


def catalog(root: Path) -> dict[str, dict[str, str]]:
    """Return kind → name → distribution.

    "option" maps full message names, "command" console scripts, "subcommand" the commands that packs
    add to `penstock`.

    Raises:
        SystemExit: two packs have one name.
    """
    found: dict[str, dict[str, str]] = {}
    for distribution, sources, module in packs(root):
        brought = components(sources, module)
        if brought is None:
            continue
        names = [(kind, name) for kind, name, _ in brought.by_kind()]
        names += [("option", name) for name in brought.options]
        for kind, name in names:
            holder = found.setdefault(kind, {}).setdefault(name, distribution)
            if holder != distribution:
                sys.exit(f"{kind} {name!r} is in {holder} and in {distribution}; rename one")
    for name, distribution in commands(root):
        found.setdefault("command", {})[name] = distribution
    for name, distribution in subcommands(root):
        found.setdefault("subcommand", {})[name] = distribution
    return {kind: dict(sorted(found[kind].items())) for kind in sorted(found)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file, or compare it; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the catalog of the official packs.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where it is stale")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the workspace; default: this checkout")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(options.root / "core" / "src"))
    file = options.root / "core" / "src" / "penstock" / "plugins" / "catalog.json"
    new = json.dumps(catalog(options.root), indent=2) + "\n"
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    if not options.check:
        file.write_text(new, encoding="utf-8", newline="\n")
        return 0
    if new == old:
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), "catalog", "packs")
    )
    sys.stdout.write("catalog.json is stale; run: python scripts/catalog.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
