"""Executors in the reference's `calculator_graph_test.cc`: which are refused, and which thread runs nodes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock import (
    STOP,
    GraphConfigError,
    StatusCode,
)
from penstock.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
)
from penstock_testing import calculator

POOL_OF_ONE = (
    'type: "ThreadPoolExecutor" options { [mediapipe.ThreadPoolExecutorOptions.ext] { num_threads: 1 } }'
)
PASS_XYZ = ["Pass in -> out | executor: 'xyz'"]
XYZ_OF_ONE = f'executor {{ name: "xyz" {POOL_OF_ONE} }}\n'


@pytest.mark.parametrize(
    ("more", "nodes", "parts"),
    [
        pytest.param(
            f'executor {{ name: "__gpu" {POOL_OF_ONE} }}\n',
            ["Pass in -> out"],
            ["__gpu", "reserved"],
            marks=pytest.mark.reference(
                "framework/calculator_graph_test.cc", "CalculatorGraph.ReservedNameExecutorConfig"
            ),
        ),
        pytest.param(
            "",
            ["Pass in -> out | executor: '__gpu'"],
            ["__gpu", "reserved"],
            marks=pytest.mark.reference(
                "framework/calculator_graph_test.cc", "CalculatorGraph.ReservedNameNodeExecutor"
            ),
        ),
        pytest.param(
            "",
            PASS_XYZ,
            ["xyz", "declare"],
            marks=pytest.mark.reference(
                "framework/calculator_graph_test.cc",
                "CalculatorGraph.NonExistentExecutor",
                "CalculatorGraph.UndeclaredExecutor",
            ),
        ),
        pytest.param(
            2 * 'executor { name: "xyz" }\n',
            PASS_XYZ,
            ["xyz", "twice"],
            marks=pytest.mark.reference(
                "framework/calculator_graph_test.cc", "CalculatorGraph.DuplicateExecutorConfig"
            ),
        ),
        pytest.param(
            f"num_threads: 1 executor {{ {POOL_OF_ONE} }}\n",
            ["Pass in -> mid", "Pass mid -> out"],
            ["num_threads", "default executor"],
            marks=pytest.mark.reference(
                "framework/calculator_graph_test.cc", "CalculatorGraph.NumThreadsAndDefaultExecutorConfig"
            ),
        ),
    ],
)
def test_extra_executors_that_do_not_fit_are_refused_with_their_name(pool, more, nodes, parts):
    with pytest.raises(GraphConfigError) as caught:
        pool.load(pool.net("in", *nodes, more=more))

    assert caught.value.code is StatusCode.INVALID_ARGUMENT
    assert [part for part in parts if part not in str(caught.value)] == []


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.NumThreadsAndNonDefaultExecutorConfig"
)
def test_extra_a_number_of_threads_and_an_executor_with_a_name_fit(pool):
    pool.load(
        pool.net(
            "in", "Pass in -> mid", "Pass mid -> out | executor: 'xyz'", more=f"num_threads: 1 {XYZ_OF_ONE}"
        )
    )


@pytest.fixture
def threads():
    with ThreadPoolExecutor(1) as one:
        yield one


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.SetExecutorTwice")
def test_extra_two_executors_cannot_have_one_name(pool, threads):
    graph = pool.load(pool.net("in", *PASS_XYZ, more='executor { name: "xyz" }\nexecutor { name: "abc" }\n'))
    graph.set_executor("xyz", threads)
    graph.set_executor("abc", threads)

    with ThreadPoolExecutor(1) as other, pytest.raises(AlreadyExistsError, match="xyz") as caught:
        graph.set_executor("xyz", other)

    assert caught.value.code is StatusCode.ALREADY_EXISTS


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.ReservedNameSetExecutor")
def test_extra_an_executor_cannot_have_a_reserved_name(pool, threads):
    graph = pool.load(pool.net("in", "Pass in -> out"))

    with pytest.raises(InvalidArgumentError, match="'__gpu' is reserved") as caught:
        graph.set_executor("__gpu", threads)

    assert caught.value.code is StatusCode.INVALID_ARGUMENT


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.UntypedExecutorDeclaredButNotSet"
)
def test_extra_an_executor_without_a_type_that_nobody_hands_in_is_an_error(pool):
    """Penstock reports it when a run starts, since executors are handed in after loading."""
    graph = pool.load(pool.net("in", *PASS_XYZ, more='executor { name: "xyz" }\n'))

    with pytest.raises(InvalidArgumentError, match=r"'xyz'.*set_executor") as caught:
        graph.start_run()

    assert caught.value.code is StatusCode.INVALID_ARGUMENT


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.TypedExecutorDeclaredAndSet")
def test_extra_an_executor_with_a_type_cannot_be_handed_in(pool, threads):
    graph = pool.load(pool.net("in", *PASS_XYZ, more=XYZ_OF_ONE))

    with pytest.raises(InvalidArgumentError, match="'xyz' has a type in the graph") as caught:
        graph.set_executor("xyz", threads)

    assert caught.value.code is StatusCode.INVALID_ARGUMENT


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.RunWithNumThreadsInExecutorConfig"
)
@pytest.mark.parametrize(
    ("kind", "number", "is_mine"),
    [("ApplicationThreadExecutor", 0, True), ("", 0, False), ("ThreadPoolExecutor", 1, False)],
)
def test_extra_nodes_run_in_the_thread_of_the_application_only_where_the_executor_says_so(
    pool, kind, number, is_mine
):
    def write_thread(cc):
        cc.output.add(threading.get_ident(), 0)
        return STOP

    options = f"options {{ [mediapipe.ThreadPoolExecutorOptions.ext] {{ num_threads: {number} }} }}"
    more = f"executor {{ {f'type: {kind!r}' if kind else ''} {options} }}\n"
    pool.run(pool.net("", "Self -> out", more=more), calculator(write_thread, name="Self"), watch=["out"])

    [(_, thread)] = pool.seen["out"]
    assert (thread == threading.get_ident()) is is_mine
