"""`check_pack` finds what is wrong with packs broken on purpose, each in one way, and passes a good one."""

from __future__ import annotations

import os
import sys
import textwrap

import pytest

from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.packs import PluginHost, plugins_renewed
from penstock_testing import PackFault, PackReport, check_pack
from penstock_testing.packs.loading_cost import Loading, load_apart
from penstock_testing.packs.metadata import installed_distribution

PLUGIN = """
from penstock import Components, hookimpl

@hookimpl
def penstock_components():
    return Components(
        calculators={"Turnstile": "penstock_gates.gate:Gate"},
        subgraphs={"TwoGates": "penstock_gates:two_gates.pbtxt"},
    )
"""

GATE = '''
import penstock


class Gate(penstock.Calculator):
    """Let everything through.

    Example:
        node {
          calculator: "Turnstile"
          input_stream: "in"
          output_stream: "out"
        }
    """

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)

    def process(self, cc):
        cc.output.add_packet(cc.input.packet)
'''

TWO_GATES = """
input_stream: "IN:in"
output_stream: "OUT:out"
node { calculator: "Turnstile" input_stream: "in" output_stream: "between" }
node { calculator: "Turnstile" input_stream: "between" output_stream: "out" }
"""

BARE_GATE = GATE.partition('"""')[0] + GATE.rpartition('"""')[2]

#: What nodes need and a graph does not name; the packs that have it may not be installed here.
BENCH = """
from penstock import Components, hookimpl

@hookimpl
def penstock_components():
    return Components(
        input_stream_handlers={
            "DefaultInputStreamHandler": "penstock_testing.one_set:OneSetInputStreamHandler"
        },
        executors={"ThreadPoolExecutor": "penstock_testing.inline:InlineExecutor"},
    )
"""

METADATA = """Metadata-Version: 2.1
Name: penstock-gates
Version: 1.5
Requires-Python: >=3.11
Requires-Dist: penstock-core[testing]<0.2,>=0.1
Requires-Dist: pytest; extra == "testing"

Gates.
"""

DIST_INFO = "penstock_gates-1.5.dist-info"
POINTS = f"{DIST_INFO}/entry_points.txt"

GOOD = {
    "penstock_gates/__init__.py": "",
    "penstock_gates/py.typed": "",
    "penstock_gates/plugin.py": PLUGIN,
    "penstock_gates/gate.py": GATE,
    "penstock_gates/two_gates.pbtxt": TWO_GATES,
    f"{DIST_INFO}/METADATA": METADATA,
    POINTS: "[penstock]\ngates = penstock_gates.plugin\n",
    "penstock_bench.py": BENCH,
    "penstock_bench-1.5.dist-info/METADATA": METADATA.replace("gates", "bench"),
    "penstock_bench-1.5.dist-info/entry_points.txt": "[penstock]\nbench = penstock_bench\n",
}


