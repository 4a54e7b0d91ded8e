"""`scripts/tree.py` says of every source file what it is for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parent.parent


def tree(*words):
    command = [sys.executable, str(ROOT / "scripts/tree.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_every_source_file_has_one_sentence():
    lines = dict(line.split(": ", 1) for line in tree().stdout.splitlines())

    sources = {
        path.relative_to(ROOT).as_posix()
        for folder in ("core", "plugins", "subgraphs", "contrib")
        for path in (ROOT / folder).glob("**/src/**/*.py")
        if not path.name.endswith("_pb2.py") and not any(part.startswith(".") for part in path.parts)
    }
    assert set(lines) == sources
    assert all(sentence.endswith(".") and len(sentence) > 15 for sentence in lines.values())


def test_a_word_chooses_the_files_that_say_it():
    lines = tree("Back-Pressure").stdout.splitlines()

    assert (
        "core/src/penstock/engine/flow.py: Back-pressure: which full queue throttles which source." in lines
    )
    assert all("back-pressure" in line.lower() for line in lines)


def test_a_word_that_no_file_says_is_an_error():
    done = tree("nobodysaysthis")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "no file says 'nobodysaysthis'\n"
