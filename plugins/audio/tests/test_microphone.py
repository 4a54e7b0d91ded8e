"""MicrophoneSourceCalculator with a sound system that the tests play, and with none."""

from __future__ import annotations

import logging
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from penstock.errors import FailedPreconditionError, GraphRunError, InvalidArgumentError, OptionError
from penstock_audio.health import checks
from penstock_audio.microphone import microphone_source
from penstock_audio.microphone.microphone_source import (
    MicrophoneSourceCalculator,
    MicrophoneSourceCalculatorOptions,
)
from penstock_audio.microphone.sound_devices import check_microphone
from penstock_formats import TimeSeriesHeader
from penstock_testing import run_calculator

NOW_US = 1_700_000_000_000_000


class SoundSystem:
    """Stands for the module sounddevice: hands over blocks when a stream starts."""

    class PortAudioError(Exception):
        pass

    def __init__(self, clock):
        #: (samples before it in all, whether some were lost, samples) of each block.
        #: The same, handed over when the source has taken all of those.
        #: How the stream was opened.
        self.blocks, self.later, self.asked, self.refuses, self.is_closed = [], [], {}, None, False
        self.devices = [
            {"name": "speaker", "max_input_channels": 0},
            {"name": "webcam", "max_input_channels": 1, "default_samplerate": 8000.0},
        ]
        self._clock = clock

    def query_devices(self, device=None, kind=None):
        if kind is None:
            return self.devices
        found = [
            one
            for i, one in enumerate(self.devices)
            if one["max_input_channels"] and (device is None or device == i or str(device) in one["name"])
        ]
        if not found:
            raise ValueError(f"No input device matching {device!r}")
        return found[0]

    def InputStream(self, callback, **asked):  # noqa: N802  # sounddevice's name
        if self.refuses == "open":
            raise self.PortAudioError("Invalid sample rate\n[PaErrorCode -9997]")
        self.asked = asked
        return _Stream(self, callback, asked["samplerate"], self._clock)


class _Stream:
    def __init__(self, system, callback, rate, clock):
        self._system, self._callback, self._clock = system, callback, clock
        self.samplerate = rate

    @property
    def active(self):
        later, self._system.later = self._system.later, []
        self._hand_over(later)
        return bool(later)

    def start(self):
        if self._system.refuses == "start":
            raise self._system.PortAudioError("Device unavailable")
        self._hand_over(self._system.blocks)

    def _hand_over(self, blocks):
        for begin, lost, samples in blocks:
            # PortAudio's clock says that the block was heard 40 ms ago
            self._clock.now_us = NOW_US + round(begin / self.samplerate * 1e6) + 40_000
            times = SimpleNamespace(currentTime=5.04, inputBufferAdcTime=5.0)
            shared = np.array(samples, np.float32).reshape(len(samples), -1)
            self._callback(shared, len(samples), times, SimpleNamespace(input_overflow=lost))
            shared[:] = np.nan  # PortAudio uses the memory again

    def close(self):
        self._system.is_closed = True


@pytest.fixture
def system(monkeypatch):
    clock = SimpleNamespace(now_us=NOW_US, time_ns=lambda: clock.now_us * 1000)
    monkeypatch.setattr(microphone_source, "time", clock)
    made = SoundSystem(clock)
    monkeypatch.setitem(sys.modules, "sounddevice", made)
    return made


def listen(**options):
    return run_calculator(
        MicrophoneSourceCalculator, outputs=["AUDIO"], options=MicrophoneSourceCalculatorOptions(**options)
    )


def test_sound_comes_with_the_time_when_it_was_heard_and_counted_from_there_on(system):
    system.blocks = [(160 * i, False, np.full(160, i / 8)) for i in range(4)]

    ran = listen(duration_seconds=0.08)

    packets = ran.outputs["AUDIO"]
    assert [int(one.timestamp) for one in packets] == [NOW_US + 20_000 * i for i in range(4)]
    assert [one.payload.array.tolist() for one in packets] == [[[i / 8] * 160] for i in range(4)]
    assert ran.headers["AUDIO"] == TimeSeriesHeader(sample_rate=8000, num_channels=1, packet_rate=50)
    assert system.asked == {
        "samplerate": 8000.0,
        "blocksize": 160,
        "device": None,
        "channels": 1,
        "dtype": "float32",
    }
    assert system.is_closed


def test_the_source_ends_after_so_much_sound_to_the_sample(system):
    system.blocks = [(160 * i, False, np.zeros(160)) for i in range(4)]

    ran = listen(duration_seconds=0.05)

    assert [one.payload.columns for one in ran.outputs["AUDIO"]] == [160, 160, 80]


def test_options_choose_device_rate_channels_and_length(system):
    system.blocks = [(0, False, np.arange(20).reshape(10, 2))]

    ran = listen(
        device="1", sample_rate=1000, num_channels=2, packet_duration_seconds=0.01, duration_seconds=0.01
    )

    assert system.asked["device"] == 1
    assert (system.asked["samplerate"], system.asked["channels"], system.asked["blocksize"]) == (1000, 2, 10)
    assert ran.outputs["AUDIO"][0].payload.array.tolist() == [list(range(0, 20, 2)), list(range(1, 20, 2))]