@pytest.fixture
def pack(tmp_path, monkeypatch):
    """Return a function that puts the good pack on sys.path, with other files in places, and checks it."""
    for variable in ("PENSTOCK_BLOCK_PLUGINS", "PENSTOCK_PLUGINS", "PENSTOCK_NO_PLUGINS"):
        monkeypatch.delenv(variable, raising=False)
    before = set(sys.modules)

    def check(files=None, *, name="gates", also=(), apart=False, **arguments):
        if not apart:  # it costs a fresh interpreter, and is tested where it is asked for
            monkeypatch.setattr("penstock_testing.packs.check.load_apart", lambda _: Loading(0.0))
        for path, text in {**GOOD, **(files or {})}.items():
            if text is not None:
                (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / path).write_text(textwrap.dedent(text), encoding="utf-8")
        with plugins_renewed():
            monkeypatch.syspath_prepend(tmp_path)
            return check_pack(name, host=PluginHost(only=("gates", "bench", *also)), **arguments)

    yield check
    for module in set(sys.modules) - before:
        if (getattr(sys.modules[module], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[module]


def faults(report):
    """Return what a report says, line by line."""
    return [f"{'warning: ' * fault.is_warning}{fault}" for fault in report.faults]


def only_fault(report):
    (said,) = faults(report)
    return said


def in_plugin(old, new):
    assert old in PLUGIN
    return {"penstock_gates/plugin.py": PLUGIN.replace(old, new)}


def in_gate(old, new):
    assert old in GATE
    return {"penstock_gates/gate.py": GATE.replace(old, new)}


def in_metadata(old, new):
    assert old in METADATA
    return {f"{DIST_INFO}/METADATA": METADATA.replace(old, new)}


def rival(name, source):
    """Return the files of another distribution with a plugin of this name."""
    return {
        "penstock_rival.py": source,
        "penstock_rival-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: penstock-rival\nVersion: 1\n",
        "penstock_rival-1.dist-info/entry_points.txt": f"[penstock]\n{name} = penstock_rival\n",
    }


# --- a good one -----------------------------------------------------------------------------------


def test_a_good_pack_has_no_fault_and_the_report_says_what_it_is(pack):
    report = pack(apart=True)

    assert report.faults == ()
    assert (report.plugin, report.distribution, report.version) == ("gates", "penstock-gates", "1.5")
    assert report.components == {"calculator": 1, "subgraph": 1}
    assert 0 <= report.loading_ms < 60_000


def test_the_report_is_data_that_json_can_hold(pack):
    said = pack(in_plugin("TwoGates", "twoGates")).as_dict()

    assert said["components"] == {"calculator": 1, "subgraph": 1}
    assert said["faults"] == [
        {
            "subject": "subgraph 'twoGates'",
            "text": "names of a pack's components are in camel case, as in 'GateCalculator'",
            "is_warning": True,
        }
    ]


def test_a_distribution_is_as_good_a_name_as_its_plugin(pack):
    assert pack(name="Penstock_Gates").plugin == "gates"


def test_progress_names_what_is_looked_at(pack):
    told = []

    pack(progress=told.append)

    assert told == [
        "loading plugin 'gates' in a fresh interpreter",
        "looking at distribution 'penstock-gates'",
        "looking at calculator 'Turnstile'",
        "looking at subgraph 'TwoGates'",
    ]


def test_a_report_separates_errors_from_warnings():
    fault = PackFault("plugin 'gates'", "it is not loaded")
    warning = PackFault("calculator 'Gate'", "it has no docstring", is_warning=True)

    report = PackReport("gates", "penstock-gates", "1", "m", faults=(fault, warning))

    assert (report.errors, report.warnings) == ((fault,), (warning,))
    assert str(fault) == "plugin 'gates': it is not loaded"


# --- finding it -----------------------------------------------------------------------------------


def test_an_unknown_name_is_refused_with_what_is_near(pack):
    with pytest.raises(
        NotFoundError,
        match=r"^there is no pack to check: no plugin and no distribution with one is named 'gate' "
        r"\(did you mean '.*gates'.*\?\); "
        r"install the pack first: pip install -e DIRECTORY$",
    ):
        pack(name="gate")


def test_a_distribution_with_several_plugins_wants_one_named(pack):
    points = "[penstock]\ngates = penstock_gates.plugin\nother = penstock_gates.other\n"

    with pytest.raises(
        InvalidArgumentError,
        match=r"^distribution 'penstock-gates' has several plugins: 'gates', 'other'; name the one to check$",
    ):
        pack({POINTS: points}, name="penstock-gates")


def test_a_plugin_that_does_not_load_says_why_and_where(pack, tmp_path):
    report = pack({"penstock_gates/plugin.py": "x = 1\nraise RuntimeError('no device')\n"})

    assert only_fault(report) == (
        "plugin 'gates': it is not loaded: RuntimeError: no device "
        f'(File "{tmp_path / "penstock_gates" / "plugin.py"}", line 2)'
    )
    assert report.loading_ms is None


def test_a_blocked_plugin_says_what_blocks_it(pack, monkeypatch):
    monkeypatch.setenv("PENSTOCK_BLOCK_PLUGINS", "gates")

    assert only_fault(pack()) == (
        "plugin 'gates': it is not loaded: blocked by name, see PENSTOCK_BLOCK_PLUGINS"
    )


def test_another_plugin_of_that_name_is_reported(pack):
    assert only_fault(pack(rival("gates", ""))) == (
        "plugin 'gates': the plugin name 'gates' of penstock-rival is taken by penstock-gates; rename the "
        "entry point of one, or uninstall one"
    )


def test_a_host_knows_what_its_plugins_bring_and_says_which_are_loaded(pack):
    pack()
    host = PluginHost(only=["gates", "bench"])

    assert dict(host.components("gates").calculators) == {"Turnstile": "penstock_gates.gate:Gate"}
    with pytest.raises(
        NotFoundError, match=r"^plugin discovery has loaded no 'gate'; there are: 'bench', 'gates'$"
    ):
        host.components("gate")
    with pytest.raises(NotFoundError, match=r"^plugin discovery has loaded no 'gates'; there are: none$"):
        PluginHost(none=True).components("gates")


def test_a_distribution_that_is_not_installed_is_named():
    with pytest.raises(
        NotFoundError,
        match=r"^there is no metadata of distribution 'penstock-nowhere', which is not installed; pip",
    ):
        installed_distribution("penstock-nowhere")


# --- loading it -----------------------------------------------------------------------------------


def test_other_distributions_imported_by_the_plugin_module_are_named(pack):
    source = f"import heavy_thing, json, attrs\n{PLUGIN}"
    report = pack({"heavy_thing.py": "", "penstock_gates/plugin.py": source}, apart=True)

    assert faults(report)[0] == (
        "plugin 'gates': loading it costs the import of heavy_thing; every program with the pack installed "
        "would pay for that: let 'penstock_gates.plugin', and what it imports, only name things"
    )


def test_what_the_package_itself_imports_counts_too(pack):
    report = pack({"heavy_thing.py": "", "penstock_gates/__init__.py": "import heavy_thing\n"}, apart=True)

    assert any("loading it costs the import of heavy_thing;" in line for line in faults(report))


def test_modules_of_components_are_not_imported_by_the_plugin_module(pack):
    source = "from penstock_gates.gate import Gate\n" + PLUGIN.replace('"penstock_gates.gate:Gate"', "Gate")

    assert only_fault(pack({"penstock_gates/plugin.py": source}, apart=True)) == (
        "plugin 'gates': loading it costs the import of penstock_gates.gate, where its components lie; "
        "name them as 'module:attribute', which is imported when a graph uses it"
    )


def test_modules_of_the_pack_that_hold_no_component_may_be_imported(pack):
    source = f"import penstock_gates.names\n{PLUGIN}"

    assert pack({"penstock_gates/names.py": "", "penstock_gates/plugin.py": source}, apart=True).faults == ()


def test_what_a_plugin_module_prints_is_no_fault(pack):
    source = f"print('here I am')\n{PLUGIN}"

    assert pack({"penstock_gates/plugin.py": source}, apart=True).faults == ()


def test_a_plugin_module_that_ends_the_interpreter_is_a_fault(pack):
    source = f"import os\nif os.getpid() != {os.getpid()}: os._exit(7)\n{PLUGIN}"

    assert only_fault(pack({"penstock_gates/plugin.py": source}, apart=True)) == (
        "plugin 'gates': loading it ended the interpreter with exit code 7; plugin modules only name things"
    )


def test_a_plugin_module_that_hangs_is_ended(pack):
    source = f"import os\nwhile os.getpid() != {os.getpid()}: pass\n{PLUGIN}"
    pack({"penstock_gates/plugin.py": source}, name="bench")

    assert load_apart("gates", timeout_s=0.5).refusal == (
        "it is still being loaded after 0.5 s; plugin modules only name things"
    )


def test_the_interpreter_apart_has_the_path_of_this_one(pack, tmp_path):
    pack()

    assert str(tmp_path) in sys.path
    assert "penstock_gates.plugin" in load_apart("gates").modules


# --- its distribution -----------------------------------------------------------------------------

NO_CORE = (
    "distribution 'penstock-gates': its metadata does not require 'penstock-core', which its plugin module "
    "imports; add it to its dependencies"
)
NO_BOUND = (
    "warning: distribution 'penstock-gates': its metadata requires {} of {!r}, so that a later one which it "
    "has not met may break it; add an upper bound, as in '>=0.1,<0.2'"
)
NO_PYTHON = (
    "warning: distribution 'penstock-gates': its metadata says no Python version; add requires-python to its "
    "pyproject.toml"
)
NO_README = (
    "warning: distribution 'penstock-gates': its metadata has no description; name its README.md as readme "
    "in its pyproject.toml"
)
NO_TYPES = (
    "warning: distribution 'penstock-gates': package 'penstock_gates' has no file py.typed: type checkers "
    "ignore its annotations; add an empty one"
)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (in_metadata("Requires-Dist: penstock-core[testing]<0.2,>=0.1\n", ""), NO_CORE),
        (in_metadata("penstock-core[testing]<0.2,>=0.1", "penstock-core<1; extra == 'all'"), NO_CORE),
        (in_metadata("<0.2,", ""), NO_BOUND.format(">=0.1", "penstock-core")),
        (
            in_metadata("penstock-core[testing]<0.2,>=0.1", "penstock"),
            NO_BOUND.format("any version", "penstock"),
        ),
        (in_metadata("Requires-Python: >=3.11\n", ""), NO_PYTHON),
        (in_metadata("\nGates.\n", ""), NO_README),
        ({"penstock_gates/py.typed": None}, NO_TYPES),
    ],
)
def test_each_fault_of_a_distribution_is_reported(pack, files, said):
    assert only_fault(pack(files)) == said


