"""The combined audio and video graphs of the first document: ports by tag, by index, and by both."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock import GraphConfigError, StatusCode
from penstock_formats import ImageFrame, Matrix

COMBINED_INPUT = 'input_stream: "combined_input"\n'


def frame(level):
    return ImageFrame(np.full((2, 3, 3), level, np.uint8))


def samples(*values):
    return Matrix(np.array([values], np.float32))


class SomeAudioVideoCalculator(penstock.Calculator):
    """The contract is the document's; the work is not given there."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()
        cc.outputs["VIDEO"].set(ImageFrame)
        cc.outputs["AUDIO", 0].set(Matrix)
        cc.outputs["AUDIO", 1].set(Matrix)

    def process(self, cc):
        picture, left, right = cc.inputs[0].payload
        cc.outputs["VIDEO"].add(picture, cc.input_timestamp)
        cc.outputs["AUDIO", 0].add(left, cc.input_timestamp)
        cc.outputs["AUDIO", 1].add(right, cc.input_timestamp)


class SomeAudioCalculator(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(Matrix)
        cc.inputs[1].set(Matrix)
        cc.outputs[0].set(float)

    def process(self, cc):
        energy = sum(float(np.square(np.asarray(cc.inputs[i].payload)).sum()) for i in range(2))
        cc.outputs[0].add(energy, cc.input_timestamp)


class SomeVideoCalculator(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs["VIDEO_IN"].set(ImageFrame)
        cc.outputs["VIDEO_OUT"].set(ImageFrame)

    def process(self, cc):
        pixels = 255 - np.asarray(cc.inputs["VIDEO_IN"].payload)
        cc.outputs["VIDEO_OUT"].add(ImageFrame(pixels), cc.input_timestamp)


def test_outputs_are_found_by_tag_and_by_tag_and_index(bench, graph_text):
    bench.start(
        COMBINED_INPUT + graph_text("audio_video_by_tag_and_index"),
        SomeAudioVideoCalculator,
        SomeAudioCalculator,
        watch=["video_stream", "audio_left", "audio_right", "audio_energy"],
    )
    first, second = (frame(1), samples(1, 2), samples(3)), (frame(2), samples(0), samples(4))

    bench.add("combined_input", 10, first)
    bench.add("combined_input", 20, second)
    bench.end()

    assert bench.seen == {
        "video_stream": [(10, first[0]), (20, second[0])],
        "audio_left": [(10, first[1]), (20, second[1])],
        "audio_right": [(10, first[2]), (20, second[2])],
        "audio_energy": [(10, 14.0), (20, 16.0)],
    }


def test_a_tagged_output_feeds_an_input_with_another_tag(bench, graph_text):
    class SomeAudioVideoCalculator(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc) -> None:
            cc.inputs["INPUT"].set_any()
            cc.outputs["VIDEO"].set(ImageFrame)

        def process(self, cc):
            picture, _left, _right = cc.inputs["INPUT"].payload
            cc.outputs["VIDEO"].add(picture, cc.input_timestamp)

    bench.start(
        COMBINED_INPUT + graph_text("audio_video_by_tag"),
        SomeAudioVideoCalculator,
        SomeVideoCalculator,
        watch=["video_stream", "processed_video"],
    )
    picture = frame(5)

    bench.add("combined_input", 7, (picture, samples(1), samples(2)))
    bench.end()

    assert bench.seen["video_stream"] == [(7, picture)]
    [(timestamp, processed)] = bench.seen["processed_video"]
    assert timestamp == 7
    assert np.array_equal(processed, np.full((2, 3, 3), 250))


def test_the_fragments_alone_are_refused_since_nobody_writes_their_input(bench, graph_text):
    for name in ("audio_video_by_tag_and_index", "audio_video_by_tag"):
        with pytest.raises(GraphConfigError, match="'combined_input'"):
            bench.load(graph_text(name), SomeAudioVideoCalculator, SomeAudioCalculator, SomeVideoCalculator)


def test_a_contract_by_index_does_not_fit_a_graph_by_tag_and_every_fault_is_named(bench, graph_text):
    with pytest.raises(GraphConfigError) as caught:
        bench.load(
            COMBINED_INPUT + graph_text("audio_video_by_tag"), SomeAudioVideoCalculator, SomeVideoCalculator
        )

    meant = """has no input 'INPUT' (did you mean "combined_input"?)"""
    expected = ("needs output 'AUDIO'", "needs output 'AUDIO:1'", meant)
    assert len(caught.value.faults) == len(expected)
    for fault, text in zip(caught.value.faults, expected, strict=True):
        assert text in str(fault)
        assert "node 'SomeAudioVideoCalculator'" in str(fault)


def test_an_output_type_other_than_the_contract_says_raises_in_process(bench, graph_text):
    bench.start(
        COMBINED_INPUT + graph_text("audio_video_by_tag_and_index"),
        SomeAudioVideoCalculator,
        SomeAudioCalculator,
    )

    bench.add("combined_input", 1, ("no frame", samples(1), samples(1)))
    error = bench.failure(bench.idle)

    assert error.code is StatusCode.INVALID_ARGUMENT
    assert (error.node, error.stream, error.timestamp) == ("SomeAudioVideoCalculator", "video_stream", 1)
