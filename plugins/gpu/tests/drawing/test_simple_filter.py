"""The base class of filters: its contract, its hooks, its two paths."""

from __future__ import annotations

import ctypes
import logging
import threading

import numpy as np
import pytest

import penstock
from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_gpu import (
    GPU,
    GlContext,
    GlProgram,
    GlSimpleCalculator,
    GpuBuffer,
    GpuBufferFormat,
    GpuResources,
    GpuUnavailableError,
    egl,
    gl,
)
from penstock_gpu.calculators.scaler import GlScalerCalculator
from penstock_gpu.drawing.quad import draw_quad
from penstock_testing import testing_registry

PATIENCE_S = 20


class Swap(GlSimpleCalculator):
    """Swaps red and blue, and records its calls."""

    log: list[str]

    def gl_setup(self):
        self.log.append(f"setup in {GlContext.current().name}")
        self.program = GlProgram(
            "uniform sampler2D frame; void main() { gl_FragColor = texture(frame, sample_coordinate).bgra; }"
        )
        self.program.set("frame", 1)

    def gl_bind(self):
        self.log.append("bind")

    def gl_render(self, src, dst):
        viewport = (gl.get_integer(gl.GL_ACTIVE_TEXTURE) - gl.GL_TEXTURE0, dst.width, dst.height)
        self.log.append(f"render with unit {viewport[0]}")
        assert gl.get_integer(gl.GL_TEXTURE_BINDING_2D) == src.name
        self.program.use()
        draw_quad()

    def gl_teardown(self):
        self.log.append(f"teardown in {GlContext.current().name}")
        self.program.delete()

    def cpu_render(self, src):
        self.log.append("cpu")
        return src[..., [2, 1, 0, 3]]


@pytest.fixture(autouse=True)
def fresh_log():
    Swap.log = []


@pytest.fixture
def resources(gl_available):
    with GpuResources() as made:
        yield made


def graph_of(kind, resources, ports='input_stream: "in" output_stream: "out"', options=""):
    graph = penstock.CalculatorGraph(
        f'input_stream: "in" node {{ calculator: "{kind.__name__}" {ports} {options} }}',
        registry=testing_registry(kind),
    )
    graph.set_service(GPU, resources)
    return graph


def filtered(kind, resources, images, **more):
    """Return the output packets for the images of a list."""
    graph = graph_of(kind, resources, **more)
    made = []
    graph.observe_output_stream("out", lambda _, packet: made.append(packet))
    with graph:
        graph.start_run()
        for t, image in enumerate(images):
            payload = image if isinstance(image, GpuBuffer) else GpuBuffer.of_array(image)
            graph.add_packet_to_input_stream("in", penstock.Packet(payload, t))
    return made


def images(*sizes, seed=4):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 256, (height, width, 4), np.uint8) for width, height in sizes]


SIZES = [(7, 5), (7, 5), (1, 1), (64, 3), (7, 5)]

# --- the same class in all ways ---------------------------------------------------------------


@pytest.mark.parametrize(
    "way",
    ["shared context", "context of its own", "lock and no thread", "lock and its own", "gles", "numpy"],
)
def test_one_class_gives_the_same_pixels_in_all_ways(gl_available, way):
    own = "own" in way

    class Own(Swap):
        gl_context_key = "user:own"

    given = images(*SIZES)
    api, policy = "gles" if way == "gles" else None, "off" if way == "numpy" else "require"
    with GpuResources(policy, api=api, threads="lock" not in way) as resources:
        packets = filtered(Own if own else Swap, resources, given)
        assert [int(packet.timestamp) for packet in packets] == [0, 1, 2, 3, 4]
        for packet, image in zip(packets, given, strict=True):
            np.testing.assert_array_equal(packet.payload.array(), image[..., [2, 1, 0, 3]])
        assert resources.keys == (() if way == "numpy" else ("", "user:own") if own else ("",))
    expected = ["cpu"] * 5
    if way != "numpy":
        at = "user:own" if own else "main"
        expected = [f"setup in {at}", *["bind", "render with unit 1"] * 5, f"teardown in {at}"]
    assert Swap.log == expected