@pytest.mark.parametrize("versions", ["~=0.1.0", "==0.1.*", "(>=0.1,<0.2)"])
def test_each_form_of_an_upper_bound_counts(pack, versions):
    assert pack(in_metadata("penstock-core[testing]<0.2,>=0.1", f"penstock-core {versions}")).faults == ()


def test_a_distribution_without_the_prefix_gets_a_name_suggested(pack):
    files = {
        "penstock_rival.py": "",
        "rival-1.5.dist-info/METADATA": METADATA.replace("penstock-gates", "rival"),
        "rival-1.5.dist-info/entry_points.txt": "[penstock]\nrival = penstock_rival\n",
    }

    assert faults(pack(files, name="rival", also=["rival"]))[0] == (
        "warning: distribution 'rival': packs are found by the prefix in their metadata; "
        "name it 'penstock-rival'"
    )


def test_an_entry_point_is_named_as_the_distribution_leads_one_to_guess(pack):
    points = "[penstock]\nturnstiles = penstock_gates.plugin\n"

    assert only_fault(pack({POINTS: points}, name="turnstiles", also=["turnstiles"])) == (
        "warning: plugin 'turnstiles': people guess it from the distribution; name the entry point 'gates'"
    )


# --- its names ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["calculator", "subgraph"])
def test_names_of_official_packs_are_taken(pack, kind):
    target = {"calculator": "penstock_gates.gate:Gate", "subgraph": "penstock_gates:two_gates.pbtxt"}[kind]
    files = in_plugin(f"{kind}s={{", f'{kind}s={{"GateCalculator": "{target}", ')

    assert faults(pack(files))[0] == (
        f"{kind} 'GateCalculator': a component of the official pack penstock-calculators, a calculator, has "
        "that name; choose another"
    )


