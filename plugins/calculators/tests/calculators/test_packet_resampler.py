"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError, GraphRunError, Timestamp
from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock_calculators.messages.packet_resampler_pb2 import PacketResamplerCalculatorOptions
from penstock_calculators.timing.packet_resampler import PacketResamplerCalculator
from penstock_formats import ImageFormat, VideoHeader
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import ScheduleHarness, explore, node, run_calculator, wired

SPREAD = [-222, 15000, 32000, 49999, 150000]
CROWDED = [16666, 16667, 20000, 33300, 49999, 50000, 66600]
HEADER = VideoHeader(ImageFormat.SRGB, 10, 100, 200.0, 1.0)
UPDATE, PASS = (
    PacketResamplerCalculatorOptions.UPDATE_VIDEO_HEADER, PacketResamplerCalculatorOptions.PASS_HEADER,
)  # fmt: skip


def options(frame_rate=30.0, **fields):
    return PacketResamplerCalculatorOptions(frame_rate=frame_rate, **fields)


def run(timestamps, given, data=0, out=0, **arguments):
    """A packet's payload is its timestamp."""
    inputs = {data: [(t, t) for t in timestamps], **arguments.pop("inputs", {})}
    outputs = [out, *arguments.pop("outputs", [])]
    return run_calculator(PacketResamplerCalculator, inputs, outputs=outputs, options=given, **arguments)


def resampled(timestamps, given, **arguments):
    """Return payload and timestamp of each output packet."""
    return [(packet.payload, packet.stamp) for packet in run(timestamps, given, **arguments).outputs[0]]


def pairs(payloads, stamps):
    return list(zip(payloads, stamps, strict=True))


@pytest.mark.parametrize(
    ("timestamps", "payloads", "stamps"),
    [
        ([], [], []),
        ([0], [0], [0]),
        ([16668], [16668], [16668]),
        ([0, 16666], [0], [0]),
        ([0, 16667], [0, 16667], [0, 33333]),
        ([0, 49999], [0, 49999], [0, 33333]),
        ([0, 50000], [0, 0, 50000], [0, 33333, 66667]),
        ([2000, 118666], [2000, 2000, 2000, 118666], [2000, 35333, 68667, 102000]),
        ([0, *CROWDED], [0, 33300, 66600], [0, 33333, 66667]),
        ([-222, *CROWDED], [-222, 33300, 66600], [-222, 33111, 66445]),
        ([0, 5000, 16666, 83334], [0, 16666, 16666, 83334], [0, 33333, 66667, 100000]),
        (
            [0, 16666, 16667, 25000, 33000, 35000, 135000],
            [0, 33000, 35000, 35000, 135000],
            [0, 33333, 66667, 100000, 133333],
        ),
        (
            [0, *SPREAD[1:]],
            [0, 32000, 49999, 49999, 49999, 150000],
            [0, 33333, 66667, 100000, 133333, 166667],
        ),
        ([0, 33323, 33343], [0, 33343], [0, 33333]),
        ([-500, 66667], [-500, -500, 66667], [-500, 32833, 66167]),
        ([-50000, -33334, 33334], [-50000, -33334, -33334, 33334], [-50000, -16667, 16667, 50000]),
    ],
)
def test_outputs_stand_at_equal_distances_and_are_the_nearest_packets(timestamps, payloads, stamps):
    assert resampled(timestamps, options()) == pairs(payloads, stamps)


@pytest.mark.parametrize(
    ("rate", "timestamps", "payloads", "stamps"),
    [
        (50, [0, 9999, 29999], [0, 29999], [0, 20000]),
        (50, [0, 10000, 50000], [0, 10000, 10000, 50000], [0, 20000, 40000, 60000]),
        (500_000, [0, 10, 13], [0, 0, 0, 0, 0, 10, 10, 13], range(0, 16, 2)),
        (1_000_000, [0, 10, 13], [*[0] * 10, 10, 10, 10, 13], range(14)),
    ],
)
def test_any_rate_up_to_one_for_each_microsecond_is_kept(rate, timestamps, payloads, stamps):
    assert resampled(timestamps, options(rate)) == pairs(payloads, stamps)


