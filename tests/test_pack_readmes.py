"""The programs in the READMEs of packs print what stands beside them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKS = Path(__file__).resolve().parent.parent / "plugins"


@pytest.mark.parametrize(
    ("page", "prints"),
    [
        ("bridges/ros", 2),
        ("graphs/builder", 2),
        ("graphs/templates", 2),
        ("image/README", 1),
        ("monitor/metrics", 1),
        ("tensors/README", 1),
        ("testing/README", 2),
        ("views/README", 5),
    ],
)
def test_the_programs_print_what_they_say(page, prints, tmp_path):
    readme = (PACKS / f"{page}.md").read_text(encoding="utf-8")
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
