"""scripts/prove.py runs kinds of trials in turns, keeps what they have shown, and goes on where it was."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))
try:
    import prove
    from proving import ledger
finally:
    sys.path.remove(str(SCRIPTS))

#: A script that prints its arguments, and ends as the word before the last says.
TRIAL = """
import sys, time
how, count = sys.argv[1:3]
print(f"tried {count}", flush=True)
if how == "hangs":
    time.sleep(600)
raise SystemExit({"passes": 0, "finds": 1}.get(how, 3))
"""


@pytest.fixture
def table(tmp_path):
    """Write a table of kinds whose commands run TRIAL; return its path."""
    script = tmp_path / "trial.py"
    script.write_text(TRIAL)

    def write(*kinds, more=""):
        tables = [
            f'[[kind]]\nname = "{name}"\nsays = "It holds."\ncommand = "{script.as_posix()} {arguments}"\n'
            f"counts = 'tried (?P<count>\\d+)'\nunit = \"things\"\n{more}"
            for name, arguments in kinds
        ]
        path = tmp_path / "kinds.toml"
        path.write_text("\n".join(tables))
        return path

    return write


def run(path, *arguments):
    return prove.main(["--kinds", str(path), "--state", str(path.with_name("state.jsonl")), *arguments])


def turns_of(path):
    return ledger.read_state(path.with_name("state.jsonl"))


def test_each_kind_of_the_table_has_a_script_and_a_row_on_the_page():
    page = ledger.PAGE.read_text(encoding="utf-8")
    for kind in ledger.read_kinds():
        first = kind.arguments(0, 60)[0]
        assert first == "-m" or (ROOT / first).is_file(), kind.name
        assert f"| **{kind.name}.** {kind.says} |" in page, "python scripts/prove.py --write"


def test_numbers_of_the_last_line_add_up(table):
    kind = ledger.read_kinds(table(("sum", "passes 1")))[0]

    assert kind.count_in("tried 900\ntried 1, tried 2\nthe end") == 3
    assert kind.count_in("nothing") is None


def test_kinds_take_turns_until_they_are_complete(table, capsys):
    path = table(("one", "passes 3"), ("two", "passes 40"), more="rounds = 2\n")

    assert run(path, "--hours", "1") == 0
    assert sorted((turn.kind, turn.turn, turn.count) for turn in turns_of(path)) == [
        ("one", 0, 3), ("one", 1, 3), ("two", 0, 40), ("two", 1, 40),
    ]  # fmt: skip
    told = capsys.readouterr().out
    assert "| **one.** It holds. | 6 things | 2 of 2 | 0.00 | 0 |" in told
    assert "all kinds are complete" in told


@pytest.mark.parametrize(("has_lock", "end"), [(True, ""), (False, " without its lock")])
def test_the_machine_of_a_turn_names_a_python_without_its_lock(table, monkeypatch, has_lock, end):
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: has_lock, raising=False)
    path = table(("one", "passes 3"), more="rounds = 1\n")

    assert run(path, "--hours", "1") == 0
    assert turns_of(path)[0].machine.endswith(f"Python {platform.python_version()}{end}")


def test_seeds_are_others_in_each_turn_and_a_run_goes_on_where_it_was(table):
    path = table(("seeds", "passes {seed}{round}"), more="rounds = 3\nseed = 100\n")
    assert run(path, "--hours", "1") == 0
    state = path.with_name("state.jsonl")
    lines = state.read_text().splitlines(keepends=True)
    assert [turn.count for turn in turns_of(path)] == [10, 1011, 2012]

    state.write_text(lines[0] + lines[1][:30])  # the machine went down while a line was written
    assert run(path, "--hours", "1") == 0
    assert [turn.count for turn in turns_of(path)] == [10, 1011, 2012]


def test_a_finding_is_reported_with_the_command_that_shows_it(table, capsys):
    path = table(("bad", "finds 5"), more="rounds = 1\n")

    assert run(path, "--hours", "1") == 1
    assert run(path, "--report") == 0
    told = capsys.readouterr().out
    assert "| 5 things | 1 of 1 | 0.00 | 1 |" in told
    assert f"bad: found. Again: python {path.with_name('trial.py').as_posix()} finds 5" in told
    assert "    tried 5" in told


def test_what_is_kept_of_a_finding_has_no_path_of_this_machine(table):
    where = ROOT / "scripts" / "trials"
    path = table(
        ("bad", f"finds 5 {where.as_posix()}/one.py {sys.base_prefix}/lib/two.py"), more="rounds = 1\n"
    )
    path.with_name("trial.py").write_text(TRIAL.replace("print(f", "print(*sys.argv[3:]); print(f"))

    assert run(path, "--hours", "1") == 1
    assert turns_of(path)[0].told.splitlines()[0] == "scripts/trials/one.py lib/two.py"


def test_a_finding_that_is_mended_says_so(table, capsys):
    path = table(("bad", "finds 5"), more="rounds = 2\n")
    assert run(path, "--hours", "1") == 1
    state = path.with_name("state.jsonl")
    first, second = state.read_text().splitlines()
    state.write_text(json.dumps(json.loads(first) | {"mended": "by a test"}) + f"\n{second}\n")

    assert run(path, "--report") == 0
    told = capsys.readouterr().out
    assert "| 10 things | 2 of 2 | 0.00 | 2, 1 mended |" in told
    assert "bad: found (mended: by a test). Again: python" in told
    assert "bad: found. Again: python" in told


def test_a_script_that_fails_otherwise_is_broken_and_gets_no_further_turn(table, capsys):
    path = table(("broken", "breaks 5"), ("nothing", "passes 0"), ("good", "passes 1"), more="rounds = 2\n")

    assert run(path, "--hours", "1") == 1
    assert sorted((turn.kind, turn.outcome) for turn in turns_of(path)) == [
        ("broken", "broken"), ("good", "passed"), ("good", "passed"), ("nothing", "broken"),
    ]  # fmt: skip
    assert "again: python" in capsys.readouterr().err


def test_a_script_that_does_not_end_is_ended_and_is_a_finding(table, monkeypatch):
    monkeypatch.setattr(prove, "_GRACE_S", 0.5)
    path = table(("hung", "hangs 5"), more="rounds = 1\n")

    assert run(path, "--hours", "1", "--turn", "0.2") == 1
    assert [(turn.outcome, turn.count) for turn in turns_of(path)] == [("hung", 5)]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_script_too_and_keeps_nothing_of_its_turn(number, table):
    path = table(("hung", "hangs 5"))
    command = [sys.executable, str(SCRIPTS / "prove.py"), "--kinds", str(path), "--hours", "1",
               "--state", str(path.with_name("state.jsonl"))]  # fmt: skip
    as_a_job = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command]  # shells let these ignore Ctrl-C
    process = subprocess.Popen(as_a_job, stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 30
    while not children.read_text().split():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    child = int(children.read_text().split()[0])
    process.send_signal(number)

    _, told = process.communicate(timeout=30)
    assert (process.returncode, "interrupted; the same command goes on" in told) == (130, True)
    assert turns_of(path) == []
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[kind", "kinds.toml: "),
        ('[[kind]]\nname = "a"', "kind 'a': .*missing"),
        ('[[kind]]\nname="a"\nsays="b"\ncommand="c {x}"\ncounts="d"\nunit="e"', "kind 'a': 'x'"),
        ('[[kind]]\nname="a"\nsays="b"\ncommand="c"\ncounts="("\nunit="e"', "kind 'a': "),
        ('[[kind]]\nname="a"\nsays="b"\ncommand="c"\ncounts="d"\nunit="e"', "kind 'a': counts has no group"),
    ],
)
def test_a_table_with_a_mistake_is_refused_with_its_place(tmp_path, text, message):
    path = tmp_path / "kinds.toml"
    path.write_text(text)

    with pytest.raises(ledger.TableError, match=message):
        ledger.read_kinds(path)
    assert run(path, "--list") == 2


def test_a_state_that_is_damaged_in_the_middle_is_refused(table, capsys):
    path = table(("one", "passes 3"), more="rounds = 1\n")
    path.with_name("state.jsonl").write_text("nonsense\n" + json.dumps({}) + "\n")

    assert run(path, "--hours", "1") == 2
    assert "state.jsonl, line 1: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say for how long: --hours 8"),
        (["--hours", "0"], "say for how long: --hours 8"),
        (["--hours", "1", "--only", "nobody"], "no kind has 'nobody' in its name"),
    ],
)
def test_a_command_without_meaning_is_refused(arguments, message, capsys):
    with pytest.raises(SystemExit):
        prove.main(arguments)
    assert message in capsys.readouterr().err


def test_the_table_replaces_that_of_the_page(table):
    path = table(("one", "passes 3"), more="rounds = 1\n")
    assert run(path, "--hours", "1") == 0
    kinds = ledger.read_kinds(path)
    page = ledger.written(f"before {ledger.BEGIN} | former | {ledger.END} after", kinds, turns_of(path))

    assert page.startswith("before ")
    assert page.endswith(" after")
    assert "former" not in page
    assert "| **one.** It holds. | 3 things | 1 of 1 | 0.00 | 0 |" in page
    assert ledger.written(page, kinds, []) == page  # on a machine that has tried nothing
    with pytest.raises(ledger.TableError, match="lacks"):
        ledger.written("nothing", kinds, [])