def test_a_name_that_another_installed_plugin_claims_is_a_fault_that_names_both(pack):
    files = rival("rival", PLUGIN.replace("        subgraphs", "        #"))

    assert faults(pack(files, also=["rival"]))[0] == (
        "calculator 'Turnstile': is claimed by penstock-gates (plugin 'gates', penstock_gates.gate:Gate) "
        "and by penstock-rival (plugin 'rival', penstock_gates.gate:Gate); rename one, or block a plugin: "
        "PENSTOCK_BLOCK_PLUGINS=rival"
    )


def test_a_name_that_is_a_calculator_and_a_subgraph_is_a_fault(pack):
    assert (
        "subgraph 'Turnstile': the pack has a calculator of that name too, which graphs cannot reach; "
        "rename one"
    ) in faults(pack(in_plugin('"TwoGates"', '"Turnstile"')))


def test_a_calculator_that_its_module_registers_as_well_is_a_fault(pack):
    registered = in_gate("class Gate(", '@penstock.register_calculator("Turnstile")\nclass Gate(')

    assert only_fault(pack(registered)) == (
        "calculator 'Turnstile': importing the component's module registers it a second time, and graphs "
        "that name it are refused; leave @register_calculator to programs, a pack's plugin module names it "
        "already"
    )


# --- what they stand for --------------------------------------------------------------------------


def test_a_target_that_cannot_be_imported_is_a_fault(pack):
    assert faults(pack(in_plugin("gate:Gate", "gate:Gaet")))[0] == (
        "calculator 'Turnstile': it cannot be imported: AttributeError: module 'penstock_gates.gate' has no "
        "attribute 'Gaet'; correct what the plugin module says, or declare and install what is missing"
    )


def test_a_graph_file_that_the_package_lacks_is_a_fault(pack):
    assert only_fault(pack({"penstock_gates/two_gates.pbtxt": None})) == (
        "subgraph 'TwoGates': penstock-gates (plugin 'gates', penstock_gates:two_gates.pbtxt) cannot provide "
        "it: package 'penstock_gates' has no file 'two_gates.pbtxt'; put it beside the package's modules, "
        "where its wheel takes it along"
    )


