"""Folders show their subject: few modules in each, and messages in a folder of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: A folder with more written modules than this is split by subject.
MOST_MODULES = 25
SOURCES = sorted(
    path
    for pattern in ("core/src", "plugins/*/src", "subgraphs/*/src", "contrib/*/src")
    for path in ROOT.glob(pattern)
)
PACKS = [source for source in SOURCES if source != ROOT / "core/src"]
PROTOS = sorted(path for source in PACKS for path in source.rglob("*.proto"))


def test_no_folder_has_more_than_twenty_five_written_modules():
    files = [path for source in [*SOURCES, ROOT / "scripts"] for path in source.rglob("*.py")]
    written = (path for path in files if not re.search(r"_pb2$|^__init__$|^components$", path.stem))
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in written)

    full = {folder: count for folder, count in counts.items() if count > MOST_MODULES}
    full.pop("core/src/penstock", None)  # the public names of the core: docs/layout.md
    assert not full


def test_messages_of_packs_are_in_a_folder_of_their_own():
    assert PROTOS
    assert {path.parent.name for path in PROTOS} == {"messages"}
    assert {path.parent.name for source in PACKS for path in source.rglob("*_pb2.py")} == {"messages"}


def test_options_are_named_after_the_module_of_their_calculators():
    wrong = []
    for proto in PROTOS:
        extends = re.search(r"extend (penstock\.)?(Calculator|MediaPipe)Options", proto.read_text("utf-8"))
        package = proto.parents[1]
        modules = {path.stem for pattern in ("*.py", "*.pbtxt") for path in package.rglob(pattern)}
        if extends is not None and proto.stem not in modules | {
            "options"
        }:  # `options`: of a whole small pack
            wrong.append(f"{package.name}/{proto.name}")
    assert not wrong


def test_what_packs_register_is_written_from_their_code():
    script = [sys.executable, str(ROOT / "scripts" / "components.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=100)

    assert (done.returncode, done.stdout) == (0, "")
