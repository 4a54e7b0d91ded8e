"""Connections, styles and drawings: the same sets, looks and pixels as in the reference.

The hashes are of mediapipe 0.10.21 with OpenCV 4.11; OpenCV 4.14 draws the same pixels.
"""

from __future__ import annotations

import hashlib
import json
import math

import cv2
import numpy as np
import pytest
from google.protobuf import text_format

from penstock_formats import Detection, LocationData, NormalizedLandmarkList
from penstock_mediapipe.solutions import (
    drawing_styles,
    drawing_utils,
    face_detection,
    face_mesh,
    face_mesh_connections,
    hands,
    hands_connections,
    pose,
)

#: Name → how many pairs, and the hash of the sorted pairs.
CONNECTIONS = {
    "HAND_CONNECTIONS": (21, "9c117b0a46162c7f"),
    "HAND_PALM_CONNECTIONS": (6, "cdb47a595db7b842"),
    "HAND_THUMB_CONNECTIONS": (3, "26a702fc1e9a50af"),
    "HAND_INDEX_FINGER_CONNECTIONS": (3, "b8bec199589c8967"),
    "HAND_MIDDLE_FINGER_CONNECTIONS": (3, "75c780496adcc955"),
    "HAND_RING_FINGER_CONNECTIONS": (3, "99a478c399c7911d"),
    "HAND_PINKY_FINGER_CONNECTIONS": (3, "bbe7a6795666527a"),
    "POSE_CONNECTIONS": (35, "f0b8bbef80ab2a78"),
    "FACEMESH_CONTOURS": (124, "82c8f26e8fc94752"),
    "FACEMESH_FACE_OVAL": (36, "4abe9ea4043d7440"),
    "FACEMESH_IRISES": (8, "a5593857e89c168e"),
    "FACEMESH_LEFT_EYE": (16, "ad7d5d42405691b9"),
    "FACEMESH_LEFT_EYEBROW": (8, "d881a77a5c1e711d"),
    "FACEMESH_LEFT_IRIS": (4, "f72508317874a98d"),
    "FACEMESH_LIPS": (40, "1cd17915b0f464fe"),
    "FACEMESH_NOSE": (25, "e1ff7e71b2e8ca77"),
    "FACEMESH_RIGHT_EYE": (16, "6e8fb01916b98685"),
    "FACEMESH_RIGHT_EYEBROW": (8, "b1abddb5a6964011"),
    "FACEMESH_RIGHT_IRIS": (4, "10ce250bd4ee895e"),
    "FACEMESH_TESSELATION": (2556, "1c20f17858d6ccfb"),
}
#: Name and arguments → the hash of the looks, sorted.
STYLES = [
    ("hand_landmarks", (), "7b60035d622b8e3f"),
    ("hand_connections", (), "efab36fba6fde233"),
    ("face_mesh_contours", (), "82145266c763aca4"),
    ("face_mesh_contours", (1,), "0ac1b6e3bbf57903"),
    ("face_mesh_tesselation", (), "d4353ba346b3d5de"),
    ("face_mesh_iris_connections", (), "242efd3a44500e23"),
    ("pose_landmarks", (), "234f2ce55ded5c76"),
]


def sha(data):
    return hashlib.sha256(data).hexdigest()[:16]


def looks(spec):
    return [list(spec.color), spec.thickness, spec.circle_radius]


def plain(key):
    return str(tuple(map(int, key)) if isinstance(key, tuple) else int(key))


def points(count, seed=1, scale=1.0):
    """Return landmarks all over the image, the same ones each time."""
    made = NormalizedLandmarkList()
    state = seed
    for _ in range(count):
        point = made.landmark.add()
        for axis in "xy":
            state = (state * 1103515245 + 12345) % 2**31
            setattr(point, axis, state / 2**31 * scale)
    return made


def half_hidden():
    made = points(33, 7, 1.3)
    for k, landmark in enumerate(made.landmark):
        if k % 5 == 0:
            landmark.visibility = 0.4
        if k % 7 == 0:
            landmark.presence = 0.3
    return made


def detection(box, *keypoints):
    made = Detection()
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    placed = made.location_data.relative_bounding_box
    placed.xmin, placed.ymin, placed.width, placed.height = box
    for x, y in keypoints:
        made.location_data.relative_keypoints.add(x=x, y=y)
    return made


