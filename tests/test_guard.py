"""The guard of the engine's speed: reading counters, choosing a commit, telling what became slower."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
CACHEGRIND = "==26336== Command: python\n==26336== \n==26336== I   refs:      1,852,222,641\n"
PERF = "# started on Sat\n\n1852222641,,instructions:u,1000000,100.00,,\n"
UNSUPPORTED = "<not supported>,,instructions:u,0,100.00,,\n"


@pytest.fixture
def guard(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("guard")
    del sys.modules["guard"]


@pytest.fixture
def repository(tmp_path):
    """Return a function that calls git in a repository with one commit."""

    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
        command = ["git", *who, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init")
    (tmp_path / "file").write_text("1", encoding="utf-8")
    git("add", "file")
    git("commit", "-m", "first")
    git.folder = tmp_path
    return git


def counts(guard, **changes):
    """Return what counting gives: 1000 instructions a unit in the commit, and what `changes` says now."""
    found = {guard.NOTHING: (500_000_000, 510_000_000)}
    for name, work in guard.WORKLOADS.items():
        units = work.more * work.units
        found[name] = (500_000_000 + 1000 * units, 510_000_000 + changes.get(name, 1000) * units)
    return found


# --- counting -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("counter", "report"), [("valgrind", CACHEGRIND), ("perf", PERF)])
def test_the_number_of_instructions_is_read_from_the_counter_s_report(guard, counter, report):
    assert guard.instructions(counter, report) == 1_852_222_641


@pytest.mark.parametrize(
    ("counter", "report"), [("perf", UNSUPPORTED), ("perf", ""), ("valgrind", "==1== D   refs:  1,000\n")]
)
def test_a_report_without_instructions_is_an_error_that_has_its_end(guard, counter, report):
    with pytest.raises(guard.GuardError, match=f"{counter} reported no instructions: .+"):
        guard.instructions(counter, report)


def test_a_process_that_fails_is_no_count_and_its_last_words_are_told(guard, monkeypatch):
    monkeypatch.setitem(guard.COUNTERS, "valgrind", lambda _report: [sys.executable, "-c"])

    with pytest.raises(guard.GuardError, match=r"exited with 1: (.|\n)*ZeroDivisionError"):
        guard.count("valgrind", ["1 / 0"])


@pytest.mark.timeout(20)
def test_a_process_that_hangs_is_ended(guard, monkeypatch):
    monkeypatch.setitem(guard.COUNTERS, "valgrind", lambda _report: [sys.executable, "-c"])
    monkeypatch.setattr(guard, "TIMEOUT_S", 0.2)

    with pytest.raises(guard.GuardError, match=r"not done after 0\.2 s"):
        guard.count("valgrind", ["import threading; threading.Event().wait()"])


def test_perf_is_taken_before_valgrind_and_what_does_not_count_is_passed_over(guard, monkeypatch):
    def count(name, _command):
        if name == "perf":
            raise guard.GuardError("perf reported no instructions: <not supported>")
        return 1

    monkeypatch.setattr(guard.shutil, "which", lambda name: name)
    monkeypatch.setattr(guard, "count", count)

    assert guard.find_counter("auto") == "valgrind"
    with pytest.raises(guard.NotHereError, match="here: perf reported no instructions: <not supported>"):
        guard.find_counter("perf")


def test_without_any_counter_the_guard_says_what_to_install_and_passes(guard, monkeypatch, capsys):
    monkeypatch.setattr(guard.shutil, "which", lambda _name: None)

    assert guard.main([]) == 0
    assert capsys.readouterr().out == (
        "guard skipped: nothing counts instructions here: perf is not installed; valgrind is not installed. "
        "On Debian: apt-get install valgrind\n"
    )


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.skipif(shutil.which("seq") is None, reason="needs the program seq")
def test_valgrind_counts_more_for_more_work(guard):
    few, many = (guard.count("valgrind", ["seq", size]) for size in ("10", "20010"))

    assert many > few + 1_000_000


# --- the commit ---------------------------------------------------------------------------------------


def test_the_commit_is_the_last_release(guard, repository):
    repository("tag", "v1.0.0")
    repository("commit", "--allow-empty", "-m", "second")
    repository("tag", "vendored")

    assert guard.default_commit("main", repository.folder) == "v1.0.0"


def test_before_the_first_release_it_is_where_the_branch_left_the_base(guard, repository):
    first = repository("rev-parse", "HEAD")
    repository("checkout", "-b", "work")
    repository("commit", "--allow-empty", "-m", "second")
    repository("commit", "--allow-empty", "-m", "third")

    assert guard.default_commit("main", repository.folder) == first


def test_on_the_base_it_is_this_commit_where_files_have_changed_and_else_the_one_before(guard, repository):
    first = repository("rev-parse", "HEAD")
    repository("commit", "--allow-empty", "-m", "second")

    for base in ("main", "no-such-branch"):
        assert guard.default_commit(base, repository.folder) == first
    (repository.folder / "file").write_text("2", encoding="utf-8")
    assert guard.default_commit("main", repository.folder) == repository("rev-parse", "HEAD")


def test_a_repository_of_one_commit_has_nothing_to_compare_with(guard, repository):
    with pytest.raises(guard.NotHereError, match="no earlier commit to compare with, give --commit REV"):
        guard.default_commit("main", repository.folder)


def test_a_commit_that_does_not_exist_is_an_error(guard, monkeypatch, capsys):
    monkeypatch.setattr(guard, "find_counter", lambda _wanted: "perf")

    assert guard.main(["--commit", "no-such-commit"]) == 2
    assert "error: git rev-parse" in capsys.readouterr().err


# --- what became slower -------------------------------------------------------------------------------


def test_what_a_process_takes_without_the_workload_does_not_count(guard):
    found = {row.name: (row.before, row.now) for row in guard.rows(counts(guard, join=1030), 1)}

    assert found == dict.fromkeys(guard.WORKLOADS, (1000, 1000)) | {"join": (1000, 1030)}


def test_work_done_more_often_takes_as_much_each_time(guard):
    assert guard.rows({guard.NOTHING: (5, 5), "start": (605, 305)}, 20) == [("start", 10, 5)]


def test_a_workload_that_takes_nothing_was_not_counted(guard):
    with pytest.raises(guard.GuardError, match="join: 0 instructions in the commit"):
        guard.rows({guard.NOTHING: (5, 5), "join": (5, 9)}, 1)


@pytest.mark.parametrize(
    ("now", "limit", "status", "line"),
    [
        (1030, "10", 0, "+3.0 %"),
        (1100, "10", 0, "+10.0 %"),
        (1101, "10", 1, "+10.1 %  more than 10 % slower"),
        (1030, "2", 1, "+3.0 %  more than 2 % slower"),
        (700, "10", 0, "-30.0 %"),
    ],
)
def test_a_change_of_three_percent_is_shown_and_one_above_the_limit_fails(  # noqa: PLR0913  # of a table
    guard, monkeypatch, capsys, *, now, limit, status, line
):
    monkeypatch.setattr(guard, "find_counter", lambda _wanted: "perf")
    monkeypatch.setattr(guard, "compare", lambda *_: guard.rows(counts(guard, chain=now), 1))

    assert guard.main(["--commit", "HEAD", "--limit", limit]) == status

    lines = {text.split(",")[0]: text for text in capsys.readouterr().out.splitlines()}
    assert lines["chain of 50"].endswith(line)
    assert lines["join of two streams"].endswith("+0.0 %")


def test_the_numbers_are_written_to_a_file(guard, monkeypatch, tmp_path):
    monkeypatch.setattr(guard, "find_counter", lambda _wanted: "perf")
    monkeypatch.setattr(guard, "compare", lambda *_: guard.rows(counts(guard, chain=1050), 1))
    target = tmp_path / "guard.json"

    guard.main(["--commit", "HEAD", "--json", str(target)])

    report = json.loads(target.read_text(encoding="utf-8"))
    assert (report["counter"], report["limit"]) == ("perf", 10)
    assert {row["name"]: row["change"] for row in report["rows"]} == dict.fromkeys(guard.WORKLOADS, 0) | {
        "chain": 5
    }


# --- the work -----------------------------------------------------------------------------------------


def work(*arguments):
    command = [sys.executable, str(BENCHMARKS / "guard_work.py"), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_the_work_that_is_counted_is_done_and_has_the_names_of_the_guard(guard):
    names = "import guard_work; print(*guard_work.WORKLOADS)"
    listed = subprocess.check_output([sys.executable, "-c", names], cwd=BENCHMARKS, text=True).split()

    assert listed == list(guard.WORKLOADS)
    done = work("pool", "130")
    assert (done.returncode, done.stderr) == (0, "")


def test_each_workload_is_done_as_often_without_being_asked_for_as_the_guard_subtracts(guard):
    code = "import guard_work as w; print({name: w.SMALLER.get(name, w.SMALL) for name in w.WORKLOADS})"
    said = subprocess.check_output([sys.executable, "-c", code], cwd=BENCHMARKS, text=True)

    assert said.strip() == str({name: work.small for name, work in guard.WORKLOADS.items()})
