"""Runs the graph of a bundle: this file is the bundle's `__main__.py`, beside `bundle.json`.

    python app.pyz [OPTIONS]             runs the graph, with the options of `penstock run`
    python app.pyz --bundle-info         prints what is in the bundle
    python app.pyz penstock COMMAND ...  runs another command of `penstock`

It imports the standard library alone until it has found that this Python can run the bundle. An archive is
unpacked once, into the folder that PENSTOCK_BUNDLES names, or the user's cache; libraries of machine code
cannot be loaded from an archive. Packages that are installed elsewhere are not looked at.
"""

from __future__ import annotations

import json
import os
import shutil
import site
import sys
import sysconfig
import tempfile
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

_ABOUT = "bundle.json"
_LOCK = "requirements.lock"
_VARIABLE = "PENSTOCK_BUNDLES"


def main() -> None:
    """Run what the arguments say, and exit with its code."""
    here = Path(sys.path[0]).resolve()
    about = json.loads(_text(here, _ABOUT))
    if sys.argv[1:] == ["--bundle-info"]:
        sys.stdout.write(_information(here, about))
        return
    fault = _fault(about)
    if fault:
        sys.exit(f"error: {fault}")
    try:
        root = here if here.is_dir() else _unpacked(here, about)
    except OSError as error:
        sys.exit(
            f"error: the bundle cannot be unpacked: {error}; set {_VARIABLE} to a folder that can be written"
        )
    except KeyboardInterrupt:
        sys.exit(130)
    _use(root)
    run_command = import_module("penstock_cli.__main__").main

    words = sys.argv[1:]
    sys.argv[1:] = words[1:] if words[:1] == ["penstock"] else ["run", *_arguments(root, about), *words]
    run_command()


def _text(here: Path, name: str) -> str:
    if here.is_dir():
        return (here / name).read_text(encoding="utf-8")
    with zipfile.ZipFile(here) as archive:
        return archive.read(name).decode("utf-8")


def _information(here: Path, about: dict[str, Any]) -> str:
    lines = [f"{name}: {about[name]}" for name in ("graph", "python", "platform", "penstock", "digest")]
    lines += [f"model: {name}" for name in about["models"]]
    return "\n".join([*lines, "", _text(here, _LOCK)])


def _fault(about: dict[str, Any]) -> str:
    """Return why this Python cannot run the bundle; "" if it can."""
    mine = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if (sys.implementation.name, mine) != (about["implementation"], about["python"]):
        return (
            f"this bundle was made for {about['implementation']} {about['python']}, and this is "
            f"{sys.implementation.name} {mine} ({sys.executable}); run it with python{about['python']}"
        )
    if sysconfig.get_platform() != about["platform"]:
        return (
            f"this bundle was made for {about['platform']}, and this is {sysconfig.get_platform()}; make one "
            "on such a machine"
        )
    return ""


def _unpacked(archive: Path, about: dict[str, Any]) -> Path:
    """Return the folder with the files of an archive, which is written if it is not there."""
    place = _cache() / f"{about['name']}-{about['digest'][:16]}"
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(partial)
        try:
            partial.rename(place)
        except OSError:
            if not place.is_dir():  # else another process was first
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return place


def _cache() -> Path:
    given = os.environ.get(_VARIABLE)
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock" / "bundles"


def _use(root: Path) -> None:
    """Let this process, and its children, import from the bundle and from Python's own library."""
    others = {os.path.normpath(path) for path in (*site.getsitepackages(), site.getusersitepackages())}
    own = [path for path in sys.path[1:] if os.path.normpath(path) not in others]
    packages = [str(root / "site"), str(root / "code")]
    sys.path[:] = [packages[0], *own, packages[1]]
    os.environ["PYTHONPATH"] = os.pathsep.join(packages)
    os.environ["PYTHONNOUSERSITE"] = "1"


def _arguments(root: Path, about: dict[str, Any]) -> list[str]:
    """Return the arguments of `penstock run` that the bundle itself gives."""
    words = [str(root / "graph" / about["graph"])]
    for name, file in about["subgraphs"].items():
        words += ["--subgraph", f"{name}={root / 'graph' / file}"]
    for given in about["imports"]:
        words += ["--import", str(root / "code" / given) if given.endswith(".py") else given]
    return words


if __name__ == "__main__":
    main()
