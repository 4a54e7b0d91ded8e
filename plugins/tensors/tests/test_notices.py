"""LiteRT's notice that XNNPACK is used does not come on the terminal; what else C writes there does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock_tensors.models import notices

NOTICE = "Created TensorFlow Lite XNNPACK delegate"
PREPARED_BY_LITERT = """
from ai_edge_litert.interpreter import Interpreter
Interpreter(model_path={path!r}).allocate_tensors()
"""
PREPARED_HERE = """
from pathlib import Path
from penstock_tensors import Model, RunSettings, load_model
for uses_xnnpack in (False, True, True):
    load_model(Model("m", Path({path!r}).read_bytes()), RunSettings(uses_xnnpack=uses_xnnpack)).session()
"""
C_WRITES = """
import ctypes, os, subprocess, sys
from penstock_tensors.models.notices import without_notice
library = ctypes.CDLL(None)
def write(line):
    library.fputs(line + b"\\n", ctypes.c_void_p.in_dll(library, "stderr"))
try:
    with without_notice():
        write(b"INFO: Created TensorFlow Lite XNNPACK delegate for CPU.")
        write(b"from C")
        subprocess.run([sys.executable, "-c", "import os; os.write(2, b'from a child\\\\n')"])
        raise KeyError
except KeyError:
    write(b"afterwards")
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="C's stderr is replaced on Linux only")


def stderr_of(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stderr


@pytest.fixture
def path(tflite, tmp_path):
    made = tmp_path / "m.tflite"
    made.write_bytes(tflite("add").data)
    return str(made)


def test_a_first_model_is_prepared_without_the_notice(path):
    assert NOTICE in stderr_of(PREPARED_BY_LITERT.format(path=path))  # else there is nothing to keep away

    assert stderr_of(PREPARED_HERE.format(path=path)) == ""


def test_what_else_is_written_comes_also_where_the_model_is_refused():
    assert stderr_of(C_WRITES).splitlines() == ["from a child", "from C", "afterwards"]


def test_where_c_has_no_such_variable_nothing_is_replaced(monkeypatch):
    monkeypatch.setattr(notices.sys, "platform", "darwin")

    assert notices._MemoryStream.made() is None
