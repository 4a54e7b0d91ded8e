"""Each mode in which MediaPipe's own tests run a solution, with MediaPipe's results.

MediaPipe's repository does not have the pictures of its tests, so the pictures are others.
`modes_of_solutions.json` has the results of mediapipe 0.10.21 for them in the same modes, after the same
numbers of frames; of videos that move the results of each frame. Of the models of poses, its wheel has only
the full one.
"""

from __future__ import annotations

import json
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
import pytest

import penstock_mediapipe as mp

pytestmark = pytest.mark.usefixtures("models")

RECORDED = json.loads(Path(__file__).with_name("modes_of_solutions.json").read_text())
#: What a number may differ by: another version of the models' runtime has other kernels.
SAME_KERNELS = all(one.version.startswith(("1.1.", "1.3.")) for one in distributions(name="ai-edge-litert"))
NEAR = 1e-5 if SAME_KERNELS else 1e-3
#: How far results may be from the last ones while they settle in a video of one picture, which shows no legs.
SETTLES = 0.1
#: Landmarks around the eyes; and of the irises, which only a refined mesh has, behind the others.
EYES = (33, 7, 163, 144, 145, 153, 154, 155, 133, 246, 161, 160, 159, 158, 157, 173)
EYES += (263, 249, 390, 373, 374, 380, 381, 382, 362, 466, 388, 387, 386, 385, 384, 398)
IRISES = tuple(range(468, 478))
MESH = (468, 478)


def points(landmarks, chosen=None):
    """Return x, y and z of landmarks; of all, or of the chosen ones."""
    found = landmarks.landmark
    return [[one.x, one.y, one.z] for one in ([found[k] for k in chosen] if chosen else found)]


def hands_in_still_pictures(mp, image, *, static, model, count):
    found = []
    with mp.solutions.hands.Hands(
        static_image_mode=static, max_num_hands=2, model_complexity=model, min_detection_confidence=0.5
    ) as hands:
        for _ in range(count):
            results = hands.process(image)
            labels = [hand.classification[0].label for hand in results.multi_handedness]
            found.append([labels, [points(hand) for hand in results.multi_hand_landmarks]])
    return found


def one_hand_in_a_video(mp, frames, *, model):
    found = []
    with mp.solutions.hands.Hands(
        static_image_mode=False, max_num_hands=1, model_complexity=model, min_detection_confidence=0.5
    ) as hands:
        for frame in frames:
            results = hands.process(image=frame)
            (hand,), (world,) = results.multi_hand_landmarks, results.multi_hand_world_landmarks
            found.append([points(hand), points(world)])
    return found


def key_points_of_a_face(mp, image, *, model):
    found = []
    with mp.solutions.face_detection.FaceDetection(
        min_detection_confidence=0.5, model_selection=model
    ) as faces:
        for _ in range(5):
            (face,) = faces.process(image).detections
            found.append([[one.x, one.y] for one in face.location_data.relative_keypoints])
    return found


def eyes_of_a_face(mp, image, *, static, refined, count):
    found = []
    with mp.solutions.face_mesh.FaceMesh(
        static_image_mode=static, refine_landmarks=refined, min_detection_confidence=0.5
    ) as faces:
        for _ in range(count):
            (face,) = faces.process(image).multi_face_landmarks
            assert len(face.landmark) == MESH[refined]
            found.append(points(face, EYES + IRISES if refined else EYES))
    return found


def poses_in_still_pictures(mp, image, *, static):
    found = []
    with mp.solutions.pose.Pose(
        static_image_mode=static, model_complexity=1, enable_segmentation=True
    ) as pose:
        for _ in range(3):
            results = pose.process(image)
            mask = results.segmentation_mask
            assert mask.shape == image.shape[:2]
            sample = [float(one) for one in mask[::64, ::64].ravel()]
            found.append([points(results.pose_landmarks), points(results.pose_world_landmarks), sample])
    return found


def poses_in_a_video(mp, frames):
    found = []
    with mp.solutions.pose.Pose(static_image_mode=False, model_complexity=1) as pose:
        for frame in frames:
            results = pose.process(image=frame)
            found.append([points(results.pose_landmarks), points(results.pose_world_landmarks)])
    return found


def a_whole_person(mp, image, *, static, refined):
    found = []
    with mp.solutions.holistic.Holistic(
        static_image_mode=static, model_complexity=1, refine_face_landmarks=refined
    ) as holistic:
        for _ in range(3):
            results = holistic.process(image)
            assert len(results.face_landmarks.landmark) == MESH[refined]
            parts = (results.pose_landmarks, results.left_hand_landmarks, results.right_hand_landmarks)
            found.append([*map(points, parts), points(results.face_landmarks, EYES)])
    return found


