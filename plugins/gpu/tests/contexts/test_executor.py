"""Nodes on the threads of GL contexts: who runs where, hand-offs, fairness, ends of runs."""

from __future__ import annotations

import concurrent.futures
import gc
import itertools
import subprocess
import sys
import threading
from collections import Counter
from time import monotonic
from typing import ClassVar

import numpy as np
import pytest

import penstock
from penstock import STOP
from penstock.errors import GraphRunError, InvalidArgumentError, WaitTimeoutError
from penstock_formats import ImageFrame
from penstock_gpu import GPU, GlContext, GlProgram, GlSimpleCalculator, GpuBuffer, GpuResources, gl_library
from penstock_gpu.contexts.executor import GlExecutor
from penstock_gpu.drawing.quad import draw_quad
from penstock_testing import calculator, testing_registry

PATIENCE_S = 20

pytestmark = [pytest.mark.usefixtures("gl_available"), pytest.mark.heavy]


class Invert(GlSimpleCalculator):
    """The negative of an image; records the threads of its calls."""

    seen: ClassVar = Counter()

    def gl_setup(self):
        self.program = GlProgram(
            "uniform sampler2D frame; void main() { vec4 c = texture(frame, sample_coordinate);"
            " gl_FragColor = vec4(1.0 - c.rgb, c.a); }",
            name="Invert",
        )
        self.program.set("frame", 1)

    def gl_render(self, src, dst):
        self.seen[threading.current_thread().name] += 1
        self.program.use()
        draw_quad()

    def gl_teardown(self):
        self.program.delete()


def in_context(place="", **methods):
    """Make a calculator that runs in a context of the graph, whose methods are functions."""

    def contract(cc):
        cc.run_on(GPU, f"user:{place}" if place else "")

    methods.setdefault("name", "In")
    return calculator(contract=contract, **methods)


@pytest.fixture
def resources():
    with GpuResources() as made:
        yield made


@pytest.fixture
def pool():
    with concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="pool") as made:
        yield made


@pytest.fixture
def make(resources, pool):
    """Make graphs on two threads, and on the GL threads of `resources`; they end with the test."""
    graphs = []

    def _make(text, *calculators, own=None):
        graph = penstock.CalculatorGraph(text, registry=testing_registry(*calculators))
        graph.set_executor("", pool)
        graph.set_service(GPU, resources if own is None else own)
        graphs.append(graph)
        return graph

    yield _make
    for graph in graphs:
        if graph.is_running:
            graph.cancel()
            with pytest.raises(GraphRunError):
                graph.wait_until_done(PATIENCE_S)


def chain(calculators, inputs="in"):
    lines = [f'input_stream: "{name}"' for name in inputs.split()]
    before = inputs.split()[0] if inputs else None
    for number, each in enumerate(calculators):
        reads = f'input_stream: "{before}"' if before else ""
        before = f"s{number}"
        lines.append(f'node {{ calculator: "{each.__name__}" {reads} output_stream: "{before}" }}')
    return "\n".join([*lines, f'output_stream: "{before}"']), before


def add(graph, payload, t, stream="in"):
    graph.add_packet_to_input_stream(stream, penstock.Packet(payload, t))


def gl_threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("penstock-gpu")}


# --- one thread, few hand-offs ----------------------------------------------------------------


@pytest.fixture
def hand_offs(monkeypatch):
    """Count jobs that other threads post to a context's thread."""
    counted = Counter()

    def counting(method):
        real = getattr(GlContext, method)

        def call(self, *arguments, **named):
            if not threading.current_thread().name.startswith("penstock-gpu"):
                counted[method] += 1
            return real(self, *arguments, **named)

        return call

    for method in ("post", "run"):
        monkeypatch.setattr(GlContext, method, counting(method))
    return counted