def test_where_gl_is_only_preferred_and_missing_all_nodes_compute_and_one_line_is_logged(monkeypatch, caplog):
    load = ctypes.CDLL

    def missing(name, *arguments, **named):
        if name and "libEGL" in str(name):
            raise OSError(f"{name}: cannot open shared object file")
        return load(name, *arguments, **named)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    monkeypatch.setattr(egl, "_loaded", None)
    monkeypatch.setenv("PENSTOCK_GPU", "prefer")
    text = 'input_stream: "in" ' + " ".join(
        f'node {{ calculator: "Swap" input_stream: "{a}" output_stream: "{b}" }}'
        for a, b in (("in", "a"), ("a", "b"), ("b", "c"))
    )
    graph = penstock.CalculatorGraph(text, registry=testing_registry(Swap))
    made = []
    graph.observe_output_stream("c", lambda _, packet: made.append(packet.payload))
    given = images(*SIZES)
    for _ in range(2):
        graph.start_run()
        for t, image in enumerate(given):
            graph.add_packet_to_input_stream("in", penstock.Packet(GpuBuffer.of_array(image), t))
        graph.close_all_packet_sources()
        graph.wait_until_done(PATIENCE_S)
    graph.close()

    assert len(made) == 10
    for buffer, image in zip(made, given * 2, strict=True):
        np.testing.assert_array_equal(buffer.array(), image[..., [2, 1, 0, 3]])
    (record,) = [record for record in caplog.records if record.name == "penstock.gpu"]
    assert record.getMessage().startswith("there is no GL, so GPU nodes take their NumPy path: libEGL.so.1 ")


# --- the contract -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ports",
    [
        'input_stream: "VIDEO:in" output_stream: "VIDEO:out"',
        'input_stream: "in" output_stream: "VIDEO:out"',
        'input_stream: "VIDEO:in" output_stream: "out"',
    ],
)
def test_ports_are_video_or_without_a_tag(resources, ports):
    given = images((3, 2))
    (packet,) = filtered(Swap, resources, given, ports=ports)
    np.testing.assert_array_equal(packet.payload.array(), given[0][..., [2, 1, 0, 3]])


def test_only_buffers_go_in(resources):
    graph = graph_of(Swap, resources)
    graph.start_run()
    with pytest.raises(penstock.PenstockError, match="GpuBuffer"):
        graph.add_packet_to_input_stream(
            "in", penstock.Packet(ImageFrame(images((2, 2))[0], ImageFormat.SRGBA), 1)
        )
    graph.close(PATIENCE_S)


def test_bounds_flow_through_and_headers_are_passed_on(resources):
    class Reads(penstock.Calculator):
        headers = []  # noqa: RUF012
        times = []  # noqa: RUF012

        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.set_process_timestamp_bounds()

        def open(self, cc):
            self.headers.append(cc.input.header.payload)

        def process(self, cc):
            self.times.append((int(cc.input_timestamp), cc.input.is_empty()))

    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Swap" input_stream: "in" output_stream: "out" }'
        'node { calculator: "Reads" input_stream: "out" }',
        registry=testing_registry(Swap, Reads),
    )
    graph.set_service(GPU, resources)
    header = VideoHeader(width=3, height=2, frame_rate=25.0)
    with graph:
        graph.start_run(stream_headers={"in": header})
        graph.add_packet_to_input_stream("in", penstock.Packet(GpuBuffer.of_array(images((3, 2))[0]), 5))
        graph.set_input_stream_timestamp_bound("in", 8)
        graph.wait_until_idle(PATIENCE_S)

    assert Reads.headers == [header]
    assert (5, False) in Reads.times
    assert (7, True) in Reads.times


# --- the hooks --------------------------------------------------------------------------------


def test_size_and_format_of_what_goes_out_are_the_calculators_choice(gl_available):
    class Wide(GlSimpleCalculator):
        def output_dimensions(self, width, height):
            return 2 * width, height + 1

        def output_format(self):
            return GpuBufferFormat.ONE_COMPONENT8

        def gl_render(self, src, dst):
            assert (src.width, src.height, dst.width, dst.height) == (3, 2, 6, 3)
            gl.glClearColor(100 / 255, 0, 0, 0)
            gl.glClear(gl.GL_COLOR_BUFFER_BIT)

        def cpu_render(self, src):
            return np.full((src.shape[0] + 1, 2 * src.shape[1]), 100, np.uint8)

    for policy in ("require", "off"):
        with GpuResources(policy) as resources:
            (packet,) = filtered(Wide, resources, images((3, 2)))
            assert packet.payload.format is GpuBufferFormat.ONE_COMPONENT8
            np.testing.assert_array_equal(packet.payload.array(), np.full((3, 6), 100, np.uint8))


