"""List the calculators that MediaPipe's wheel registers and Penstock lacks, in groups.

    uv venv --python 3.12 /tmp/wheel && uv pip install --python /tmp/wheel/bin/python mediapipe==0.10.21
    python scripts/reference_calculators.py --python /tmp/wheel/bin/python

The wheel has no list of its names, so it is asked: each name in its library that could be a calculator goes
into a graph of one node. It answers "Unable to find Calculator", or else the name is registered, also where
the process ends. A group is the directory of the source file that the name stands for.

Penstock's names are those of its catalog (`scripts/catalog.py`). Nothing of the wheel is imported here.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CATALOG = Path(__file__).resolve().parents[1] / "core/src/penstock/plugins/catalog.json"
VERSION = "0.10.21"
#: Where the wheel's library is, printed by its own Python without importing it: the import takes seconds.
_FIND = """
import importlib.metadata, importlib.util, pathlib
print(importlib.metadata.version("mediapipe"))
package = pathlib.Path(importlib.util.find_spec("mediapipe").origin).parent
print(next(p for p in (package / "python").glob("_framework_bindings*") if p.is_file()))
"""
#: Reads names, and prints each with 1 if it is registered, else 0.
_ASK = """
import os, sys
os.environ["GLOG_minloglevel"] = "3"
from mediapipe.python._framework_bindings.validated_graph_config import ValidatedGraphConfig
for name in sys.stdin.read().split():
    print(name, end=" ", flush=True)
    text = f'node {{ calculator: "{name}" }}'
    try:
        ValidatedGraphConfig().initialize(graph_config=text)
        print(1, flush=True)
    except Exception as error:
        print(int(f'Unable to find Calculator "{name}"' not in str(error)), flush=True)
"""
_NAME = re.compile(rb"(?<![\w.])(?:[a-z_0-9]+\.)*[A-Z]\w{3,60}")
_MANGLED = re.compile(rb"N((?:\d+[A-Za-z_]\w*)+)")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|\d+")
_SOURCE = re.compile(rb"mediapipe/([\w/]+)/(\w+)\.(?:cc|h)\b")


class WheelError(Exception):
    """The wheel cannot be asked; the message says what to do."""


def possible_names(library: bytes) -> set[str]:
    """Return each word of a library that could be the name of a calculator, class names included."""
    found = {match.decode() for match in _NAME.findall(library)}
    for match in _MANGLED.findall(library):
        parts = _unmangled(match.decode())
        for start in range(len(parts)):
            found.update(".".join(parts[start:end]) for end in range(start + 1, len(parts) + 1))
    return {name for name in found if "Calculator" in name.rpartition(".")[2]}


def _unmangled(text: str) -> list[str]:
    """Return the parts of a nested C++ name: "9mediapipe13GateCalculator" has two."""
    parts = []
    while (number := re.match(r"\d+", text)) is not None:
        start = number.end()
        end = start + int(number[0])
        parts.append(text[start:end])
        text = text[end:]
    return [part for part in parts if part.isidentifier()]


def sources(library: bytes) -> dict[str, str]:
    """Return file → directory for the source files that a library names in its messages."""
    return {file.decode(): folder.decode() for folder, file in _SOURCE.findall(library)}


def group_of(name: str, files: dict[str, str]) -> str:
    """Return the directory of the file that a calculator is probably in, or "elsewhere".

    "BeginLoopFloatCalculator" is in begin_loop_calculator: all words of the file are in the name, in order.
    """
    words = [
        word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|\d+", name.rpartition(".")[2])
    ]
    best, group = 1, "elsewhere"
    for file, folder in files.items():
        parts = file.split("_")
        left = iter(words)
        if len(parts) > best and all(part in left for part in parts):
            best, group = len(parts), folder
    return group


def ask(python: str, names: Iterable[str]) -> set[str]:
    """Return those of the names that the wheel of an environment registers.

    Raises:
        WheelError: its bindings cannot be imported.
    """
    left = sorted(names)
    registered: set[str] = set()
    while left:
        done = subprocess.run(  # noqa: S603  # the Python that the caller names
            [python, "-c", _ASK], input="\n".join(left), capture_output=True, text=True, check=False
        )
        answers = [line.split() for line in done.stdout.splitlines() if line.split()[:1]]
        if not answers:
            raise WheelError(f"{python} cannot ask the wheel: {done.stderr.strip()[-500:]}")
        registered.update(answer[0] for answer in answers if answer[1:] != ["0"])
        left = left[len(answers) :]
    return registered


def lacking(python: str) -> dict[str, list[str]]:
    """Return group → calculators that the wheel of an environment registers and Penstock lacks.

    Raises:
        WheelError: there is no such environment, or no wheel of that version in it.
    """
    try:
        found = subprocess.run(  # noqa: S603  # the Python that the caller names
            [python, "-c", _FIND], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise WheelError(f"no Python at {python!r}: {error}") from error
    lines = found.stdout.splitlines()
    if found.returncode or lines[0] != VERSION:
        what = f"mediapipe {lines[0]}" if lines else "no mediapipe"
        raise WheelError(
            f"{python} has {what}, but mediapipe=={VERSION} is needed; make an environment with it:\n"
            "    uv venv --python 3.12 /tmp/wheel\n"
            f"    uv pip install --python /tmp/wheel/bin/python mediapipe=={VERSION}\n"
            "    python scripts/reference_calculators.py --python /tmp/wheel/bin/python"
        )
    library = Path(lines[1]).read_bytes()
    own = set(json.loads(CATALOG.read_text("utf-8"))["calculator"])
    files, groups = sources(library), defaultdict(list)
    for name in sorted(ask(python, possible_names(library)) - own):
        groups[group_of(name, files)].append(name)
    return dict(sorted(groups.items()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the list; return 1 if the wheel cannot be asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="of an environment with the wheel")
    parser.add_argument("--json", action="store_true", help="print group to names as JSON")
    given = parser.parse_args(arguments)
    try:
        groups = lacking(given.python)
    except WheelError as error:
        print(error, file=sys.stderr)
        return 1
    if given.json:
        print(json.dumps(groups, indent=1))
        return 0
    for group, names in groups.items():
        print(f"{group} ({len(names)})", *(f"  {name}" for name in names), sep="\n", end="\n\n")
    print(f"{sum(map(len, groups.values()))} calculators of mediapipe {VERSION} are not in Penstock")
    return 0


if __name__ == "__main__":
    sys.exit(main())