@pytest.mark.parametrize(
    ("blocks", "stamps", "missing"),
    [
        ([(0, False), (160, True), (320, False)], [0, 20_000, 40_000], None),
        ([(0, False), (200, True), (360, False)], [0, 25_000, 45_000], "0.005"),
        ([(0, False), (200, False), (360, False)], [0, 20_000, 40_000], None),  # clocks differ a little
        ([(0, False), (1160, False), (1320, False)], [0, 145_000, 165_000], "0.125"),
    ],
)
def test_where_samples_are_missing_counting_begins_anew(system, caplog, blocks, stamps, missing):
    system.blocks = [(begin, lost, np.zeros(160)) for begin, lost in blocks]

    with caplog.at_level(logging.WARNING, "penstock"):
        ran = listen(duration_seconds=0.06)

    assert [int(one.timestamp) - NOW_US for one in ran.outputs["AUDIO"]] == stamps
    said = [record.getMessage() for record in caplog.records]
    assert said == ([f"{missing} s of sound are missing; is the graph too slow?"] if missing else [])


def test_of_a_graph_that_is_too_slow_ten_seconds_wait_and_the_rest_is_told_as_missing(system, caplog):
    system.blocks = [(160 * i, False, np.zeros(160)) for i in range(550)]
    system.later = [(160 * 600, False, np.zeros(160))]

    with caplog.at_level(logging.WARNING, "penstock"):
        ran = listen(duration_seconds=501 * 0.02)

    stamps = [int(one.timestamp) - NOW_US for one in ran.outputs["AUDIO"]]
    assert stamps == [*(20_000 * i for i in range(500)), 12_000_000]
    assert "2.000 s of sound are missing" in caplog.text


def test_a_device_that_stops_ends_the_run(system):
    with pytest.raises(GraphRunError, match="the microphone has stopped; is it still connected"):
        listen()
    assert system.is_closed


def test_systems_that_do_not_say_when_have_the_time_of_the_call(system, monkeypatch):
    system.blocks = [(0, False, np.zeros(160))]
    monkeypatch.setattr(
        _Stream,
        "start",
        lambda self: self._callback(
            np.zeros((160, 1), np.float32),
            160,
            SimpleNamespace(currentTime=0.0, inputBufferAdcTime=0.0),
            SimpleNamespace(input_overflow=False),
        ),
    )

    ran = listen(duration_seconds=0.02)

    assert int(ran.outputs["AUDIO"][0].timestamp) == NOW_US - 20_000  # the length of the block


# --- what is missing ----------------------------------------------------------------------------


def test_without_sounddevice_the_error_has_the_command_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", None)

    words = r'a microphone needs sounddevice, .*; run: pip install "penstock-audio\[microphone\]"'
    with pytest.raises(GraphRunError, match=words):
        listen()
    with pytest.raises(FailedPreconditionError, match=words):
        check_microphone()


@pytest.mark.parametrize(
    ("platform", "cure"), [("linux", "apt-get install libportaudio2"), ("darwin", "--force-reinstall")]
)
def test_without_portaudio_the_error_has_the_command_that_brings_it(monkeypatch, tmp_path, platform, cure):
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(sys, "platform", platform)

    with pytest.raises(
        GraphRunError, match=rf"needs PortAudio, .*\(PortAudio library not found\); run: .*{cure}"
    ):
        listen()


def test_a_microphone_that_is_not_there_is_named_with_those_that_are(system):
    words = r"cannot be used as a sound device: No input device matching 'radio'; there are 1 'webcam'"
    with pytest.raises(GraphRunError, match=words):
        listen(device="radio")
    assert check_microphone("web") == "webcam"
    system.devices = []
    with pytest.raises(
        InvalidArgumentError,
        match=r"default microphone cannot be used as a sound device: .*; this machine has no",
    ):
        check_microphone()


@pytest.mark.parametrize(
    ("refuses", "words"),
    [
        (
            "open",
            r"source cannot hear 'webcam' with 1 channels at 5 Hz: Invalid sample rate \[.*\]; change",
        ),
        ("start", "'webcam' cannot be started: Device unavailable; is another program using it"),
    ],
)
def test_what_the_device_refuses_is_said(system, refuses, words):
    system.refuses = refuses

    with pytest.raises(GraphRunError, match=words):
        listen(sample_rate=5)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sample_rate", -1),
        ("duration_seconds", float("nan")),
        ("packet_duration_seconds", 0),
        ("num_channels", 0),
    ],
)
def test_options_that_cannot_be_are_refused(field, value):
    with pytest.raises((OptionError, ValueError), match=f"{field} is {value}"):
        MicrophoneSourceCalculatorOptions(**{field: value})


def test_the_doctor_says_which_microphone_there_is_or_what_is_missing(system, monkeypatch):
    (with_one,) = checks()
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    (without,) = checks()

    assert (with_one.is_well, with_one.detail) == (True, "default: webcam")
    assert without.is_well
    assert 'run: pip install "penstock-audio[microphone]"' in without.detail
