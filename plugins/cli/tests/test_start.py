from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = "rich google numpy cv2 av pluggy attr asyncio"


def test_the_version_is_said_without_importing_anything_heavy():
    program = (
        "import sys\n"
        "from penstock_cli.main import main\n"
        "sys.argv = ['penstock', '--version']\n"
        "try:\n    main()\n"
        f"finally:\n    print(sorted(set('{HEAVY}'.split()) & set(sys.modules)))\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    said, heavy = done.stdout.splitlines()
    assert re.fullmatch(r"penstock \d+\.\d+\.\d+ \(\w+ 3\.\d+\.\w+, \w+\)", said)
    assert heavy == "[]"


def test_a_quiet_run_does_not_import_rich(graph):
    program = (
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import conftest\n"
        "from penstock_cli.main import main\n"
        f"sys.argv = ['penstock', 'run', {str(graph())!r}, '--side', 'count=3', '-q']\n"
        "try:\n    main()\n"
        "finally:\n    print('rich' in sys.modules)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_the_installed_command_and_the_module_are_the_same(command):
    name = Path(sys.executable).with_name("penstock")
    if not name.exists():
        pytest.skip(f"the command is not installed here: {name}")

    done = subprocess.run([name, "--help"], capture_output=True, text=True, check=True)

    assert done.stdout == command("--help").stdout


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_on_a_terminal_progress_is_one_line_that_is_gone_in_the_end(tmp_path):
    import pty  # noqa: PLC0415  # where there is none the test is skipped

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "penstock_cli", "demo", "--frames", "60"],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm"},
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        while block := _read(ours):
            shown += block
    os.close(ours)

    assert process.returncode == 0
    assert b"\n" not in shown.partition(b"0:00  ")[2].partition(b"\x1b[?25h")[0].rstrip()
    assert re.search(rb"\r\x1b\[2K0:0\d  \d+ packets  ", shown), "the line is renewed in place"
    assert shown.endswith(b"\x1b[?25h\r\x1b[1A\x1b[2K"), "the line is erased, and the cursor is back"


def _read(fd):
    """Read a block of a terminal; Linux says EIO where the other end is closed."""
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""
