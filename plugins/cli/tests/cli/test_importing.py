"""`--import MODULE_OR_FILE`: graphs use calculators of the application, which only the command line names.

Each command runs in a process of its own, in a directory with the files of the test.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap

import pytest
from click.shell_completion import ShellComplete

from penstock.errors import GraphConfigError, InvalidArgumentError, UnknownNameError
from penstock_cli.failures import RunFailed
from penstock_cli.importing import import_all
from penstock_cli.loading import names_unknown_components
from penstock_cli.main import penstock_command

pytestmark = pytest.mark.heavy

COUNT = """
    import penstock

    class Count(penstock.Calculator):
        '''Sends one number.'''

        @classmethod
        def get_contract(cls, cc):
            cc.outputs[0].set(int)

        def process(self, cc):
            cc.output.add({number}, 0)
            return penstock.STOP
"""
PRINTED = """
    import penstock

    @penstock.calculator
    def printed(number: int) -> None:
        '''Print a number.'''
        print("number", number)
"""
GRAPH = """
node { calculator: "Count" output_stream: "n" }
node { calculator: "Printed" input_stream: "NUMBER:n" }
"""
CLASS = """
    import penstock

    class {name}(penstock.Calculator):
        '''Does nothing.'''

        @classmethod
        def get_contract(cls, cc):
            cc.outputs[0].set(int)
