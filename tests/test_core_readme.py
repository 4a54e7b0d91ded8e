"""The README of the core is short, and its program runs with the distributions that it installs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).resolve().parent.parent / "core" / "README.md").read_text(encoding="utf-8")


def test_the_program_prints_what_it_says_with_only_the_packs_that_the_readme_installs():
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (promised,) = re.findall(r"print\(.*\)  # (.*)", program)
    (installed,) = re.findall(r"^pip install (.*)$", README, re.MULTILINE)
    core, *packs = installed.split()
    assert core == "penstock-core"

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PENSTOCK_PLUGINS": ",".join(one.removeprefix("penstock-") for one in packs)},
    )

    assert (done.returncode, done.stdout.strip()) == (0, promised), done.stderr


def test_it_holds_what_an_index_shows_and_leaves_the_rest_to_the_documentation():
    assert len(README.split()) < 600
    for folder in ("concepts", "how-to", "reference"):
        assert f"](../docs/{folder}/index.md)" in README
