"""Options of a stranger's graph that ask for too much time or memory: a typed error, soon, in little memory.

Each graph runs in a process of its own, under limits of its memory and of its processor time.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.heavy

pytest.importorskip("resource")  # limits of processes are not for every system

MEMORY = 3 * 2**30
CPU_S = 12
RUN = """
import json, resource, sys
text, inputs, sides = json.load(sys.stdin)
import penstock, penstock_formats, numpy
{before}
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
resource.setrlimit(resource.RLIMIT_CPU, ({cpu}, {cpu}))
FRAME = penstock_formats.ImageFrame(numpy.zeros((16, 16), numpy.uint8))
COLOUR = penstock_formats.ImageFrame(numpy.zeros((16, 16, 3), numpy.uint8))
def payload(value):
    return {{"gray": FRAME, "colour": COLOUR}}.get(value, value) if isinstance(value, str) else value
graph = penstock.CalculatorGraph(text)
try:
    graph.start_run(sides)
    for stream, value, t in inputs:
        graph.add_packet_to_input_stream(stream, penstock.Packet(payload(value), t))
    {during}
    graph.close_all_packet_sources()
    graph.wait_until_done(60)
except penstock.PenstockError as error:
    print(json.dumps([error.code.name, str(error)]))
else:
    print(json.dumps(["OK", ""]))
"""


def outcome(text, inputs=(), sides=None, before="", during=""):
    """Run a graph in a process with little memory and time; return the code of its error, and the message."""
    script = RUN.format(memory=MEMORY, cpu=CPU_S, before=before, during=during)
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps([text, list(inputs), sides or {}]),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return tuple(json.loads(done.stdout))


def one(calculator, options="", ports='input_stream: "in" output_stream: "out"', more=""):
    """Write a graph of one node."""
    given = f"options {{ [penstock.{options.replace(' {', '.ext] {', 1)} }}" if options else ""
    return f'{more} node {{ calculator: "{calculator}" {ports} {given} }}'


IN = 'input_stream: "in" '
SEEDED = IN + 'input_side_packet: "seed" '
SEED_PORTS = 'input_stream: "DATA:in" output_stream: "DATA:out" input_side_packet: "SEED:seed"'
GAP = [("in", 1, 0), ("in", 2, 10**12)]
RESAMPLER = "PacketResamplerCalculatorOptions { frame_rate: 1000000"


@pytest.mark.parametrize(
    ("more", "ports", "options", "period"),
    [
        (IN, 'input_stream: "in" output_stream: "out"', "}", 10**12),
        (SEEDED, SEED_PORTS, "jitter: 1 }", 10**12),
        (SEEDED, SEED_PORTS, "jitter: 0.5 jitter_with_reflection: true }", 10**12),
        (SEEDED, SEED_PORTS, "reproducible_sampling: true }", 10**12),
    ],
)
def test_a_resampler_names_timestamps_periods_and_option_where_a_gap_has_too_many_periods(
    more, ports, options, period
):
    code, message = outcome(
        one("PacketResamplerCalculator", f"{RESAMPLER} {options}", ports, more),
        GAP,
        {"seed": "s"} if "seed" in more else {},
    )

    assert code == "RESOURCE_EXHAUSTED"
    said = f"{period} periods of 1 us between two packets, at 0 and 1000000000000, but max_periods is 1000000"
    assert said in message
    assert "raise the option max_periods" in message


TELL_TURNS = """
import threading
from penstock_calculators.timing import packet_resampler
writes, turn = threading.Event(), packet_resampler._turn
async def told_turn():
    writes.set()
    await turn()
