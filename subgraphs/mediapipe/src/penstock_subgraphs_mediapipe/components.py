"""The components of penstock_subgraphs_mediapipe by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

SUBGRAPHS: Final[Mapping[str, str]] = {
    "BoxLandmarkSubgraph": "penstock_subgraphs_mediapipe:box_landmark_subgraph.pbtxt",
    "FaceDetection": "penstock_subgraphs_mediapipe:face_detection.pbtxt",
    "FaceDetectionFrontDetectionToRoi": "penstock_subgraphs_mediapipe:face_detection_front_detection_to_roi.pbtxt",
    "FaceDetectionFrontDetectionsToRoi": "penstock_subgraphs_mediapipe:face_detection_front_detections_to_roi.pbtxt",
    "FaceDetectionFullRange": "penstock_subgraphs_mediapipe:face_detection_full_range.pbtxt",
    "FaceDetectionShortRange": "penstock_subgraphs_mediapipe:face_detection_short_range.pbtxt",
    "FaceDetectionShortRangeByRoiCpu": "penstock_subgraphs_mediapipe:face_detection_short_range_by_roi_cpu.pbtxt",
    "FaceDetectionShortRangeCpu": "penstock_subgraphs_mediapipe:face_detection_short_range_cpu.pbtxt",
    "FaceLandmarkCpu": "penstock_subgraphs_mediapipe:face_landmark_cpu.pbtxt",
    "FaceLandmarkLandmarksToRoi": "penstock_subgraphs_mediapipe:face_landmark_landmarks_to_roi.pbtxt",
    "FaceLandmarksFromPoseCpu": "penstock_subgraphs_mediapipe:face_landmarks_from_pose_cpu.pbtxt",
    "FaceLandmarksFromPoseToRecropRoi": "penstock_subgraphs_mediapipe:face_landmarks_from_pose_to_recrop_roi.pbtxt",
    "FaceLandmarksModelLoader": "penstock_subgraphs_mediapipe:face_landmarks_model_loader.pbtxt",
    "FaceLandmarksToRoi": "penstock_subgraphs_mediapipe:face_landmarks_to_roi.pbtxt",
    "FaceTracking": "penstock_subgraphs_mediapipe:face_tracking.pbtxt",
    "HandLandmarkCpu": "penstock_subgraphs_mediapipe:hand_landmark_cpu.pbtxt",
    "HandLandmarkLandmarksToRoi": "penstock_subgraphs_mediapipe:hand_landmark_landmarks_to_roi.pbtxt",
    "HandLandmarkModelLoader": "penstock_subgraphs_mediapipe:hand_landmark_model_loader.pbtxt",
    "HandLandmarksFromPoseCpu": "penstock_subgraphs_mediapipe:hand_landmarks_from_pose_cpu.pbtxt",
    "HandLandmarksFromPoseToRecropRoi": "penstock_subgraphs_mediapipe:hand_landmarks_from_pose_to_recrop_roi.pbtxt",
    "HandLandmarksLeftAndRightCpu": "penstock_subgraphs_mediapipe:hand_landmarks_left_and_right_cpu.pbtxt",
    "HandLandmarksToRoi": "penstock_subgraphs_mediapipe:hand_landmarks_to_roi.pbtxt",
    "HandRecropByRoiCpu": "penstock_subgraphs_mediapipe:hand_recrop_by_roi_cpu.pbtxt",
    "HandTracking": "penstock_subgraphs_mediapipe:hand_tracking.pbtxt",
    "HandVisibilityFromHandLandmarksFromPose": "penstock_subgraphs_mediapipe:hand_visibility_from_hand_landmarks_from_pose.pbtxt",
    "ObjectDetectionOidV4Subgraph": "penstock_subgraphs_mediapipe:object_detection_oid_v4_subgraph.pbtxt",
    "PalmDetectionCpu": "penstock_subgraphs_mediapipe:palm_detection_cpu.pbtxt",
    "PalmDetectionDetectionToRoi": "penstock_subgraphs_mediapipe:palm_detection_detection_to_roi.pbtxt",
    "PalmDetectionModelLoader": "penstock_subgraphs_mediapipe:palm_detection_model_loader.pbtxt",
    "PoseDetectionCpu": "penstock_subgraphs_mediapipe:pose_detection_cpu.pbtxt",
    "PoseDetectionToRoi": "penstock_subgraphs_mediapipe:pose_detection_to_roi.pbtxt",
    "PoseLandmarkByRoiCpu": "penstock_subgraphs_mediapipe:pose_landmark_by_roi_cpu.pbtxt",
    "PoseLandmarkCpu": "penstock_subgraphs_mediapipe:pose_landmark_cpu.pbtxt",
    "PoseLandmarkFiltering": "penstock_subgraphs_mediapipe:pose_landmark_filtering.pbtxt",
    "PoseLandmarkModelLoader": "penstock_subgraphs_mediapipe:pose_landmark_model_loader.pbtxt",
    "PoseLandmarksAndSegmentationInverseProjection": "penstock_subgraphs_mediapipe:pose_landmarks_and_segmentation_inverse_projection.pbtxt",
    "PoseLandmarksToRoi": "penstock_subgraphs_mediapipe:pose_landmarks_to_roi.pbtxt",
    "PoseSegmentationFiltering": "penstock_subgraphs_mediapipe:pose_segmentation_filtering.pbtxt",
    "SelfieSegmentationModelLoader": "penstock_subgraphs_mediapipe:selfie_segmentation_model_loader.pbtxt",
    "TensorsToFaceLandmarks": "penstock_subgraphs_mediapipe:tensors_to_face_landmarks.pbtxt",
    "TensorsToFaceLandmarksWithAttention": "penstock_subgraphs_mediapipe:tensors_to_face_landmarks_with_attention.pbtxt",
    "TensorsToPoseLandmarksAndSegmentation": "penstock_subgraphs_mediapipe:tensors_to_pose_landmarks_and_segmentation.pbtxt",
}

OPTIONS: Final[Mapping[str, tuple[str, int, str] | str]] = {
    "penstock.FaceDetectionOptions": ("penstock.CalculatorOptions", 374290926, "penstock_subgraphs_mediapipe.messages.face_detection_pb2:FaceDetectionOptions"),
}