@pytest.mark.parametrize(
    ("timestamps", "flush", "expected"),
    [
        ([0, 333333, 666667, 1000000, 1333333], True, [(0, 0), (1000000, 1000000)]),
        (
            [0, 333333, 666667, 1000000, 1333333, 1666667], True,
            [(0, 0), (1000000, 1000000), (1666667, 2000000)],
        ),
        ([0, 333333, 666667, 1000000, 1333333, 1666667], False, [(0, 0), (1000000, 1000000)]),
    ],
)  # fmt: skip
def test_the_last_packet_is_flushed_where_it_is_nearest_to_an_output(timestamps, flush, expected):
    assert resampled(timestamps, options(1, flush_last_packet=flush)) == expected


@pytest.mark.parametrize(
    ("base", "timestamps", "payloads", "stamps"),
    [
        (0, SPREAD, [-222, 32000, 49999, 49999, 49999, 150000], [0, 33333, 66667, 100000, 133333, 166667]),
        (900011, [-222, *CROWDED], [-222, 33300, 66600], [11, 33344, 66678]),
        (0, [33111, 66667, 100000], [33111, 66667, 100000], [33333, 66666, 100000]),
        (0, [100020, 133333, 166667], [100020, 133333, 166667], [100000, 133333, 166667]),
    ],
)
def test_a_base_timestamp_says_where_the_outputs_stand(base, timestamps, payloads, stamps):
    assert resampled(timestamps, options(base_timestamp=base)) == pairs(payloads, stamps)


@pytest.mark.parametrize(
    ("rounds", "stamps"),
    [(False, [66667, 100000, 133333]), (True, [33333, 66667, 100000, 133333, 166667])],
)
def test_outputs_beyond_the_limits_are_left_out(rounds, stamps):
    given = options(base_timestamp=0, start_time=40000, end_time=160000, round_limits=rounds)

    assert [stamp for _, stamp in resampled(SPREAD, given)] == stamps


def test_the_start_is_within_the_limits_and_the_end_is_not():
    given = options(base_timestamp=0, start_time=33333, end_time=100000)

    assert [stamp for _, stamp in resampled(SPREAD, given)] == [33333, 66667]


