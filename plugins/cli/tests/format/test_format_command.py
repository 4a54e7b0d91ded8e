"""The command `penstock format`: files, standard input, exit codes."""

from __future__ import annotations

import os
import sys

import pytest
from click.testing import CliRunner

from penstock_cli.main import penstock_command
from penstock_format import files

UGLY = "node{calculator:'A'}"
GOOD = 'node { calculator: "A" }\n'


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *args, stdin=None: runner.invoke(penstock_command, ["format", *map(str, args)], input=stdin)


@pytest.fixture
def ugly(tmp_path):
    file = tmp_path / "ugly.pbtxt"
    file.write_text(UGLY, encoding="utf-8")
    return file


@pytest.fixture
def good(tmp_path):
    file = tmp_path / "good.pbtxt"
    file.write_text(GOOD, encoding="utf-8")
    return file


def test_files_are_rewritten_and_counted(run, ugly, good):
    done = run(ugly, good)

    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"reformatted {ugly}\n1 file reformatted, 1 file as before\n"
    assert [ugly.read_text(encoding="utf-8"), good.read_text(encoding="utf-8")] == [GOOD, GOOD]


def test_a_file_that_is_as_it_should_be_is_not_written(run, good):
    os.utime(good, ns=(1, 1))

    assert run(good).exit_code == 0
    assert good.stat().st_mtime_ns == 1


def test_check_writes_nothing_and_exits_with_1(run, ugly, good):
    done = run("--check", ugly, good)

    assert done.exit_code == 1
    assert done.stderr == f"would reformat {ugly}\n1 file would be reformatted, 1 file as before\n"
    assert ugly.read_text(encoding="utf-8") == UGLY
    assert run("--check", good).exit_code == 0


def test_diff_prints_the_difference_and_exits_with_1(run, ugly, good):
    done = run("--diff", ugly, good)

    assert done.exit_code == 1
    assert done.stdout == (
        f"--- {ugly}\n+++ {ugly} (formatted)\n@@ -1 +1 @@\n-{UGLY}\n\\ No newline at end of file\n+{GOOD}"
    )
    assert ugly.read_text(encoding="utf-8") == UGLY


def test_standard_input_is_printed(run):
    done = run("-", stdin=UGLY)

    assert (done.exit_code, done.stdout, done.stderr) == (0, GOOD, "")
    assert run("--check", "-", stdin=UGLY).exit_code == 1
    assert run("--check", "-", stdin=GOOD).exit_code == 0


def test_a_graph_with_mistakes_is_reported_with_its_place_and_left_alone(run, ugly, tmp_path):
    wrong = tmp_path / "wrong.pbtxt"
    wrong.write_text("node {\n  calculater: 'A' }", encoding="utf-8")

    done = run(wrong, ugly)

    assert done.exit_code == 3
    assert f"{wrong}:2:3: penstock.CalculatorGraphConfig.Node has no field 'calculater'" in done.stderr
    assert wrong.read_text(encoding="utf-8") == "node {\n  calculater: 'A' }"
    assert ugly.read_text(encoding="utf-8") == GOOD


def test_a_missing_file_counts_more_and_the_others_are_formatted(run, ugly, tmp_path):
    done = run(tmp_path / "ugli.pbtxt", ugly)

    assert done.exit_code == 4
    assert "ugli.pbtxt' does not exist; did you mean" in done.stderr
    assert ugly.read_text(encoding="utf-8") == GOOD


@pytest.mark.parametrize(
    ("name", "words"), [("a.json", "is JSON"), ("a.binarypb", "is no text"), ("a.pb", "is no text")]
)
def test_files_that_are_no_graph_text_are_wrong_usage(run, ugly, name, words):
    done = run(ugly, name)

    assert done.exit_code == 2
    assert f"graph file '{name}' {words}; only .pbtxt and .textproto files have a layout" in done.stderr
    assert ugly.read_text(encoding="utf-8") == UGLY


def test_standard_input_beside_files_is_wrong_usage(run, ugly):
    assert run("-", ugly).exit_code == 2


def test_bytes_that_are_no_utf_8_are_named(run, tmp_path):
    file = tmp_path / "latin.pbtxt"
    file.write_bytes(b"# one\n# \xe9\n")

    done = run(file)

    assert done.exit_code == 3
    assert f"{file}:2:3: byte 0xe9 is no UTF-8; save it as UTF-8" in done.stderr
    assert file.read_bytes() == b"# one\n# \xe9\n"


def test_permissions_and_links_stay(run, ugly, tmp_path):
    ugly.chmod(0o640)
    link = tmp_path / "link.pbtxt"
    try:
        link.symlink_to(ugly)
    except OSError as error:
        pytest.skip(f"no symbolic links here: {error}")

    assert run(link).exit_code == 0
    assert link.is_symlink()
    assert ugly.read_text(encoding="utf-8") == GOOD
    assert sys.platform == "win32" or ugly.stat().st_mode & 0o777 == 0o640


def test_a_failed_write_leaves_the_file_and_nothing_else(run, ugly, tmp_path, monkeypatch):
    def full(file, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "rewrite_file", full)
    done = run(ugly)

    assert done.exit_code == 4
    assert "No space left on device" in done.stderr
    assert ugly.read_text(encoding="utf-8") == UGLY
    assert [path.name for path in tmp_path.iterdir()] == ["ugly.pbtxt"]


def test_ends_of_lines_are_kept_in_files_and_on_standard_output(run, tmp_path):
    file = tmp_path / "dos.pbtxt"
    file.write_bytes(b"node {\r\n}\r\n")

    assert run(file).exit_code == 0
    assert file.read_bytes() == b"node {}\r\n"
    assert run("-", stdin=b"node {\r\n}\r\n").stdout_bytes == b"node {}\r\n"