"""


@pytest.fixture
def write(tmp_path):
    """Return a function that writes files of source in the directory of the command."""

    def files(**sources):
        for name, source in sources.items():
            path = tmp_path / f"{name if '/' in name else name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(source), encoding="utf-8")

    return files


@pytest.fixture
def mine(write, tmp_path):
    """Write a graph, `graph.pbtxt`, and its two calculators: a file and a module of a package."""
    write(count=COUNT.format(number=7), my__pkg__calcs=PRINTED)
    (tmp_path / "graph.pbtxt").write_text(GRAPH, encoding="utf-8")
    return "--import", "./count.py", "--import", "my.pkg.calcs"


def refused(command, *imports, code):
    """Return the message of a command that could not import something."""
    done = command("list", *(word for each in imports for word in ("--import", each)))
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    return done.stderr.removesuffix("\n")


def listed(command, *imports):
    """Return the name and source of each component that was imported."""
    done = command("list", "--json", *(word for each in imports for word in ("--import", each)))
    assert done.returncode == 0, done.stderr
    return {(one["name"], one["source"]) for one in json.loads(done.stdout) if one["source"]}


# --- what each command does with it ---------------------------------------------------------------


def test_a_run_uses_calculators_of_a_file_and_of_a_module(command, mine):
    done = command("run", "graph.pbtxt", *mine, "--quiet")

    assert (done.returncode, done.stdout, done.stderr) == (0, "number 7\n", "")


def test_a_graph_is_checked_and_drawn_with_imported_calculators(command, mine):
    assert command("validate", "graph.pbtxt", *mine).stdout == "graph.pbtxt: fine: 2 nodes, 1 stream\n"

    shown = command("show", "graph.pbtxt", *mine)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "not installed" not in shown.stdout


def test_show_says_which_file_a_component_is_from(command, mine):
    done = command("show", "Count", *mine)

    assert done.stdout.startswith("Count  calculator of ./count.py (count:Count)\nSends one number.\n")


def test_the_list_has_the_source_of_each_component(command, mine):
    done = command("list", "nt", *mine, "--kind", "calculator")

    lines = [line.split() for line in done.stdout.splitlines() if "import" not in line]
    assert ["Count", "./count.py", "calculator"] in lines
    assert ["Printed", "my.pkg.calcs", "calculator"] in lines


def test_without_the_option_a_graph_finds_no_calculator_of_the_directory_and_says_what_is_missing(
    command, mine
):
    run, validated = command("run", "graph.pbtxt"), command("validate", "graph.pbtxt")

    assert (run.returncode, validated.returncode) == (3, 3)
    assert "no calculator 'Count' is registered" in run.stderr
    assert run.stderr.endswith(
        "\n  for components of your own: --import FILE.py, --import MODULE or --subgraph NAME=FILE\n"
    )
    assert validated.stdout.endswith(
        "\nnote: for components of your own: --import FILE.py, --import MODULE or --subgraph NAME=FILE\n"
    )


@pytest.mark.parametrize(
    ("kind", "name", "is_own"),
    [
        ("calculator", "Mine", True),
        ("executor", "Mine", True),
        ("input stream handler", "Mine", True),
        ("calculator", "CannyEdgeCalculator", False),
        ("executor", "ProcessExecutor", False),
        ("option", "Mine", False),
    ],
)
def test_only_a_component_that_no_pack_has_may_be_ones_own(kind, name, is_own):
    faults = [InvalidArgumentError("x"), UnknownNameError(kind, name)]

    assert names_unknown_components(GraphConfigError(faults)) is is_own


def test_help_describes_the_option(command):
    for name in ("run", "validate", "show", "list"):
        assert "--import MODULE_OR_FILE" in command(name, "--help").stdout


def test_a_shell_completes_files_and_imports_nothing(write, tmp_path, monkeypatch):
    write(loud="import pathlib\npathlib.Path('imported').touch()")
    monkeypatch.chdir(tmp_path)
    complete = ShellComplete(penstock_command, {}, "penstock", "_PENSTOCK_COMPLETE")

    (file,) = complete.get_completions(["run", "--import"], "lo")
    names = complete.get_completions(["show", "--import", "loud.py"], "GateCalc")

    assert (file.value, file.type) == ("lo", "file")
    assert [each.value for each in names] == ["GateCalculator"]
    assert not (tmp_path / "imported").exists()


# --- what is registered ---------------------------------------------------------------------------


def test_calculators_that_are_not_registered_get_the_names_of_their_classes(command, write):
    write(
        calcs=f"""
            {textwrap.dedent(COUNT).format(number=1).replace(chr(10), chr(10) + " " * 12)}
            @penstock.calculator("Twice")
            def doubled(number: int) -> int:
                return 2 * number

            @penstock.calculator
            class SumUp:
                def process(self, number: int) -> int:
                    return number

            class _Base(penstock.Calculator):
                pass

            @penstock.register_calculator("Other")
            class Aliased(Count):
                pass
        """
    )

    assert listed(command, "calcs.py") == {
        (name, "calcs.py") for name in ("Count", "Twice", "SumUp", "Other")
    }


def test_calculators_that_a_module_only_uses_are_not_registered_but_those_of_its_package_are(command, write):
    write(
        helpers=CLASS.format(name="Foreign"),
        mine__deep=CLASS.format(name="Deep"),
        **{"mine/__init__": "from mine.deep import Deep\nfrom helpers import Foreign"},
    )

    assert listed(command, "mine") == {("Deep", "mine")}


def test_a_file_that_is_named_twice_in_different_ways_is_imported_once(command, write):
    write(
        loud=f"{textwrap.dedent(CLASS).format(name='Loud')}\nimport sys\nprint('imported', file=sys.stderr)"
    )

    done = command("list", "Loud", "--import", "./loud.py", "--import", "loud", "--import", "loud.py")

    assert (done.returncode, done.stderr) == (0, "imported\n")
    assert done.stdout.split() == ["Loud", "./loud.py", "calculator"]


def test_classes_of_options_have_the_name_of_the_file(command, write, tmp_path):
    write(
        gate="""
            import attrs
            import penstock

            @attrs.frozen(kw_only=True)
            class Factor:
                '''How much.

                Attributes:
                    factor: of each number.
                '''
                factor: int = 1

            class Source(penstock.Calculator):
                Options = Factor

                @classmethod
                def get_contract(cls, cc):
                    cc.outputs[0].set(int)

                def process(self, cc):
                    print("factor", cc.options(Factor).factor)
                    return penstock.STOP
        """
    )
    (tmp_path / "graph.pbtxt").write_text(
        'node { calculator: "Source" output_stream: "n" '
        "node_options { [type.googleapis.com/gate.Factor] { factor: 3 } } }",
        encoding="utf-8",
    )

    assert command("run", "graph.pbtxt", "--import", "gate.py", "--quiet").stdout == "factor 3\n"


def test_a_module_of_a_pack_stays_the_packs(command):
    module = "penstock_calculators.limiting.gate"

    done = command("list", "GateCalculator", "--import", module)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["GateCalculator", "penstock-calculators", "calculator"]
    assert listed(command, module) == set()


def test_a_module_without_calculators_is_reported(command, write):
    write(empty="import penstock\n")

    done = command("list", "GateCalculator", "--import", "empty.py")

    assert done.returncode == 0
    assert done.stderr == (
        "warning: --import empty.py: no calculator is defined there; define a subclass of "
        "penstock.Calculator, or decorate a function with @penstock.calculator\n"
    )


@pytest.mark.parametrize("word", ["", "@penstock.register_calculator"])
def test_a_name_of_a_plugin_is_refused(command, write, word):
    write(
        mine=textwrap.dedent(CLASS).format(name="GateCalculator").replace("class Gate", f"{word}\nclass Gate")
    )

    said = refused(command, "mine.py", code=2)

    assert said == (
        "Error: --import mine.py: calculator 'GateCalculator' is claimed by penstock-calculators (plugin "
        "'calculators', penstock_calculators.limiting.gate:GateCalculator) and by this process "
        "(mine:GateCalculator); "
        "rename one, or block a plugin: PENSTOCK_BLOCK_PLUGINS=calculators"
    )


def test_a_calculator_that_cannot_be_registered_is_refused(command, write):
    write(mine=f"{textwrap.dedent(CLASS).format(name='Mine')}\n    Options = int\n")

    said = refused(command, "mine.py", code=1)

    assert said.startswith("Error: --import mine.py: ")
    assert "Mine" in said
    assert "bug" not in said


# --- where it is looked for -----------------------------------------------------------------------


def test_a_file_does_not_replace_a_module_of_python_and_two_may_have_one_name(command, write):
    write(
        sub__random=CLASS.format(name="Random") + "\n    import random as other\n    other.randint(0, 1)\n",
        one__gate=CLASS.format(name="One"),
        two__gate=CLASS.format(name="Two"),
    )

    done = command(
        "list", "--json", *(f"--import={one}.py" for one in ("sub/random", "one/gate", "two/gate"))
    )

    assert done.returncode == 0, done.stderr
    targets = {one["target"] for one in json.loads(done.stdout) if one["source"]}
    assert targets == {"random_2:Random", "gate:One", "gate_2:Two"}


def test_a_file_can_import_those_beside_it(command, write):
    write(
        sub__gate="from helpers import Deep\nMine = type('Mine', (Deep,), {})",
        sub__helpers=CLASS.format(name="Deep"),
    )

    assert listed(command, "sub/gate.py") == {("Mine", "sub/gate.py")}


def test_a_file_whose_name_is_not_an_identifier_can_be_imported(command, write, tmp_path):
    write(x=CLASS.format(name="Mine"))
    (tmp_path / "x.py").rename(tmp_path / "2 my-calcs.py")

    assert listed(command, "2 my-calcs.py") == {("Mine", "2 my-calcs.py")}


# --- errors ---------------------------------------------------------------------------------------


def test_a_file_that_does_not_exist_is_reported_with_a_near_one(command, write):
    write(gate="")

    assert refused(command, "./gates.py", code=4) == (
        "Error: Python file 'gates.py' does not exist; did you mean 'gate.py'?"
    )
    assert refused(command, "no/gate.py", code=4) == (
        "Error: Python file 'no/gate.py' does not exist; check the path"
    )


@pytest.mark.parametrize("path", ["graph.pbtxt", "./graph.pbtxt"])
def test_a_file_that_is_not_python_is_refused(command, tmp_path, path):
    (tmp_path / "graph.pbtxt").write_text("", encoding="utf-8")

    assert refused(command, path, code=2) == (
        f"Error: --import {path}: not a Python file; its name must end with .py"
    )


def test_a_module_that_does_not_exist_is_reported(command, write):
    write(gate="", **{"pkg/__init__": ""})

    assert refused(command, "gates", code=2) == (
        "Error: --import gates: there is no module 'gates'; did you mean 'gate'?"
    )
    assert refused(command, "pkg.nowhere", code=2) == (
        "Error: --import pkg.nowhere: there is no module 'pkg.nowhere'; name an installed module, one of the "
        "current directory, or a file that ends with .py"
    )


@pytest.mark.parametrize("word", ["my-calcs", ".calcs", "a..b", ""])
def test_what_is_neither_a_module_nor_a_file_is_refused(command, word):
    assert refused(command, word, code=2) == (
        f"Error: --import {word}: neither the name of a module, such as my_package.calculators, nor a Python "
        "file, which ends with .py"
    )


@pytest.mark.parametrize("spelt", ["outer.py", "outer"])
def test_an_import_that_raises_shows_the_users_lines_of_the_traceback(command, write, tmp_path, spelt):
    write(outer="import inner\n", inner="def f():\n    return 1 / 0\n\nf()\n")

    said = refused(command, spelt, code=1)

    said = re.sub(r"\n +[~^]+", "", said)  # Python 3.13 marks other parts of a line than 3.11
    assert said == (
        f"Error: --import {spelt} failed:\n"
        f'  File "{tmp_path / "outer.py"}", line 1, in <module>\n    import inner\n'
        f'  File "{tmp_path / "inner.py"}", line 4, in <module>\n    f()\n'
        f'  File "{tmp_path / "inner.py"}", line 2, in f\n    return 1 / 0\n'
        "ZeroDivisionError: division by zero"
    )


def test_errors_that_led_to_another_are_shown_without_lines_that_are_not_the_users(command, write):
    write(
        mine="""
            import importlib
            try:
                importlib.import_module("nowhere_at_all")
            except ImportError as error:
                raise ValueError(3) from error
        """
    )

    said = refused(command, "mine.py", code=1)

    assert "ModuleNotFoundError: No module named 'nowhere_at_all'" in said
    assert said.endswith("ValueError: 3")
    assert set(re.findall(r"(\w+)\.py\"|<frozen", said)) == {"mine"}


def test_a_file_that_failed_is_imported_again_when_it_is_named_again(write, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    write(fails_each_time="raise ValueError('again')")

    for _ in range(2):
        with pytest.raises(RunFailed, match="ValueError: again"):
            import_all([str(tmp_path / "fails_each_time.py")])


def test_a_syntax_error_shows_its_line(command, write, tmp_path):
    write(mine="x = 1\ndef f(:\n")

    said = refused(command, "mine.py", code=1).splitlines()

    assert said[:3] == [
        "Error: --import mine.py failed:",
        f'  File "{tmp_path / "mine.py"}", line 2',
        "    def f(:",
    ]
    assert said[-1].startswith("SyntaxError: ")


def test_a_script_that_exits_says_where_its_program_belongs(command, write):
    write(mine="import sys\nsys.exit(3)\n")

    assert refused(command, "mine.py", code=1).splitlines()[-2:] == [
        "SystemExit: 3",
        'put what the file does as a program under: if __name__ == "__main__":',
    ]


def test_with_debug_the_whole_traceback_is_shown(command, write):
    write(mine="1 / 0\n")

    done = command("list", "--debug", "--import", "mine.py")

    assert "importing.py" in done.stderr
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")