@pytest.mark.parametrize("policy", ["require", "off"])
def test_a_size_that_cannot_be_is_refused(gl_available, policy):
    class Empty(Swap):
        def output_dimensions(self, width, height):
            return width - 3, height

    with (
        GpuResources(policy) as resources,
        pytest.raises(
            GraphRunError,
            match=r"output_dimensions of filter Empty made 0x2 of 3x2, but an image has at least",
        ),
    ):
        filtered(Empty, resources, images((3, 2)))


@pytest.mark.parametrize("policy", ["require", "off"])
def test_a_size_that_is_not_whole_is_refused(gl_available, policy):
    class Half(Swap):
        def output_dimensions(self, width, height):
            return width / 2, height // 2

    with (
        GpuResources(policy) as resources,
        pytest.raises(
            GraphRunError, match=r"the helper can draw nothing on an image of 2\.0 x 1; give whole numbers"
        ),
    ):
        filtered(Half, resources, images((4, 2)))


@pytest.mark.parametrize("policy", ["require", "off"])
def test_an_open_that_forgets_the_base_is_told(gl_available, policy):
    class Forgetful(Swap):
        def open(self, cc):
            pass

    with (
        GpuResources(policy) as resources,
        pytest.raises(GraphRunError, match=r"Forgetful.*not open; call .*super\(\)\.open\(cc\), in open\(\)"),
    ):
        filtered(Forgetful, resources, images((3, 2)))
    assert "cpu" not in Swap.log


def test_an_init_need_not_call_the_base(resources):
    class Own(Swap):
        def __init__(self):
            self.log.append("init")

    (packet,) = filtered(Own, resources, [np.full((2, 3, 4), (1, 2, 3, 255), np.uint8)])

    assert packet.payload.array()[0, 0].tolist() == [3, 2, 1, 255]
    assert Swap.log[0] == "init"


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (np.zeros((2, 3, 3), np.uint8), r"\(2, 3, 3\) uint8"),
        (np.zeros((2, 3, 4), np.float32), r"\(2, 3, 4\) float32"),
        (None, "'NoneType'"),
    ],
)
def test_what_cpu_render_returns_must_be_the_image_that_was_promised(made, found):
    class Bad(Swap):
        def cpu_render(self, src):
            return made

    with pytest.raises(
        GraphRunError,
        match=rf"cpu_render of filter Bad drew {found}, but BGRA32 of 3x2 is \(2, 3, 4\) uint8; see its "
        r"output_dim",
    ):
        filtered(Bad, GpuResources("off"), images((3, 2)))


def test_what_cpu_render_is_given_cannot_be_written_to():
    class Writes(Swap):
        def cpu_render(self, src):
            src[...] = 0
            return src

    given = images((3, 2))
    before = given[0].copy()
    with pytest.raises(GraphRunError, match="read-only"):
        filtered(Writes, GpuResources("off"), given)
    np.testing.assert_array_equal(given[0], before)


def test_a_filter_without_a_numpy_path_says_so_before_the_first_image_where_there_is_no_gl():
    class OnlyGl(GlSimpleCalculator):
        def gl_render(self, src, dst):
            raise AssertionError

    with pytest.raises(
        GraphRunError,
        match=r"node 'OnlyGl'.*: filter OnlyGl draws by GL alone, and there is no GL: its policy is 'off'; "
        r"give the filter a cpu_render\(src\), or bring GL",
    ) as caught:
        filtered(OnlyGl, GpuResources("off"), [])
    assert isinstance(caught.value.errors[0].__cause__, GpuUnavailableError)
    assert "open() failed" in str(caught.value)


def test_a_filter_that_draws_nothing_is_told_to(resources):
    class Forgets(GlSimpleCalculator):
        pass

    with pytest.raises(GraphRunError, match=r"filter Forgets must override gl_render\(src, dst\)"):
        filtered(Forgets, resources, images((3, 2)))


