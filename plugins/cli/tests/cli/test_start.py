from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from penstock_cli.group import PenstockGroup

pytestmark = pytest.mark.heavy

HEAVY = "rich google numpy cv2 av pluggy attr asyncio"


def test_the_version_is_printed_without_importing_anything_heavy():
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
def test_on_a_terminal_progress_is_one_line_that_is_removed_at_the_end(tmp_path):
    import pty  # where there is none the test is skipped

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


@pytest.mark.parametrize(
    ("environment", "has_colours"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_a_terminal_gets_colours_unless_the_environment_wants_none(tmp_path, environment, has_colours):
    import pty  # where there is none the test is skipped

    ours, theirs = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-m", "penstock_cli", "list", "Canny"],
        cwd=tmp_path,
        env={**inherited, "TERM": "xterm", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(theirs)
        shown = b""
        while block := _read(ours):
            shown += block
    os.close(ours)

    assert process.returncode == 0
    assert b"CannyEdgeCalculator" in shown
    assert (b"\x1b[" in shown) is has_colours


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("arguments", [["--version"], ["list"]])
def test_output_that_cannot_be_written_is_an_error_in_one_line(arguments):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "penstock_cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (1, "Error: OSError: [Errno 28] No space left on device\n")


def test_a_reader_that_closes_the_output_causes_no_crash(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-m", "penstock_cli", "list"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()
        said = process.stderr.read()

    assert (process.returncode, "Traceback" in said, "BrokenPipe" in said) == (1, False, False)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["list", "CannyEdge"], 0, "CannyEdgeCalculator  penstock-image  calculator\n"),
        (
            ["validate", "no.pbtxt"],
            4,
            "fault: no.pbtxt: graph file 'no.pbtxt' does not exist; check the path\n",
        ),
    ],
)
def test_the_core_run_as_a_module_is_the_command(tmp_path, arguments, code, said):
    done = subprocess.run(
        [sys.executable, "-m", "penstock", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (code, said, "")


def test_the_help_has_the_commands_for_the_first_day_first_and_each_command_once(command):
    said = command("--help").stdout

    first, *others = re.split(r"^(?=[A-Z][^\n]*:\n)", said, flags=re.MULTILINE)
    headed = {text.partition(":")[0]: re.findall(r"^  ([a-z-]+) ", text, re.MULTILINE) for text in others}
    headed.pop("Options")
    assert first.startswith("Usage: penstock")
    assert next(iter(headed)) == "Commands for the first day"
    assert headed["Commands for the first day"] == ["demo", "run", "validate", "show", "list", "doctor"]
    names = [name for names in headed.values() for name in names]
    assert sorted(names) == sorted(set(names))
    assert {"run", "why", "new", "completion"} <= set(names)


def test_a_command_of_an_unknown_pack_comes_last_in_the_help():
    group = PenstockGroup("penstock", commands={"run": click.Command("run"), "soil": click.Command("soil")})
    group._complete = lambda _: None

    said = CliRunner().invoke(group, ["--help"]).output

    assert said.rstrip().endswith("Commands for the first day:\n  run\n\nOf packs by others:\n  soil")
