"""The graph service: its policies, its contexts, its end."""

from __future__ import annotations

import ctypes
import gc
import logging
import threading
import weakref

import pytest

import penstock
from penstock.errors import FailedPreconditionError, InvalidArgumentError, StatusCode, UnavailableError
from penstock_gpu import egl
from penstock_gpu.buffers.buffer_pool import TexturePoolOptions
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.errors import GpuUnavailableError
from penstock_gpu.service import GPU, GpuResources
from penstock_testing import calculator, testing_registry

PATIENCE_S = 20


@pytest.fixture
def no_gl(monkeypatch):
    """Simulate a system without libEGL: the loader does not find the file."""
    load = ctypes.CDLL

    def missing(name, *arguments, **named):
        if name and "libEGL" in str(name):
            raise OSError(f"{name}: cannot open shared object file: No such file or directory")
        return load(name, *arguments, **named)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    monkeypatch.setattr(egl, "_loaded", None)


@pytest.fixture(autouse=True)
def no_choice_of_the_environment(monkeypatch):
    monkeypatch.delenv("PENSTOCK_GPU", raising=False)


@pytest.fixture
def make(gl_available):
    """Make resources that are closed after the test."""
    made = []

    def _make(*arguments, **named):
        made.append(GpuResources(*arguments, **named))
        return made[-1]

    yield _make
    for one in made:
        one.close()


def graph_of(calculators, extra=""):
    nodes = " ".join(f'node {{ calculator: "{one.__name__}" input_stream: "in" }}' for one in calculators)
    return penstock.CalculatorGraph(
        f'input_stream: "in" {nodes} {extra}', registry=testing_registry(*dict.fromkeys(calculators))
    )


def run_once(graph, *payloads):
    graph.start_run()
    for t, payload in enumerate(payloads):
        graph.add_packet_to_input_stream("in", penstock.Packet(payload, t))
    graph.close_all_packet_sources()
    graph.wait_until_done(PATIENCE_S)


# --- policies ---------------------------------------------------------------------------------


def test_required_gl_that_is_missing_is_an_error_that_says_what_to_install_and_how_to_do_without(no_gl):
    with pytest.raises(
        GpuUnavailableError,
        match=r"^libEGL\.so\.1 cannot be loaded: libEGL\.so\.1: cannot open shared object file: No such file "
        r"or directory; apt-get install --no-install-recommends libegl1 .*, or let nodes run on NumPy where "
        r"they can, with PENSTOCK_GPU=prefer$",
    ) as caught:
        GpuResources()

    assert caught.value.code is StatusCode.UNAVAILABLE


def test_a_graph_whose_node_needs_gl_does_not_start_without_and_names_service_node_cause_and_cure(no_gl):
    needs = calculator(contract=lambda cc: cc.run_on(GPU), name="Needs")
    with pytest.raises(
        UnavailableError,
        match=r"^service 'gpu', required by node 'Needs', is not there: libEGL\.so\.1 cannot be loaded: .*"
        r"apt-get install --no-install-recommends libegl1 libopengl0 libgl1-mesa-dri",
    ) as caught:
        graph_of([needs]).start_run()

    assert isinstance(caught.value.__cause__, GpuUnavailableError)


def test_preferred_gl_that_is_missing_costs_one_line_in_the_log_for_each_resources(no_gl, caplog):
    with caplog.at_level(logging.DEBUG, "penstock"):
        resources = GpuResources("prefer")
        assert resources.executor_for("a") is None
        assert resources.executor_for("b", "user:x") is None

    assert not resources.is_on
    assert resources.why_off.startswith("libEGL.so.1 cannot be loaded: ")
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("penstock.gpu", logging.WARNING)
    assert record.getMessage() == (f"there is no GL, so GPU nodes take their NumPy path: {resources.why_off}")
    with pytest.raises(GpuUnavailableError, match=r"^the GPU service has no GL context: libEGL"):
        resources.context()
    GpuResources("prefer").close()
    assert len(caplog.records) == 2


def test_preferred_gl_that_is_there_is_used_without_a_word(make, caplog):
    with caplog.at_level(logging.WARNING, "penstock"):
        resources = make("prefer")

    assert resources.is_on
    assert not resources.why_off
    assert not caplog.records


def test_the_policy_off_asks_nobody_for_gl_and_logs_nothing(no_gl, caplog):
    resources = GpuResources("off")

    assert not resources.is_on
    assert resources.why_off == "its policy is 'off'"
    assert resources.executor_for("a") is None
    assert not caplog.records
    assert repr(resources) == "<GpuResources, off: its policy is 'off'>"


