"""What each calculator is for: the headings of the reference's index, with the names below them.

A name may be a pattern, as of `fnmatch`. Each calculator of the standard packs is below one heading of its
pack; the index cannot be written while one has no heading, or while a pattern is of no calculator.
"""

from __future__ import annotations

from typing import Final

#: Distribution → purpose → names of calculators.
GROUPS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "penstock-video": {
        "Video files, cameras and test patterns": ("VideoDecoder*", "OpenCvVideoDecoder*"),
        "Video files out": ("VideoEncoder*", "OpenCvVideoEncoder*"),
    },
    "penstock-audio": {
        "Sound of files and microphones, and into files": ("AudioDecoder*", "MicrophoneSource*", "WavSink*"),
        "Headers and sample rates": ("AddAudioHeader*", "RationalFactorResample*", "ResampleTimeSeries*"),
        "Frames, spectra and features": ("MelSpectrum*", "Mfcc*", "Spectrogram*", "TimeSeriesFramer*"),
        "Tensors of sound": ("AudioToTensor*", "TensorsToAudio*"),
        "Channels": (
            "AverageTimeSeries*",
            "ReverseChannelOrder*",
            "SumTimeSeries*",
        ),
        "Arithmetic on samples": (
            "DivideByMean*",
            "ElementwiseSquare*",
            "L2Normalize*",
            "PeakNormalize*",
            "StabilizedLog*",
            "SubtractMean*",
            "TwoTapFirFilter*",
        ),
        "A packet as one sample": (
            "Covariance*",
            "Energy*",
            "FirstHalfSlicer*",
            "FlattenPacket*",
            "L2NormCalculator",
            "MeanCalculator",
            "StandardDeviation*",
            "SummarySaiToPitchogram*",
        ),
    },
    "penstock-shards": {
        "Split by key": ("Shard*",),
    },
    "penstock-kafka": {
        "Topics of Kafka": ("Kafka*",),
    },
    "penstock-record": {
        "Recordings": ("McapSink*", "McapSource*"),
    },
    "penstock-image": {
        "Sizes, places and turns": ("ImageCropping*", "ImageTransformation*", "ScaleImage*"),
        "Colours, masks and painting": (
            "ColorConvert*",
            "ImageOverlay*",
            "Luminance*",
            "MaskOverlay*",
            "OpenCvPutText*",
            "Recolor*",
            "SetAlpha*",
        ),
        "Edges, features and smoothing": (
            "BilateralFilter*",
            "CannyEdge*",
            "FeatureDetector*",
            "SobelEdges*",
        ),
        "Image files and handles": (
            "ImageClone*",
            "ImageFileProperties*",
            "OpenCvEncodedImage*",
            "OpenCvImageEncoder*",
        ),
    },
    "penstock-tensors": {
        "Images to tensors": ("ImageToTensor*",),
        "Models": ("Inference*", "ResourceProvider*", "TfLite*"),
        "What models say": ("RefineLandmarks*", "SsdAnchors*", "TensorsTo*"),
    },
    "penstock-vision": {
        "Images and masks": (
            "FromImage*",
            "ImageProperties*",
            "InverseMatrix*",
            "SegmentationSmoothing*",
            "ToImage*",
            "WarpAffine*",
        ),
        "Detections": (
            "DetectionLabelIdToText*",
            "DetectionLetterboxRemoval*",
            "DetectionProjection*",
            "FilterDetection*",
            "NonMaxSuppression*",
        ),
        "Rectangles": (
            "AlignmentPointsRects*",
            "Association*",
            "DetectionsToRects*",
            "HandDetectionsFromPoseToRects*",
            "HandLandmarksToRect*",
            "RectTransformation*",
            "RoiTracking*",
        ),
        "Landmarks": (
            "LandmarkLetterboxRemoval*",
            "LandmarkProjection*",
            "LandmarkVisibility*",
            "LandmarksRefinement*",
            "LandmarksSmoothing*",
            "LandmarksToDetection*",
            "Visibility*",
            "WorldLandmarkProjection*",
        ),
        "Numbers and lists": ("*VectorHasMinSize*", "Thresholding*"),
        "Drawing": ("AnnotationOverlay*", "*ToRenderData*"),
        "Boxes in space": ("FrameAnnotationToRect*", "LandmarksToFrameAnnotation*", "Lift2DFrameAnnotation*"),
    },
    "penstock-people": {
        "Results and labels": ("LandmarksToLabelledDetections*", "PeopleResults*", "RealTimePace*"),
    },
    "penstock-gpu": {
        "Into GPU images and back": ("GpuBufferToImageFrame*", "ImageFrameToGpuBuffer*"),
        "Drawing on the GPU": (
            "GlOverlay*",
            "GlScaler*",
            "Luminance*",
            "MaskOverlay*",
            "Shader*",
            "SobelEdges*",
        ),
    },
    "penstock-calculators": {
        "Keep up with live data": (
            "FlowLimiter*",
            "PacketResampler*",
            "PacketThinner*",
            "RealTimeFlowLimiter*",
        ),
        "Choose and route packets": (
            "Bypass*",
            "Gate*",
            "ImmediateMux*",
            "Merge[!DI]*",
            "Mux*",
            "PassThrough*",
            "RoundRobinDemux*",
            "SwitchDemux*",
            "SwitchMux*",
        ),
        "Join streams in time": (
            "MakePair*",
            "PacketCloner*",
            "PacketInnerJoin*",
            "PacketPresence*",
            "PacketSequencer*",
            "PreviousLoopback*",
            "SequenceShift*",
            "ValueOrDefault*",
        ),
        "Sources, callbacks, headers, profiles": (
            "AddHeader*",
            "Callback*",
            "CountingSource*",
            "GraphProfile*",
        ),
        "Side packets": (
            "ConstantSidePacket*",
            "DefaultSidePacket*",
            "SidePacket*",
            "StreamToSidePacket*",
            "StringTo*",
        ),
        "Loops over the elements of a list": ("BeginItemLoop*", "BeginLoop*", "EndItemLoop*", "EndLoop*"),
        "Lists put together": ("Concatenate*", "MergeDetections*", "MergeImages*"),
        "Lists taken apart, measured and cut": (
            "*VectorItemCalculator",
            "*VectorSizeCalculator",
            "*VectorIndicesCalculator",
            "*Split*",
        ),
        "Numbers and matrices": ("DequantizeByteArray*", "Matrix*", "NonZero*", "QuantizeFloatVector*"),
    },
}