MIDDLES = [33111, 66667, 100000, 133333, 166667, 200000]
FILLED = [-222, 32000, 49999, 49999, 49999, 150000]
REGULAR = [0, 33333, 66667, 100000, 133333, 166667, 200000]


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(
            [(options(), [], [], [])],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.NoPacketsInStream",
            ),
        ),
        pytest.param(
            [
                (options(), [0], [0], [0]),
                (options(), [1000], [1000], [1000]),
                (options(), [16668], [16668], [16668]),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.SinglePacketInStream",
            ),
        ),
        pytest.param(
            [
                (options(), [0, 16666], [0], [0]),
                (options(), [0, 16667], [0, 16667], [0, 33333]),
                (options(), [0, 49999], [0, 49999], [0, 33333]),
                (options(), [0, 50000], [0, 0, 50000], [0, 33333, 66667]),
                (options(), [2000, 118666], [2000, 2000, 2000, 118666], [2000, 35333, 68667, 102000]),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.TwoPacketsInStream",
            ),
        ),
        pytest.param(
            [(options(), REGULAR, REGULAR, REGULAR)],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.InputAtExactFrequencyMiddlepoints",
            ),
        ),
        pytest.param(
            [(options(), [0, *CROWDED], [0, 33300, 66600], [0, 33333, 66667])],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.MultiplePacketsForPeriods",
            ),
        ),
        pytest.param(
            [
                (options(), [0, 5000, 16666, 83334], [0, 16666, 16666, 83334], [0, 33333, 66667, 100000]),
                (
                    options(),
                    [0, 16666, 16667, 25000, 33000, 35000, 135000],
                    [0, 33000, 35000, 35000, 135000],
                    [0, 33333, 66667, 100000, 133333],
                ),
                (options(), [0, *SPREAD[1:]], [0, *FILLED[1:]], REGULAR[:6]),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.FillPeriodsWithLatestPacket",
            ),
        ),
        pytest.param(
            [
                (options(500_000), [0, 10, 13], [0, 0, 0, 0, 0, 10, 10, 13], range(0, 16, 2)),
                (options(1_000_000), [0, 10, 13], [*[0] * 10, 10, 10, 10, 13], range(14)),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.SuperHighFrameRate",
            ),
        ),
        pytest.param(
            [
                (options(), [-200, -20, 16466], [-200], [-200]),
                (options(), [-200, -20, 16467], [-200, 16467], [-200, 33133]),
                (options(), [-500, 66667], [-500, -500, 66667], [-500, 32833, 66167]),
                (
                    options(),
                    [-50000, -33334, 33334],
                    [-50000, -33334, -33334, 33334],
                    [-50000, -16667, 16667, 50000],
                ),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.NegativeTimestampTest",
            ),
        ),
        pytest.param(
            [
                (options(50), [0, 9999, 29999], [0, 29999], [0, 20000]),
                (options(50), [0, 10000, 50000], [0, 10000, 10000, 50000], [0, 20000, 40000, 60000]),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.ExactFramesPerSecond",
            ),
        ),
        pytest.param(
            [(options(1), [0, 333333, 666667, 1000000, 1333333], [0, 1000000], [0, 1000000])],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.FlushLastPacketWithoutRound",
            ),
        ),
        pytest.param(
            [
                (
                    options(1),
                    [0, 333333, 666667, 1000000, 1333333, 1666667],
                    [0, 1000000, 1666667],
                    [0, 1000000, 2000000],
                )
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.FlushLastPacketWithRound",
            ),
        ),
        pytest.param(
            [
                (
                    options(1, flush_last_packet=False),
                    [0, 333333, 666667, 1000000, 1333333],
                    [0, 1000000],
                    [0, 1000000],
                )
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.DoNotFlushLastPacketWithoutRound",
            ),
        ),
        pytest.param(
            [
                (
                    options(1, flush_last_packet=False),
                    [0, 333333, 666667, 1000000, 1333333, 1666667],
                    [0, 1000000],
                    [0, 1000000],
                )
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.DoNotFlushLastPacketWithRound",
            ),
        ),
        pytest.param(
            [
                (options(), MIDDLES, MIDDLES, [33111, 66444, 99778, 133111, 166444, 199778]),
                (options(base_timestamp=0), MIDDLES, MIDDLES, [33333, 66666, 100000, 133333, 166666, 200000]),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.InputAtExactFrequencyMiddlepointsAligned",
            ),
        ),
        pytest.param(
            [
                (options(), [-222, *CROWDED], [-222, 33300, 66600], [-222, 33111, 66445]),
                (options(base_timestamp=900011), [-222, *CROWDED], [-222, 33300, 66600], [11, 33344, 66678]),
                (
                    options(base_timestamp=11),
                    [899888, *(900000 + t for t in CROWDED)],
                    [899888, 933300, 966600],
                    [900011, 933344, 966678],
                ),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.MultiplePacketsForPeriodsAligned",
            ),
        ),
        pytest.param(
            [
                (options(), SPREAD, FILLED, [-222, 33111, 66445, 99778, 133111, 166445]),
                (options(base_timestamp=0), SPREAD, FILLED, REGULAR[:6]),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.FillPeriodsWithLatestPacketAligned",
            ),
        ),
        pytest.param(
            [
                (
                    options(base_timestamp=0),
                    [66667, 100020, 133333, 166667],
                    [66667, 100020, 133333, 166667],
                    [66667, 100000, 133334, 166667],
                ),
                (
                    options(base_timestamp=0),
                    [100020, 133333, 166667],
                    [100020, 133333, 166667],
                    [100000, 133333, 166667],
                ),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.FirstInputAfterMiddlepointAligned",
            ),
        ),
        pytest.param(
            [
                (options(base_timestamp=0), SPREAD, FILLED, REGULAR[:6]),
                (
                    options(base_timestamp=0, start_time=40000, end_time=160000),
                    SPREAD,
                    [49999, 49999, 49999],
                    [66667, 100000, 133333],
                ),
                (
                    options(base_timestamp=0, start_time=40000, end_time=160000, round_limits=True),
                    SPREAD,
                    [32000, 49999, 49999, 49999, 150000],
                    [33333, 66667, 100000, 133333, 166667],
                ),
            ],
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.OutputTimestampRangeAligned",
            ),
        ),
    ],
)
def test_the_nearest_packets_come_at_the_times_of_the_reference(cases):
    for given, timestamps, payloads, stamps in cases:
        assert resampled(timestamps, given) == pairs(payloads, stamps)


