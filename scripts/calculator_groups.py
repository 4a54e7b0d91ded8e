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
        "Headers of video streams": ("VideoPreStream*",),
        "Video files out": ("VideoEncoder*", "OpenCvVideoEncoder*"),
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
        "Images in main memory": ("CannyEdge*", "ColorConvert*", "ImageOverlay*", "ImageTransformation*"),
    },
    "penstock-tensors": {
        "Images and landmarks to tensors": (
            "ImageToTensor*",
            "LandmarksToTensor*",
            "TensorConverter*",
            "TfLiteConverter*",
        ),
        "Models": (
            "Inference*",
            "LocalFileContents*",
            "ResourceProvider*",
            "TfLiteCustomOp*",
            "TfLiteInference*",
            "TfLiteModel*",
        ),
        "What models say": ("RefineLandmarks*", "SsdAnchors*", "TensorsTo*", "TfLiteTensorsTo*"),
    },
    "penstock-vision": {
        "Images and masks": (
            "FlatColorImage*",
            "FromImage*",
            "ImageProperties*",
            "InverseMatrix*",
            "SegmentationSmoothing*",
            "ToImage*",
            "WarpAffine*",
        ),
        "Detections": (
            "AssociationDetection*",
            "Detection[CLPU]*",
            "DetectionTransformation*",
            "DetectionsDeduplicate*",
            "FilterDetection*",
            "NonMaxSuppression*",
            "PassThroughOrEmptyDetection*",
        ),
        "Timed boxes": ("DetectionsToTimedBoxList*", "TimedBoxListIdToLabel*"),
        "Rectangles": (
            "AlignmentPointsRects*",
            "AssociationNormRect*",
            "DetectionsToRects*",
            "HandDetectionsFromPoseToRects*",
            "HandLandmarksToRect*",
            "RectProjection*",
            "RectTransformation*",
            "RoiTracking*",
        ),
        "Landmarks": (
            "AlignHandToPose*",
            "IrisToDepth*",
            "UpdateFaceLandmarks*",
            "DetectionToLandmarks*",
            "LandmarkLetterboxRemoval*",
            "LandmarkProjection*",
            "LandmarkVisibility*",
            "LandmarksRefinement*",
            "LandmarksSmoothing*",
            "LandmarksToDetection*",
            "LandmarksToFloats*",
            "LandmarksTransformation*",
            "Multi*Smoothing*",
            "SetLandmarkVisibility*",
            "Visibility*",
            "WorldLandmarkProjection*",
        ),
        "Joints": ("CombineJoints*", "SetJointsVisibility*"),
        "Numbers and lists": ("*VectorHasMinSize*", "Filter*Collection*", "Thresholding*", "TopKScores*"),
        "Drawing": ("AnnotationOverlay*", "*ToRenderData*", "RectToRenderScale*"),
        "Faces in space": ("FaceGeometry*",),
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
            "LocalFilePatternContents*",
        ),
        "How late and how often packets come": ("Clock*", "PacketFrequency*", "PacketLatency*"),
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
        "Numbers and matrices": (
            "DequantizeByteArray*",
            "Logic*",
            "Matrix*",
            "NonZero*",
            "QuantizeFloatVector*",
        ),
    },
}
