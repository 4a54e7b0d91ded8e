"""Programs as MediaPipe's documentation shows them, after one changed import, with MediaPipe's results.

The expected results are those of the same functions in mediapipe 0.10.21 (OpenCV 4.11) on the same pictures.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import distributions

import cv2
import numpy as np
import pytest

import penstock_mediapipe as mp

pytestmark = pytest.mark.usefixtures("models")

#: What landmarks, boxes and scores may differ by; where the runtime of the models has other kernels than the
#: reference, regions that come from landmarks of the frame before add to it.
NEAR = 1e-5 if all(one.version.startswith("1.1.") for one in distributions(name="ai-edge-litert")) else 1e-3


def near(numbers):
    return pytest.approx(numbers, abs=NEAR)


def sha(image):
    return hashlib.sha256(np.ascontiguousarray(image).tobytes()).hexdigest()[:16]


# --- the programs -------------------------------------------------------------------------------------


def hands_in_pictures(mp, files):
    found = []
    drawing, styles, mp_hands = (
        mp.solutions.drawing_utils,
        mp.solutions.drawing_styles,
        mp.solutions.hands,
    )
    with mp_hands.Hands(static_image_mode=True, max_num_hands=2, min_detection_confidence=0.5) as hands:
        for file in files:
            image = cv2.flip(cv2.imread(file), 1)
            results = hands.process(cv2.cvtColor(image, cv2.COLOR_BGR2RGB))
            if not results.multi_hand_landmarks:
                found.append(None)
                continue
            height, width, _ = image.shape
            tips = []
            annotated = image.copy()
            for hand in results.multi_hand_landmarks:
                tip = hand.landmark[mp_hands.HandLandmark.INDEX_FINGER_TIP]
                tips.append((tip.x * width, tip.y * height))
                drawing.draw_landmarks(
                    annotated,
                    hand,
                    mp_hands.HAND_CONNECTIONS,
                    styles.get_default_hand_landmarks_style(),
                    styles.get_default_hand_connections_style(),
                )
            labels = [hand.classification[0].label for hand in results.multi_handedness]
            heights = [hand.landmark[0].y for hand in results.multi_hand_world_landmarks]
            found.append((labels, tips, heights, sha(cv2.flip(annotated, 1))))
    return found


def hands_in_a_video(mp, frames):
    found = []
    with mp.solutions.hands.Hands(
        model_complexity=0, min_detection_confidence=0.5, min_tracking_confidence=0.5
    ) as hands:
        for frame in frames:
            image = cv2.cvtColor(frame[:, :, ::-1], cv2.COLOR_BGR2RGB)
            image.flags.writeable = False
            results = hands.process(image)
            image.flags.writeable = True
            image = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
            for hand in results.multi_hand_landmarks or ():
                mp.solutions.drawing_utils.draw_landmarks(image, hand, mp.solutions.hands.HAND_CONNECTIONS)
            tips = [(hand.landmark[8].x, hand.landmark[8].y) for hand in results.multi_hand_landmarks]
            found.append((tips, sha(image)))
    return found


def faces_in_pictures(mp, files, model):
    found = []
    faces = mp.solutions.face_detection
    with faces.FaceDetection(model_selection=model, min_detection_confidence=0.5) as face_detection:
        for file in files:
            image = cv2.imread(file)
            results = face_detection.process(cv2.cvtColor(image, cv2.COLOR_BGR2RGB))
            if not results.detections:
                found.append(None)
                continue
            annotated = image.copy()
            noses = []
            for detection in results.detections:
                nose = faces.get_key_point(detection, faces.FaceKeyPoint.NOSE_TIP)
                noses.append((nose.x, nose.y, detection.score[0]))
                mp.solutions.drawing_utils.draw_detection(annotated, detection)
            found.append((noses, sha(annotated)))
    return found


def face_mesh_in_pictures(mp, files):
    found = []
    drawing, styles, mesh = (
        mp.solutions.drawing_utils,
        mp.solutions.drawing_styles,
        mp.solutions.face_mesh,
    )
    with mesh.FaceMesh(
        static_image_mode=True, max_num_faces=1, refine_landmarks=True, min_detection_confidence=0.5
    ) as face_mesh:
        for file in files:
            image = cv2.imread(file)
            results = face_mesh.process(cv2.cvtColor(image, cv2.COLOR_BGR2RGB))
            if not results.multi_face_landmarks:
                found.append(None)
                continue
            annotated = image.copy()
            for face in results.multi_face_landmarks:
                for connections, style in (
                    (mesh.FACEMESH_TESSELATION, styles.get_default_face_mesh_tesselation_style()),
                    (mesh.FACEMESH_CONTOURS, styles.get_default_face_mesh_contours_style()),
                    (mesh.FACEMESH_IRISES, styles.get_default_face_mesh_iris_connections_style()),
                ):
                    drawing.draw_landmarks(
                        image=annotated,
                        landmark_list=face,
                        connections=connections,
                        landmark_drawing_spec=None,
                        connection_drawing_spec=style,
                    )
            faces = [
                [(face.landmark[k].x, face.landmark[k].y, face.landmark[k].z) for k in (1, 33, 477)]
                for face in results.multi_face_landmarks
            ]
            found.append((faces, sha(annotated)))
    return found


def pose_in_pictures(mp, files):
    found = []
    mp_pose = mp.solutions.pose
    with mp_pose.Pose(
        static_image_mode=True, model_complexity=1, enable_segmentation=True, min_detection_confidence=0.5
    ) as pose:
        for file in files:
            image = cv2.imread(file)
            results = pose.process(cv2.cvtColor(image, cv2.COLOR_BGR2RGB))
            if not results.pose_landmarks:
                found.append(None)
                continue
            nose = results.pose_landmarks.landmark[mp_pose.PoseLandmark.NOSE]
            shoulder = results.pose_world_landmarks.landmark[mp_pose.PoseLandmark.LEFT_SHOULDER]
            condition = np.stack((results.segmentation_mask,) * 3, axis=-1) > 0.1
            background = np.full(image.shape, 192, np.uint8)
            annotated = np.where(condition, image, background)
            mp.solutions.drawing_utils.draw_landmarks(
                annotated,
                results.pose_landmarks,
                mp_pose.POSE_CONNECTIONS,
                landmark_drawing_spec=mp.solutions.drawing_styles.get_default_pose_landmarks_style(),
            )
            numbers = (nose.x, nose.y, nose.visibility, shoulder.x, shoulder.y, shoulder.z)
            found.append((numbers, float(condition.mean()), annotated.shape))
    return found


def pose_in_a_video(mp, frames):
    found = []
    with mp.solutions.pose.Pose(min_detection_confidence=0.5, min_tracking_confidence=0.5) as pose:
        for frame in frames:
            results = pose.process(frame)
            found.append([(p.x, p.y, p.visibility) for p in results.pose_landmarks.landmark[0:16:5]])
    return found


def holistic_in_a_video(mp, frames):
    found = []
    with mp.solutions.holistic.Holistic(
        min_detection_confidence=0.5, min_tracking_confidence=0.5
    ) as holistic:
        for frame in frames:
            results = holistic.process(frame)
            left, right = results.left_hand_landmarks, results.right_hand_landmarks
            found.append(
                [
                    results.face_landmarks.landmark[4].x,
                    results.pose_landmarks.landmark[12].x,
                    right and right.landmark[8].y,
                    left and left.landmark[8].y,
                ]
            )
    return found


def selfie_in_pictures(mp, files, model):
    found = []
    with mp.solutions.selfie_segmentation.SelfieSegmentation(model_selection=model) as selfie:
        for file in files:
            image = cv2.imread(file)
            results = selfie.process(cv2.cvtColor(image, cv2.COLOR_BGR2RGB))
            mask = results.segmentation_mask
            condition = np.stack((mask,) * 3, axis=-1) > 0.1
            foreground = np.where(condition, np.full(image.shape, 255, np.uint8), np.uint8(0))
            found.append((mask.shape, float(mask.mean()), float(foreground.mean())))
    return found


# --- what they give -----------------------------------------------------------------------------------


def test_hands_in_pictures_have_the_tips_labels_and_drawings_of_the_reference(picture_file):
    files = [picture_file(name) for name in ("hand_one", "astronaut", "hands_two")]

    one, none, two = hands_in_pictures(mp, files)

    assert none is None
    assert one[0] == ["Right"]
    assert one[1][0] == near((280.1157074, 257.4114380))
    assert one[2] == near([0.0882231])
    assert two[0] == ["Right", "Left"]
    assert two[1][0] == near((172.4877090, 409.6216125))
    assert two[1][1] == near((182.1947479, 211.2333984))
    assert two[2] == near([-0.0016340, -0.0158625])
    assert (one[3], two[3]) == ("f6a199cf7596fda6", "1dac8c8962a31b47")


def test_hands_in_a_video_have_the_tips_and_drawings_of_the_reference(frames):
    found = hands_in_a_video(mp, frames("hands_two", 3))

    assert [tips for tips, _ in found] == [
        [near((0.5492536, 0.8017027)), near((0.5211783, 0.4155133))],
        [near((0.5640882, 0.8087886)), near((0.5390149, 0.4239439))],
        [near((0.5796837, 0.8165459)), near((0.5547636, 0.4323306))],
    ]
    assert [drawn for _, drawn in found] == ["82d96604a487db5f", "bbe325492d936020", "c4522d611a0aa4ff"]


def test_near_faces_in_pictures_have_the_noses_and_drawings_of_the_reference(picture_file):
    files = [picture_file(name) for name in ("astronaut", "faces_two", "hands_six")]

    found = faces_in_pictures(mp, files, 0)

    assert [noses for noses, _ in found] == [
        [near((0.4305261, 0.2485578, 0.9217387))],
        [near((0.2326211, 0.2709598, 0.5186195)), near((0.7856503, 0.4700483, 0.5116657))],
        [near((0.6180953, 0.1620788, 0.8296431))],
    ]
    assert [drawn for _, drawn in found] == ["a70b545b63592833", "46399b50fce02553", "85e4620b82662a6f"]


def test_far_faces_in_pictures_have_the_noses_and_drawings_of_the_reference(picture_file):
    found = faces_in_pictures(mp, [picture_file("astronaut"), picture_file("faces_two")], 1)

    assert [noses for noses, _ in found] == [
        [near((0.4374404, 0.2583671, 0.9120576))],
        [near((0.2512368, 0.2760350, 0.9076435)), near((0.7632586, 0.4550588, 0.7987125))],
    ]
    assert [drawn for _, drawn in found] == ["138d722d489b9d15", "93f62c4fd381bfe0"]


def test_a_face_mesh_in_pictures_has_the_landmarks_and_drawing_of_the_reference(picture_file):
    found, none = face_mesh_in_pictures(mp, [picture_file("astronaut"), picture_file("hands_two")])

    assert none is None
    assert found[0] == [
        [
            near((0.4364219, 0.2539374, -0.0446817)),
            near((0.3812757, 0.1971146, 0.0088491)),
            near((0.4814811, 0.2086275, 0.0010115)),
        ]
    ]
    assert found[1] == "49ba41e881b0964c"


def test_a_pose_in_pictures_has_the_landmarks_and_mask_of_the_reference(picture_file):
    first, second = pose_in_pictures(mp, [picture_file("astronaut"), picture_file("hand_one")])

    assert first[0] == near((0.4350293, 0.2499291, 0.9992796, 0.2019116, -0.4603018, -0.0514680))
    assert second[0] == near((0.4981885, 0.4021307, 0.9998312, 0.1651007, -0.4333187, -0.1617719))
    assert [first[1], second[1]] == pytest.approx([0.4610100, 0.3124898], abs=1e-4)
    assert (first[2], second[2]) == ((512, 512, 3), (512, 384, 3))


def test_a_pose_in_a_video_is_followed_and_smoothed_as_in_the_reference(frames):
    found = pose_in_a_video(mp, frames("astronaut", 4))

    assert [found[0][0], found[0][3]] == [
        near((0.4350293, 0.2499291, 0.9992796)),
        near((0.6374388, 0.9010734, 0.1258276)),
    ]
    assert [found[1][0], found[1][3]] == [
        near((0.4357772, 0.2541046, 0.9991983)),
        near((0.6446056, 0.9095725, 0.1337023)),
    ]
    assert [found[3][0], found[3][3]] == [
        near((0.4604847, 0.2747925, 0.9992633)),
        near((0.6573704, 0.7653540, 0.1738053)),
    ]


def test_holistic_in_a_video_finds_face_pose_and_hand_of_the_reference(frames):
    found = holistic_in_a_video(mp, frames("hand_one", 3))

    assert [numbers[:3] for numbers in found] == [
        near([0.5018421, 0.3195672, 0.5019422]),
        near([0.5205459, 0.3220923, 0.5090668]),
        near([0.5342068, 0.3366921, 0.5169226]),
    ]
    assert [numbers[3] for numbers in found] == [None, None, None]


def test_a_selfie_in_pictures_has_the_mask_of_the_reference(picture_file):
    (general,) = selfie_in_pictures(mp, [picture_file("astronaut")], 0)
    (landscape,) = selfie_in_pictures(mp, [picture_file("hand_one")], 1)

    assert (general[0], landscape[0]) == ((512, 512), (512, 384))
    assert [general[1], landscape[1]] == near([0.5418476, 0.2699504])
    assert [general[2], landscape[2]] == pytest.approx([142.655411, 75.895081], abs=0.01)