def test_a_chain_of_five_nodes_is_one_hand_off_for_each_frame_and_no_copy_between_them(
    make, resources, hand_offs
):
    Invert.seen.clear()
    text, last = chain([Invert] * 5)
    graph = make(text, Invert)
    made = []
    graph.observe_output_stream(last, lambda _, packet: made.append(packet.payload))
    context = resources.context()
    graph.start_run()
    graph.wait_until_idle(PATIENCE_S)
    hand_offs.clear()
    before = context.uploads, context.readbacks
    frames = 50
    rng = np.random.default_rng(1)
    images = [rng.integers(0, 256, (16, 24, 4), np.uint8) for _ in range(frames)]
    for t, image in enumerate(images):
        add(graph, GpuBuffer.of_array(image), t)
        graph.wait_until_idle(PATIENCE_S)

    assert hand_offs["post"] <= frames
    assert hand_offs["run"] == 0
    assert (context.uploads - before[0], context.readbacks - before[1]) == (frames, 0)
    assert Invert.seen == {"penstock-gpu main": 5 * frames}
    assert [buffer.storages() for buffer in made] == [("TextureStorage",)] * frames
    for buffer, image in zip(made, images, strict=True):
        image[..., :3] = 255 - image[..., :3]
        np.testing.assert_array_equal(buffer.array(), image)
    graph.close(PATIENCE_S)


def test_all_calls_of_a_node_are_on_the_thread_of_its_context_and_others_are_not(make):
    seen = {}

    def note(method):
        def call(cc):
            here = GlContext.current()
            at = seen.setdefault(cc.node_name, set())
            at.add((method, None if here is None else here.name, threading.current_thread().name[:12]))

        return call

    def noting(name="", **more):
        methods = {method: note(method) for method in ("process", "open", "close")}
        return in_context(name, **methods, name=f"Note{name}", **more)

    plain = calculator(note("process"), open=note("open"), close=note("close"), name="Plain")
    kinds = [noting(), noting("a"), plain]
    graph = make(
        'input_stream: "in" '
        + " ".join(f'node {{ calculator: "{kind.__name__}" input_stream: "in" }}' for kind in kinds),
        *kinds,
    )
    graph.start_run()
    add(graph, 1, 1)
    graph.close(PATIENCE_S)

    methods = ("open", "process", "close")
    assert seen["Note"] == {(method, "main", "penstock-gpu") for method in methods}
    assert seen["Notea"] == {(method, "user:a", "penstock-gpu") for method in methods}
    assert {context for _, context, _ in seen["Plain"]} == {None}


def test_the_name_of_a_nodes_context_comes_from_the_graph_and_wins_over_the_calculators_choice(make):
    seen = {}

    class Chooses(Invert):
        gl_context_key = "auto:Chooses"

        def gl_render(self, src, dst):
            seen[self.node] = GlContext.current().name
            super().gl_render(src, dst)

        def open(self, cc):
            self.node = cc.node_name
            super().open(cc)

    text = """
        input_stream: "in"
        node { name: "own" calculator: "Chooses" input_stream: "in" output_stream: "a" }
        node {
          name: "named" calculator: "Chooses" input_stream: "in" output_stream: "b"
          options { [mediapipe.GlContextOptions.ext] { gl_context_name: "slow" } }
        }
        node {
          name: "node options" calculator: "Chooses" input_stream: "in" output_stream: "c"
          node_options {
            [type.googleapis.com/mediapipe.GlContextOptions] { gl_context_name: "slow" }
          }
        }
        node {
          name: "empty" calculator: "Chooses" input_stream: "in" output_stream: "d"
          options { [mediapipe.GlContextOptions.ext] { gl_context_name: "" } }
        }
    """
    registry = testing_registry(Chooses)
    registry.add_option(
        "penstock.GlContextOptions",
        "penstock.CalculatorOptions",
        222332034,
        "penstock_gpu.messages.context_pb2:GlContextOptions",
    )
    graph = penstock.CalculatorGraph(text, registry=registry)
    resources = GpuResources()
    graph.set_service(GPU, resources)
    graph.start_run()
    add(graph, GpuBuffer.of_array(np.zeros((2, 2, 4), np.uint8)), 1)
    graph.close(PATIENCE_S)

    assert seen == {
        "own": "auto:Chooses", "named": "user:slow", "node options": "user:slow", "empty": "auto:Chooses"
    }  # fmt: skip
    assert resources.close()