@pytest.mark.parametrize("fails_in", ["gl_setup", "gl_bind", "gl_render", "gl_teardown"])
def test_a_hook_that_fails_names_the_node_and_the_next_run_works(resources, fails_in):
    state = {"fails": True}

    class Fails(Swap):
        pass

    def hook(self, *arguments):
        if state["fails"]:
            raise ValueError(f"{fails_in} is broken")
        return getattr(Swap, fails_in)(self, *arguments)

    setattr(Fails, fails_in, hook)
    method = "close" if fails_in == "gl_teardown" else "process"
    graph = graph_of(Fails, resources)
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(GpuBuffer.of_array(images((3, 2))[0]), 1))
    with pytest.raises(
        GraphRunError, match=rf"node 'Fails' \(Fails\): {method}\(\) failed.*{fails_in} is broken"
    ):
        graph.close(PATIENCE_S)
    assert ("teardown in main" in Swap.log) == (fails_in in {"gl_bind", "gl_render"})

    state["fails"] = False
    made = []
    graph.observe_output_stream("out", lambda _, packet: made.append(packet.payload))
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(GpuBuffer.of_array(images((3, 2))[0]), 1))
    graph.close(PATIENCE_S)
    np.testing.assert_array_equal(made[0].array(), images((3, 2))[0][..., [2, 1, 0, 3]])


def test_a_run_without_images_sets_nothing_up_and_tears_nothing_down(resources):
    assert filtered(Swap, resources, []) == []
    assert Swap.log == []


def test_a_shader_that_does_not_compile_names_the_node_with_the_log(resources):
    class Broken(Swap):
        def gl_setup(self):
            self.program = GlProgram("void main() {\n  nonsense();\n}", name="Broken's")

    with pytest.raises(GraphRunError, match=r"(?s)node 'Broken' .*fragment shader of .*2:   nonsense\(\);"):
        filtered(Broken, resources, images((3, 2)))


def test_buffers_of_main_memory_are_uploaded_once_and_stay_readable(resources):
    buffer = GpuBuffer.of_array(images((8, 8))[0])
    context = resources.context()
    before = context.uploads
    filtered(Swap, resources, [buffer, buffer, buffer])
    assert context.uploads == before + 1


@pytest.mark.parametrize("kind", [Swap, GlScalerCalculator])
def test_a_pass_costs_one_fence(resources, monkeypatch, kind):
    main = resources.context()
    resources.context("user:other")  # else fences are put off, see test_late_fences
    fences, make = [], gl.glFenceSync
    monkeypatch.setattr(
        gl, "glFenceSync", lambda *arguments: fences.append(GlContext.current()) or make(*arguments)
    )
    buffer = GpuBuffer.of_array(images((8, 8))[0])

    filtered(kind, resources, [buffer] * 5)

    assert fences.count(main) == 1 + 5  # of the upload, and of each pass


def test_sizes_may_change_and_every_texture_comes_back_to_the_pool(resources, freed):
    packets = filtered(Swap, resources, images(*SIZES * 4))
    assert len(packets) == 20
    packets.clear()  # the graph may still refer to the list
    freed(resources.context())
    assert resources.pool.in_use == 0


def test_many_nodes_of_many_contexts_keep_their_images_apart(resources):
    """Four branches in four contexts, each with its own threads; all pixels are right."""
    kinds = [type(f"Swap{n}", (Swap,), {"gl_context_key": f"user:{n}" if n else ""}) for n in range(4)]
    text = 'input_stream: "in" ' + " ".join(
        f'node {{ calculator: "Swap{n}" input_stream: "in" output_stream: "a{n}" }} '
        f'node {{ calculator: "Swap{(n + 1) % 4}" input_stream: "a{n}" output_stream: "b{n}" }}'
        for n in range(4)
    )
    graph = penstock.CalculatorGraph(text, registry=testing_registry(*kinds))
    graph.set_service(GPU, resources)
    made = {n: [] for n in range(4)}
    for n in range(4):
        graph.observe_output_stream(f"b{n}", lambda _, packet, n=n: made[n].append(packet.payload))
    given = images(*[(t % 5 + 1, t % 3 + 1) for t in range(60)])
    graph.start_run()
    for t, image in enumerate(given):
        graph.add_packet_to_input_stream("in", penstock.Packet(GpuBuffer.of_array(image), t))
    graph.close(PATIENCE_S)

    for buffers in made.values():
        assert len(buffers) == 60
        for buffer, image in zip(buffers, given, strict=True):
            np.testing.assert_array_equal(buffer.array(), image)
    threads = {thread.name for thread in threading.enumerate()}
    assert {"penstock-gpu main", *(f"penstock-gpu user:{n}" for n in (1, 2, 3))} <= threads


def test_nothing_is_logged_for_images(resources, caplog):
    with caplog.at_level(logging.DEBUG, "penstock.gpu"):
        filtered(Swap, resources, images(*SIZES))
    assert not [record for record in caplog.records if record.name == "penstock.gpu"]