@pytest.fixture
def canvas():
    y, x = np.mgrid[:240, :320]
    return np.stack([(x * 3 + y) % 256, (x + y * 5) % 256, (x * 7 + y * 2) % 256], -1).astype(np.uint8)


@pytest.mark.parametrize("name", CONNECTIONS)
def test_connections_are_those_of_the_reference(name):
    homes = (hands_connections, face_mesh_connections, pose)
    pairs = next(getattr(home, name) for home in homes if hasattr(home, name))

    assert (len(pairs), sha(json.dumps(sorted(pairs)).encode())) == CONNECTIONS[name]


def test_landmarks_have_the_numbers_of_the_reference():
    for names, count, first, last in (
        (hands.HandLandmark, 21, "WRIST", "PINKY_TIP"),
        (pose.PoseLandmark, 33, "NOSE", "RIGHT_FOOT_INDEX"),
        (face_detection.FaceKeyPoint, 6, "RIGHT_EYE", "LEFT_EAR_TRAGION"),
    ):
        assert [int(one) for one in names] == list(range(count))
        assert (names(0).name, names(count - 1).name) == (first, last)
    assert hands.HandLandmark.MIDDLE_FINGER_TIP == 12
    assert pose.PoseLandmark.LEFT_HIP == 23
    assert (face_mesh.FACEMESH_NUM_LANDMARKS, face_mesh.FACEMESH_NUM_LANDMARKS_WITH_IRISES) == (468, 478)


@pytest.mark.parametrize(("name", "arguments", "wanted"), STYLES)
def test_default_looks_are_those_of_the_reference(name, arguments, wanted):
    style = getattr(drawing_styles, f"get_default_{name}_style")(*arguments)

    found = (
        sorted([plain(key), looks(spec)] for key, spec in style.items())
        if isinstance(style, dict)
        else looks(style)
    )
    assert sha(json.dumps(found).encode()) == wanted


def test_colors_are_those_of_the_reference():
    names = ("WHITE_COLOR", "BLACK_COLOR", "RED_COLOR", "GREEN_COLOR", "BLUE_COLOR")

    assert [getattr(drawing_utils, name) for name in names] == [
        (224, 224, 224),
        (0, 0, 0),
        (0, 0, 255),
        (0, 128, 0),
        (255, 0, 0),
    ]
    assert looks(drawing_utils.DrawingSpec()) == [[224, 224, 224], 2, 2]


def landmarks_of(kind):
    """Return the arguments of `draw_landmarks` of one kind of drawing."""
    style = drawing_styles
    return {
        "plain": (points(21), hands.HAND_CONNECTIONS),
        "hand": (
            points(21),
            hands.HAND_CONNECTIONS,
            style.get_default_hand_landmarks_style(),
            style.get_default_hand_connections_style(),
        ),
        "tesselation": (
            points(478),
            face_mesh.FACEMESH_TESSELATION,
            None,
            style.get_default_face_mesh_tesselation_style(),
        ),
        "contours": (
            points(478),
            face_mesh.FACEMESH_CONTOURS,
            None,
            style.get_default_face_mesh_contours_style(),
        ),
        "irises": (
            points(478),
            face_mesh.FACEMESH_IRISES,
            None,
            style.get_default_face_mesh_iris_connections_style(),
        ),
        "pose": (half_hidden(), pose.POSE_CONNECTIONS, style.get_default_pose_landmarks_style()),
        "pose lines": (
            half_hidden(),
            pose.POSE_CONNECTIONS,
            style.get_default_pose_landmarks_style(),
            drawing_utils.DrawingSpec(),
            False,
        ),
        "pose dots": (half_hidden(),),
    }[kind]


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("plain", "9adbb1f19c9337d1"),
        ("hand", "15c4c11ec0e2503e"),
        ("tesselation", "7c9864db91a77563"),
        ("contours", "de681c50802b094f"),
        ("irises", "ca0a7beb9a83342a"),
        ("pose", "4afe65d81d683891"),
        ("pose lines", "64cb6861ab4ecccb"),
        ("pose dots", "f3ab3bc7f869bcf5"),
    ],
)
def test_landmarks_are_drawn_with_the_pixels_of_the_reference(kind, wanted, canvas):
    drawing_utils.draw_landmarks(canvas, *landmarks_of(kind))

    assert sha(canvas.tobytes()) == wanted


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (detection((0.25, 0.3, 0.5, 0.4), (0.3, 0.4), (0.6, 0.5), (1.0, 0.0)), "f25e90b45d346c11"),
        (detection((-0.1, 0.2, 0.5, 0.5), (1.5, 0.5), (0.5, 0.5)), "510b421a4bc4b34a"),
        (detection((0.6, 0.6, 0.5, 0.5)), "a240d45e574c88d5"),
    ],
    ids=["inside", "outside", "beyond"],
)
def test_a_detection_is_drawn_with_the_pixels_of_the_reference(found, wanted, canvas):
    drawing_utils.draw_detection(canvas, found)

    assert sha(canvas.tobytes()) == wanted


