"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    return Components(
        calculators={
            "NonMaxSuppressionCalculator": (
                "penstock_vision.non_max_suppression:NonMaxSuppressionCalculator"
            ),
            "DetectionLetterboxRemovalCalculator": (
                "penstock_vision.letterbox_removal:DetectionLetterboxRemovalCalculator"
            ),
            "LandmarkLetterboxRemovalCalculator": (
                "penstock_vision.letterbox_removal:LandmarkLetterboxRemovalCalculator"
            ),
            "DetectionProjectionCalculator": (
                "penstock_vision.detection_projection:DetectionProjectionCalculator"
            ),
            "ThresholdingCalculator": ("penstock_vision.thresholding:ThresholdingCalculator"),
            "ImagePropertiesCalculator": ("penstock_vision.image_handles:ImagePropertiesCalculator"),
            "ToImageCalculator": ("penstock_vision.image_handles:ToImageCalculator"),
            "FromImageCalculator": ("penstock_vision.image_handles:FromImageCalculator"),
            "NormalizedRectVectorHasMinSizeCalculator": (
                "penstock_vision.has_min_size:NormalizedRectVectorHasMinSizeCalculator"
            ),
            "NormalizedLandmarkListVectorHasMinSizeCalculator": (
                "penstock_vision.has_min_size:NormalizedLandmarkListVectorHasMinSizeCalculator"
            ),
            "ClassificationListVectorHasMinSizeCalculator": (
                "penstock_vision.has_min_size:ClassificationListVectorHasMinSizeCalculator"
            ),
            "SegmentationSmoothingCalculator": ("penstock_vision.masks:SegmentationSmoothingCalculator"),
            "InverseMatrixCalculator": ("penstock_vision.masks:InverseMatrixCalculator"),
            "WarpAffineCalculator": ("penstock_vision.masks:WarpAffineCalculator"),
            "WarpAffineCalculatorCpu": ("penstock_vision.masks:WarpAffineCalculatorCpu"),
            "AlignmentPointsRectsCalculator": "penstock_vision.alignment_points_rects:AlignmentPointsRectsCalculator",
            "AssociationNormRectCalculator": "penstock_vision.association:AssociationNormRectCalculator",
            "DetectionsToRectsCalculator": "penstock_vision.detections_to_rects:DetectionsToRectsCalculator",
            "HandDetectionsFromPoseToRectsCalculator": "penstock_vision.hand_detections_from_pose_to_rects:HandDetectionsFromPoseToRectsCalculator",
            "HandLandmarksToRectCalculator": "penstock_vision.hand_landmarks_to_rect:HandLandmarksToRectCalculator",
            "LandmarkProjectionCalculator": "penstock_vision.landmark_projection:LandmarkProjectionCalculator",
            "LandmarksToDetectionCalculator": "penstock_vision.landmarks_to_detection:LandmarksToDetectionCalculator",
            "RectTransformationCalculator": "penstock_vision.rect_transformation:RectTransformationCalculator",
            "WorldLandmarkProjectionCalculator": "penstock_vision.world_landmark_projection:WorldLandmarkProjectionCalculator",
        },
        options={
            "penstock.NonMaxSuppressionCalculatorOptions": (
                "penstock.CalculatorOptions",
                55383100,
                "penstock_vision.non_max_suppression_calculator_pb2:NonMaxSuppressionCalculatorOptions",
            ),
            "penstock.ThresholdingCalculatorOptions": (
                "penstock.CalculatorOptions",
                259990498,
                "penstock_vision.thresholding_calculator_pb2:ThresholdingCalculatorOptions",
            ),
            "penstock.CollectionHasMinSizeCalculatorOptions": (
                "penstock.CalculatorOptions",
                259397840,
                "penstock_vision.collection_has_min_size_calculator_pb2:CollectionHasMinSizeCalculatorOptions",
            ),
            "penstock.SegmentationSmoothingCalculatorOptions": (
                "penstock.CalculatorOptions",
                377425128,
                "penstock_vision.segmentation_smoothing_calculator_pb2:SegmentationSmoothingCalculatorOptions",
            ),
            "penstock.WarpAffineCalculatorOptions": (
                "penstock.CalculatorOptions",
                373693895,
                "penstock_vision.warp_affine_calculator_pb2:WarpAffineCalculatorOptions",
            ),
            "penstock.AssociationCalculatorOptions": (
                "penstock.CalculatorOptions",
                275124847,
                "penstock_vision.association_calculator_pb2:AssociationCalculatorOptions",
            ),
            "penstock.DetectionsToRectsCalculatorOptions": (
                "penstock.CalculatorOptions",
                262691807,
                "penstock_vision.detections_to_rects_calculator_pb2:DetectionsToRectsCalculatorOptions",
            ),
            "penstock.LandmarkProjectionCalculatorOptions": (
                "penstock.CalculatorOptions",
                263371892,
                "penstock_vision.landmark_projection_calculator_pb2:LandmarkProjectionCalculatorOptions",
            ),
            "penstock.LandmarksRefinementCalculatorOptions": (
                "penstock.CalculatorOptions",
                381914658,
                "penstock_vision.landmarks_refinement_calculator_pb2:LandmarksRefinementCalculatorOptions",
            ),
            "penstock.LandmarksSmoothingCalculatorOptions": (
                "penstock.CalculatorOptions",
                325671429,
                "penstock_vision.landmarks_smoothing_calculator_pb2:LandmarksSmoothingCalculatorOptions",
            ),
            "penstock.LandmarksToDetectionCalculatorOptions": (
                "penstock.CalculatorOptions",
                260199669,
                "penstock_vision.landmarks_to_detection_calculator_pb2:LandmarksToDetectionCalculatorOptions",
            ),
            "penstock.RectTransformationCalculatorOptions": (
                "penstock.CalculatorOptions",
                262226312,
                "penstock_vision.rect_transformation_calculator_pb2:RectTransformationCalculatorOptions",
            ),
            "penstock.RoiTrackingCalculatorOptions": (
                "penstock.CalculatorOptions",
                329994630,
                "penstock_vision.roi_tracking_calculator_pb2:RoiTrackingCalculatorOptions",
            ),
            "penstock.VisibilityCopyCalculatorOptions": (
                "penstock.CalculatorOptions",
                363728421,
                "penstock_vision.visibility_copy_calculator_pb2:VisibilityCopyCalculatorOptions",
            ),
            "penstock.VisibilitySmoothingCalculatorOptions": (
                "penstock.CalculatorOptions",
                360207350,
                "penstock_vision.visibility_smoothing_calculator_pb2:VisibilitySmoothingCalculatorOptions",
            ),
        },
    )