# --- turns ------------------------------------------------------------------------------------


def test_a_posted_deletion_gets_its_turn_behind_a_source_that_never_rests(make, resources):
    was_deleted = threading.Event()
    began = threading.Event()
    steps = Counter()

    def process(cc):
        steps["n"] += 1
        began.set()
        if was_deleted.is_set():
            return STOP
        if steps["n"] > 100_000:
            raise AssertionError("the source had all the turns")
        cc.output.add(steps["n"], steps["n"])
        return None

    source = in_context(process=process, name="Source")
    graph = make('node { calculator: "Source" output_stream: "out" }', source)
    graph.start_run()
    assert began.wait(PATIENCE_S)
    resources.context().post(was_deleted.set)
    graph.wait_until_done(PATIENCE_S)

    assert was_deleted.is_set()


def test_two_graphs_may_share_contexts_at_once_and_take_turns(make, resources):
    other_ran = threading.Event()
    began = threading.Event()
    numbers = itertools.count()

    def process(cc):
        began.set()
        if other_ran.is_set():
            return STOP
        cc.output.add(0, next(numbers))
        return None

    source = in_context(process=process, name="Source")
    busy = make('node { calculator: "Source" output_stream: "out" }', source)
    text, last = chain([Invert])
    other = make(text, Invert)
    made = []
    other.observe_output_stream(last, lambda _, packet: made.append(packet.payload))
    busy.start_run()
    assert began.wait(PATIENCE_S)
    other.start_run()
    for t in range(5):
        add(other, GpuBuffer.of_array(np.full((2, 2, 4), t, np.uint8)), t)
    other.wait_until_idle(PATIENCE_S)
    assert len(made) == 5
    other_ran.set()
    busy.wait_until_done(PATIENCE_S)
    other.close(PATIENCE_S)

    assert [int(buffer.array()[0, 0, 0]) for buffer in made] == [255, 254, 253, 252, 251]
    assert resources.context().run(lambda: 7) == 7


def test_of_two_graphs_that_never_rest_on_one_context_neither_has_all_the_turns(make):
    steps = {"A": 0, "B": 0}

    def source(me, other):
        def process(cc):
            steps[me] += 1
            if steps[me] > 100 and steps[other] > 100:
                return STOP
            if steps[me] > 100_000:
                raise AssertionError(f"{me} had all the turns")
            cc.output.add(0, steps[me])
            return None

        return in_context(process=process, name=me)

    graphs = [
        make(f'node {{ calculator: "{kind.__name__}" output_stream: "out" }}', kind)
        for kind in (source("A", "B"), source("B", "A"))
    ]
    for graph in graphs:
        graph.start_run()
    for graph in graphs:
        graph.wait_until_done(PATIENCE_S)


# --- a slow path and a rendering path ---------------------------------------------------------

FRAMES = 30