def harness_of(given, side_inputs="", **arguments):
    line = node(PacketResamplerCalculator, "in", "out", options=[given], side_inputs=side_inputs)
    return ScheduleHarness(wired(line, inputs="in"), **arguments)


def test_the_bound_is_the_next_output():
    harness = harness_of(options()).start()
    reached = []
    for timestamp in (0, 16000, 17000, 34000, 120000):
        harness.add("in", timestamp, timestamp)
        harness.run()
        reached.append(harness.stream("out").bound)

    assert reached == [33333, 33333, 33333, 66667, 133333]
    harness.finish()


@pytest.mark.parametrize(
    ("given", "timestamps", "count"),
    [
        (options(), [0, *CROWDED], 5),
        (options(), SPREAD, 1),
        (options(start_time=40000), SPREAD, 3),
        (options(jitter=0.5), [0, 1, 2, 3], 3),
        (options(flush_last_packet=False), [0, 20000], 1),
    ],
)
def test_packets_that_are_never_written_are_counted_as_dropped(given, timestamps, count):
    harness = harness_of(given, "SEED:seed", side_packets={"seed": "seed"}).start()
    for timestamp in timestamps:
        harness.add("in", timestamp, timestamp)
    harness.finish()

    (reader,) = harness.stream("in").readers
    written = {payload for _, payload in harness.carried("out")}
    assert reader.dropped == {"not sampled": count}
    assert len(written) == len(timestamps) - count


JITTERED = {
    "jittered": options(100, jitter=0.3),
    "reflected": options(100, jitter=0.3, jitter_with_reflection=True),
    "reproducible": options(100, jitter=0.3, reproducible_sampling=True),
    "reproducible from a base": options(100, jitter=1, reproducible_sampling=True, base_timestamp=-55),
}


@pytest.mark.parametrize("given", JITTERED.values(), ids=JITTERED.keys())
def test_jitter_gives_the_same_for_the_same_seed_under_every_order(given):
    def drive(harness):
        harness.start()
        for timestamp in range(0, 200_000, 2000):
            harness.add("in", timestamp, timestamp)
            harness.step()
        harness.finish()

    line = node(PacketResamplerCalculator, "in", "out", options=[given], side_inputs="SEED:s")
    plan = wired(line, inputs="in")
    one = explore(plan, drive, seeds=range(4), side_packets={"s": "one"})["out"]
    other = explore(plan, drive, seeds=range(1), side_packets={"s": "other"})["out"]

    assert one != other
    assert 15 <= len(one) <= 25
    assert all(abs(payload - stamp) <= 2000 for stamp, payload in one)


def test_jitter_gives_the_same_from_version_to_version():
    side_packets = {"SEED": "penstock"}
    stamps = {
        name: [stamp for _, stamp in resampled(range(0, 50_000, 500), given, side_packets=side_packets)]
        for name, given in JITTERED.items()
    }

    assert stamps == {
        "jittered": [9535, 22087, 29217, 41803],
        "reflected": [4416, 15854, 25167, 38057, 48050],
        "reproducible": [4416, 15854, 25167, 38057, 48050],
        "reproducible from a base": [4361, 16094, 22523, 38837, 45110],
    }


def test_options_may_come_as_a_side_packet():
    own = options(base_timestamp=0)
    wrapped = CalculatorOptions()
    wrapped.Extensions[PacketResamplerCalculatorOptions.ext].CopyFrom(own)

    for packet in (own, wrapped):
        assert len(resampled(SPREAD, options(60), side_packets={"OPTIONS": packet})) == 6


@pytest.mark.parametrize(
    ("output_header", "expected"),
    [(None, None), (PASS, HEADER), (UPDATE, VideoHeader(ImageFormat.SRGB, 10, 100, 50.0, 1.0))],
)
def test_the_header_is_forwarded_as_the_option_says(output_header, expected):
    given = options(50) if output_header is None else options(50, output_header=output_header)

    assert run([], given, headers={0: HEADER}).headers[0] == expected


