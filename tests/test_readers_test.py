"""The reader's test draws from a whole tree, and knows a right guess from a wrong one."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts" / "reading"
FILES = {
    "__init__.py": "from x import late_names\n"
    '_HOMES = {"soil.pump": "Pump STATES", "soil.many": "A B C D E F G H"}\nlate_names(_HOMES)\n',
    "many.py": "A = B = C = D = E = F = G = H = 1\n",
    "pump.py": "from soil.states import STATES\nclass Pump: ...\n",
    "states.py": 'STATES = 1\nKIND = "--pump"\ndef refuse(value):\n'
    '    raise UsageError(f"{KIND} is {value}, but must be " + "above 0")\n',
    "components.py": 'CALCULATORS: dict[str, str] = {"PumpCalculator": "soil.pump:Pump"}\n',
}


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script, which finds a tree with one small package."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "readers_test", raising=False)
    module = import_module("readers_test")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    package = tmp_path / "core" / "src" / "soil"
    package.mkdir(parents=True)
    for name, text in FILES.items():
        (package / name).write_text(text, encoding="utf-8")
    return module


def test_names_are_where_they_are_defined_messages_where_they_are_raised(script: Any) -> None:
    asked = script.draw(7, {"names": 10, "messages": 1, "calculators": 1})
    found = sorted((one.kind, one.words, *one.files) for one in asked)

    assert found[:2] + found[-2:] == [
        ("calculator", "`PumpCalculator`", "core/src/soil/pump.py"),
        ("message", "--pump is …, but must be above 0", "core/src/soil/states.py"),
        ("name", "`Pump` of `soil`", "core/src/soil/pump.py"),
        ("name", "`STATES` of `soil`", "core/src/soil/states.py"),
    ]


def test_a_seed_draws_the_same_again_and_each_kind_for_itself(script: Any) -> None:
    all_kinds = script.draw(3, {"names": 6, "messages": 1, "calculators": 1})

    assert script.draw(3, {"names": 6, "messages": 0, "calculators": 0}) == all_kinds[:6]
    assert script.draw(3, {"names": 0, "messages": 1, "calculators": 1}) == all_kinds[6:]
    assert script.draw(4, {"names": 6, "messages": 0, "calculators": 0}) != all_kinds[:6]


def test_the_end_of_a_path_is_enough_and_another_file_is_wrong(script: Any) -> None:
    asked = script.draw(7, {"names": 0, "messages": 1, "calculators": 1})
    lines = list(script.scores(zip(asked, ["soil/states.py", "ump.py"], strict=True)))

    assert lines[0].endswith("core/src/soil/states.py: right")
    assert lines[1].endswith("core/src/soil/pump.py: WRONG, ump.py guessed")
    assert lines[2:] == ["messages: 1 of 1", "calculators: 0 of 1", "all: 1 of 2"]