def rendered_beside_inference(make, contexts):
    """Render frames while another node blocks its context; return those that came meanwhile, and the rate."""
    log = []
    began, rendered_all = threading.Event(), threading.Event()

    def infer(cc):
        """Block the context as inference does: until all is rendered, which times out with one context."""
        log.append("inference begins")
        began.set()
        log.append(rendered_all.wait(PATIENCE_S if contexts == 2 else 0.5))
        log.append("inference ends")

    slow = in_context("inference" if contexts == 2 else "", process=infer, name="Infer")
    graph = make(
        """
        input_stream: "work" input_stream: "in"
        node { calculator: "Infer" input_stream: "work" }
        node { calculator: "Invert" input_stream: "in" output_stream: "out" }
        """,
        slow,
        Invert,
    )

    def note(_, packet):
        log.append(int(packet.timestamp))
        if packet.timestamp == FRAMES - 1:
            rendered_all.set()

    graph.observe_output_stream("out", note)
    graph.start_run()
    graph.wait_until_idle(PATIENCE_S)
    add(graph, 1, 0, "work")
    assert began.wait(PATIENCE_S)
    since = monotonic()
    image = np.zeros((90, 160, 4), np.uint8)
    for t in range(FRAMES):
        add(graph, GpuBuffer.of_array(image), t)
    graph.wait_until_idle(PATIENCE_S)
    rate = FRAMES / (monotonic() - since)
    graph.close(PATIENCE_S)
    meanwhile = log[log.index("inference begins") : log.index("inference ends")]
    assert [each for each in log if type(each) is int] == list(range(FRAMES))
    return [each for each in meanwhile if type(each) is int], rate


def test_rendering_keeps_its_rate_beside_a_slow_path_in_another_context_and_not_in_the_same(make):
    in_two, rate_of_two = rendered_beside_inference(make, 2)
    in_one, rate_of_one = rendered_beside_inference(make, 1)

    assert in_two == list(range(FRAMES))
    assert in_one == []
    assert rate_of_two > 1.5 * rate_of_one


# --- graphs inside calculators ----------------------------------------------------------------


def nested(inner_text, inner_last, *inner_calculators, context="", share="the same"):
    """Make a calculator with a graph inside, which gets each of its images and gives one back."""

    def open_(cc):
        graph = penstock.CalculatorGraph(inner_text, registry=testing_registry(*inner_calculators))
        if share == "the same":
            graph.set_service(GPU, cc.service(GPU))
        elif share == "sharing":
            state["own"] = GpuResources(share_with=cc.service(GPU).context())
            graph.set_service(GPU, state["own"])
        made = []
        graph.observe_output_stream(inner_last, lambda _, packet: made.append(packet.payload))
        graph.start_run()
        state["graph"], state["made"] = graph, made

    def process(cc):
        graph, made = state["graph"], state["made"]
        graph.add_packet_to_input_stream("in", penstock.Packet(cc.input.payload, cc.input_timestamp))
        graph.wait_until_idle(PATIENCE_S)
        cc.output.add(made.pop(), cc.input_timestamp)

    def close(cc):
        state["graph"].close(PATIENCE_S)
        if "own" in state:
            assert state["own"].close(PATIENCE_S)

    state = {}
    return in_context(context, process=process, open=open_, close=close, name="Nested")


@pytest.mark.parametrize(
    ("inner_context", "outer_context"), [("", ""), ("other", ""), ("", "other"), ("other", "other")]
)
def test_a_graph_inside_a_calculator_may_share_the_contexts_even_that_of_the_calculators_own_thread(
    make, resources, inner_context, outer_context
):
    class Inner(Invert):
        gl_context_key = f"user:{inner_context}" if inner_context else ""

    text, last = chain([Inner, Inner, Inner])
    outer_text, outer_last = chain([Invert, node := nested(text, last, Inner, context=outer_context), Invert])
    graph = make(outer_text, Invert, node)
    made = []
    graph.observe_output_stream(outer_last, lambda _, packet: made.append(packet.payload))
    for _ in range(2):
        graph.start_run()
        for t in range(10):
            add(graph, GpuBuffer.of_array(np.full((3, 5, 4), t, np.uint8)), t)
        graph.close(PATIENCE_S)

    assert [int(buffer.array()[0, 0, 0]) for buffer in made] == [*(255 - t for t in range(10))] * 2
    assert resources.close(PATIENCE_S)  # it would raise during a run


