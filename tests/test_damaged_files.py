"""The short form of `damaged_files.py`, and what it finds in readers that do what none may do."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.errors import InvalidArgumentError

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "trials" / "damaged_files.py"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="limits its processes as Linux does"),
    pytest.mark.heavy,
]


def test_damaged_files_of_every_kind_are_read_or_refused_with_typed_errors():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--count", "70", "--seed", "3"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "70 files" in done.stdout
    counts = re.findall(r"^ +\d+ (\w+): (\w+)$", done.stdout, re.MULTILINE)
    assert {kind for kind, _ in counts} >= {"bag", "picture", "recording", "sound", "video"}
    assert {outcome for _, outcome in counts} == {"read", "GraphRunError"}


def fail_as(kind):
    def read(path):
        assert path.read_bytes()
        raise kind("what a reader says")

    return read


def end(path):
    os.kill(os.getpid(), signal.SIGSEGV)


def fill(path):
    return bytearray(8 << 30)


READERS = {
    "well": (lambda path: None, ""),
    "typed": (fail_as(InvalidArgumentError), ""),
    "file": (fail_as(FileNotFoundError), ""),
    "untyped": (fail_as(KeyError), "untyped KeyError"),
    "memory": (fill, "untyped MemoryError"),
    "signal": (end, "ended by SIGSEGV"),
    "after": (lambda path: None, ""),
}


def test_what_no_reader_may_do_is_found_and_the_files_after_it_are_read(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    script = importlib.import_module("damaged_files")
    whole = [
        script.Sample(name, f"{name}.bin", b"0123456789" * 50, read) for name, (read, _) in READERS.items()
    ]
    told = {}

    left = list(range(len(whole)))
    while left:
        for number, _, fault in script.Batch(1, left, whole).results():
            left = [one for one in left if one > number]
            told[script.damaged(1, number, whole).sample.kind] = fault.split("\n")[0]

    assert told == {name: words for name, (_, words) in READERS.items()}


def test_a_number_makes_the_same_damage_again(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    script = importlib.import_module("damaged_files")
    whole = [script.Sample("kind", "a.bin", bytes(range(256)) * 4, fail_as(KeyError))]

    made = [script.damaged(1, number, whole) for number in range(200)]

    assert made == [script.damaged(1, number, whole) for number in range(200)]
    assert sum(one.data != whole[0].data for one in made) > 190
    assert {word for one in made for word in one.how.split(", ")} == {
        "cut", "doubled", "extreme", "flip", "foreign", "missing", "moved", "random",
    }  # fmt: skip