def test_axes_are_drawn_with_the_pixels_of_the_reference(canvas):
    turn = 0.5
    rotation = np.array(
        [[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]]
    )

    drawing_utils.draw_axis(
        canvas,
        rotation,
        np.array([0.05, -0.02, -0.4]),
        (1.2, 1.5),
        (0.1, -0.05),
        0.1,
        drawing_utils.DrawingSpec(thickness=3),
    )

    assert sha(canvas.tobytes()) == "999504872232abe4"


def test_nothing_is_drawn_without_landmarks(canvas):
    before = canvas.copy()

    drawing_utils.draw_landmarks(canvas, None, hands.HAND_CONNECTIONS)
    drawing_utils.draw_landmarks(canvas, NormalizedLandmarkList())
    drawing_utils.plot_landmarks(None)

    assert np.array_equal(canvas, before)


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 4)])
def test_an_image_without_three_channels_is_refused(shape):
    image = np.zeros(shape, np.uint8)

    for draw in (
        lambda: drawing_utils.draw_landmarks(image, points(1)),
        lambda: drawing_utils.draw_detection(image, detection((0, 0, 1, 1))),
        lambda: drawing_utils.draw_axis(image, np.eye(3), np.zeros(3)),
    ):
        with pytest.raises(ValueError, match=r"only an image of shape \(height, width, 3\)"):
            draw()


@pytest.mark.parametrize("pair", [(0, 2), (-1, 0)])
def test_a_connection_to_a_landmark_that_is_not_there_is_refused(pair, canvas):
    with pytest.raises(ValueError, match=r"Landmark index is out of range.*the list has 2 landmarks"):
        drawing_utils.draw_landmarks(canvas, points(2), [pair])


def test_a_detection_in_pixels_is_refused(canvas):
    found = detection((0, 0, 1, 1))
    found.location_data.format = LocationData.BOUNDING_BOX

    with pytest.raises(ValueError, match="has the format BOUNDING_BOX, but only a RELATIVE_BOUNDING_BOX"):
        drawing_utils.draw_detection(canvas, found)


def test_without_matplotlib_a_plot_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)

    with pytest.raises(ImportError, match="pip install matplotlib"):
        drawing_utils.plot_landmarks(points(2), [(0, 1)])


def test_a_plot_shows_the_landmarks_that_are_seen_and_their_connections(monkeypatch):
    class Axes:
        def __init__(self):
            self.points, self.lines = [], []

        def view_init(self, elev, azim):
            self.view = (elev, azim)

        def scatter3D(self, xs, ys, zs, color, linewidth):  # noqa: N802  # matplotlib's name
            self.points.append((*xs, *ys, *zs, color, linewidth))

        def plot3D(self, xs, ys, zs, color, linewidth):  # noqa: N802  # matplotlib's name
            self.lines.append((xs, ys, zs, color, linewidth))

    class Pyplot:
        shown = 0
        made = Axes()

        def figure(self, figsize):
            self.size = figsize

        def axes(self, projection):
            assert projection == "3d"
            return self.made

        def show(self):
            self.shown += 1

    plot = Pyplot()
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", type("Matplotlib", (), {"pyplot": plot}))
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", plot)
    landmarks = NormalizedLandmarkList()
    for k in range(3):
        landmarks.landmark.add(x=0.25 * k, y=0.5, z=0.125)
    landmarks.landmark[2].visibility = 0.25

    drawing_utils.plot_landmarks(landmarks, [(0, 1), (1, 2)], elevation=20)

    assert plot.shown == 1
    assert plot.made.view == (20, 10)
    assert plot.made.points == [
        (-0.125, 0.0, -0.5, (1.0, 0.0, 0.0), 5),
        (-0.125, 0.25, -0.5, (1.0, 0.0, 0.0), 5),
    ]
    assert plot.made.lines == [((-0.125, -0.125), (0.0, 0.25), (-0.5, -0.5), (0.0, 0.0, 0.0), 5)]