@pytest.mark.reference(
    "calculators/core/packet_resampler_calculator_test.cc", "PacketResamplerCalculatorTest.FrameRateTest"
)
@pytest.mark.parametrize(
    ("rate", "output_header", "timestamps", "payloads", "stamps", "new_rate"),
    [
        (50, UPDATE, [0, 10000, 30000, 50000, 60000], [0, 10000, 30000, 60000], range(0, 80000, 20000), 50),
        (200, UPDATE, [0, 5000, 10010, 15001, 19990], [0, 19990], [0, 20000], 50),
        (200, PASS, [0, 5000, 10010, 15001, 19990], [0, 19990], [0, 20000], 200),
    ],
)
def test_the_header_has_the_rate_of_the_option_or_its_own(  # noqa: PLR0913, PLR0917
    rate, output_header, timestamps, payloads, stamps, new_rate
):
    header = VideoHeader(ImageFormat.SRGB, 1, 10, float(rate), 100.0)

    ran = run(timestamps, options(50, output_header=output_header), headers={0: header})

    assert [(packet.payload, packet.stamp) for packet in ran.outputs[0]] == pairs(payloads, stamps)
    assert ran.headers[0] == VideoHeader(ImageFormat.SRGB, 1, 10, float(new_rate), 100.0)


@pytest.mark.reference(
    "calculators/core/packet_resampler_calculator_test.cc", "PacketResamplerCalculatorTest.OptionsSidePacket"
)
@pytest.mark.parametrize(
    ("merges", "fields"), [(None, {}), (False, {"base_timestamp": 0})], ids=["merged", "replaced"]
)
def test_options_of_a_side_packet_are_merged_or_replace(merges, fields):
    wrapped = CalculatorOptions() if merges is None else CalculatorOptions(merge_fields=merges)
    wrapped.Extensions[PacketResamplerCalculatorOptions.ext].CopyFrom(options(30, **fields))

    ran = run(SPREAD, options(60, base_timestamp=0), side_packets={"OPTIONS": wrapped})

    assert len(ran.outputs[0]) == 6


def with_header(given, timestamps, header=HEADER, outputs=("VIDEO_HEADER",)):
    return run(
        timestamps,
        given,
        data="DATA",
        out="DATA",
        inputs={"VIDEO_HEADER": [(Timestamp.PRESTREAM, header)]},
        outputs=outputs,
    )


def test_the_video_header_goes_out_at_prestream_with_the_new_rate():
    ran = with_header(options(50), [0, 5000, 10010, 15001, 19990])

    (packet,) = ran.outputs["VIDEO_HEADER"]
    assert packet.stamp == Timestamp.PRESTREAM
    assert packet.payload == VideoHeader(ImageFormat.SRGB, 10, 100, 50.0, 1.0)
    assert [(p.payload, p.stamp) for p in ran.outputs["DATA"]] == [(0, 0), (19990, 20000)]


@pytest.mark.parametrize(
    ("given", "timestamps", "rate", "frames", "stamps", "new_rate"),
    [
        pytest.param(
            options(1000, use_input_frame_rate=True),
            [0, 5000, 10010, 15001, 19990],
            200,
            [0, 5000, 10010, 15001, 19990],
            [0, 5000, 10000, 15000, 20000],
            None,
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.UseInputFrameRateHeaderHasSameFramerate",
            ),
        ),
        pytest.param(
            options(1000, use_input_frame_rate=True),
            [0, 5000, 10010, 15001],
            100,
            [0, 10010, 15001],
            [0, 10000, 20000],
            None,
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.UseInputFrameRateHeaderHasSmallerFramerate",
            ),
        ),
        pytest.param(
            options(1000, use_input_frame_rate=True, max_frame_rate=50),
            [0, 5000, 10010, 15001, 20010],
            100,
            [0, 20010],
            [0, 20000],
            None,
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.UseInputFrameRateMaxFrameRateSmallerThanInput",
            ),
        ),
        pytest.param(
            options(1000, use_input_frame_rate=True, max_frame_rate=50),
            [0, 5000, 10010, 15001, 20010],
            100,
            [0, 20010],
            [0, 20000],
            50,
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.MaxFrameRateOutputHeader",
            ),
        ),
        pytest.param(
            options(50),
            [0, 5000, 10010, 15001, 19990],
            1,
            [0, 19990],
            [0, 20000],
            50,
            marks=pytest.mark.reference(
                "calculators/core/packet_resampler_calculator_test.cc",
                "PacketResamplerCalculatorTest.SetVideoHeader",
            ),
        ),
    ],
)
def test_a_video_header_gives_and_gets_the_rate(  # noqa: PLR0913, PLR0917
    given, timestamps, rate, frames, stamps, new_rate
):
    height = 200 if given.max_frame_rate > 0 else 100
    header = VideoHeader(ImageFormat.SRGB, 10, height, float(rate), 1.0)

    ran = with_header(given, timestamps, header, outputs=[] if new_rate is None else ["VIDEO_HEADER"])

    assert [(packet.payload, packet.stamp) for packet in ran.outputs["DATA"]] == pairs(frames, stamps)
    if new_rate is not None:
        (packet,) = ran.outputs["VIDEO_HEADER"]
        assert packet.stamp == Timestamp.PRESTREAM
        assert packet.payload == VideoHeader(ImageFormat.SRGB, 10, height, float(new_rate), 1.0)