@pytest.mark.parametrize(("said", "policy"), [("off", "off"), (" prefer ", "prefer")])
def test_the_environment_chooses_the_policy_of_who_says_none(monkeypatch, no_gl, said, policy):
    monkeypatch.setenv("PENSTOCK_GPU", said)

    assert GpuResources().policy == policy
    assert GPU.create().policy == policy
    with pytest.raises(GpuUnavailableError):
        GpuResources("require")


def test_an_empty_choice_of_the_environment_is_none(monkeypatch, no_gl):
    monkeypatch.setenv("PENSTOCK_GPU", "")
    with pytest.raises(GpuUnavailableError):
        GpuResources()


def test_a_policy_that_does_not_exist_is_refused_with_its_source(monkeypatch):
    with pytest.raises(
        InvalidArgumentError,
        match=r"^policy 'maybe' of the GPU service does not exist; use 'require', 'prefer' or 'off'$",
    ):
        GpuResources("maybe")
    monkeypatch.setenv("PENSTOCK_GPU", "on")
    with pytest.raises(
        InvalidArgumentError, match=r"^policy 'on' \(from PENSTOCK_GPU\) of the GPU service does not exist"
    ):
        GpuResources()


def test_a_node_without_gl_runs_on_its_ordinary_executor(no_gl):
    seen = []
    note = calculator(
        lambda cc: seen.append(threading.current_thread().name),
        contract=lambda cc: cc.run_on(GPU),
        name="Note",
    )
    graph = graph_of([note])
    graph.set_service(GPU, GpuResources("prefer"))
    run_once(graph, 1)

    assert [name.startswith("penstock-gpu") for name in seen] == [False]


def test_an_optional_service_that_cannot_be_made_leaves_the_node_where_it_is(no_gl):
    seen = []

    def contract(cc):
        cc.use_service(GPU, optional=True)
        cc.run_on(GPU)

    note = calculator(lambda cc: seen.append(threading.current_thread().name), contract=contract, name="Note")
    run_once(graph_of([note]), 1)

    assert [name.startswith("penstock-gpu") for name in seen] == [False]


# --- contexts ---------------------------------------------------------------------------------


def test_the_main_context_is_there_at_once_and_others_share_with_it_when_asked_for(make):
    resources = make()
    assert resources.keys == ("",)

    main, other = resources.context(), resources.context("user:slow")
    assert resources.keys == ("", "user:slow")
    assert main is resources.context("")
    assert other is resources.context("user:slow")
    assert main is not other
    assert main.share_group is other.share_group
    assert (main.name, other.name) == ("main", "user:slow")


def test_nodes_of_one_key_share_an_executor_that_is_called_after_the_key(make):
    resources = make()
    main, other = resources.executor_for("a"), resources.executor_for("b", "user:slow")

    assert main is resources.executor_for("c", "")
    assert other is resources.executor_for("d", "user:slow")
    assert (main.name, other.name) == ("__gpu_", "__gpu_user:slow")


def test_a_context_asked_for_by_many_threads_at_once_is_made_once(make):
    resources = make()
    barrier = threading.Barrier(4)
    found = []

    def ask():
        barrier.wait(PATIENCE_S)
        found.append(resources.context("user:x"))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)

    assert len(found) == 4
    assert len(set(map(id, found))) == 1


def test_without_threads_nodes_run_on_ordinary_executors_and_contexts_still_share(make):
    before = threading.active_count()
    resources = make(threads=False)

    assert resources.executor_for("a") is None
    assert resources.executor_for("b", "user:x") is None
    assert resources.context().share_group is resources.context("user:x").share_group
    assert threading.active_count() <= before


def test_resources_may_share_with_a_context_of_the_application(make):
    with GlContext.create(name="its own") as own:
        resources = make(share_with=own)
        assert resources.context().share_group is own.share_group
        assert resources.context("user:x").share_group is own.share_group
        resources.close()


def test_resources_made_in_a_context_share_with_it_unless_they_are_to_be_elsewhere(make):
    with GlContext.create(device="surfaceless") as own:
        inside = own.run(make)
        elsewhere = own.run(lambda: make(device="surfaceless"))
        assert inside.context().share_group is own.share_group
        assert elsewhere.context().share_group is not own.share_group
        inside.close()


def test_device_and_api_are_those_that_were_chosen(make):
    assert make(device="surfaceless", api="gles").context("user:x").api == "gles"
    with pytest.raises(InvalidArgumentError, match="'teapot' is no device"):
        GpuResources(device="teapot")
    with pytest.raises(GpuUnavailableError, match="there is no device 99"):
        GpuResources(device=99)


def test_a_device_that_is_not_there_is_passed_over_where_gl_is_only_preferred(make, caplog):
    resources = make("prefer", device=99)
    assert not resources.is_on
    assert "there is no device 99" in caplog.text


