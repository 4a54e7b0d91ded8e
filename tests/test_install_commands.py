"""The commands of the install page as a newcomer types them: a fresh clone, an empty environment, one shell.

They ask a package index for much and take minutes, so they run with `-m slow`; what is committed is cloned.
What always runs compares them with the page: no command is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
INSTALL = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")

OWN_ENVIRONMENT = "python3 -m venv .venv-uv && . .venv-uv/bin/activate"
FROM_CLONE = "pip install uv && uv run penstock demo"
ACTIVATE = ". .venv/bin/activate"
HANDS = "uv sync --inexact --extra mediapipe"
PIP_ALONE = "pip install -r requirements.txt"
TESTS_WITH_PIP = 'pip install -e "core[testing]" -e contrib/room-sensors pytest-timeout packaging sybil'
FROM_GIT = "pip install --upgrade pip"
WHEELS = "uv run --only-group release python scripts/release.py --draft --out dist"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
FROM_WHEELS = f'pip install --find-links dist "dist/penstock-{VERSION}-py3-none-any.whl[mediapipe,live]"'
LIBRARIES_OF_THE_SYSTEM = "apt-get install --no-install-recommends libegl1 libopengl0 libgl1-mesa-dri"

#: What is typed one after another, as the first lines of blocks of the page; then what must work.
JOURNEYS = {
    "uv": (
        OWN_ENVIRONMENT,
        FROM_CLONE,
        HANDS,
        ACTIVATE,
        "test -s penstock-demo.mp4 -a -s hands.mp4",
    ),
    "pip": (
        OWN_ENVIRONMENT,
        PIP_ALONE,
        TESTS_WITH_PIP,
        "cd .. && penstock demo && test -s penstock-demo.mp4",
    ),
    "git": (OWN_ENVIRONMENT, FROM_GIT, "cd .. && penstock hands --help && penstock demo"),
    "wheels": (
        OWN_ENVIRONMENT,
        "pip install uv",
        WHEELS,
        FROM_WHEELS,
        "cd .. && penstock hands --help && penstock demo",
    ),
}
#: What differs between machines, and a few tests in place of all.
IN_PLACE_OF = {
    "file:///home/me/penstock": "file://$PWD",
    "penstock hands VIDEO": "penstock hands penstock-demo.mp4",
    "uv run pytest": "uv run pytest core/tests/test_near_names.py",
    "\npytest\n": "\npytest core/tests/test_near_names.py\n",
}


def blocks():
    """Return the commands of each block that the tests of the documentation skip, by the first."""
    skipped = re.findall(r"% skip: next [^\n]*\n\n```console\n(.*?)```", INSTALL, re.DOTALL)
    commands = [re.findall(r"^\$ (.*?)(?: +#.*)?$", block, re.MULTILINE) for block in skipped]
    return {block[0]: block for block in commands}


def test_each_command_of_the_page_is_typed_here_or_by_the_tests_of_the_documentation():
    typed = {line for journey in JOURNEYS.values() for line in journey}

    assert set(blocks()) - typed == {LIBRARIES_OF_THE_SYSTEM}


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("journey", JOURNEYS)
def test_the_commands_work_in_a_fresh_clone_and_an_empty_environment(journey, tmp_path):
    git, bash = shutil.which("git"), shutil.which("bash")
    if git is None or bash is None or not (ROOT / ".git").exists():
        pytest.skip("needs git, bash and a repository")
    clone = tmp_path / "penstock"
    subprocess.run([git, "clone", "--quiet", ROOT.as_uri(), clone], check=True)
    page = blocks()
    script = "\n".join(line for first in JOURNEYS[journey] for line in page.get(first, [first])) + "\n"
    for written, meant in IN_PLACE_OF.items():
        script = script.replace(written, meant)

    done = subprocess.run(
        [bash, "-ex", "-c", script],
        cwd=clone,
        env=outside(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def outside():
    """Return the environment without that in which the tests run."""
    own = os.environ.get("VIRTUAL_ENV")
    path = [each for each in os.environ["PATH"].split(os.pathsep) if own is None or not each.startswith(own)]
    left = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PENSTOCK", "VIRTUAL_ENV", "UV_"))
    }
    return {**left, "PATH": os.pathsep.join(path)}
