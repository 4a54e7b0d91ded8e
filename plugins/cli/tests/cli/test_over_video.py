"""Graphs of packs over videos: what is read, written, dropped and counted, and how the graph is changed."""

from __future__ import annotations

import os
import re
import signal
import time

import av
import click
import numpy as np
import pytest

import penstock
from penstock.config import read_graph
from penstock.plugins.default_registry import default_registry
from penstock_cli.failures import FileMissing, WrongUsage
from penstock_cli.runs import over_video
from penstock_cli.runs.live_source import add_limiter, leave_out, read_camera
from penstock_cli.runs.manner import Manner
from penstock_cli.runs.over_video import OverVideo, config_over_video, run_over_video
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions

GRAPH = """
input_side_packet: "input_video"
input_side_packet: "output_video"
output_stream: "drawn"
output_stream: "results"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
}
node { calculator: "SlowForTests" input_stream: "frame" output_stream: "found" }
node { calculator: "PassThroughCalculator" input_stream: "found" output_stream: "results" }
node { calculator: "PassThroughCalculator" input_stream: "found" output_stream: "marks" }
node { calculator: "PassThroughCalculator" input_stream: "marks" output_stream: "drawn" }
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:drawn"
  input_side_packet: "OUTPUT_FILE_PATH:output_video"
}
"""
QUIET = Manner(progress=False)


@penstock.register_calculator
class SlowForTests(penstock.Calculator):
    """Forward each packet after `seconds`; at one timestamp, press Ctrl-C."""

    seconds = 0.0
    interrupts_at = -1

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set_same_as(cc.inputs[0].set_any())
        cc.set_timestamp_offset(0)

    def process(self, cc):
        time.sleep(self.seconds)
        if cc.stamp == self.interrupts_at:
            os.kill(os.getpid(), signal.SIGINT)
        cc.outputs[0].add_packet(cc.inputs[0].packet)


@penstock.register_calculator
class PaceForTests(penstock.Calculator):
    """Forward a packet every 5 ms."""

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set_same_as(cc.inputs[0].set_any())
        cc.set_timestamp_offset(0)

    def process(self, cc):
        time.sleep(0.005)
        cc.outputs[0].add_packet(cc.inputs[0].packet)