@pytest.mark.parametrize(
    ("field", "kind", "said"),
    [
        ("calculators", "calculator", "no calculator; derive it from penstock.Calculator"),
        (
            "input_stream_handlers",
            "input stream handler",
            "no input stream handler; derive it from penstock.InputStreamHandler",
        ),
        (
            "executors",
            "executor",
            "no executor: it has no create(options, defaults); derive it from penstock.Executor",
        ),
        (
            "subgraphs",
            "subgraph",
            "no subgraph; name a graph file as 'package:file.pbtxt', or a subclass of penstock.Subgraph",
        ),
        ("services", "service", "no key of a service; name a penstock.ServiceKey"),
        ("layers", "layer", "no layer: see penstock.lowlevel.FailureLayer and SteeringLayer"),
        (
            "graph_readers",
            "graph reader",
            (
                "no graph reader: it needs message(...), and text(...) or value(...); see "
                "penstock.readers.GraphReader"
            ),
        ),
    ],
)
def test_a_target_of_the_wrong_kind_is_a_fault(pack, field, kind, said):
    files = {
        "penstock_gates/plugin.py": PLUGIN.partition("    return")[0]
        + f'    return Components({field}={{"Wrong": "penstock_gates.other:Other"}})\n',
        "penstock_gates/other.py": "class Other: pass\n",
    }

    assert only_fault(pack(files)) == f"{kind} 'Wrong': 'penstock_gates.other:Other' is {said}"


def test_an_output_stream_handler_must_be_callable(pack):
    wrong = 'output_stream_handlers={"Wrong": "penstock_gates.other:text"}, subgraphs='
    files = in_plugin("subgraphs=", wrong) | {"penstock_gates/other.py": "text = 'no factory'\n"}

    assert (
        "output stream handler 'Wrong': 'penstock_gates.other:text' is neither a class nor a factory; "
        "name one"
    ) in faults(pack(files))


# --- contracts and examples -----------------------------------------------------------------------

IN_EXAMPLE = "calculator 'Turnstile': the example in its docstring: "
NO_EXAMPLE = (
    "warning: calculator 'Turnstile': its docstring has no example; end it with \"Example:\" and an indented "
    "node"
)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            in_gate('input_stream: "in"', 'input_stream: "WRONG:in"'),
            "has no input 'WRONG' (did you mean \"in",
        ),
        (in_gate("output_stream:", "output_steam:"), "output_steam"),
        (
            in_gate('calculator: "Turnstile"', 'calculator: "A" } node { calculator: "B"'),
            "the connections have 'A', 'B', but no node of calculator 'Turnstile'; add one",
        ),
        (in_gate("cc.inputs[0].set(int)", "cc.options(None)"), "get_contract"),
    ],
)
def test_an_example_that_is_no_node_of_the_calculator_is_a_fault(pack, files, words):
    said = faults(pack(files))[0]

    assert said.startswith(IN_EXAMPLE)
    assert words in said


def test_a_calculator_without_docstring_and_example_gives_warnings(pack):
    assert faults(pack({"penstock_gates/gate.py": BARE_GATE})) == [
        (
            "warning: calculator 'Turnstile': the calculator has no docstring, so no example node; say what "
            "it does and what its ports carry, and show one"
        ),
        NO_EXAMPLE,
    ]


def test_a_contract_that_no_node_fulfils_is_a_fault_without_an_example_too(pack):
    said = faults(pack({"penstock_gates/gate.py": BARE_GATE.replace("set(int)", "set('int')")}))

    assert said[2].startswith(
        "calculator 'Turnstile': no node of it can be made from what its contract asks for (an example in "
        "its docstring could): "
    )


def test_a_calculator_made_from_a_function_is_checked_as_any_other(pack):
    function = """
    import penstock

    @penstock.calculator
    def gate(number: int) -> int:
        '''Let everything through.

        Example:
            node { calculator: "Turnstile" input_stream: "NUMBER:in" output_stream: "TUO:out" }
        '''
        return number
    """

    said = faults(pack({"penstock_gates/gate.py": function, **in_plugin("gate:Gate", "gate:gate")}))[0]

    assert said.startswith(IN_EXAMPLE)
    assert "has no output 'TUO' (did you mean \"OUT:" in said


# --- subgraphs ------------------------------------------------------------------------------------