@pytest.mark.parametrize("share", ["sharing", "nothing said"])
def test_a_graph_inside_a_calculator_may_have_resources_of_its_own_which_share_the_textures(
    make, resources, share
):
    text, last = chain([Invert])
    node = nested(text, last, Invert, share=share)
    outer_text, outer_last = chain([Invert, node, Invert])
    graph = make(outer_text, Invert, node)
    made = []
    graph.observe_output_stream(outer_last, lambda _, packet: made.append(packet.payload))
    before = gl_threads()
    context = resources.context()
    graph.start_run()
    uploads = context.uploads
    for t in range(10):
        add(graph, GpuBuffer.of_array(np.full((3, 5, 4), t, np.uint8)), t)
    graph.wait_until_idle(PATIENCE_S)
    assert context.uploads - uploads + context.readbacks == 10
    graph.close(PATIENCE_S)

    assert [int(buffer.array()[0, 0, 0]) for buffer in made] == [255 - t for t in range(10)]
    assert gl_threads() == before


def test_a_graph_inside_a_calculator_fails_without_harm_to_the_one_around_it(make):
    class Broken(Invert):
        def gl_render(self, src, dst):
            raise ValueError("broken inside")

    text, last = chain([Broken])
    node = nested(text, last, Broken)
    outer_text, _ = chain([node])
    graph = make(outer_text, node)
    graph.start_run()
    add(graph, GpuBuffer.of_array(np.zeros((3, 5, 4), np.uint8)), 1)
    with pytest.raises(GraphRunError, match="broken inside"):
        graph.close(PATIENCE_S)


def test_a_graph_inside_copies_while_the_calculator_waits_in_a_way_that_no_graph_knows(make, resources):
    """Its copies have their own threads there, where otherwise the CPU's main context makes them."""
    resources.context().is_software = True
    copies = """
        input_stream: "in"
        node { calculator: "ImageFrameToGpuBufferCalculator" input_stream: "in" output_stream: "buffer" }
        node { calculator: "GpuBufferToImageFrameCalculator" input_stream: "buffer" output_stream: "out" }
    """
    seen = []

    def process(cc):
        came = threading.Event()
        inside = penstock.CalculatorGraph(copies)
        inside.set_service(GPU, resources)
        inside.observe_output_stream("out", lambda _, packet: (seen.append(packet.payload), came.set()))
        inside.start_run()
        inside.add_packet_to_input_stream("in", penstock.Packet(ImageFrame(cc.input.payload), 1))
        assert came.wait(PATIENCE_S)
        inside.close_all_packet_sources()
        inside.wait_until_done(PATIENCE_S)
        inside.close()

    outer = in_context(process=process, name="Outer")
    graph = make('input_stream: "in" node { calculator: "Outer" input_stream: "in" }', outer)
    graph.start_run()
    add(graph, np.full((2, 3, 4), 33, np.uint8), 1)
    graph.close_all_packet_sources()
    graph.wait_until_done(PATIENCE_S)

    assert [int(frame.array[0, 0, 0]) for frame in seen] == [33]
    assert resources.keys == ("", "auto:GpuBufferToImageFrameCalculator")


def test_a_run_inside_that_nobody_waits_for_goes_on_when_the_thread_is_free(make, resources):
    done = threading.Event()
    state = {}

    def open_(cc):
        inner = penstock.CalculatorGraph(
            'input_stream: "in" node { calculator: "Inner" input_stream: "in" }',
            registry=testing_registry(in_context(process=lambda cc: done.set(), name="Inner")),
        )
        inner.set_service(GPU, cc.service(GPU))
        inner.start_run()
        add(inner, 1, 1)
        state["graph"] = inner

    node = in_context(open=open_, process=lambda cc: None, name="Outer")
    graph = make('input_stream: "in" node { calculator: "Outer" input_stream: "in" }', node)
    graph.start_run()

    assert done.wait(PATIENCE_S)
    graph.close(PATIENCE_S)
    state["graph"].close(PATIENCE_S)  # from another thread than it was started on