@pytest.fixture
def film(tmp_path):
    """Write a video of 20 frames, 25 a second."""
    path = tmp_path / "in.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for index in range(20):
            pixels = np.full((48, 64, 3), 10 * index, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def over(**changes):
    return OverVideo(**{"graph": GRAPH, "command": "penstock look", "what": "looking at", **changes})


def frames_in(path):
    with av.open(str(path)) as container:
        return sum(1 for _ in container.decode(video=0))


def nodes(config):
    return [node.calculator for node in config.node]


def test_a_file_is_read_to_its_end_without_dropping_frames(film, tmp_path, capsys):
    out = tmp_path / "out.mp4"

    run_over_video(over(video=film, out=out), QUIET)

    said = capsys.readouterr()
    assert said.err == f"looking at {film}, into {out}\n"
    assert re.search(
        r"^20 frames in, 20 processed, 0 dropped; [\d.,]+/s, written to .*out\.mp4 \([\d.]+ kB\)$",
        said.out,
        re.MULTILINE,
    )
    assert frames_in(out) == 20


def test_results_come_in_order_and_leave_stdout_to_themselves(film, capsys):
    stamps = []

    run_over_video(over(video=film, result=lambda packet: stamps.append(int(packet.timestamp))), QUIET)

    said = capsys.readouterr()
    assert stamps == [40_000 * index for index in range(20)]
    assert said.out == ""
    assert re.search(r"^20 frames in, 20 processed, 0 dropped; [\d.,]+/s$", said.err, re.MULTILINE)


def test_live_frames_are_dropped_and_their_ages_told(film, capsys, monkeypatch):
    monkeypatch.setattr(SlowForTests, "seconds", 0.03)
    stamps = []

    run_over_video(
        over(
            video=film, as_camera="PaceForTests", result=lambda packet: stamps.append(int(packet.timestamp))
        ),
        QUIET,
    )

    found = re.search(
        r"^20 frames in, (\d+) processed, (\d+) dropped; results were ([\d.]+) ms old in the median, "
        r"95 of 100 at most ([\d.]+) ms; ",
        capsys.readouterr().err,
        re.MULTILINE,
    )
    done, dropped, median, most = map(float, found.groups())
    assert done == len(stamps) < 20
    assert done + dropped == 20
    assert 30 <= median <= most
    assert stamps[-1] == 760_000  # the newest frame waits, and is not dropped
    assert stamps == sorted(set(stamps))


def test_a_reader_of_results_that_is_gone_ends_the_run(film, monkeypatch):
    monkeypatch.setattr(SlowForTests, "seconds", 0.02)
    taken = []

    def read(packet):
        taken.append(packet)
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run_over_video(over(video=film, result=read), QUIET)
    assert len(taken) == 1


def test_ctrl_c_counts_the_frames_and_exits_with_130(film, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out.mp4"
    monkeypatch.setattr(SlowForTests, "seconds", 0.05)
    monkeypatch.setattr(SlowForTests, "interrupts_at", 200_000)

    with pytest.raises(click.exceptions.Exit) as stopped:
        run_over_video(over(video=film, out=out), QUIET)

    assert stopped.value.exit_code == 130
    found = re.search(r"^(\d+) frames in, (\d+) processed, 0 dropped$", capsys.readouterr().out, re.MULTILINE)
    came, done = map(int, found.groups())
    assert 6 <= done == came
    assert frames_in(out) == done


def test_missing_files_and_the_same_file_are_refused(film, tmp_path):
    with pytest.raises(FileMissing, match=r"video '.*im\.mp4' does not exist; did you mean '.*in\.mp4'\?"):
        run_over_video(over(video=tmp_path / "im.mp4"), QUIET)
    with pytest.raises(WrongUsage, match="is the video that is read; name another file with -o"):
        run_over_video(over(video=film, out=film), QUIET)


def test_nodes_whose_results_nobody_reads_are_left_out():
    config, _ = config_over_video(over(video="in.mp4", result=print), default_registry())

    assert nodes(config) == ["VideoDecoderCalculator", "SlowForTests", "PassThroughCalculator"]
    assert list(config.output_stream) == ["results"]


def test_with_a_file_to_write_all_but_the_results_stays():
    config, _ = config_over_video(over(video="in.mp4", out="out.mp4"), default_registry())

    assert "VideoEncoderCalculator" in nodes(config)
    assert list(config.output_stream) == ["drawn"]
    assert not [node for node in config.node if "results" in node.output_stream]


def test_a_camera_gets_a_limiter_that_waits_for_what_is_shown():
    config, captured = config_over_video(over(camera=3, show=True), default_registry())

    options = VideoDecoderCalculatorOptions()
    assert config.node[0].node_options[0].Unpack(options)
    assert options.camera_index == 3
    assert captured == "captured_frame"
    assert list(config.node[0].output_stream) == ["VIDEO:captured_frame"]
    limiter = config.node[-1]
    assert limiter.calculator == "FlowLimiterCalculator"
    assert list(limiter.input_stream) == ["captured_frame", "FINISHED:drawn"]
    assert list(limiter.output_stream) == ["frame"]
    assert "VideoEncoderCalculator" not in nodes(config)


def test_a_camera_replaces_a_test_pattern():
    text = GRAPH.replace(
        'output_stream: "VIDEO:frame"',
        'output_stream: "VIDEO:frame" node_options { '
        "[type.googleapis.com/penstock.VideoDecoderCalculatorOptions] "
        "{ test_pattern {} decoder_threads: 2 } }",
    )
    config = read_graph(text, default_registry())

    read_camera(config, default_registry(), 0, "frame")

    options = VideoDecoderCalculatorOptions()
    (packed,) = config.node[0].node_options
    assert packed.Unpack(options)
    assert options == VideoDecoderCalculatorOptions(camera_index=0, decoder_threads=2)


def test_a_pace_stands_between_the_source_and_the_limiter():
    config = read_graph(GRAPH, default_registry())

    assert (
        add_limiter(config, default_registry(), "frame", "results", pace="PaceForTests") == "captured_frame"
    )

    assert list(config.node[0].output_stream) == ["VIDEO:decoded_frame"]
    (pace,) = [node for node in config.node if node.calculator == "PaceForTests"]
    assert (list(pace.input_stream), list(pace.output_stream)) == (["decoded_frame"], ["captured_frame"])


def test_a_node_stays_while_one_of_its_streams_is_read():
    config = read_graph(
        'node { calculator: "A" output_stream: "x" output_stream: "y" } '
        'node { calculator: "B" input_stream: "x" output_stream: "z" }',
        default_registry(),
    )

    leave_out(config, [], ["y"])
    assert nodes(config) == ["A"]
    leave_out(config, [], [])
    assert nodes(config) == []


class Watched:
    """A graph whose streams the test writes."""

    def __init__(self):
        self.observers = {}

    def observe_output_stream(self, name, callback):
        self.observers[name] = callback

    def write(self, stream, stamp):
        self.observers[stream](stream, penstock.Packet(None, stamp))


def test_an_age_counts_from_the_arrival_of_its_own_frame(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(over_video, "monotonic", lambda: now[0])
    graph = Watched()
    ages = over_video._Ages(graph, "came", "done")

    for stamp in range(4):
        now[0] = 0.01 * stamp
        graph.write("came", stamp)
    assert ages.words() == ""
    now[0] = 0.05
    graph.write("done", 0)
    now[0] = 0.07
    graph.write("done", 3)  # 1 and 2 were dropped

    # 50 and 40 ms
    assert ages.words() == "; results were 45.0 ms old in the median, 95 of 100 at most 49.5 ms"