packet_resampler._turn = told_turn
"""


def test_cancel_ends_a_resampler_that_has_millions_of_packets_to_write():
    code, _ = outcome(
        one("PacketResamplerCalculator", f"{RESAMPLER} max_periods: 10000000 }}", more=IN),
        [("in", 1, 0), ("in", 2, 9_999_999)],
        before=TELL_TURNS,
        during="assert writes.wait(60); graph.cancel()",
    )

    assert code == "CANCELLED"


def test_a_resampler_writes_what_a_gap_below_the_limit_asks_for():
    during = """
    graph.close_all_packet_sources(); graph.wait_until_done(60)
    (account,) = [one for one in graph.ledger().streams if one.name == "out"]
    assert account.added == 300_001, account
    """
    code, message = outcome(
        one("PacketResamplerCalculator", f"{RESAMPLER} }}", more=IN),
        [("in", 1, 0), ("in", 2, 300_000)],
        during="\n    ".join(line.strip() for line in during.strip().splitlines()),
    )

    assert (code, message) == ("OK", "")


TRANSFORMED = 'input_stream: "IMAGE:in" output_stream: "IMAGE:out"'
PATTERN = 'output_stream: "VIDEO:out"'
CONSTANT = """node { calculator: "ConstantSidePacketCalculator" output_side_packet: "PACKET:count"
  options { [penstock.ConstantSidePacketCalculatorOptions.ext] { packet { int_value: 2147483647 } } } }"""
SERIES = """input_stream: "in"
node { calculator: "AddAudioHeaderCalculator" input_stream: "in" output_stream: "s"
  node_options { [type.googleapis.com/penstock.AddAudioHeaderCalculatorOptions] { num_channels: %d } } }"""
LONG_FILTER = "resampler_rational_factor_options { radius_factor: 1e6 }"
OF_SERIES = 'input_stream: "s" output_stream: "out"'
LARGE = [
    (
        "a series of very many channels",
        one(
            "TwoTapFirFilterCalculator",
            ports='input_stream: "INPUT:s" output_stream: "OUTPUT:out"',
            more=SERIES % (2**31 - 1),
        ),
        [],
        "RESOURCE_EXHAUSTED",
        "the num_channels in the header of stream 's' is 2147483647, but at most 16777216 are allowed",
    ),
    *(
        (
            f"a series through {calculator}",
            one(calculator, options, OF_SERIES, SERIES % 1),
            [],
            "RESOURCE_EXHAUSTED",
            message,
        )
        for calculator, options, message in (
            (
                "TimeSeriesFramerCalculator",
                "TimeSeriesFramerCalculatorOptions { frame_duration_seconds: 1e9 }",
                "the number of samples in 1000000000.0 s at 48000.0 Hz is 48000000000000",
            ),
            (
                "SpectrogramCalculator",
                "SpectrogramCalculatorOptions { frame_duration_seconds: 1 fft_size: 2147483647 }",
                "fft_size is 2147483647",
            ),
            (
                "ResampleTimeSeriesCalculator",
                "ResampleTimeSeriesCalculatorOptions { target_sample_rate: 44100 " + LONG_FILTER + " }",
                "the product of 147 phases and",
            ),
        )
    ),
    (
        "a scaled image",
        one(
            "ImageTransformationCalculator",
            "ImageTransformationCalculatorOptions { output_width: 2147483647 output_height: 2147483647 }",
            TRANSFORMED,
            IN,
        ),
        [("in", "colour", 0)],
        "RESOURCE_EXHAUSTED",
        "a frame of 2147483647x2147483647 has 4611686014132420609 pixels, but at most 134217728 are allowed",
    ),
    (
        "a scaled image that just does not fit",
        one(
            "ImageTransformationCalculator",
            "ImageTransformationCalculatorOptions { output_width: 16384 output_height: 8193 }",
            TRANSFORMED,
            IN,
        ),
        [("in", "colour", 0)],
        "RESOURCE_EXHAUSTED",
        "PENSTOCK_MAX_PIXELS",
    ),
    (
        "a cropped image",
        one(
            "ImageCroppingCalculator",
            "ImageCroppingCalculatorOptions { norm_width: 2e6 norm_height: 2e6 rotation: 1 }",
            TRANSFORMED,
            IN,
        ),
        [("in", "colour", 0)],
        "RESOURCE_EXHAUSTED",
        "the region: a frame of 32000000x32000000",
    ),
    (
        "an image scaled by its proportions",
        one("ScaleImageCalculator", "ScaleImageCalculatorOptions { target_width: 2147483647 }", more=IN),
        [("in", "colour", 0)],
        "RESOURCE_EXHAUSTED",
        "the scaled frame: a frame of 2147483646x2147483646",
    ),
    (
        "a wide neighbourhood",
        one(
            "BilateralFilterCalculator",
            "BilateralFilterCalculatorOptions { sigma_color: 1 sigma_space: 1e9 }",
            TRANSFORMED,
            IN,
        ),
        [("in", "colour", 0)],
        "INVALID_ARGUMENT",
        "sigma_space at most 100; change the options",
    ),
    (
        "many patches",
        one(
            "FeatureDetectorCalculator",
            "FeatureDetectorCalculatorOptions { max_features: 2147483647 }",
            'input_stream: "IMAGE:in" output_stream: "PATCHES:out"',
            IN,
        ),
        [("in", "colour", 0)],
        "INVALID_ARGUMENT",
        "max_features is 2147483647, but must be 1 to 10000",
    ),
    (
        "wide lines",
        one("CannyEdgeCalculator", "CannyEdgeCalculatorOptions { line_width: 2147483647 }", more=IN),
        [("in", "gray", 0)],
        "INVALID_ARGUMENT",
        "line_width is 2147483647, but must be an odd number from 1 to 999",
    ),
    (
        "a test pattern",
        one(
            "VideoDecoderCalculator",
            "VideoDecoderCalculatorOptions { test_pattern { width: 2147483647 height: 65536 } }",
            PATTERN,
        ),
        [],
        "RESOURCE_EXHAUSTED",
        "test pattern: a frame of 2147483647x65536",
    ),
    *(
        (
            f"a test pattern at {rate}",
            one(
                "VideoDecoderCalculator",
                f"VideoDecoderCalculatorOptions {{ test_pattern {{ fps: {rate} }} }}",
                PATTERN,
            ),
            [],
            "INVALID_ARGUMENT",
            "the rate from 0.01 to 1000000",
        )
        for rate in ("1e-300", "inf", "nan", "1e7")
    ),
    (
        "threads of the decoder",
        one(
            "VideoDecoderCalculator",
            "VideoDecoderCalculatorOptions { test_pattern { } decoder_threads: 2147483647 }",
            PATTERN,
        ),
        [],
        "INVALID_ARGUMENT",
        "decoder_threads is 2147483647, but must be from 0 to 256",
    ),
    *(
        (
            f"an encoder with {option}",
            one(
                "OpenCvVideoEncoderCalculator",
                f"OpenCvVideoEncoderCalculatorOptions {{ {option} }}",
                'input_stream: "VIDEO:in" input_side_packet: "OUTPUT_FILE_PATH:path"',
                f'{IN} input_side_packet: "path"',
            ),
            [("in", "colour", 0)],
            "INVALID_ARGUMENT",
            message,
        )
        for option, message in (
            ("threads: 2147483647", "threads is 2147483647, but must be from 0 to 256"),
            ("fps: 1e-300", "fps is 1e-300, but must be 0 or from 0.01 to 1000000"),
            ("fps: inf", "fps is inf"),
        )
    ),
    (
        "a batch of numbers",
        CONSTANT
        + one(
            "CountingSourceCalculator",
            ports='input_side_packet: "MAX_COUNT:count" input_side_packet: "BATCH_SIZE:count" '
            'output_stream: "out"',
        ),
        [],
        "INVALID_ARGUMENT",
        "side packet BATCH_SIZE of the counting source is 2147483647, but must be at most 1000000",
    ),
    (
        "lists that double",
        'input_stream: "s0"'
        + "".join(
            one(
                "ConcatenateFloatVectorCalculator",
                ports=f'input_stream: "s{i}" input_stream: "s{i}" output_stream: "s{i + 1}"',
            )
            for i in range(40)
        ),
        [("s0", [1.0, 2.0], 0)],
        "RESOURCE_EXHAUSTED",
        "elements",
    ),
]


@pytest.mark.parametrize(
    ("graph", "inputs", "code", "message"), [case[1:] for case in LARGE], ids=[case[0] for case in LARGE]
)
def test_what_a_graph_asks_for_too_large_is_refused_before_memory_is_taken(
    graph, inputs, code, message, tmp_path
):
    found = outcome(graph, inputs, {"path": str(tmp_path / "made.mkv")} if '"path"' in graph else {})

    assert found[0] == code, found
    assert message in found[1]
