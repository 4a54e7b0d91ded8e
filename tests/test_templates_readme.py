"""The program in the README of the templates prints what stands beside it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "plugins" / "templates" / "README.md"


def test_the_program_prints_what_it_says():
    (program,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    promised = re.findall(r"print\(.*\)  # (.*)", program)
    assert len(promised) == 2

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout.splitlines()) == (0, promised), done.stderr