NO_NODE = "subgraph 'TwoGates': it does not stand for a node: "


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (
            TWO_GATES.replace('"Turnstile" input_stream: "b', '"Gaet" input_stream: "b'),
            "no calculator 'Gaet' is registered",
        ),
        ("node {", "two_gates.pbtxt:1"),
    ],
)
def test_a_subgraph_that_cannot_be_expanded_is_a_fault(pack, graph, words):
    said = only_fault(pack({"penstock_gates/two_gates.pbtxt": graph}))

    assert said.startswith(NO_NODE)
    assert words in said


def test_a_subgraph_file_is_checked_with_the_example_in_its_first_comment(pack):
    example = """\
# Two gates.
#
# Example:
#
#     node { calculator: "TwoGates" input_stream: "IN:a" output_stream: "%s" }
"""
    fits = pack({"penstock_gates/two_gates.pbtxt": example % "OUT:c" + TWO_GATES})
    assert faults(fits) == []

    wrong = only_fault(pack({"penstock_gates/two_gates.pbtxt": example % "OTHER:c" + TWO_GATES}))
    assert wrong.startswith(NO_NODE)
    assert "OTHER" in wrong


def test_the_executors_of_the_example_are_declared_for_the_subgraph(pack):
    example = """\
# Two gates.
#
# Example:
#
#     %s
#     node { calculator: "TwoGates" input_stream: "IN:a" output_stream: "OUT:c" }
"""
    graph = TWO_GATES.replace('calculator: "Turnstile" ', 'calculator: "Turnstile" executor: "own" ')
    own = 'executor { name: "own" type: "ThreadPoolExecutor" }'

    assert faults(pack({"penstock_gates/two_gates.pbtxt": example % own + graph})) == []
    assert (
        "'own' is not declared" in faults(pack({"penstock_gates/two_gates.pbtxt": example % "" + graph}))[0]
    )


#: The second node is of another pack.
BORROWED = {
    "penstock_bench.py": BENCH.replace(
        "Components(\n", 'Components(\n        calculators={"Bench": "penstock_gates.gate:Gate"},\n'
    ),
    "penstock_gates/two_gates.pbtxt": TWO_GATES.replace(
        '"Turnstile" input_stream: "b', '"Bench" input_stream: "b'
    ),
}


def test_a_subgraph_out_of_a_pack_that_is_not_required_is_a_fault(pack):
    assert only_fault(pack(BORROWED)) == (
        "subgraph 'TwoGates': the example has nodes of penstock-bench, which the pack does not require; add "
        "it as dependency"
    )


@pytest.mark.parametrize(
    "metadata",
    [
        in_metadata("penstock-core[testing]", "penstock"),
        in_metadata("Requires-Python", "Requires-Dist: Penstock.Bench\nRequires-Python"),
    ],
)
def test_a_subgraph_may_be_out_of_what_the_pack_requires(pack, metadata):
    assert pack({**BORROWED, **metadata}).faults == ()


CHAIN = """
import penstock

GRAPH = '''
input_stream: "in"
output_stream: "out"
node { calculator: "CALCULATOR" input_stream: "in" output_stream: "out" }
'''


class Chain(penstock.Subgraph):
    '''Gates in a row.

    EXAMPLE
    '''

    @classmethod
    def get_config(cls, sc):
        return GRAPH
"""
IN_CHAIN = in_plugin("penstock_gates:two_gates.pbtxt", "penstock_gates.chain:Chain")


@pytest.mark.parametrize(
    ("example", "calculator", "words"),
    [
        ("", "Turnstile", ""),
        ("", "Gaet", "no calculator 'Gaet' is registered"),
        ('input_stream: "in" output_stream: "out"', "Turnstile", ""),
        ('input_stream: "WRONG:in" output_stream: "out"', "Turnstile", "'WRONG'"),
    ],
)
def test_a_subgraph_that_is_computed_is_expanded_for_its_example_or_for_a_bare_node(
    pack, example, calculator, words
):
    shown = f'Example:\n        node {{ calculator: "TwoGates" {example} }}' if example else ""
    source = CHAIN.replace("EXAMPLE", shown).replace("CALCULATOR", calculator)

    found = faults(pack({"penstock_gates/chain.py": source, **IN_CHAIN}))

    assert bool(found) == bool(words)
    assert words in "".join(found[:1])
    assert all(said.startswith(NO_NODE) for said in found)


def test_a_subgraph_that_needs_a_file_of_its_user_is_no_fault(pack):
    source = CHAIN.replace("EXAMPLE", "").replace(
        "return GRAPH", "raise penstock.errors.NotFoundError('the file of the model was not found')"
    )

    assert faults(pack({"penstock_gates/chain.py": source, **IN_CHAIN})) == []


