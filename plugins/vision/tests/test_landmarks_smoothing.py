"""LandmarksSmoothingCalculator: its filters number by number, what resets them, what they are scaled by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import LandmarkList, NormalizedLandmarkList, NormalizedRect, Rect
from penstock_testing import run_calculator
from penstock_vision.landmarks.landmarks_smoothing import LandmarksSmoothingCalculator
from penstock_vision.messages.landmarks_smoothing_pb2 import LandmarksSmoothingCalculatorOptions
from penstock_vision.messages.landmarks_smoothing_pb2 import LandmarksSmoothingCalculatorOptions as Policy

FIXED = {"disable_value_scaling": True}
NUMBERS = [0.5, 0.625, 0.75, 0.6, 0.2, 0.9, 0.1, 0.3]


def landmarks(*points, kind=LandmarkList):
    return kind(landmark=[dict(zip("xyz", point, strict=False)) for point in points])


def packets(lists, more=(), *, normalized=False, **options):
    """Return the packets that lists at timestamps give."""
    tag, out = "LANDMARKS", "FILTERED_LANDMARKS"
    if normalized:
        tag, out = "NORM_LANDMARKS", "NORM_FILTERED_LANDMARKS"
    run = run_calculator(
        LandmarksSmoothingCalculator,
        {tag: lists, **dict(more)},
        outputs=[out],
        options=LandmarksSmoothingCalculatorOptions(**options),
    )
    return run.outputs[out]


def smooth(values, *, start=0, step=33_333, roi=None, **options):
    """Return x of one landmark over time."""
    times = [start + i * step for i in range(len(values))]
    more = {} if roi is None else {"OBJECT_SCALE_ROI": [(time, roi) for time in times]}
    lists = [(time, landmarks((value,))) for time, value in zip(times, values, strict=True)]
    return [packet.payload.landmark[0].x for packet in packets(lists, more, **options)]


def single(number):
    return float(np.float32(number))


class LowPass:
    """The rule of section 3.8, for one number."""

    stored = None

    def __call__(self, value, alpha):
        alpha, value = np.float32(alpha), np.float32(value)
        if self.stored is None:
            self.stored = value
        else:
            self.stored = np.float32(float(alpha * value) + (1.0 - float(alpha)) * float(self.stored))
        return float(self.stored)


def one_euro(  # noqa: PLR0913  # the options of the filter
    values, times, *, frequency=30.0, min_cutoff=1.0, beta=0.0, derivate=1.0, scale=1.0
):
    """Return what the one euro filter makes of numbers at times in microseconds."""

    def alpha(cutoff):
        return 1.0 / (1.0 + (1.0 / (2 * math.pi * cutoff)) / (1.0 / frequency))

    numbers, speeds, last, last_time, made = LowPass(), LowPass(), None, -1, []
    for value, time in zip(map(single, values), (1000 * time for time in times), strict=True):
        if last_time >= time:
            made.append(value)
            continue
        if last_time != 0 and time != 0:
            frequency = 1.0 / ((time - last_time) * 1e-9)
        last_time = time
        speed = 0.0 if last is None else (value - last) * scale * frequency
        cutoff = min_cutoff + beta * abs(speeds(speed, alpha(derivate)))
        made.append(numbers(value, alpha(cutoff)))
        last = value
    return made


def velocity(values, times, *, size=5, factor=10.0, scale=1.0):
    """Return what the velocity filter makes of numbers at times in microseconds."""
    f = np.float32
    low_pass, window, last, last_time, made = LowPass(), [(f(0), 0)] * size, None, -1, []
    for value, time in zip(map(f, values), (1000 * time for time in times), strict=True):
        alpha = f(1)
        if last is not None:
            distance, duration = value * f(scale) - last * f(scale), time - last_time
            far, long = distance, duration
            for part, took in window:
                if long + took > (1 + len(window)) * 33_333_333:
                    break
                far, long = far + part, long + took
            speed = f(float(far) / (long * 1e-9))
            alpha = f(1) - f(1) / (f(1) + f(factor) * abs(speed))
            window = [(distance, duration), *window][:size]
        last, last_time = value, time
        made.append(low_pass(value, alpha))
    return made


def times(start=0, step=33_333):
    return [start + i * step for i in range(len(NUMBERS))]


@pytest.mark.parametrize("start", [0, 5_000, 33_333])
def test_one_euro_follows_its_rule_bit_by_bit(start):
    options = {"min_cutoff": 0.05, "beta": 8, "derivate_cutoff": 2, "frequency": 10}

    found = smooth(NUMBERS, start=start, one_euro_filter={**options, **FIXED})

    assert found == one_euro(
        NUMBERS, times(start=start), min_cutoff=single(0.05), beta=8.0, derivate=2.0, frequency=10.0
    )


def test_one_euro_keeps_the_first_frequency_for_a_step_that_starts_at_time_zero():
    at_zero, later = smooth([0, 1], one_euro_filter=FIXED), smooth([0, 1], start=1, one_euro_filter=FIXED)

    alpha = 1 / (1 + 30 / (2 * math.pi))
    assert at_zero[1] == pytest.approx(alpha)
    assert smooth([0, 1], step=999_999, one_euro_filter=FIXED) == at_zero
    # 30.0003 in a second
    assert later[1] != at_zero[1]


def test_numbers_before_time_zero_are_not_filtered():
    assert smooth([0, 1, 0.5], start=-99_999, one_euro_filter=FIXED) == [0, 1, 0.5]
    assert smooth([0, 1, 0.5], start=-99_999, velocity_filter=FIXED) == [0, 1, 0.5]


@pytest.mark.parametrize("step", [33_333, 10_000, 50_000, 150_000])
def test_the_velocity_filter_follows_its_rule_bit_by_bit(step):
    found = smooth(NUMBERS, step=step, velocity_filter={"window_size": 3, "velocity_scale": 2, **FIXED})

    assert found == velocity(NUMBERS, times(step=step), size=3, factor=2.0)


def test_the_velocity_filter_is_as_its_defaults_say():
    assert smooth(NUMBERS, velocity_filter=FIXED) == velocity(NUMBERS, times())


def test_the_window_of_the_velocity_filter_starts_full_of_zeros():
    # its 5 elements allow 200 ms from the start, so the step from 0 to 1 still counts after 100 ms
    found = smooth([0, 1, 1], step=50_000, velocity_filter=FIXED)

    first = 1 - 1 / (1 + 10 / 0.05)
    assert found[1] == pytest.approx(first)
    assert found[2] == pytest.approx(first + (1 - first) * (1 - 1 / (1 + 10 / 0.1)))


def test_a_change_that_is_too_old_does_not_count():
    found = smooth([0, 1, 1], step=110_000, velocity_filter=FIXED)

    # without a speed of its own the third number has no weight
    assert found[2] == found[1]


def test_a_speed_is_relative_to_the_size_of_the_box_around_the_landmarks():
    lists = [(t, landmarks((x, 0, 0), (x + 4, 8, 0))) for t, x in zip(times(), NUMBERS, strict=True)]

    found = [packet.payload.landmark[0].x for packet in packets(lists, velocity_filter={})]

    # sides of 4 and 8
    scale = single(1 / np.float32(6))
    assert found == pytest.approx(velocity(NUMBERS, times(), scale=scale), abs=1e-6)


def test_a_speed_is_relative_to_the_given_rect():
    found = smooth(NUMBERS, roi=Rect(x_center=0, y_center=0, width=3, height=5), one_euro_filter={"beta": 1})

    assert found == one_euro(NUMBERS, times(), beta=1.0, scale=0.25)


def test_normalized_landmarks_are_filtered_in_pixels():
    values = [
        (t, landmarks((x, x, x), kind=NormalizedLandmarkList)) for t, x in zip(times(), NUMBERS, strict=True)
    ]
    more = {"IMAGE_SIZE": [(t, (400, 200)) for t in times()]}

    found = packets(values, more, normalized=True, one_euro_filter={"beta": 0.5, **FIXED})

    f = np.float32
    for axis, side in {"x": 400, "y": 200, "z": 400}.items():
        pixels = one_euro([f(one) * f(side) for one in NUMBERS], times(), beta=0.5)
        expected = [float(f(one) / f(side)) for one in pixels]
        assert [getattr(packet.payload.landmark[0], axis) for packet in found] == expected


def test_a_given_rect_is_measured_in_pixels():
    roi = NormalizedRect(x_center=0, y_center=0, width=0.5, height=1)
    values = [
        (t, landmarks((x,), kind=NormalizedLandmarkList)) for t, x in zip(times(), NUMBERS, strict=True)
    ]
    more = {"IMAGE_SIZE": [(t, (4, 2)) for t in times()], "OBJECT_SCALE_ROI": [(t, roi) for t in times()]}

    found = packets(values, more, normalized=True, one_euro_filter={"beta": 2})

    # sides of 2 and 2
    pixels = one_euro([np.float32(one) * np.float32(4) for one in NUMBERS], times(), beta=2.0, scale=0.5)
    assert [packet.payload.landmark[0].x for packet in found] == [one / 4 for one in pixels]


@pytest.mark.parametrize("chosen", ["one_euro_filter", "velocity_filter"])
def test_landmarks_of_a_small_thing_stay_as_they_are(chosen):
    # one landmark has no size at all
    assert smooth(NUMBERS, **{chosen: {}}) == [single(one) for one in NUMBERS]


def test_visibility_and_presence_stay():
    given = LandmarkList(landmark=[{"x": 1, "visibility": 0.5, "presence": 0.25}])

    (found,) = packets([(1, given)], one_euro_filter=FIXED)

    assert (found.payload.landmark[0].visibility, found.payload.landmark[0].presence) == (0.5, 0.25)


def test_without_a_filter_landmarks_are_forwarded():
    given = landmarks((1, 2, 3))

    (found,) = packets([(1, given)], no_filter={})

    assert found.payload is given


@pytest.mark.parametrize("chosen", ["one_euro_filter", "velocity_filter"])
def test_a_packet_of_another_input_without_landmarks_resets(chosen):
    roi = Rect(x_center=0, y_center=0, width=1, height=1)
    lists = [(1, landmarks((0,))), (3, landmarks((1,)))]

    going_on = packets(lists, {"OBJECT_SCALE_ROI": [(1, roi), (3, roi)]}, **{chosen: {}})
    reset = packets(lists, {"OBJECT_SCALE_ROI": [(1, roi), (2, roi), (3, roi)]}, **{chosen: {}})

    assert going_on[1].payload.landmark[0].x < 1
    assert reset[1].payload.landmark[0].x == 1


@pytest.mark.parametrize("chosen", ["one_euro_filter", "velocity_filter"])
def test_an_empty_list_is_an_error_or_forgets_all_values(chosen):
    lists = [(1, landmarks((0,))), (2, landmarks()), (3, landmarks((1,), (2,)))]

    for policy in ({}, {"empty_landmarks_policy": Policy.EMPTY_LANDMARKS_POLICY_FAIL}):
        with pytest.raises(
            GraphRunError, match=r"landmarks smoother: input .* holds an empty list; .*POLICY_RESET"
        ):
            packets(lists, **{chosen: {}}, **policy)
    reset = packets(lists, **{chosen: {}}, empty_landmarks_policy=Policy.EMPTY_LANDMARKS_POLICY_RESET)

    assert [[one.x for one in packet.payload.landmark] for packet in reset] == [[0], [], [1, 2]]
    assert len(packets(lists[1:2], no_filter={})) == 1


def test_bounds_alone_reset_nothing():
    assert smooth([0, 1], step=999_999, one_euro_filter=FIXED)[1] < 1


@pytest.mark.parametrize("chosen", ["one_euro_filter", "velocity_filter"])
def test_the_number_of_landmarks_must_stay(chosen):
    lists = [(1, landmarks((0,))), (2, landmarks((0,), (1,)))]

    with pytest.raises(GraphRunError, match="holds 2 landmarks, but 1 before"):
        packets(lists, **{chosen: FIXED})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no filter, but one is needed; set no_filter, one_euro_filter or velocity_filter"),
        ({"one_euro_filter": {"min_cutoff": 0}}, "min_cutoff is 0, but must be above 0.000001"),
        ({"one_euro_filter": {"frequency": -1}}, "frequency is -1, but must be above 0.000001"),
        ({"one_euro_filter": {"derivate_cutoff": 0}}, "derivate_cutoff is 0, but must be above 0.000001"),
        ({"one_euro_filter": {"beta": -1}}, "beta is -1, but must be 0 or more"),
        ({"velocity_filter": {"window_size": -1}}, "window_size is -1, but must be 0 or more"),
        (
            {"velocity_filter": {"window_size": 2**31 - 1}},
            "window_size asks for a size of 2147483647 .* at most 100000",
        ),
        ({"velocity_filter": {"velocity_scale": -1}}, "velocity_scale is -1, but must be 0 or more"),
    ],
)
def test_numbers_that_no_filter_can_have_are_refused(options, message):
    with pytest.raises(GraphRunError, match=message):
        smooth([1], **options)


def test_normalized_landmarks_need_the_size_of_the_image():
    with pytest.raises(GraphConfigError, match="IMAGE_SIZE"):
        packets([], normalized=True, no_filter={})


@pytest.mark.reference(
    "calculators/util/landmarks_smoothing_calculator_utils_test.cc",
    "LandmarksSmoothingCalculatorUtilsTest.NormalizedLandmarksToLandmarks",
    "LandmarksSmoothingCalculatorUtilsTest.NormalizedLandmarksToLandmarks_EmptyVisibilityAndPresence",
    "LandmarksSmoothingCalculatorUtilsTest.LandmarksToNormalizedLandmarks",
    "LandmarksSmoothingCalculatorUtilsTest.LandmarksToNormalizedLandmarks_EmptyVisibilityAndPresence",
)
@pytest.mark.parametrize("more", [{"visibility": 0.4, "presence": 0.5}, {}])
def test_a_normalized_landmark_is_filtered_as_the_pixel_it_is_at_and_becomes_a_fraction_again(more):
    # in an image of 10 by 10 pixels the second one is at (1, 2, 3); each first one only begins the filter
    fraction = NormalizedLandmarkList(landmark=[{"x": 0.1, "y": 0.2, "z": 0.3, **more}])
    pixel = LandmarkList(landmark=[{"x": 1, "y": 2, "z": 3, **more}])
    begins = landmarks((0, 0, 0), kind=NormalizedLandmarkList), landmarks((0, 0, 0))
    sizes = {"IMAGE_SIZE": [(at, (10, 10)) for at in (0, 33_333)]}
    euro = {"one_euro_filter": {"beta": 0.5, "min_cutoff": 0.1, **FIXED}}

    found, expected = (
        packets([(0, begin), (33_333, one)], feeds, normalized=bool(feeds), **euro)[1].payload.landmark[0]
        for begin, one, feeds in ((begins[0], fraction, sizes), (begins[1], pixel, {}))
    )
    first = packets([(0, fraction)], {"IMAGE_SIZE": [(0, (10, 10))]}, normalized=True, **euro)[0].payload

    assert 0 < expected.x < 1
    for axis in "xyz":
        assert getattr(found, axis) == pytest.approx(getattr(expected, axis) / 10, abs=1e-6)
        assert getattr(first.landmark[0], axis) == pytest.approx(
            getattr(fraction.landmark[0], axis), abs=1e-6
        )
    for one in (found, expected, first.landmark[0]):
        assert {name for name in ("visibility", "presence") if one.HasField(name)} == set(more)
        assert (one.visibility, one.presence) == pytest.approx(tuple(more.values()) or (0, 0), abs=1e-6)
