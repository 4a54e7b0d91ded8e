"""Numbers of options that would take the machine's memory are refused before any is taken."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphRunError, StatusCode
from penstock_formats import Matrix

BEFORE = """input_stream: "in"
node { calculator: "AddAudioHeaderCalculator" input_stream: "in" output_stream: "s" node_options {
  [type.googleapis.com/penstock.AddAudioHeaderCalculatorOptions] { num_channels: 1 sample_rate: 16000 } } }
node { calculator: "SpectrogramCalculator" input_stream: "s" output_stream: "sp"
       options { [penstock.SpectrogramCalculatorOptions.ext] { frame_duration_seconds: 0.02 } } }
"""


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("MelSpectrum", "channel_count: 2147483647"),
        ("MelSpectrum", "channel_count: 300000"),
        ("Mfcc", "mel_spectrum_params { channel_count: 100000 } mfcc_count: 100000"),
        ("Mfcc", "mel_spectrum_params { channel_count: 2147483647 } mfcc_count: 1"),
    ],
)
def test_bands_and_coefficients_have_a_limit(name, options):
    node = f"""node {{ calculator: "{name}Calculator" input_stream: "sp" output_stream: "o"
        options {{ [penstock.{name}CalculatorOptions.ext] {{ {options} }} }} }}"""
    graph = penstock.CalculatorGraph(BEFORE + node)
    graph.start_run()
    with pytest.raises(GraphRunError, match="but at most") as caught:
        graph.wait_until_idle(30)
    assert caught.value.code is StatusCode.RESOURCE_EXHAUSTED


def test_usual_numbers_are_taken():
    node = 'node { calculator: "MfccCalculator" input_stream: "sp" output_stream: "o" }'
    with penstock.CalculatorGraph(BEFORE + node) as graph:
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(Matrix(np.zeros((1, 4000), np.float32)), 0))