def test_a_subgraph_that_cannot_be_computed_is_a_fault(pack):
    source = CHAIN.replace("EXAMPLE", "").replace("return GRAPH", "return 1 / 0")

    assert only_fault(pack({"penstock_gates/chain.py": source, **IN_CHAIN})) == (
        f"{NO_NODE}ZeroDivisionError: division by zero"
    )


# --- options --------------------------------------------------------------------------------------

#: What protoc would write, each in a file of its own, since a process knows a file once and for all.
MESSAGE = """
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
import penstock.config.calculator_options_pb2

file = descriptor_pb2.FileDescriptorProto(
    name="penstock_gates/FILE.proto", package="penstock_gates.FILE", syntax="proto2",
    dependency=["penstock/config/calculator_options.proto"],
)
message = file.message_type.add(name="GateOptions")
message.extension.add(
    name="ext", number=NUMBER, type=11, label=1, type_name=".penstock_gates.FILE.GateOptions",
    extendee=".penstock.CalculatorOptions",
)
pool = descriptor_pool.Default()
pool.AddSerializedFile(file.SerializeToString())
GateOptions = message_factory.GetMessageClass(pool.FindMessageTypeByName("penstock_gates.FILE.GateOptions"))
"""
EXTENDED = "penstock.CalculatorOptions"
TARGET = "penstock_gates.options:GateOptions"
OTHER_NUMBER = (
    f"its class is number 98762 of '{EXTENDED}', the plugin module says number 98763 of '{EXTENDED}'; graph "
    "files that name it would not be read: correct one"
)
NO_CLASS = (
    "it cannot be imported: AttributeError: module 'penstock_gates.options' has no attribute 'GaetOptions'; "
    "correct what the plugin module says, or declare and install what is missing"
)
OTHER_MESSAGE = (
    "penstock-gates (plugin 'gates', penstock.config.calculator_pb2:ExecutorConfig) gives the message "
    "'penstock.ExecutorConfig'; correct that registry entry"
)


@pytest.mark.parametrize(
    ("number", "declared", "said"),
    [
        (98761, (EXTENDED, 98761, TARGET), ""),
        (98762, (EXTENDED, 98763, TARGET), OTHER_NUMBER),
        (98764, ("google.protobuf.Any", 1, TARGET), ""),
        (98765, TARGET, ""),
        (98766, (EXTENDED, 98766, "penstock_gates.options:GaetOptions"), NO_CLASS),
        (98767, (EXTENDED, 98767, "penstock.config.calculator_pb2:ExecutorConfig"), OTHER_MESSAGE),
    ],
)
def test_options_are_the_extension_that_they_are_said_to_be(pack, number, declared, said):
    name = f"penstock_gates.file_{number}.GateOptions"
    source = MESSAGE.replace("FILE", f"file_{number}").replace("NUMBER", str(number))
    files = in_plugin("subgraphs=", f"options={{{name!r}: {declared!r}}}, subgraphs=")

    found = faults(pack({"penstock_gates/options.py": source, **files}))

    assert found == ([f"option {name!r}: {said}"] if said else [])


#: Options as an attrs class, of a name that no other test has: a process knows an extension for good.
CLASS = """
import attrs

@attrs.frozen
class NAME:
    width: TYPE = None
"""


@pytest.mark.parametrize(
    ("name", "place", "kind", "said"),
    [
        ("ClassAlone", None, "int", None),
        ("ClassExtending", (EXTENDED, 98771), "int", None),
        ("ClassOfNoType", None, "object", "object"),
        (
            "ClassOfNobody",
            ("penstock.Nobody", 98772),
            "int",
            "there is no message 'penstock.Nobody' to extend",
        ),
        (
            "ClassTooLow",
            (EXTENDED, 19999),
            "int",
            "has no extension range in message penstock.CalculatorOptions",
        ),
    ],
)
def test_options_that_are_an_attrs_class_are_what_graph_files_can_give(pack, name, place, kind, said):
    target = f"penstock_gates.options:{name}"
    declared = target if place is None else (*place, target)
    source = CLASS.replace("NAME", name).replace("TYPE", f"{kind} | None" if kind == "int" else kind)
    files = in_plugin("subgraphs=", f"options={{'penstock_gates.{name}': {declared!r}}}, subgraphs=")

    found = faults(pack({"penstock_gates/options.py": source, **files}))

    if said is None:
        assert found == []
    else:
        assert len(found) == 1
        assert found[0].startswith(f"option 'penstock_gates.{name}': ")
        assert said in found[0]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ('open("x").close()', "open()"),
        ('__import__("pathlib").Path("x").read_text()', "__import__('pathlib').Path('x').read_text()"),
        ('import subprocess; subprocess.Popen(["ls"])', "subprocess.Popen()"),
    ],
)
def test_a_calculator_that_opens_something_and_does_not_say_so_is_named(pack, call, named):
    opens = in_gate("cc.output.add_packet(cc.input.packet)", f"{call}; cc.output.add_packet(cc.input.packet)")

    said = only_fault(pack(opens))

    assert said.startswith(
        f"warning: calculator 'Turnstile': it calls {named}, and its contract does not say"
    )
    assert "cc.declare(reads=[...])" in said


