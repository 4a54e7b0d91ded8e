import pytest

from penstock.config import build_plan
from penstock.errors import GraphConfigError
from penstock.registry import Registry

OWN = 'input_stream_handler { input_stream_handler: "OwnHandler" %s }'
NODE = 'node { calculator: "%s" input_stream: "a" %s }'


@pytest.fixture(autouse=True)
def handlers(registry, declare):
    for name in ("OwnHandler", "GraphHandler", "WantedHandler"):
        registry.add("input stream handler", name, type(name, (), {}))

    def wanting(cc):
        cc.inputs[0].set_any()
        cc.set_input_stream_handler("WantedHandler")

    declare("WantingCalculator", wanting)


def chosen(plan, graph):
    handler = plan(f'input_stream: "a" {graph}').nodes[0].handler
    assert handler.factory.__name__ == handler.name
    return handler.name


GRAPH = OWN.replace("OwnHandler", "GraphHandler") % ""


@pytest.mark.parametrize(
    ("graph", "name"),
    [
        (NODE % ("PassCalculator", ""), "DefaultInputStreamHandler"),
        (NODE % ("WantingCalculator", ""), "WantedHandler"),
        (GRAPH + NODE % ("PassCalculator", ""), "GraphHandler"),
        (GRAPH + NODE % ("WantingCalculator", ""), "GraphHandler"),
        (GRAPH + NODE % ("WantingCalculator", OWN % ""), "OwnHandler"),
        (GRAPH + NODE % ("WantingCalculator", "input_stream_handler { }"), "WantedHandler"),
        (GRAPH + NODE % ("PassCalculator", "input_stream_handler { }"), "DefaultInputStreamHandler"),
    ],
)
def test_the_nodes_handler_wins_over_the_graphs_over_the_calculators(graph, name, plan):
    assert chosen(plan, graph) == name


def test_replacing_what_a_calculator_asks_for_is_a_warning_that_names_both(plan, caplog):
    chosen(plan, NODE % ("WantingCalculator", OWN % ""))

    assert [record.getMessage() for record in caplog.records] == [
        (
            "line 1, column 76: node 'WantingCalculator': its calculator asks for the input stream handler "
            "'WantedHandler'; the graph replaces it by 'OwnHandler'"
        )
    ]


def test_naming_what_the_calculator_asks_for_is_no_warning(plan, caplog):
    chosen(plan, NODE % ("WantingCalculator", OWN.replace("OwnHandler", "WantedHandler") % ""))

    assert not caplog.records


def test_options_come_from_where_the_handler_was_chosen(plan, declare, make_options):
    made = make_options("PolicyOptions", 500020401, "penstock.MediaPipeOptions")

    def fill(cc):
        cc.inputs[0].set_any()
        cc.set_input_stream_handler("WantedHandler", made.load()(size=1))

    declare("PolicyCalculator", fill)
    written = OWN % "options { [penstock.PolicyOptions.ext] { size: 2 } }"

    def size(node):
        return plan(f'input_stream: "a" {node}').nodes[0].handler.options.get(made.load()).size

    assert size(NODE % ("PolicyCalculator", "")) == 1
    assert size(NODE % ("PolicyCalculator", written)) == 2
    assert size(NODE % ("PassCalculator", "")) == 0


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (NODE % ("PassCalculator", OWN.replace("OwnHandler", "OwnHandle") % ""), ("node 'PassCalculator': "
         "no input stream handler 'OwnHandle' is registered (did you mean 'OwnHandler'?)")),
        (GRAPH.replace("GraphHandler", "Nope"), "column 19: no input stream handler 'Nope' is registered"),
        (GRAPH.replace("GraphHandler", "Nope") + NODE % ("PassCalculator", "") * 3, "no input stream"),
        ('output_stream_handler { output_stream_handler: "Nope" }', "column 19: no output stream handler"),
        (NODE % ("PassCalculator", 'output_stream_handler { output_stream_handler: "Nope" }'),
         "node 'PassCalculator': no output stream handler 'Nope' is registered"),
    ],
)  # fmt: skip
def test_an_unknown_handler_is_one_fault_where_it_is_named(graph, words, faults):
    ((code, message),) = faults(f'input_stream: "a" {graph}')

    assert code == "NOT_FOUND"
    assert words in message


def test_a_calculator_that_asks_for_an_unknown_handler_is_a_fault(faults, declare):
    declare("LostCalculator", lambda cc: cc.set_input_stream_handler("Nope"))

    ((code, message),) = faults('node { name: "n" calculator: "LostCalculator" }')

    assert code == "NOT_FOUND"
    assert "node 'n' (LostCalculator): no input stream handler 'Nope' is registered" in message


def test_the_output_handler_that_exists_may_be_named(plan):
    named = 'output_stream_handler { output_stream_handler: "InOrderOutputStreamHandler" }'

    assert plan(f'{named} node {{ calculator: "PassCalculator" {named} }}').nodes


def test_a_missing_default_handler_and_a_missing_default_executor_are_found_together_and_once():
    bare = Registry()
    bare.add("calculator", "C", type("C", (), {"get_contract": classmethod(lambda _cls, _cc: None)}))

    with pytest.raises(GraphConfigError) as caught:
        build_plan('node { calculator: "C" } node { calculator: "C" }', bare)

    assert str(caught.value) == (
        "the graph cannot run, 2 faults:\n"
        "  line 1, column 1: needed by default: no input stream handler 'DefaultInputStreamHandler' is "
        "registered; install it: pip install penstock-stream-handlers\n"
        "  line 1, column 1: needed by default: no executor 'ThreadPoolExecutor' is registered; install it: "
        "pip install penstock-executors"
    )


def test_a_graph_with_a_default_executor_of_its_own_needs_no_other():
    bare = Registry()
    bare.add("executor", "Own", object)
    bare.add("calculator", "C", type("C", (), {"get_contract": classmethod(lambda _cls, _cc: None)}))

    with pytest.raises(GraphConfigError) as caught:
        build_plan('executor { type: "Own" } node { calculator: "C" }', bare)

    (fault,) = caught.value.faults
    assert "'DefaultInputStreamHandler'" in str(fault)