def test_without_a_video_header_one_with_only_the_rate_is_written():
    ran = run([0], options(50), outputs=["VIDEO_HEADER"])

    assert [packet.payload for packet in ran.outputs["VIDEO_HEADER"]] == [VideoHeader(frame_rate=50.0)]


@pytest.mark.parametrize(
    ("rate", "cap", "timestamps", "expected"),
    [
        (200, 0, [0, 5000, 10010, 15001, 19990],
         [(0, 0), (5000, 5000), (10010, 10000), (15001, 15000), (19990, 20000)]),
        (100, 0, [0, 5000, 10010, 15001], [(0, 0), (10010, 10000), (15001, 20000)]),
        (100, 50, [0, 5000, 10010, 15001, 20010], [(0, 0), (20010, 20000)]),
    ],
)  # fmt: skip
def test_the_rate_of_the_video_header_is_kept_up_to_the_cap(rate, cap, timestamps, expected):
    given = options(1000, use_input_frame_rate=True, max_frame_rate=cap)

    ran = with_header(given, timestamps, VideoHeader(frame_rate=float(rate)), outputs=())

    assert [(packet.payload, packet.stamp) for packet in ran.outputs["DATA"]] == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (PacketResamplerCalculatorOptions(), r"frame_rate is -1.0, but must be above 0"),
        (options(1_000_001), "must be above 0 and at most 1000000"),
        (options(jitter=-0.1), r"jitter is -0.1, but must be from 0 to 1"),
        (options(jitter=1.1), r"jitter is 1.1"),
        (options(jitter=0.1), "there is no side packet SEED"),
        (options(reproducible_sampling=True), "there is no side packet SEED"),
        (
            options(output_header=UPDATE, max_frame_rate=5),
            "cannot combine output_header: UPDATE_VIDEO_HEADER with",
        ),
    ],
)
def test_impossible_options_are_refused_before_a_run_where_they_are_known(given, message):
    with pytest.raises(GraphConfigError, match=message):
        run([], given)
    with pytest.raises(GraphRunError, match=message):
        run([], PacketResamplerCalculatorOptions(), side_packets={"OPTIONS": given})


@pytest.mark.parametrize("timestamp", [Timestamp.PRESTREAM, Timestamp.POSTSTREAM])
def test_packets_at_special_timestamps_cannot_be_resampled(timestamp):
    with pytest.raises(GraphRunError, match=r"cannot be resampled; only packets from Timestamp\.MIN"):
        run([timestamp], options())


def test_a_video_header_must_come_before_the_stream():
    with pytest.raises(GraphRunError, match=r"a VideoHeader at 5, but it must come at Timestamp::PreStream"):
        run([], options(), inputs={"VIDEO_HEADER": [(5, HEADER)]})


def test_a_video_header_that_comes_after_a_packet_is_refused():
    line = node(
        PacketResamplerCalculator,
        "DATA:in VIDEO_HEADER:h",
        "DATA:out",
        options=[options()],
        handler=ImmediateInputStreamHandler,
    )
    harness = ScheduleHarness(wired(line, inputs="in h")).start()
    harness.add("in", "packet", 0)
    harness.run()
    harness.add("h", HEADER, Timestamp.PRESTREAM)

    with pytest.raises(GraphRunError, match="before the first packet"):
        harness.finish()