def test_a_run_inside_lets_no_step_of_the_run_around_it_begin_between_two_of_its_own(make, resources):
    """Else the outer calculator could wait for the inner run inside that run's loop, which is refused."""
    began, may_go, order, state = threading.Event(), threading.Event(), [], {}

    def inner_process(cc):
        order.append(f"inner {cc.input_timestamp}")
        if cc.input_timestamp == 1:
            began.set()
            may_go.wait(PATIENCE_S)

    def open_(cc):
        inner = penstock.CalculatorGraph(
            'input_stream: "in" node { calculator: "Inner" input_stream: "in" }',
            registry=testing_registry(in_context(process=inner_process, name="Inner")),
        )
        inner.set_service(GPU, cc.service(GPU))
        inner.start_run()
        state["graph"] = inner

    def process(cc):
        order.append("outer")
        state["graph"].wait_until_idle(PATIENCE_S)

    node = in_context(
        open=open_, process=process, close=lambda cc: state["graph"].close(PATIENCE_S), name="Outer"
    )
    graph = make('input_stream: "in" node { calculator: "Outer" input_stream: "in" }', node)
    graph.start_run()
    graph.wait_until_idle(PATIENCE_S)
    for t in (1, 2, 3):
        add(state["graph"], t, t)
    assert began.wait(PATIENCE_S)
    add(graph, 1, 1)  # its job comes behind the step that is under way, and before the others
    may_go.set()
    graph.close(PATIENCE_S)

    assert sorted(order) == ["inner 1", "inner 2", "inner 3", "outer"]


def test_an_error_of_gl_that_one_node_leaves_is_logged_and_the_next_is_not_blamed(make, caplog):
    def leave(cc):
        gl_library.library().glEnable(0x9999)  # not checked, as in another library
        cc.output.add(cc.input.payload, cc.input_timestamp)

    text, last = chain([node := in_context(process=leave, name="Leaves"), Invert])
    graph = make(text, node, Invert)
    made = []
    graph.observe_output_stream(last, lambda _, packet: made.append(packet.payload.array()))
    graph.start_run()
    add(graph, GpuBuffer.of_array(np.zeros((3, 5, 4), np.uint8)), 1)
    graph.close(PATIENCE_S)

    assert made[0][0, 0, 0] == 255
    assert "a job in context 'main' left unchecked GL errors: GL_INVALID_ENUM" in caplog.text


# --- ends of runs -----------------------------------------------------------------------------


def test_contexts_are_kept_from_run_to_run(make, resources):
    text, last = chain([Invert, Invert])
    graph = make(text, Invert)
    made = []
    graph.observe_output_stream(last, lambda _, packet: made.append(packet.payload))
    threads = gl_threads()
    for _ in range(5):
        graph.start_run()
        for t in range(3):
            add(graph, GpuBuffer.of_array(np.full((4, 4, 4), t, np.uint8)), t)
        graph.close(PATIENCE_S)
        assert gl_threads() == threads

    assert [int(buffer.array()[0, 0, 0]) for buffer in made] == [0, 1, 2] * 5
    assert resources.keys == ("",)


def test_a_cancelled_run_closes_its_nodes_on_their_thread_and_the_next_one_works(make):
    began, closed = threading.Event(), []
    slow = in_context(
        process=lambda cc: began.set(), close=lambda cc: closed.append(GlContext.current().name), name="Slow"
    )
    graph = make('input_stream: "in" node { calculator: "Slow" input_stream: "in" }', slow)
    for _ in range(2):
        began.clear()
        graph.start_run()
        add(graph, 1, 1)
        assert began.wait(PATIENCE_S)
        graph.cancel()
        with pytest.raises(GraphRunError, match="cancel"):
            graph.wait_until_done(PATIENCE_S)

    assert closed == ["main", "main"]