def test_a_calculator_that_declares_what_it_opens_is_well(pack):
    opens = in_gate("cc.outputs[0].set(int)", 'cc.outputs[0].set(int); cc.declare(reads=["x"])')
    text = opens["penstock_gates/gate.py"].replace(
        "cc.output.add_packet", 'open("x").close(); cc.output.add_packet'
    )
    assert faults(pack({"penstock_gates/gate.py": text})) == []


# --- what the modules import -----------------------------------------------------------------------

SHARP_INFO = "penstock_sharp_things-1.dist-info"
SHARP = {
    "penstock_sharp.py": "def variance(of): return 0\n",
    f"{SHARP_INFO}/METADATA": "Metadata-Version: 2.1\nName: Penstock-Sharp-Things\nVersion: 1\n",
    f"{SHARP_INFO}/RECORD": "penstock_sharp.py,,\n",
}
EXTRA = 'Requires-Dist: penstock-sharp-things ; extra == "more"\nProvides-Extra: more'


def test_a_component_that_imports_what_is_not_required_is_a_fault_with_the_distribution(pack):
    gate = in_gate("import penstock\n", "import json\nimport penstock_sharp\nimport penstock\n")

    assert only_fault(pack({**SHARP, **gate})) == (
        "module 'penstock_gates.gate': line 3 imports 'penstock_sharp', which no requirement brings; add "
        "'penstock-sharp-things' to the dependencies in pyproject.toml"
    )


@pytest.mark.parametrize(
    ("line", "requires"),
    [
        ("import penstock_sharp", "Requires-Dist: penstock.sharp_things"),
        ("import attrs, attr, hypothesis.strategies", "Requires-Dist: hypothesis"),
        ("if False:\n    from . import gate", "Requires-Dist: numpy"),
        ("try:\n    import penstock_sharp\nexcept ImportError:\n    pass", "Keywords: none"),
        ("def late():\n    import penstock_sharp", EXTRA),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import penstock_sharp", "Keywords: none"),
    ],
)  # fmt: skip
def test_imports_of_requirements_of_extras_and_of_guards_are_no_fault(pack, line, requires):
    gate = in_gate("import penstock\n", f"import penstock\n{line}\n")
    metadata = in_metadata("Requires-Python: >=3.11", f"Requires-Python: >=3.11\n{requires}")

    assert pack({**SHARP, **gate, **metadata}).faults == ()


def test_an_extra_is_not_enough_for_what_a_component_always_imports(pack):
    gate = in_gate("import penstock\n", "import penstock\nimport penstock_sharp\n")
    metadata = in_metadata("Requires-Python", f"{EXTRA}\nRequires-Python")

    report = pack({**SHARP, **gate, **metadata})

    assert "line 3 imports 'penstock_sharp', which no requirement brings" in only_fault(report)
    elsewhere = {"penstock_gates/other.py": "import penstock_sharp\n", "penstock_gates/gate.py": GATE}
    assert pack({**elsewhere, **metadata}).faults == ()


def test_a_function_that_imports_what_no_extra_brings_is_a_fault(pack):
    gate = in_gate("import penstock\n", "import penstock\ndef late():\n    import nobody_has_it\n")

    assert only_fault(pack(gate)).endswith(
        "line 4 imports 'nobody_has_it', which no requirement brings; add the distribution that has it to "
        "the dependencies in pyproject.toml"
    )


def test_warnings_are_apart_from_errors(pack):
    report = pack({"penstock_gates/py.typed": None})

    assert report.errors == ()
    assert [fault.is_warning for fault in report.warnings] == [True]
