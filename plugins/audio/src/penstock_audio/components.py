"""The components of penstock_audio by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "AddAudioHeaderCalculator": "penstock_audio.series.add_audio_header:AddAudioHeaderCalculator",
    "AudioDecoderCalculator": "penstock_audio.files.audio_decoder:AudioDecoderCalculator",
    "AudioToTensorCalculator": "penstock_audio.spectra.audio_to_tensor:AudioToTensorCalculator",
    "AverageTimeSeriesAcrossChannelsCalculator": "penstock_audio.series.basic_time_series:AverageTimeSeriesAcrossChannelsCalculator",
    "CovarianceCalculator": "penstock_audio.series.basic_time_series:CovarianceCalculator",
    "DivideByMeanAcrossChannelsCalculator": "penstock_audio.series.basic_time_series:DivideByMeanAcrossChannelsCalculator",
    "ElementwiseSquareCalculator": "penstock_audio.series.basic_time_series:ElementwiseSquareCalculator",
    "EnergyCalculator": "penstock_audio.series.energy:EnergyCalculator",
    "FirstHalfSlicerCalculator": "penstock_audio.series.basic_time_series:FirstHalfSlicerCalculator",
    "FlattenPacketCalculator": "penstock_audio.series.basic_time_series:FlattenPacketCalculator",
    "L2NormCalculator": "penstock_audio.series.basic_time_series:L2NormCalculator",
    "L2NormalizeCalculator": "penstock_audio.series.basic_time_series:L2NormalizeCalculator",
    "L2NormalizeColumnCalculator": "penstock_audio.series.basic_time_series:L2NormalizeColumnCalculator",
    "MeanCalculator": "penstock_audio.series.basic_time_series:MeanCalculator",
    "MelSpectrumCalculator": "penstock_audio.spectra.mel_features:MelSpectrumCalculator",
    "MfccCalculator": "penstock_audio.spectra.mel_features:MfccCalculator",
    "MicrophoneSourceCalculator": "penstock_audio.microphone.microphone_source:MicrophoneSourceCalculator",
    "PeakNormalizeCalculator": "penstock_audio.series.basic_time_series:PeakNormalizeCalculator",
    "RationalFactorResampleCalculator": "penstock_audio.series.resample:RationalFactorResampleCalculator",
    "ResampleTimeSeriesCalculator": "penstock_audio.series.resample:ResampleTimeSeriesCalculator",
    "ReverseChannelOrderCalculator": "penstock_audio.series.basic_time_series:ReverseChannelOrderCalculator",
    "SpectrogramCalculator": "penstock_audio.spectra.spectrogram:SpectrogramCalculator",
    "SpectrogramFloatCalculator": "penstock_audio.spectra.spectrogram:SpectrogramFloatCalculator",
    "StabilizedLogCalculator": "penstock_audio.series.stabilized_log:StabilizedLogCalculator",
    "StandardDeviationCalculator": "penstock_audio.series.basic_time_series:StandardDeviationCalculator",
    "SubtractMeanAcrossChannelsCalculator": "penstock_audio.series.basic_time_series:SubtractMeanAcrossChannelsCalculator",
    "SubtractMeanCalculator": "penstock_audio.series.basic_time_series:SubtractMeanCalculator",
    "SumTimeSeriesAcrossChannelsCalculator": "penstock_audio.series.basic_time_series:SumTimeSeriesAcrossChannelsCalculator",
    "SummarySaiToPitchogramCalculator": "penstock_audio.series.basic_time_series:SummarySaiToPitchogramCalculator",
    "TensorsToAudioCalculator": "penstock_audio.spectra.tensors_to_audio:TensorsToAudioCalculator",
    "TimeSeriesFramerCalculator": "penstock_audio.series.time_series_framer:TimeSeriesFramerCalculator",
    "TwoTapFirFilterCalculator": "penstock_audio.series.two_tap_fir_filter:TwoTapFirFilterCalculator",
    "WavSinkCalculator": "penstock_audio.files.wav_sink:WavSinkCalculator",
}

OPTIONS: Final[Mapping[str, tuple[str, int, str] | str]] = {
    "penstock.AddAudioHeaderCalculatorOptions": "penstock_audio.messages.add_audio_header_pb2:AddAudioHeaderCalculatorOptions",
    "penstock.AudioDecoderOptions": ("penstock.CalculatorOptions", 263370674, "penstock_audio.messages.audio_decoder_pb2:AudioDecoderOptions"),
    "penstock.AudioToTensorCalculatorOptions": ("penstock.CalculatorOptions", 448635064, "penstock_audio.messages.audio_to_tensor_pb2:AudioToTensorCalculatorOptions"),
    "penstock.MelSpectrumCalculatorOptions": ("penstock.CalculatorOptions", 78581812, "penstock_audio.messages.mel_features_pb2:MelSpectrumCalculatorOptions"),
    "penstock.MfccCalculatorOptions": ("penstock.CalculatorOptions", 78450441, "penstock_audio.messages.mel_features_pb2:MfccCalculatorOptions"),
    "penstock.RationalFactorResampleCalculatorOptions": ("penstock.CalculatorOptions", 259760074, "penstock_audio.messages.resample_pb2:RationalFactorResampleCalculatorOptions"),
    "penstock.ResampleTimeSeriesCalculatorOptions": ("penstock.CalculatorOptions", 49296647, "penstock_audio.messages.resample_pb2:ResampleTimeSeriesCalculatorOptions"),
    "penstock.SpectrogramCalculatorOptions": ("penstock.CalculatorOptions", 76186688, "penstock_audio.messages.spectrogram_pb2:SpectrogramCalculatorOptions"),
    "penstock.StabilizedLogCalculatorOptions": ("penstock.CalculatorOptions", 101978339, "penstock_audio.messages.stabilized_log_pb2:StabilizedLogCalculatorOptions"),
    "penstock.TensorsToAudioCalculatorOptions": ("penstock.CalculatorOptions", 484297136, "penstock_audio.messages.tensors_to_audio_pb2:TensorsToAudioCalculatorOptions"),
    "penstock.TimeSeriesFramerCalculatorOptions": ("penstock.CalculatorOptions", 50631621, "penstock_audio.messages.time_series_framer_pb2:TimeSeriesFramerCalculatorOptions"),
    "penstock.TwoTapFirFilterCalculatorOptions": "penstock_audio.messages.two_tap_fir_filter_pb2:TwoTapFirFilterCalculatorOptions",
}