def test_a_context_that_the_driver_refuses_names_the_node_that_asked_for_it(make, monkeypatch):
    resources = make()

    def refuse(*_, **__):
        raise GpuUnavailableError("no further context", "close some")

    monkeypatch.setattr(GlContext, "create", refuse)
    needs = calculator(contract=lambda cc: cc.run_on(GPU, "user:x"), name="Needs")
    graph = graph_of([needs])
    graph.set_service(GPU, resources)
    with pytest.raises(GpuUnavailableError, match="no further context; close some") as caught:
        graph.start_run()

    assert caught.value.node == "Needs"
    assert caught.value.__notes__ == ["node 'Needs' asks for the GL context 'user:x'"]
    assert resources.keys == ("",)


# --- the end ----------------------------------------------------------------------------------


def gl_threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("penstock-gpu")]


def test_closing_ends_all_contexts_and_their_threads_and_may_be_repeated(make):
    before = gl_threads()
    resources = make()
    contexts = [resources.context(), resources.context("user:x")]
    assert len(gl_threads()) == len(before) + 2

    assert resources.close()
    assert resources.close()
    assert gl_threads() == before
    assert all(context.is_closed for context in contexts)
    assert repr(resources) == "<GpuResources, closed>"


@pytest.mark.parametrize("policy", ["require", "off"])
def test_closed_resources_say_so_and_start_no_run(make, policy):
    resources = make(policy)
    with resources:
        pass
    with pytest.raises(FailedPreconditionError, match=r"^the GPU service is closed; make new GpuResources$"):
        resources.context()
    needs = calculator(contract=lambda cc: cc.run_on(GPU), name="Needs")
    graph = graph_of([needs])
    graph.set_service(GPU, resources)
    with pytest.raises(
        FailedPreconditionError, match=r"^the GPU service is closed; make new GpuResources$"
    ) as caught:
        graph.start_run()
    assert caught.value.node == "Needs"


def test_resources_are_not_closed_under_a_run(make):
    resources = make()
    graph = graph_of([calculator(contract=lambda cc: cc.run_on(GPU), name="Needs")])
    graph.set_service(GPU, resources)
    graph.start_run()
    with pytest.raises(
        FailedPreconditionError,
        match=r"^the GPU service serves a run \(executor '__gpu_'\); wait until it is ",
    ):
        resources.close()

    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    graph.close(PATIENCE_S)
    assert resources.close()


def test_close_says_whether_a_thread_is_stuck_in_a_job(make):
    resources = make()
    go_on = threading.Event()
    resources.context().post(lambda: go_on.wait(PATIENCE_S))

    assert not resources.close(0.01)
    go_on.set()
    assert resources.close(PATIENCE_S)


def test_a_graph_makes_its_own_keeps_it_from_run_to_run_and_closes_it_with_itself(gl_available):
    before = gl_threads()
    seen = []
    note = calculator(
        open=lambda cc: seen.append((cc.service(GPU), GlContext.current())),
        contract=lambda cc: cc.run_on(GPU),
        name="Note",
    )
    graph = graph_of([note])
    run_once(graph)
    run_once(graph)
    assert seen[0] == seen[1]
    assert seen[0][0] is graph.get_service(GPU)
    assert len(gl_threads()) == len(before) + 1

    graph.close()
    assert gl_threads() == before
    run_once(graph)
    graph.close()
    assert seen[2] != seen[0]
    assert gl_threads() == before


@pytest.mark.parametrize("state", ["running", "done"])
def test_a_graph_that_is_dropped_leaves_no_thread(gl_available, state):
    before = set(threading.enumerate())
    graph = graph_of([calculator(contract=lambda cc: cc.run_on(GPU), name="Note")])
    graph.start_run()
    graph.wait_until_idle(PATIENCE_S)
    if state == "done":
        graph.close_all_packet_sources()
        graph.wait_until_done(PATIENCE_S)
    during = set(threading.enumerate()) - before
    assert any(thread.name.startswith("penstock-gpu") for thread in during)
    del graph
    gc.collect()

    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
    assert set(threading.enumerate()) <= before


def test_resources_that_nobody_refers_to_end_their_threads(gl_available):
    before = set(threading.enumerate())
    resources = GpuResources()
    resources.executor_for("a", "user:x")
    gone = weakref.ref(resources)
    threads = set(threading.enumerate()) - before
    assert len(threads) == 2
    del resources
    gc.collect()

    assert gone() is None
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_the_options_of_the_pool_are_those_that_were_given(make):
    assert make(pool=TexturePoolOptions(keep_count=5)).pool.options.keep_count == 5
    assert make().pool.options == TexturePoolOptions()