def test_an_error_in_the_middle_of_a_run_leaves_the_context_usable(make, resources):
    class Fails(Invert):
        def gl_render(self, src, dst):
            super().gl_render(src, dst)
            if src.width == 3:
                raise ValueError("three is too much")

    text, _ = chain([Invert, Fails, Invert])
    graph = make(text, Invert, Fails)
    used = []
    for _ in range(3):
        graph.start_run()
        for width in (1, 2, 3, 4):
            add(graph, GpuBuffer.of_array(np.zeros((2, width, 4), np.uint8)), width)
        with pytest.raises(
            GraphRunError, match=r"node 'Fails' \(Fails\): process\(\) failed at 3: .*three is too"
        ):
            graph.wait_until_idle(PATIENCE_S)
        with pytest.raises(GraphRunError):
            graph.wait_until_done(PATIENCE_S)
        gc.collect()
        used.append(resources.pool.in_use)

    assert resources.context().run(lambda: 1) == 1
    assert used[2] <= used[1] <= 2  # what the error of the last run refers to


def test_the_end_of_a_run_that_hangs_in_gl_is_told_in_time_and_comes_when_it_comes(make):
    go_on, began = threading.Event(), threading.Event()

    def hang(cc):
        began.set()
        go_on.wait(PATIENCE_S)

    graph = make(
        'input_stream: "in" node { calculator: "Hang" input_stream: "in" }',
        in_context(process=hang, name="Hang"),
    )
    graph.start_run()
    add(graph, 1, 1)
    assert began.wait(PATIENCE_S)
    with pytest.raises(WaitTimeoutError, match="'Hang'"):
        graph.close(0.05)
    go_on.set()
    graph.close(PATIENCE_S)


class OneStep:
    """The work of a run with one step, which waits until it may go on."""

    name = "x"

    def __init__(self):
        self.began, self.go_on = threading.Event(), threading.Event()
        self.steps = 0

    def run(self, interrupted):
        self.steps += 1
        self.began.set()
        self.go_on.wait(PATIENCE_S)
        return not interrupted()


def test_a_lease_is_stopped_when_its_step_is_over_and_not_before_and_takes_none_afterwards(resources):
    executor = GlExecutor(resources.context(), "x")
    work = OneStep()
    lease = executor.lend_to(work)
    assert (lease.thread_count(), executor.runs) == (1, 1)
    lease.wake()
    assert work.began.wait(PATIENCE_S)
    assert not lease.stop(0.01)
    assert executor.runs == 1
    lease.wake()
    work.go_on.set()
    assert lease.stop(PATIENCE_S)
    assert lease.stop(PATIENCE_S)  # after an interrupt it is asked again

    resources.context().run(lambda: None)  # behind what was posted
    lease.wake()
    resources.context().run(lambda: None)
    assert work.steps == 1
    assert executor.runs == 0


def test_many_wakes_are_one_job(resources, hand_offs):
    work = OneStep()
    work.go_on.set()
    executor = GlExecutor(resources.context(), "x")
    lease = executor.lend_to(work)
    may_run = threading.Event()
    resources.context().post(lambda: may_run.wait(PATIENCE_S))
    hand_offs.clear()
    for _ in range(100):
        lease.wake()
    assert hand_offs["post"] == 1
    may_run.set()
    resources.context().run(lambda: None)
    assert lease.stop(PATIENCE_S)
    assert work.steps == 1


def test_a_wake_during_the_run_of_its_own_steps_begins_no_second_step_beside(resources):
    class Wakes:
        name = "x"
        calls = ()

        def run(self, interrupted):
            self.calls += ("run",)
            lease.wake()
            assert not interrupted()

        def step(self):
            self.calls += ("step",)

    work = Wakes()
    lease = GlExecutor(resources.context(), "x").lend_to(work)
    lease.wake()
    resources.context().run(lambda: None)
    assert lease.stop(PATIENCE_S)
    assert work.calls == ("run",)


