"""The programs in the README of the core print what stands beside them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "core" / "README.md"


def test_the_programs_on_rows_and_event_loops_print_what_they_say():
    text = README.read_text(encoding="utf-8")
    section = text[text.index("## Rows, event loops") :]
    blocks = re.findall(r"```python\n(.*?)```", section[: section.index("\n## ")], re.DOTALL)
    assert len(blocks) == 3

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "".join(blocks)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    promised = ["['a', 'b']", "0 0 0", "1 1 None", "2 2 2", "3 3 None", "0", "1", "2"]
    assert (done.returncode, done.stdout.splitlines()) == (0, promised), done.stderr