def test_the_hashes_are_those_of_opencv_4():
    assert cv2.__version__.startswith("4.")


# --- what MediaPipe's own tests draw ------------------------------------------------------------------

RED, GREEN, BLUE, WHITE, BORDER = (0, 0, 255), (0, 128, 0), (255, 0, 0), (224, 224, 224), (224, 224, 224)


def read(kind, text):
    return text_format.Parse(text, kind())


def black():
    return np.zeros((100, 100, 3), np.uint8)


def by_opencv(*, lines=(), arrows=(), dots=(), rings=(), boxes=()):
    """Return a black image of 100 x 100 with shapes, in the order in which they are drawn.

    Args:
        lines: begin, end, color and thickness of each.
        arrows: tip and color of arrows that begin in the middle.
        dots: centre, color and thickness of circles with a border.
        rings: centre of circles without one.
        boxes: two corners of each.
    """
    image = black()
    for begin, end, color, thickness in lines:
        cv2.line(image, begin, end, color, thickness)
    for tip, color in arrows:
        cv2.arrowedLine(image, (50, 50), tip, color, 2)
    for centre, _, thickness in dots:
        cv2.circle(image, centre, 3, BORDER, thickness)
    for centre, color, thickness in dots:
        cv2.circle(image, centre, 2, color, thickness)
    for centre in rings:
        cv2.circle(image, centre, 2, RED, 2)
    for corner, other in boxes:
        cv2.rectangle(image, corner, other, WHITE, 2)
    return image


@pytest.mark.reference("python/solutions/drawing_utils_test.py", "DrawingUtilTest.test_invalid_input_image")
@pytest.mark.parametrize(
    "draw",
    [
        lambda image: drawing_utils.draw_landmarks(image, NormalizedLandmarkList()),
        lambda image: drawing_utils.draw_detection(image, Detection()),
        lambda image: drawing_utils.draw_axis(image, np.eye(3, dtype=np.float32), np.array([0.0, 0.0, 1.0])),
    ],
    ids=["landmarks", "detection", "axis"],
)
def test_an_image_of_two_channels_is_refused_with_mediapipes_words(draw):
    with pytest.raises(ValueError, match=r"Input image must contain three channel bgr data\."):
        draw(np.arange(18, dtype=np.uint8).reshape(3, 3, 2))


@pytest.mark.reference(
    "python/solutions/drawing_utils_test.py",
    "DrawingUtilTest.test_invalid_connection",
    "DrawingUtilTest.test_unqualified_detection",
)
def test_what_cannot_be_drawn_is_refused_with_mediapipes_words():
    image = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)
    two = read(NormalizedLandmarkList, "landmark { x: 0.5 y: 0.5 } landmark { x: 0.2 y: 0.2 }")

    with pytest.raises(ValueError, match=r"Landmark index is out of range\."):
        drawing_utils.draw_landmarks(image, two, [(0, 2)])
    with pytest.raises(ValueError, match="LocationData must be relative"):
        drawing_utils.draw_detection(image, read(Detection, "location_data { format: GLOBAL }"))


@pytest.mark.reference(
    "python/solutions/drawing_utils_test.py",
    "DrawingUtilTest.test_draw_keypoints_only",
    "DrawingUtilTest.test_draw_bboxs_only",
)
@pytest.mark.parametrize(
    ("location", "wanted"),
    [
        (
            "relative_keypoints { x: 0 y: 1 } relative_keypoints { x: 1 y: 0 }",
            by_opencv(rings=[(0, 99), (99, 0)]),
        ),
        (
            "relative_bounding_box { xmin: 0 ymin: 0 width: 1 height: 1 }",
            by_opencv(boxes=[((0, 0), (99, 99))]),
        ),
    ],
    ids=["key points", "box"],
)
def test_a_detection_on_the_edge_is_drawn_in_the_last_rows_and_columns(location, wanted):
    image = black()
    drawing_utils.draw_detection(
        image, read(Detection, f"location_data {{ format: RELATIVE_BOUNDING_BOX {location} }}")
    )

    assert np.array_equal(image, wanted)


