"""Numbers of options that would take the machine's memory are refused before any is taken."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphRunError, InvalidArgumentError, ResourceExhaustedError, StatusCode
from penstock_audio.series.energy import EnergyCalculatorOptions
from penstock_audio.series.resampler import Kernel
from penstock_audio.series.time_series import samples_in
from penstock_audio.spectra.fourier_tensor import check_gain
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


@pytest.mark.parametrize("number", [1e308, -1e308, float("inf"), float("nan")])
@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda number: samples_in(number, 16000), ResourceExhaustedError),
        (check_gain, InvalidArgumentError),
        (lambda number: EnergyCalculatorOptions(floor_db=number), InvalidArgumentError),
        (lambda number: Kernel(radius_factor=number), InvalidArgumentError),
        (lambda number: Kernel(kaiser_beta=number), InvalidArgumentError),
    ],
    ids=["time", "gain", "floor", "radius", "beta"],
)
def test_numbers_that_leave_the_floats_are_refused(make, error, number):
    with pytest.raises(error):
        make(number)


def test_the_largest_numbers_are_computed():
    assert np.isfinite(10 ** (EnergyCalculatorOptions(floor_db=3000).floor_db / 10))
    assert np.isfinite(np.i0(Kernel(kaiser_beta=700).kaiser_beta))
    assert samples_in(1000, 48000) == 48_000_000
