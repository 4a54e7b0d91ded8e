"""The table of MediaPipe's own tests is made from the marks on ours, and contradicts nothing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location(
        "penstock_workspace_reference_tests", ROOT / "scripts" / "reference_tests.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[spec.name]


@pytest.fixture
def small(script, tmp_path, monkeypatch):
    """The script over a folder of two listed tests, as a function of a mark and of lines of exceptions."""

    def read(mark="", exceptions=""):
        tests = tmp_path / "tests"
        (tests / "reference/exceptions").mkdir(parents=True)
        (tests / "reference/tests.tsv").write_text("file\ttest\na_test.cc\tA.One\na_test.cc\tA.Two\n")
        (tests / "reference/exceptions/all.tsv").write_text(exceptions)
        (tests / "test_it.py").write_text(f"import pytest\n{mark}\ndef test_it(): ...\n")
        (tmp_path / "differences.md").write_text("1. **A mistake raises.**\n")
        monkeypatch.setattr(script, "ROOT", tmp_path)
        monkeypatch.setattr(script, "LISTED", tests / "reference/tests.tsv")
        monkeypatch.setattr(script, "EXCEPTIONS", tests / "reference/exceptions")
        monkeypatch.setattr(script, "DIFFERENCES", tmp_path / "differences.md")
        return script.read_ledger()

    return read


def test_the_page_is_current(script, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["reference_tests.py", "--check"])
    assert script.main() == 0, capsys.readouterr().err


def test_marks_and_exceptions_are_counted(script, small):
    ledger = small(
        '@pytest.mark.reference("a_test.cc", "A.One")', "a_test.cc\t*\tnot applicable\tno such thing\n"
    )
    assert ledger.problems == []
    assert "| a_test.cc | 2 | 1 |  | 1 |  |" in script.page(ledger)
    assert "| a_test.cc: Two | no such thing |" in script.page(ledger)


def test_a_mark_of_a_case_counts(small):
    case = 'pytest.param(1, marks=pytest.mark.reference("a_test.cc", "A.Two"))'
    ledger = small(f"@pytest.mark.parametrize('n', [{case}])")
    assert ledger.state("a_test.cc", "A.Two") == "agrees"
    assert ledger.state("a_test.cc", "A.One") == "open"


@pytest.mark.parametrize(
    ("mark", "exceptions", "expected"),
    [
        ('@pytest.mark.reference("a_test.cc", "A.Three")', "", "has no test A.Three in a_test.cc"),
        ('@pytest.mark.reference("a_test.cc")', "", "names no test"),
        ("", "a_test.cc\tA.One\tdeviates\tbecause\n", "begins with its number"),
        ("", "a_test.cc\tA.One\tdeviates\tdifference 2: because\n", "begins with its number"),
        ("", "a_test.cc\tA.One\tlacking\tbecause\n", "the state is 'lacking'"),
        ("", "a_test.cc\tA.One\n", "with tabs between"),
        ("", "a_test.cc\tA.None\tnot applicable\tbecause\n", "has no test A.None"),
        (
            '@pytest.mark.reference("a_test.cc", "A.One")',
            "a_test.cc\tA.One\tnot applicable\tx\n",
            "and excepted",
        ),
    ],
)
def test_what_contradicts_itself_is_told(small, mark, exceptions, expected):
    assert any(expected in problem for problem in small(mark, exceptions).problems)


def test_the_tests_of_a_clone_are_listed(script, tmp_path):
    (tmp_path / "mediapipe/calculators").mkdir(parents=True)
    (tmp_path / "mediapipe/python").mkdir()
    (tmp_path / "mediapipe/calculators/a_test.cc").write_text(
        "TEST(A, One) {}\n// TEST(A, Old) {}\nTYPED_TEST(A,\n  Two) {}\nTEST_P(A, Three) {}\n"
    )
    (tmp_path / "mediapipe/python/b_test.py").write_text(
        "class B:\n  def test_one(self): ...\n  def other(self): ...\n"
    )
    assert script.read_clone(tmp_path).splitlines() == [
        "file\ttest",
        "calculators/a_test.cc\tA.One",
        "calculators/a_test.cc\tA.Two",
        "calculators/a_test.cc\tA.Three",
        "python/b_test.py\tB.test_one",
    ]


def test_the_page_of_how_we_know_is_current(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import how_we_know

    page = how_we_know.PAGE.read_text(encoding="utf-8")
    assert how_we_know.current(page) == page
    with pytest.raises(ValueError, match="lacks '<!-- reference tests: begin"):
        how_we_know.current("")
