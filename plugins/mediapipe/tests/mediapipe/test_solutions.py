"""The solutions against the recorded runs of the reference's graphs, and how they behave."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from google.protobuf import json_format

import penstock_formats
from penstock_mediapipe.solutions import objectron
from penstock_mediapipe.solutions.face_detection import FaceDetection, FaceKeyPoint, get_key_point
from penstock_mediapipe.solutions.face_mesh import FaceMesh
from penstock_mediapipe.solutions.hands import Hands
from penstock_mediapipe.solutions.holistic import Holistic
from penstock_mediapipe.solutions.objectron import Objectron
from penstock_mediapipe.solutions.pose import ExtraSettings, Pose
from penstock_mediapipe.solutions.selfie_segmentation import SelfieSegmentation

NEAR = 1e-5
STEP = 33_333

HANDS = ("multi_hand_landmarks", "multi_hand_world_landmarks", "multi_handedness")
#: Recorded run → solution, its arguments, picture, number of frames, streams.
RUNS = {
    "hands_one_full": (Hands, {}, "hand_one", 4, HANDS),
    "hands_one_lite": (Hands, {"model_complexity": 0}, "hand_one", 4, HANDS),
    "hands_two": (Hands, {}, "hands_two", 4, HANDS),
    "hands_four": (Hands, {"max_num_hands": 4}, "hands_four", 4, HANDS),
    "hands_six": (Hands, {"max_num_hands": 6}, "hands_six", 4, HANDS),
    "hands_six_limit2": (Hands, {}, "hands_six", 4, HANDS),
    "hands_none": (Hands, {}, "astronaut", 2, HANDS),
    "face_short_astronaut": (FaceDetection, {}, "astronaut", 1, ("detections",)),
    "face_full_two": (FaceDetection, {"model_selection": 1}, "faces_two", 1, ("detections",)),
    "mesh_astronaut": (FaceMesh, {}, "astronaut", 3, ("multi_face_landmarks",)),
    "mesh_attention_astronaut": (
        FaceMesh,
        {"refine_landmarks": True},
        "astronaut",
        3,
        ("multi_face_landmarks",),
    ),
    "mesh_two": (FaceMesh, {"max_num_faces": 2}, "faces_two", 3, ("multi_face_landmarks",)),
}


def numbers_of(message):
    """Yield the numbers of a message, and what is not a number."""
    for _, value in sorted(message.ListFields(), key=lambda field: field[0].number):
        for one in value if hasattr(value, "__len__") and not isinstance(value, str) else (value,):
            if hasattr(one, "ListFields"):
                yield from numbers_of(one)
            else:
                yield one


def messages_of(record):
    kind = record["kind"].rpartition("::")[2].rstrip(">")
    return [json_format.ParseDict(one, getattr(penstock_formats, kind)()) for one in record["list"]]


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("name", RUNS)
def test_a_solution_gives_what_was_recorded_of_its_graph(name, frames, recorded):
    solution, arguments, picture, count, streams = RUNS[name]
    pictures = frames(picture, count)

    with solution(**arguments) as made:
        found = [made.process(frame) for frame in pictures]

    compared = 0
    for stream in streams:
        records = recorded(name, stream)
        for k, results in enumerate(found):
            ours = getattr(results, stream)
            if k * STEP not in records:
                assert ours is None
                continue
            wanted = messages_of(records[k * STEP])
            assert len(ours) == len(wanted)
            for one, other in zip(ours, wanted, strict=True):
                assert list(numbers_of(one)) == pytest.approx(list(numbers_of(other)), abs=NEAR)
                compared += 1
    assert compared or name == "hands_none"


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(
    ("name", "model", "picture_name"),
    [("selfie_general", 0, "astronaut"), ("selfie_landscape", 1, "hand_one")],
)
def test_a_selfie_mask_is_the_recorded_one(name, model, picture_name, picture, recorded):
    with SelfieSegmentation(model_selection=model) as selfie:
        mask = selfie.process(picture(picture_name)).segmentation_mask

    record = recorded(name, "segmentation_mask")[0]
    assert mask.dtype == np.float32
    assert mask.ravel()[:: record["every"]] == pytest.approx(np.array(record["values"]), abs=NEAR)


@pytest.mark.usefixtures("models")
def test_following_differs_from_looking_at_each_image_anew(frames):
    pictures = frames("hand_one", 3)

    with Hands() as following, Hands(static_image_mode=True) as static:
        followed = [following.process(frame).multi_hand_landmarks[0].landmark[8].x for frame in pictures]
        anew = [static.process(frame).multi_hand_landmarks[0].landmark[8].x for frame in pictures]

    assert followed[0] == anew[0]
    assert followed[1:] != anew[1:]


@pytest.mark.usefixtures("models")
def test_two_solutions_at_once_do_not_disturb_each_other(frames):
    left, right = frames("hand_one", 3), frames("hands_two", 3)
    with Hands() as alone:
        wanted = [alone.process(frame).multi_hand_landmarks for frame in left]

    with Hands() as one, Hands() as other:
        found = []
        for mine, theirs in zip(left, right, strict=True):
            found.append(one.process(mine).multi_hand_landmarks)
            assert len(other.process(theirs).multi_hand_landmarks) == 2

    assert found == wanted


@pytest.mark.usefixtures("models")
def test_threads_that_share_a_solution_see_the_hands_of_their_own_images(picture):
    wanted = {"hand_one": 1, "hands_two": 2, "astronaut": 0}
    wrong = []

    def look(name):
        for _ in range(5):
            found = len(hands.process(picture(name)).multi_hand_landmarks or ())
            if found != wanted[name]:
                wrong.append((name, found))

    with Hands(static_image_mode=True) as hands:
        threads = [threading.Thread(target=look, args=(name,)) for name in (*wanted, "hands_two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(100)
            assert not thread.is_alive()

    assert wrong == []


@pytest.mark.usefixtures("models")
def test_objectron_says_where_its_models_are():
    with pytest.raises(FileNotFoundError, match=r"object_detection_ssd_mobilenetv2_oidv4_fp16.tflite"):
        Objectron()
    with pytest.raises(ValueError, match=r"Sofa is not a valid model name for Objectron. .*Shoe, Chair, Cup"):
        Objectron(model_name="Sofa")


@pytest.mark.usefixtures("models")
def test_results_stay_as_they_are_and_belong_to_the_program(frames):
    first, second = frames("hand_one", 2)
    with Hands() as hands:
        results = hands.process(first)
        kept = [hand.SerializeToString() for hand in results.multi_hand_landmarks]
        wanted = hands.process(second).multi_hand_landmarks
        assert [hand.SerializeToString() for hand in results.multi_hand_landmarks] == kept

    with Hands() as hands:
        for landmark in hands.process(first).multi_hand_landmarks[0].landmark:
            landmark.x = 0.9
        assert hands.process(second).multi_hand_landmarks == wanted


@pytest.mark.usefixtures("models")
def test_masks_stay_as_they_are_and_cannot_be_written(frames):
    first, second = frames("astronaut", 2)
    with SelfieSegmentation() as selfie:
        mask = selfie.process(first).segmentation_mask
        copy = mask.copy()
        later = selfie.process(second).segmentation_mask

    assert np.array_equal(mask, copy)
    assert not np.array_equal(mask, later)
    assert not mask.flags.writeable


@pytest.mark.usefixtures("models")
def test_after_reset_nothing_is_followed_or_smoothed(frames):
    first, second = frames("hand_one", 2)
    with Hands() as hands:
        wanted = hands.process(first).multi_hand_landmarks
        followed = hands.process(second).multi_hand_landmarks
        hands.reset()
        anew = hands.process(second).multi_hand_landmarks
        hands.reset()
        assert hands.process(first).multi_hand_landmarks == wanted

    assert anew != followed


@pytest.mark.usefixtures("models")
def test_landmarks_of_a_pose_have_a_visibility_and_no_presence(picture):
    with Pose() as pose:
        results = pose.process(picture("astronaut"))

    for landmark in (*results.pose_landmarks.landmark, *results.pose_world_landmarks.landmark):
        assert landmark.HasField("visibility")
        assert not landmark.HasField("presence")
    assert results.segmentation_mask is None


@pytest.mark.usefixtures("models")
def test_without_a_person_all_results_are_none():
    black = np.zeros((120, 160, 3), np.uint8)

    for solution in (Hands, FaceDetection, FaceMesh, Pose, Holistic):
        with solution() as made:
            results = made.process(black)
        assert set(vars(results).values()) == {None}, solution


@pytest.mark.reference("python/solutions/hands_test.py", "HandsTest.test_blank_image")
@pytest.mark.reference("python/solutions/face_detection_test.py", "FaceDetectionTest.test_blank_image")
@pytest.mark.reference("python/solutions/face_mesh_test.py", "FaceMeshTest.test_blank_image")
@pytest.mark.reference(
    "python/solutions/pose_test.py",
    "PoseTest.test_blank_image",
    "PoseTest.test_blank_image_with_extra_settings",
)
@pytest.mark.reference("python/solutions/holistic_test.py", "PoseTest.test_blank_image")
@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(
    ("solution", "arguments"),
    [
        (Hands, {}),
        (FaceDetection, {"min_detection_confidence": 0.5}),
        (FaceMesh, {}),
        (Pose, {"enable_segmentation": True}),
        (
            Pose,
            {
                "enable_segmentation": True,
                "extra_settings": ExtraSettings(disallow_service_default_initialization=True),
            },
        ),
        (Holistic, {}),
    ],
)
def test_in_a_white_image_nothing_is_found(solution, arguments):
    with solution(**arguments) as made:
        results = made.process(np.full((100, 100, 3), 255, np.uint8))

    assert set(vars(results).values()) == {None}


@pytest.mark.reference(
    "python/solutions/selfie_segmentation_test.py", "SelfieSegmentationTest.test_blank_image"
)
@pytest.mark.usefixtures("models")
def test_in_a_white_image_no_pixel_is_of_a_person():
    with SelfieSegmentation() as selfie:
        mask = selfie.process(np.full((100, 100, 3), 255, np.uint8)).segmentation_mask

    assert mask.shape == (100, 100)
    assert (mask * 255).astype(int).max() < 1


@pytest.mark.reference("python/solutions/hands_test.py", "HandsTest.test_invalid_image_shape")
@pytest.mark.reference(
    "python/solutions/face_detection_test.py", "FaceDetectionTest.test_invalid_image_shape"
)
@pytest.mark.reference("python/solutions/face_mesh_test.py", "FaceMeshTest.test_invalid_image_shape")
@pytest.mark.reference("python/solutions/pose_test.py", "PoseTest.test_invalid_image_shape")
@pytest.mark.reference("python/solutions/holistic_test.py", "PoseTest.test_invalid_image_shape")
@pytest.mark.reference(
    "python/solutions/selfie_segmentation_test.py", "SelfieSegmentationTest.test_invalid_image_shape"
)
@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("solution", [Hands, FaceDetection, FaceMesh, Pose, Holistic, SelfieSegmentation])
def test_an_image_of_four_channels_is_refused(solution):
    with (
        solution() as made,
        pytest.raises(ValueError, match=r"Input image must contain three channel rgb data\."),
    ):
        made.process(np.arange(36, dtype=np.uint8).reshape(3, 3, 4))


@pytest.mark.reference("python/solutions/objectron_test.py", "ObjectronTest.test_invalid_image_shape")
@pytest.mark.usefixtures("models")
def test_objectron_refuses_an_image_of_four_channels(monkeypatch):
    # Its models are not in the wheel, and a graph that is not started refuses an image too.
    monkeypatch.setattr(objectron, "check_separate_model", lambda name, finder: None)
    monkeypatch.setattr(Objectron, "_start", lambda solution, graph: None)

    with pytest.raises(ValueError, match=r"Input image must contain three channel rgb data\."):
        Objectron().process(np.arange(36, dtype=np.uint8).reshape(3, 3, 4))


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("threshold", ["min_detection_confidence", "min_tracking_confidence"])
@pytest.mark.parametrize(
    ("solution", "picture_name", "stream"),
    [
        (Hands, "hand_one", "multi_hand_landmarks"),
        (FaceMesh, "astronaut", "multi_face_landmarks"),
        (Pose, "astronaut", "pose_landmarks"),
        (Holistic, "astronaut", "pose_landmarks"),
    ],
)
def test_thresholds_decide_what_counts(solution, picture_name, stream, threshold, picture):
    image = picture(picture_name)

    with solution(**{threshold: 2.0}) as made:
        assert getattr(made.process(image), stream) is None
    with solution(**{threshold: 0.1}) as made:
        assert getattr(made.process(image), stream) is not None


@pytest.mark.usefixtures("models")
def test_holistic_refines_the_face_and_gives_a_mask_where_it_is_asked_to(picture):
    image = picture("astronaut")

    with Holistic() as plain, Holistic(refine_face_landmarks=True, enable_segmentation=True) as rich:
        first, second = plain.process(image), rich.process(image)

    assert [len(found.face_landmarks.landmark) for found in (first, second)] == [468, 478]
    assert first.segmentation_mask is None
    assert second.segmentation_mask.shape == (512, 512)
    # MediaPipe 0.10.21 gives these.
    assert second.segmentation_mask.mean() == pytest.approx(0.4337970, abs=1e-5)
    iris = second.face_landmarks.landmark[477]
    assert (iris.x, iris.y) == pytest.approx((0.4807881, 0.2089385), abs=NEAR)


@pytest.mark.usefixtures("models")
def test_the_confidence_of_face_detection_is_without_effect_as_in_the_reference(picture):
    with FaceDetection(min_detection_confidence=1.0) as faces:
        (face,) = faces.process(picture("astronaut")).detections

    assert face.score[0] == pytest.approx(0.9217387, abs=NEAR)


@pytest.mark.usefixtures("models")
def test_an_argument_of_another_type_is_refused_when_the_solution_is_made():
    with pytest.raises(
        TypeError,
        match=r"the side packet 'num_hands' is 2\.0, a float, but its packet data type takes an int",
    ):
        Hands(max_num_hands=2.0)
    with pytest.raises(TypeError, match=r"sets 'min_score_thresh' of node 'palmdetectioncpu__.*' to 'high'"):
        Hands(min_detection_confidence="high")


@pytest.mark.usefixtures("models")
def test_a_number_of_hands_below_one_is_refused_when_the_solution_is_made():
    with pytest.raises(RuntimeError, match="is 0, but at least one element of a clipped vector is kept"):
        Hands(max_num_hands=0)


def test_a_missing_graph_says_which_command_brings_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(tmp_path))

    with pytest.raises(
        FileNotFoundError, match=r"hand_landmark_tracking_cpu.*pip download.*mediapipe==0\.10\.21"
    ):
        Hands()


def test_a_missing_model_is_said_when_the_solution_is_made(models, monkeypatch, tmp_path):
    import zipfile

    if models.is_dir():
        pytest.skip("PENSTOCK_MEDIAPIPE_MODELS names a directory, and the test takes files from a wheel")
    with zipfile.ZipFile(models) as wheel:
        wheel.extract("mediapipe/modules/selfie_segmentation/selfie_segmentation_cpu.binarypb", tmp_path)
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(tmp_path))

    with pytest.raises(RuntimeError, match=r"selfie_segmentation\.tflite.*pip download"):
        SelfieSegmentation()


@pytest.mark.parametrize("solution", [Pose, Holistic])
@pytest.mark.parametrize(("complexity", "model"), [(0, "lite"), (2, "heavy")])
def test_a_pose_model_outside_the_wheel_says_where_it_comes_from(
    solution, complexity, model, monkeypatch, tmp_path
):
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(tmp_path))

    with pytest.raises(FileNotFoundError, match=rf"mediapipe-assets/pose_landmark_{model}\.tflite"):
        solution(model_complexity=complexity)


def test_a_key_point_is_found_by_its_name():
    detection = penstock_formats.Detection()
    for k in range(6):
        detection.location_data.relative_keypoints.add(x=k / 10, y=0.5)

    assert get_key_point(detection, FaceKeyPoint.NOSE_TIP).x == pytest.approx(0.2)
    assert get_key_point(None, FaceKeyPoint.NOSE_TIP) is None


def test_the_modules_are_reachable_under_the_names_that_programs_import():
    import penstock_mediapipe as mp
    import penstock_mediapipe.python.solutions.hands as by_module
    from penstock_mediapipe.python import solution_base
    from penstock_mediapipe.python.solutions import hands as by_package

    assert by_module is by_package is mp.solutions.hands
    assert solution_base.SolutionBase in mp.solutions.hands.Hands.__mro__