def test_a_context_that_ends_under_a_run_is_an_error_of_the_run(make, resources):
    node = in_context(process=lambda cc: None, name="Node")
    own = GpuResources()
    graph = make('input_stream: "in" node { calculator: "Node" input_stream: "in" }', node, own=own)
    graph.start_run()
    add(graph, 1, 1)
    graph.wait_until_idle(PATIENCE_S)
    assert own.context().close(PATIENCE_S)
    add(graph, 1, 2)
    with pytest.raises(
        GraphRunError, match=r"executor '__gpu_' cannot run anything: context 'main' was used after"
    ):
        graph.close(PATIENCE_S)
    own.close()


@pytest.mark.parametrize("name", ["gpu", "__gpu_", "__gpu_user:x"])
def test_the_names_of_gl_executors_cannot_be_taken_by_a_graph_or_an_application(name):
    text = 'input_stream: "in" node { calculator: "Node" input_stream: "in" }'
    registry = testing_registry(in_context(process=lambda cc: None, name="Node"))
    graph = penstock.CalculatorGraph(text, registry=registry)
    with pytest.raises(InvalidArgumentError, match=f"executor name '{name}' is reserved"):
        graph.set_executor(name, concurrent.futures.ThreadPoolExecutor(1))
    with pytest.raises(penstock.GraphConfigError, match=f"'{name}'.*reserved"):
        penstock.CalculatorGraph(f'executor {{ name: "{name}" }} {text}', registry=registry)
    with pytest.raises(penstock.GraphConfigError, match=name):
        penstock.CalculatorGraph(text.replace("node {", f'node {{ executor: "{name}"'), registry=registry)


def test_a_gl_node_that_a_graph_puts_on_another_executor_runs_in_its_context_all_the_same(make, pool):
    seen = []
    node = in_context(process=lambda cc: seen.append(threading.current_thread().name), name="Node")
    graph = make(
        'input_stream: "in" executor { name: "mine" } '
        'node { calculator: "Node" executor: "mine" input_stream: "in" }',
        node,
    )
    graph.set_executor("mine", pool)
    graph.start_run()
    add(graph, 1, 1)
    graph.close(PATIENCE_S)

    assert seen == ["penstock-gpu main"]


INTERRUPTED = """
import _thread, itertools, threading
import penstock
from penstock_testing import calculator, testing_registry
from penstock_gpu import GPU, GlContext

numbers = itertools.count()

def process(cc):
    n = next(numbers)
    if n == 50:
        _thread.interrupt_main()
    cc.output.add(n, n)

source = calculator(
    process, contract=lambda cc: cc.run_on(GPU), name="Source",
    close=lambda cc: print("closes in", GlContext.current().name, flush=True),
)
graph = penstock.CalculatorGraph(
    'node { calculator: "Source" output_stream: "out" }', registry=testing_registry(source)
)
try:
    with graph:
        graph.start_run()
        graph.wait_until_done(60)
except KeyboardInterrupt:
    print("interrupted", [t.name for t in threading.enumerate() if t is not threading.main_thread()])
"""


def test_ctrl_c_ends_a_run_on_a_gl_thread_and_leaves_no_thread():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.stdout.splitlines() == ["closes in main", "interrupted []"]
    assert done.stderr == ""
    assert done.returncode == 0


EXITING = """
import penstock
from penstock_testing import calculator, testing_registry
from penstock_gpu import GPU, GlContext

def at(method):
    return lambda cc: print(method, GlContext.current().name, flush=True)

node = calculator(open=at("open"), close=at("close"), contract=lambda cc: cc.run_on(GPU), name="Node")
graph = penstock.CalculatorGraph(
    'input_stream: "in" node { calculator: "Node" input_stream: "in" }', registry=testing_registry(node)
)
graph.start_run()
graph.wait_until_idle(20)
raise SystemExit(3)
"""


def test_a_script_that_ends_in_the_middle_of_a_run_closes_its_nodes_in_their_context_and_exits():
    began = monotonic()
    done = subprocess.run(
        [sys.executable, "-c", EXITING], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.stdout.splitlines() == ["open main", "close main"]
    assert done.stderr == ""
    assert done.returncode == 3
    assert monotonic() - began < 20