def mask_of_a_person(mp, image, *, model):
    with mp.solutions.selfie_segmentation.SelfieSegmentation(model_selection=model) as selfie:
        mask = selfie.process(image).segmentation_mask
    assert mask.shape == image.shape[:2]
    return [[float(one) for one in mask[::32, ::32].ravel()]]


def assert_same(found, name):
    """Compare the last results with the record of MediaPipe; x and y of those before may be beside it."""
    compare(found[-1], RECORDED[name])
    for one in found[:-1]:
        assert_near(one, RECORDED[name])


def assert_near(ours, theirs):
    """Look that x and y of landmarks are about where they are in the end."""
    compare(without_depth(ours), without_depth(theirs), SETTLES)


def without_depth(found):
    """Return lists of any depth with two numbers where there are x, y and z."""
    if not isinstance(found, list):
        return found
    is_point = len(found) == 3 and all(isinstance(one, float | int) for one in found)
    return found[:2] if is_point else [without_depth(one) for one in found]


def compare(ours, theirs, near=NEAR):
    """Compare lists of numbers and words of any depth."""
    if isinstance(theirs, list) and not all(isinstance(one, float | int) for one in theirs):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            compare(one, other, near)
    elif isinstance(theirs, list):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=near)
    else:
        assert ours == theirs


#: Mode → whether each image is treated as the first.
MODES = {"static": True, "video": False}


@pytest.mark.reference("python/solutions/hands_test.py", "HandsTest.test_multi_hands")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("model", "name"), [(0, "lite"), (1, "full")])
def test_two_hands_are_found_in_each_mode_with_each_model(mode, model, name, picture):
    count = 5 if MODES[mode] else 10
    found = hands_in_still_pictures(mp, picture("hands_two"), static=MODES[mode], model=model, count=count)

    assert len(found) == count
    assert_same(found, f"hands {mode} {name}")
    if MODES[mode]:
        assert all(one == found[0] for one in found)


@pytest.mark.reference("python/solutions/hands_test.py", "HandsTest.test_on_video")
def test_a_hand_that_moves_is_followed_in_a_video(frames):
    found = one_hand_in_a_video(mp, frames("hand_one", 10), model=1)

    compare(found, RECORDED["hand video"])


@pytest.mark.reference("python/solutions/face_detection_test.py", "FaceDetectionTest.test_face")
@pytest.mark.parametrize("model", [0, 1])
def test_one_face_has_six_key_points_with_each_model(model, picture):
    found = key_points_of_a_face(mp, picture("astronaut"), model=model)

    assert_same(found, f"face {model}")
    assert all(one == found[0] for one in found)


@pytest.mark.reference("python/solutions/face_mesh_test.py", "FaceMeshTest.test_face")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("refined", "name"), [(False, "plain"), (True, "refined")])
def test_eyes_and_irises_are_found_in_each_mode(mode, refined, name, picture):
    count = 5 if MODES[mode] else 10
    found = eyes_of_a_face(mp, picture("astronaut"), static=MODES[mode], refined=refined, count=count)

    assert_same(found, f"mesh {mode} {name}")
    if MODES[mode]:
        assert all(one == found[0] for one in found)


@pytest.mark.reference("python/solutions/holistic_test.py", "PoseTest.test_on_image")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("refined", "name"), [(False, "plain"), (True, "refined")])
def test_a_pose_both_hands_and_a_face_are_found_in_each_mode(mode, refined, name, picture):
    found = a_whole_person(mp, picture("hands_two"), static=MODES[mode], refined=refined)

    assert_same(found, f"holistic {mode} {name}")


@pytest.mark.reference("python/solutions/pose_test.py", "PoseTest.test_on_image")
@pytest.mark.parametrize("mode", MODES)
def test_a_pose_and_its_mask_are_found_in_each_mode(mode, picture):
    found = poses_in_still_pictures(mp, picture("hands_two"), static=MODES[mode])

    compare(found[-1], RECORDED[f"pose {mode}"])
    for landmarks, _world, _mask in found[:-1]:
        assert_near(landmarks, RECORDED[f"pose {mode}"][0])


@pytest.mark.reference("python/solutions/pose_test.py", "PoseTest.test_on_video")
def test_a_pose_that_moves_is_followed_in_a_video(frames):
    found = poses_in_a_video(mp, frames("hands_two", 10))

    compare(found, RECORDED["pose video moving"])


@pytest.mark.reference(
    "python/solutions/selfie_segmentation_test.py", "SelfieSegmentationTest.test_segmentation"
)
@pytest.mark.parametrize("model", [0, 1])
def test_a_person_is_cut_out_with_each_model(model, picture):
    assert_same(mask_of_a_person(mp, picture("astronaut"), model=model), f"selfie {model}")
