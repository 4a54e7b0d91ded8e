"""Whether the generated modules that are checked in are what the compiler makes of the .proto files."""

import importlib.util
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[3]
_SCRIPT = _ROOT / "scripts" / "protos.py"


def test_the_generated_modules_are_current():
    if not _SCRIPT.is_file():
        pytest.skip("this is no checkout of the workspace: there is no scripts/protos.py")
    spec = importlib.util.spec_from_file_location("protos_script", _SCRIPT)
    protos = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(protos)
    fault = protos.compiler_fault()
    if fault is not None:
        pytest.skip(fault)

    assert list(protos.stale(_ROOT)) == []