@pytest.mark.reference(
    "python/solutions/drawing_utils_test.py", "DrawingUtilTest.test_draw_single_landmark_point"
)
@pytest.mark.parametrize("other", ["", "landmark { x: 0.5 y: 0.5 visibility: 0.0 }"])
def test_a_landmark_that_is_not_visible_is_not_drawn(other):
    image = black()
    drawing_utils.draw_landmarks(image, read(NormalizedLandmarkList, "landmark { x: 0.1 y: 0.1 }" + other))

    assert np.array_equal(image, by_opencv(dots=[((10, 10), RED, 2)]))


@pytest.mark.reference(
    "python/solutions/drawing_utils_test.py",
    "DrawingUtilTest.test_draw_landmarks_and_connections",
    "DrawingUtilTest.test_min_and_max_coordinate_values",
)
@pytest.mark.parametrize(
    ("landmarks", "begin", "end"),
    [
        ("landmark { x: 0.1 y: 0.5 } landmark { x: 0.5 y: 0.1 }", (10, 50), (50, 10)),
        (
            "landmark { x: 0.1 y: 0.5 presence: 0.5 } landmark { x: 0.5 y: 0.1 visibility: 0.5 }",
            (10, 50),
            (50, 10),
        ),
        ("landmark { x: 0.0 y: 1.0 } landmark { x: 1.0 y: 0.0 }", (0, 99), (99, 0)),
    ],
)
def test_two_landmarks_are_drawn_over_the_line_between_them(landmarks, begin, end):
    image = black()
    drawing_utils.draw_landmarks(
        image=image, landmark_list=read(NormalizedLandmarkList, landmarks), connections=[(0, 1)]
    )

    wanted = by_opencv(lines=[(begin, end, WHITE, 2)], dots=[(begin, RED, 2), (end, RED, 2)])
    assert np.array_equal(image, wanted)


@pytest.mark.reference("python/solutions/drawing_utils_test.py", "DrawingUtilTest.test_drawing_spec")
def test_landmarks_and_lines_are_drawn_as_their_specs_say():
    image = black()
    drawing_utils.draw_landmarks(
        image=image,
        landmark_list=read(NormalizedLandmarkList, "landmark { x: 0.1 y: 0.1 } landmark { x: 0.8 y: 0.8 }"),
        connections=[(0, 1)],
        landmark_drawing_spec=drawing_utils.DrawingSpec(color=(0, 0, 255), thickness=5),
        connection_drawing_spec=drawing_utils.DrawingSpec(color=(255, 0, 0), thickness=3),
    )

    wanted = by_opencv(lines=[((10, 10), (80, 80), BLUE, 3)], dots=[((10, 10), RED, 5), ((80, 80), RED, 5)])
    assert np.array_equal(image, wanted)


@pytest.mark.reference(
    "python/solutions/drawing_utils_test.py",
    "DrawingUtilTest.test_draw_axis",
    "DrawingUtilTest.test_draw_axis_zero_translation",
)
@pytest.mark.parametrize(
    ("rotation", "translation", "tips"),
    [
        (
            np.array(
                [[1, 0, 0], [0, math.sqrt(2) / 2, -math.sqrt(2) / 2], [0, math.sqrt(2) / 2, math.sqrt(2) / 2]]
            ),
            np.array([0, 0, -0.2]),
            [(75, 50), (50, 22), (50, 77)],
        ),
        (np.eye(3, dtype=np.float32), np.zeros(3, np.float32), [(0, 50), (50, 100), (50, 50)]),
    ],
    ids=["moved", "not moved"],
)
def test_axes_are_arrows_from_the_middle(rotation, translation, tips):
    image = black()
    drawing_utils.draw_axis(image, rotation, translation)

    assert np.array_equal(image, by_opencv(arrows=zip(tips, (RED, GREEN, BLUE), strict=True)))
