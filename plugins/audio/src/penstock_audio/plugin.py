"""What penstock-audio brings, as names; nothing is imported until it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import DoctorCheck

_OPTIONS = "penstock.CalculatorOptions"
_BASIC = "penstock_audio.basic_time_series"


@hookimpl
def penstock_components() -> Components:
    """Return the calculators and their options messages by name."""
    return Components(
        calculators={
            "AddAudioHeaderCalculator": "penstock_audio.add_audio_header:AddAudioHeaderCalculator",
            "AudioDecoderCalculator": "penstock_audio.audio_decoder:AudioDecoderCalculator",
            "AudioToTensorCalculator": "penstock_audio.audio_to_tensor:AudioToTensorCalculator",
            "AverageTimeSeriesAcrossChannelsCalculator": (
                f"{_BASIC}:AverageTimeSeriesAcrossChannelsCalculator"
            ),
            "CovarianceCalculator": f"{_BASIC}:CovarianceCalculator",
            "DivideByMeanAcrossChannelsCalculator": f"{_BASIC}:DivideByMeanAcrossChannelsCalculator",
            "ElementwiseSquareCalculator": f"{_BASIC}:ElementwiseSquareCalculator",
            "EnergyCalculator": "penstock_audio.energy:EnergyCalculator",
            "FirstHalfSlicerCalculator": f"{_BASIC}:FirstHalfSlicerCalculator",
            "FlattenPacketCalculator": f"{_BASIC}:FlattenPacketCalculator",
            "L2NormCalculator": f"{_BASIC}:L2NormCalculator",
            "L2NormalizeCalculator": f"{_BASIC}:L2NormalizeCalculator",
            "L2NormalizeColumnCalculator": f"{_BASIC}:L2NormalizeColumnCalculator",
            "MeanCalculator": f"{_BASIC}:MeanCalculator",
            "MelSpectrumCalculator": "penstock_audio.mel_features:MelSpectrumCalculator",
            "MfccCalculator": "penstock_audio.mel_features:MfccCalculator",
            "MicrophoneSourceCalculator": "penstock_audio.microphone_source:MicrophoneSourceCalculator",
            "PeakNormalizeCalculator": f"{_BASIC}:PeakNormalizeCalculator",
            "RationalFactorResampleCalculator": "penstock_audio.resample:RationalFactorResampleCalculator",
            "ResampleTimeSeriesCalculator": "penstock_audio.resample:ResampleTimeSeriesCalculator",
            "ReverseChannelOrderCalculator": f"{_BASIC}:ReverseChannelOrderCalculator",
            "SpectrogramCalculator": "penstock_audio.spectrogram:SpectrogramCalculator",
            "SpectrogramFloatCalculator": "penstock_audio.spectrogram:SpectrogramFloatCalculator",
            "StabilizedLogCalculator": "penstock_audio.stabilized_log:StabilizedLogCalculator",
            "StandardDeviationCalculator": f"{_BASIC}:StandardDeviationCalculator",
            "SubtractMeanAcrossChannelsCalculator": f"{_BASIC}:SubtractMeanAcrossChannelsCalculator",
            "SubtractMeanCalculator": f"{_BASIC}:SubtractMeanCalculator",
            "SumTimeSeriesAcrossChannelsCalculator": f"{_BASIC}:SumTimeSeriesAcrossChannelsCalculator",
            "SummarySaiToPitchogramCalculator": f"{_BASIC}:SummarySaiToPitchogramCalculator",
            "TensorsToAudioCalculator": "penstock_audio.tensors_to_audio:TensorsToAudioCalculator",
            "TimeSeriesFramerCalculator": "penstock_audio.time_series_framer:TimeSeriesFramerCalculator",
            "WavSinkCalculator": "penstock_audio.wav_sink:WavSinkCalculator",
            "TwoTapFirFilterCalculator": "penstock_audio.two_tap_fir_filter:TwoTapFirFilterCalculator",
        },
        options={
            "penstock.AddAudioHeaderCalculatorOptions": (
                "penstock_audio.add_audio_header_calculator_options_pb2:AddAudioHeaderCalculatorOptions"
            ),
            "penstock.AudioDecoderOptions": (
                _OPTIONS,
                263370674,
                "penstock_audio.audio_decoder_pb2:AudioDecoderOptions",
            ),
            "penstock.AudioToTensorCalculatorOptions": (
                _OPTIONS,
                448635064,
                "penstock_audio.audio_to_tensor_calculator_pb2:AudioToTensorCalculatorOptions",
            ),
            "penstock.MelSpectrumCalculatorOptions": (
                _OPTIONS,
                78581812,
                "penstock_audio.mfcc_mel_calculators_pb2:MelSpectrumCalculatorOptions",
            ),
            "penstock.MfccCalculatorOptions": (
                _OPTIONS,
                78450441,
                "penstock_audio.mfcc_mel_calculators_pb2:MfccCalculatorOptions",
            ),
            "penstock.RationalFactorResampleCalculatorOptions": (
                _OPTIONS,
                259760074,
                "penstock_audio.rational_factor_resample_calculator_pb2:RationalFactorResampleCalculatorOptions",
            ),
            "penstock.ResampleTimeSeriesCalculatorOptions": (
                _OPTIONS,
                49296647,
                "penstock_audio.resample_time_series_calculator_pb2:ResampleTimeSeriesCalculatorOptions",
            ),
            "penstock.SpectrogramCalculatorOptions": (
                _OPTIONS,
                76186688,
                "penstock_audio.spectrogram_calculator_pb2:SpectrogramCalculatorOptions",
            ),
            "penstock.StabilizedLogCalculatorOptions": (
                _OPTIONS,
                101978339,
                "penstock_audio.stabilized_log_calculator_pb2:StabilizedLogCalculatorOptions",
            ),
            "penstock.TensorsToAudioCalculatorOptions": (
                _OPTIONS,
                484297136,
                "penstock_audio.tensors_to_audio_calculator_pb2:TensorsToAudioCalculatorOptions",
            ),
            "penstock.TimeSeriesFramerCalculatorOptions": (
                _OPTIONS,
                50631621,
                "penstock_audio.time_series_framer_calculator_pb2:TimeSeriesFramerCalculatorOptions",
            ),
            "penstock.TwoTapFirFilterCalculatorOptions": (
                "penstock_audio.two_tap_fir_filter_calculator_pb2:TwoTapFirFilterCalculatorOptions"
            ),
        },
    )


@hookimpl
def penstock_doctor() -> Iterable[DoctorCheck]:
    """Check whether there is a microphone."""
    from penstock_audio.health import checks  # only when the doctor runs

    return checks()
