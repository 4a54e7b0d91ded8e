"""The compiled core beside the plain one in a folder: pip and uv take the compiled one where it fits.

Run with `-m wheels`. `PENSTOCK_COMPILED_WHEELS` may name a folder that `scripts/compiled_wheel.py` has filled
for this interpreter; else the core is compiled here, which takes a minute.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "compiled_wheel.py"

pytestmark = [pytest.mark.wheels, pytest.mark.timeout(600)]

FORM = "from penstock.packs import engine_form; print(engine_form())"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with the sdist of the core, and its compiled wheel for this interpreter."""
    given = os.environ.get("PENSTOCK_COMPILED_WHEELS")
    if given:
        return Path(given)
    out = tmp_path_factory.mktemp("compiled")
    subprocess.run([sys.executable, SCRIPT, out, "--portable"], check=True, cwd=ROOT)
    return out


@pytest.fixture(scope="module")
def both(compiled, uv, call, tmp_path_factory):
    """A folder with both wheels of the core, and nothing else."""
    out = tmp_path_factory.mktemp("both")
    (sdist,) = compiled.glob("penstock_core-*.tar.gz")
    (wheel,) = compiled.glob("penstock_core-*.whl")
    shutil.copy2(wheel, out)
    call(uv, "build", "--quiet", "--wheel", "--python", sys.executable, "--out-dir", out, sdist, cwd=out)
    assert len(list(out.glob("penstock_core-*-py3-none-any.whl"))) == 1
    assert len(list(out.glob("penstock_core-*.whl"))) == 2
    return out


def engine_in(call, environment, tmp_path):
    return call(environment / "bin" / "python", "-c", FORM, cwd=tmp_path).strip()


def test_the_wheel_says_for_which_machines_it_is_in_a_tag_that_indexes_take(compiled):
    (wheel,) = compiled.glob("penstock_core-*.whl")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"

    assert f"-{tag}-{tag}" in wheel.name
    if sys.platform == "linux":
        assert re.search(r"-(manylinux|musllinux)\w+", wheel.name), wheel.name


def test_pip_takes_the_compiled_core_where_it_fits(both, uv, call, tmp_path):
    environment = tmp_path / "venv"
    call(uv, "venv", "--quiet", "--seed", "--python", sys.executable, environment, cwd=tmp_path)
    pip = (environment / "bin" / "python", "-m", "pip", "install", "--quiet")

    call(*pip, "--find-links", both, "penstock-core", cwd=tmp_path)

    assert engine_in(call, environment, tmp_path).startswith("compiled (")


def test_uv_takes_the_compiled_core_where_it_fits(both, uv, call, tmp_path):
    environment = tmp_path / "venv"
    call(uv, "venv", "--quiet", "--python", sys.executable, environment, cwd=tmp_path)

    call(uv, "pip", "install", "--python", environment, "--find-links", both, "penstock-core", cwd=tmp_path)

    assert engine_in(call, environment, tmp_path).startswith("compiled (")


def test_another_python_gets_the_plain_core(both, uv, call, tmp_path):
    others = [
        python for version, python in installed_pythons().items() if not sys.version.startswith(version)
    ]
    if not others:
        pytest.skip("no other Python from 3.11 to 3.14 is installed")
    environment = tmp_path / "venv"
    call(uv, "venv", "--quiet", "--python", others[0], environment, cwd=tmp_path)

    call(uv, "pip", "install", "--python", environment, "--find-links", both, "penstock-core", cwd=tmp_path)

    assert engine_in(call, environment, tmp_path) == "plain Python"


def installed_pythons():
    """Return what the script finds."""
    spec = importlib.util.spec_from_file_location("penstock_workspace_compiled_wheel", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SCRIPT.parent))
    return module.pythons()
