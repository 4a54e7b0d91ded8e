"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    return Components(
        calculators={
            "AlignHandToPoseInWorldCalculator": (
                "penstock_vision.align_hand_to_pose_in_world:AlignHandToPoseInWorldCalculator"
            ),
            "AlignmentPointsRectsCalculator": (
                "penstock_vision.alignment_points_rects:AlignmentPointsRectsCalculator"
            ),
            "AnnotationOverlayCalculator": ("penstock_vision.annotation_overlay:AnnotationOverlayCalculator"),
            "AssociationDetectionCalculator": ("penstock_vision.association:AssociationDetectionCalculator"),
            "AssociationNormRectCalculator": ("penstock_vision.association:AssociationNormRectCalculator"),
            "ClassificationListVectorHasMinSizeCalculator": (
                "penstock_vision.has_min_size:ClassificationListVectorHasMinSizeCalculator"
            ),
            "BoxFlowCalculator": "penstock_vision.box_flow:BoxFlowCalculator",
            "CombineJointsCalculator": ("penstock_vision.joints:CombineJointsCalculator"),
            "DetectionClassificationsMergerCalculator": (
                "penstock_vision.detection_classifications_merger:DetectionClassificationsMergerCalculator"
            ),
            "DetectionLabelIdToTextCalculator": (
                "penstock_vision.detection_label_id_to_text:DetectionLabelIdToTextCalculator"
            ),
            "DetectionLetterboxRemovalCalculator": (
                "penstock_vision.letterbox_removal:DetectionLetterboxRemovalCalculator"
            ),
            "DetectionProjectionCalculator": (
                "penstock_vision.detection_projection:DetectionProjectionCalculator"
            ),
            "DetectionToLandmarksCalculator": (
                "penstock_vision.detection_to_landmarks:DetectionToLandmarksCalculator"
            ),
            "DetectionTransformationCalculator": (
                "penstock_vision.detection_transformation:DetectionTransformationCalculator"
            ),
            "DetectionUniqueIdCalculator": (
                "penstock_vision.detection_unique_id:DetectionUniqueIdCalculator"
            ),
            "DetectionsDeduplicateCalculator": (
                "penstock_vision.detections_deduplicate:DetectionsDeduplicateCalculator"
            ),
            "DetectionsToRectsCalculator": (
                "penstock_vision.detections_to_rects:DetectionsToRectsCalculator"
            ),
            "DetectionsToRenderDataCalculator": (
                "penstock_vision.detections_to_render_data:DetectionsToRenderDataCalculator"
            ),
            "DetectionsToTimedBoxListCalculator": (
                "penstock_vision.timed_boxes:DetectionsToTimedBoxListCalculator"
            ),
            "FaceGeometryEnvGeneratorCalculator": (
                "penstock_vision.face_geometry:FaceGeometryEnvGeneratorCalculator"
            ),
            "FaceGeometryPipelineCalculator": (
                "penstock_vision.face_geometry:FaceGeometryPipelineCalculator"
            ),
            "FaceLandmarksToRenderDataCalculator": (
                "penstock_vision.face_landmarks_to_render_data:FaceLandmarksToRenderDataCalculator"
            ),
            "FilterClassificationListCollectionCalculator": (
                "penstock_vision.filter_collection:FilterClassificationListCollectionCalculator"
            ),
            "FilterDetectionCalculator": ("penstock_vision.filter_detection:FilterDetectionCalculator"),
            "FilterDetectionsCalculator": ("penstock_vision.filter_detections:FilterDetectionsCalculator"),
            "FilterLandmarkListCollectionCalculator": (
                "penstock_vision.filter_collection:FilterLandmarkListCollectionCalculator"
            ),
            "FilterNormalizedLandmarkListCollectionCalculator": (
                "penstock_vision.filter_collection:FilterNormalizedLandmarkListCollectionCalculator"
            ),
            "FilterNormalizedRectCollectionCalculator": (
                "penstock_vision.filter_collection:FilterNormalizedRectCollectionCalculator"
            ),
            "FilterUInt64CollectionCalculator": (
                "penstock_vision.filter_collection:FilterUInt64CollectionCalculator"
            ),
            "FlatColorImageCalculator": ("penstock_vision.flat_color_image:FlatColorImageCalculator"),
            "FrameAnnotationToRectCalculator": (
                "penstock_vision.frame_annotation_to_rect:FrameAnnotationToRectCalculator"
            ),
            "FromImageCalculator": "penstock_vision.image_handles:FromImageCalculator",
            "HandDetectionsFromPoseToRectsCalculator": (
                "penstock_vision.hand_detections_from_pose_to_rects:HandDetectionsFromPoseToRectsCalculator"
            ),
            "HandLandmarksToRectCalculator": (
                "penstock_vision.hand_landmarks_to_rect:HandLandmarksToRectCalculator"
            ),
            "ImagePropertiesCalculator": ("penstock_vision.image_handles:ImagePropertiesCalculator"),
            "InverseMatrixCalculator": "penstock_vision.masks:InverseMatrixCalculator",
            "IrisToDepthCalculator": ("penstock_vision.iris_to_depth:IrisToDepthCalculator"),
            "IrisToRenderDataCalculator": ("penstock_vision.iris_to_render_data:IrisToRenderDataCalculator"),
            "LabelsToRenderDataCalculator": (
                "penstock_vision.labels_to_render_data:LabelsToRenderDataCalculator"
            ),
            "LandmarkLetterboxRemovalCalculator": (
                "penstock_vision.letterbox_removal:LandmarkLetterboxRemovalCalculator"
            ),
            "LandmarkProjectionCalculator": (
                "penstock_vision.landmark_projection:LandmarkProjectionCalculator"
            ),
            "LandmarkVisibilityCalculator": (
                "penstock_vision.landmark_visibility:LandmarkVisibilityCalculator"
            ),
            "LandmarksRefinementCalculator": (
                "penstock_vision.landmarks_refinement:LandmarksRefinementCalculator"
            ),
            "LandmarksSmoothingCalculator": (
                "penstock_vision.landmarks_smoothing:LandmarksSmoothingCalculator"
            ),
            "LandmarksToDetectionCalculator": (
                "penstock_vision.landmarks_to_detection:LandmarksToDetectionCalculator"
            ),
            "LandmarksToFloatsCalculator": (
                "penstock_vision.landmarks_to_floats:LandmarksToFloatsCalculator"
            ),
            "LandmarksToFrameAnnotationCalculator": (
                "penstock_vision.landmarks_to_frame_annotation:LandmarksToFrameAnnotationCalculator"
            ),
            "LandmarksToRenderDataCalculator": (
                "penstock_vision.landmarks_to_render_data:LandmarksToRenderDataCalculator"
            ),
            "LandmarksTransformationCalculator": (
                "penstock_vision.landmarks_transformation:LandmarksTransformationCalculator"
            ),
            "Lift2DFrameAnnotationTo3DCalculator": (
                "penstock_vision.lift_2d_frame_annotation_to_3d:Lift2DFrameAnnotationTo3DCalculator"
            ),
            "MotionDetectionCalculator": "penstock_vision.motion_detection:MotionDetectionCalculator",
            "MultiLandmarksSmoothingCalculator": (
                "penstock_vision.multi_landmarks_smoothing:MultiLandmarksSmoothingCalculator"
            ),
            "MultiWorldLandmarksSmoothingCalculator": (
                "penstock_vision.multi_landmarks_smoothing:MultiWorldLandmarksSmoothingCalculator"
            ),
            "NonMaxSuppressionCalculator": (
                "penstock_vision.non_max_suppression:NonMaxSuppressionCalculator"
            ),
            "NormalizedLandmarkListVectorHasMinSizeCalculator": (
                "penstock_vision.has_min_size:NormalizedLandmarkListVectorHasMinSizeCalculator"
            ),
            "NormalizedRectVectorHasMinSizeCalculator": (
                "penstock_vision.has_min_size:NormalizedRectVectorHasMinSizeCalculator"
            ),
            "PassThroughOrEmptyDetectionVectorCalculator": (
                "penstock_vision.pass_through_or_empty:PassThroughOrEmptyDetectionVectorCalculator"
            ),
            "RectProjectionCalculator": ("penstock_vision.rect_projection:RectProjectionCalculator"),
            "RectToRenderDataCalculator": ("penstock_vision.rect_to_render_data:RectToRenderDataCalculator"),
            "RectToRenderScaleCalculator": (
                "penstock_vision.rect_to_render_scale:RectToRenderScaleCalculator"
            ),
            "RectTransformationCalculator": (
                "penstock_vision.rect_transformation:RectTransformationCalculator"
            ),
            "RoiTrackingCalculator": "penstock_vision.roi_tracking:RoiTrackingCalculator",
            "SegmentationSmoothingCalculator": ("penstock_vision.masks:SegmentationSmoothingCalculator"),
            "SetJointsVisibilityCalculator": ("penstock_vision.joints:SetJointsVisibilityCalculator"),
            "SetLandmarkVisibilityCalculator": (
                "penstock_vision.set_landmark_visibility:SetLandmarkVisibilityCalculator"
            ),
            "ThresholdingCalculator": "penstock_vision.thresholding:ThresholdingCalculator",
            "TimedBoxListIdToLabelCalculator": (
                "penstock_vision.timed_boxes:TimedBoxListIdToLabelCalculator"
            ),
            "TimedBoxListToRenderDataCalculator": (
                "penstock_vision.timed_box_list_to_render_data:TimedBoxListToRenderDataCalculator"
            ),
            "ToImageCalculator": "penstock_vision.image_handles:ToImageCalculator",
            "TopKScoresCalculator": ("penstock_vision.top_k_scores:TopKScoresCalculator"),
            "UpdateFaceLandmarksCalculator": (
                "penstock_vision.update_face_landmarks:UpdateFaceLandmarksCalculator"
            ),
            "VisibilityCopyCalculator": ("penstock_vision.visibility_copy:VisibilityCopyCalculator"),
            "VisibilitySmoothingCalculator": (
                "penstock_vision.visibility_smoothing:VisibilitySmoothingCalculator"
            ),
            "WarpAffineCalculator": "penstock_vision.masks:WarpAffineCalculator",
            "WarpAffineCalculatorCpu": "penstock_vision.masks:WarpAffineCalculatorCpu",
            "WorldLandmarkProjectionCalculator": (
                "penstock_vision.world_landmark_projection:WorldLandmarkProjectionCalculator"
            ),
        },
        options={
            "penstock.AlignHandToPoseInWorldCalculatorOptions": (
                "penstock.CalculatorOptions",
                403449802,
                "penstock_vision.align_hand_to_pose_in_world_calculator_pb2:AlignHandToPoseInWorldCalculatorOptions",
            ),
            "penstock.AnnotationOverlayCalculatorOptions": (
                "penstock.CalculatorOptions",
                250607623,
                "penstock_vision.annotation_overlay_calculator_pb2:AnnotationOverlayCalculatorOptions",
            ),
            "penstock.AssociationCalculatorOptions": (
                "penstock.CalculatorOptions",
                275124847,
                "penstock_vision.association_calculator_pb2:AssociationCalculatorOptions",
            ),
            "penstock.CollectionHasMinSizeCalculatorOptions": (
                "penstock.CalculatorOptions",
                259397840,
                "penstock_vision.collection_has_min_size_calculator_pb2:CollectionHasMinSizeCalculatorOptions",
            ),
            "penstock.CombineJointsCalculatorOptions": (
                "penstock.CalculatorOptions",
                406440185,
                "penstock_vision.combine_joints_calculator_pb2:CombineJointsCalculatorOptions",
            ),
            "penstock.DetectionLabelIdToTextCalculatorOptions": (
                "penstock.CalculatorOptions",
                251889072,
                "penstock_vision.detection_label_id_to_text_calculator_pb2:DetectionLabelIdToTextCalculatorOptions",
            ),
            "penstock.DetectionsToRectsCalculatorOptions": (
                "penstock.CalculatorOptions",
                262691807,
                "penstock_vision.detections_to_rects_calculator_pb2:DetectionsToRectsCalculatorOptions",
            ),
            "penstock.DetectionsToRenderDataCalculatorOptions": (
                "penstock.CalculatorOptions",
                248360806,
                "penstock_vision.detections_to_render_data_calculator_pb2:DetectionsToRenderDataCalculatorOptions",
            ),
            "penstock.FaceGeometryEnvGeneratorCalculatorOptions": (
                "penstock.CalculatorOptions",
                323693810,
                "penstock_vision.face_geometry_env_generator_calculator_pb2:FaceGeometryEnvGeneratorCalculatorOptions",
            ),
            "penstock.FaceGeometryPipelineCalculatorOptions": (
                "penstock.CalculatorOptions",
                323693812,
                "penstock_vision.face_geometry_pipeline_calculator_pb2:FaceGeometryPipelineCalculatorOptions",
            ),
            "penstock.FilterDetectionCalculatorOptions": (
                "penstock.CalculatorOptions",
                339582987,
                "penstock_vision.filter_detection_calculator_pb2:FilterDetectionCalculatorOptions",
            ),
            "penstock.FilterDetectionsCalculatorOptions": (
                "penstock.CalculatorOptions",
                395478132,
                "penstock_vision.filter_detections_calculator_pb2:FilterDetectionsCalculatorOptions",
            ),
            "penstock.FlatColorImageCalculatorOptions": (
                "penstock.CalculatorOptions",
                515548435,
                "penstock_vision.flat_color_image_calculator_pb2:FlatColorImageCalculatorOptions",
            ),
            "penstock.FrameAnnotationToRectCalculatorOptions": (
                "penstock.CalculatorOptions",
                338119067,
                "penstock_vision.frame_annotation_to_rect_calculator_pb2:FrameAnnotationToRectCalculatorOptions",
            ),
            "penstock.IrisToDepthCalculatorOptions": (
                "penstock.CalculatorOptions",
                303429002,
                "penstock_vision.iris_to_depth_calculator_pb2:IrisToDepthCalculatorOptions",
            ),
            "penstock.IrisToRenderDataCalculatorOptions": (
                "penstock.CalculatorOptions",
                289530040,
                "penstock_vision.iris_to_render_data_calculator_pb2:IrisToRenderDataCalculatorOptions",
            ),
            "penstock.LabelsToRenderDataCalculatorOptions": (
                "penstock.CalculatorOptions",
                271660364,
                "penstock_vision.labels_to_render_data_calculator_pb2:LabelsToRenderDataCalculatorOptions",
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
            "penstock.LandmarksToFloatsCalculatorOptions": (
                "penstock.CalculatorOptions",
                274035660,
                "penstock_vision.landmarks_to_floats_calculator_pb2:LandmarksToFloatsCalculatorOptions",
            ),
            "penstock.LandmarksToRenderDataCalculatorOptions": (
                "penstock.CalculatorOptions",
                258435389,
                "penstock_vision.landmarks_to_render_data_calculator_pb2:LandmarksToRenderDataCalculatorOptions",
            ),
            "penstock.LandmarksTransformationCalculatorOptions": (
                "penstock.CalculatorOptions",
                421309928,
                "penstock_vision.landmarks_transformation_calculator_pb2:LandmarksTransformationCalculatorOptions",
            ),
            "penstock.Lift2DFrameAnnotationTo3DCalculatorOptions": (
                "penstock.CalculatorOptions",
                290166284,
                "penstock_vision.lift_2d_frame_annotation_to_3d_calculator_pb2:Lift2DFrameAnnotationTo3DCalculatorOptions",
            ),
            "penstock.NonMaxSuppressionCalculatorOptions": (
                "penstock.CalculatorOptions",
                55383100,
                "penstock_vision.non_max_suppression_calculator_pb2:NonMaxSuppressionCalculatorOptions",
            ),
            "penstock.RectToRenderDataCalculatorOptions": (
                "penstock.CalculatorOptions",
                262270380,
                "penstock_vision.rect_to_render_data_calculator_pb2:RectToRenderDataCalculatorOptions",
            ),
            "penstock.RectToRenderScaleCalculatorOptions": (
                "penstock.CalculatorOptions",
                299463409,
                "penstock_vision.rect_to_render_scale_calculator_pb2:RectToRenderScaleCalculatorOptions",
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
            "penstock.SegmentationSmoothingCalculatorOptions": (
                "penstock.CalculatorOptions",
                377425128,
                "penstock_vision.segmentation_smoothing_calculator_pb2:SegmentationSmoothingCalculatorOptions",
            ),
            "penstock.SetJointsVisibilityCalculatorOptions": (
                "penstock.CalculatorOptions",
                406440186,
                "penstock_vision.set_joints_visibility_calculator_pb2:SetJointsVisibilityCalculatorOptions",
            ),
            "penstock.ThresholdingCalculatorOptions": (
                "penstock.CalculatorOptions",
                259990498,
                "penstock_vision.thresholding_calculator_pb2:ThresholdingCalculatorOptions",
            ),
            "penstock.TimedBoxListIdToLabelCalculatorOptions": (
                "penstock.CalculatorOptions",
                297701606,
                "penstock_vision.timed_box_list_id_to_label_calculator_pb2:TimedBoxListIdToLabelCalculatorOptions",
            ),
            "penstock.TimedBoxListToRenderDataCalculatorOptions": (
                "penstock.CalculatorOptions",
                289899854,
                "penstock_vision.timed_box_list_to_render_data_calculator_pb2:TimedBoxListToRenderDataCalculatorOptions",
            ),
            "penstock.TopKScoresCalculatorOptions": (
                "penstock.CalculatorOptions",
                271211788,
                "penstock_vision.top_k_scores_calculator_pb2:TopKScoresCalculatorOptions",
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
            "penstock.WarpAffineCalculatorOptions": (
                "penstock.CalculatorOptions",
                373693895,
                "penstock_vision.warp_affine_calculator_pb2:WarpAffineCalculatorOptions",
            ),
        },
    )
