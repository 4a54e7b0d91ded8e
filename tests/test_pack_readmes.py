"""The programs in the READMEs of packs print what stands beside them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKS = Path(__file__).resolve().parent.parent / "plugins"


@pytest.mark.parametrize(
    ("pack", "prints"), [("builder", 2), ("metrics", 1), ("tensors", 1), ("testing", 1), ("views", 5)]
)
def test_the_programs_print_what_they_say(pack, prints, tmp_path):
    readme = (PACKS / pack / "README.md").read_text(encoding="utf-8")
    program = "\n".join(re.findall(r"```python\n(.*?)```", readme, re.DOTALL))
    promised = re.findall(r"print\(.*\)  # (.*)", program)
    assert len(promised) == prints

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=60,
    )

    assert (done.returncode, done.stdout.splitlines()) == (0, promised), done.stderr
