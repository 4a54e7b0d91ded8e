import pytest

INVALID = "INVALID_ARGUMENT"
NODE = 'node { calculator: "PassCalculator" %s }'


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ("", [("", "", 0)]),
        ("num_threads: 3", [("", "", 3)]),
        ("num_threads: -1", [("", "", 0)]),
        ('executor { type: "ThreadPoolExecutor" }', [("", "ThreadPoolExecutor", 0)]),
        ('executor { name: "x" } executor { name: "y" type: "ThreadPoolExecutor" } num_threads: 2',
         [("", "", 2), ("x", "", 0), ("y", "ThreadPoolExecutor", 0)]),
        ('executor { name: "x" } executor {}', [("", "", 0), ("x", "", 0)]),
    ],
)  # fmt: skip
def test_the_default_executor_is_always_there_and_first(graph, expected, plan):
    assert [(e.name, e.type, e.num_threads) for e in plan(graph).executors] == expected


def test_a_node_names_its_executor(plan):
    assert plan('executor { name: "x" }' + NODE % 'executor: "x"').nodes[0].executor == "x"
    assert plan(NODE % "").nodes[0].executor == ""


@pytest.mark.parametrize(
    ("graph", "code", "words"),
    [
        ('num_threads: 2 executor { type: "ThreadPoolExecutor" }', INVALID,
         "line 1, column 1: num_threads 2 and an executor entry for the default executor are both given"),
        ("num_threads: -2", INVALID, "num_threads -2: must be positive, or 0 or -1"),
        ('executor { name: "default" }', INVALID, "executor 'default': this is a reserved executor name"),
        ('executor { name: "gpu" }', INVALID, "executor 'gpu': this is a reserved executor name"),
        ('executor { name: "__x" }', INVALID, "executor '__x': this is a reserved executor name"),
        (NODE % 'executor: "default"', INVALID, "'default' is a reserved executor name; leave the field"),
        ('executor { name: "x" } executor { name: "x" }', INVALID, "executor 'x' is declared twice"),
        ("executor {} executor {}", INVALID, "the default executor is declared twice"),
        ('executor { name: "pool" }' + NODE % 'executor: "poll"', INVALID,
         "executor 'poll' is not declared (did you mean 'pool'?); add executor { name: \"poll\" ... }"),
        ('executor { name: "x" type: "ThreadPoolExecuter" }', "NOT_FOUND", ("column 22: executor 'x': "
         "no executor 'ThreadPoolExecuter' is registered (did you mean 'ThreadPoolExecutor'?)")),
        ('executor { type: "Nope" }', "NOT_FOUND", "the default executor: no executor 'Nope' is registered"),
    ],
)  # fmt: skip
def test_a_wrong_executor_is_a_fault(graph, code, words, faults):
    ((found, message),) = faults(graph)

    assert found == code
    assert words in message


def test_options_of_an_executor_are_read(plan, make_options):
    made = make_options("ThreadsOptions", 500020301, "penstock.MediaPipeOptions")

    graph = 'executor { name: "x" options { [mediapipe.ThreadsOptions.ext] { size: 4 } } }'

    assert plan(graph).executors[1].options.get(made.load()).size == 4
