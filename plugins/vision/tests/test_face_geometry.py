"""FaceGeometryEnvGeneratorCalculator and FaceGeometryPipelineCalculator."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Matrix, NormalizedLandmarkList
from penstock_testing import run_calculator
from penstock_vision.messages.face_geometry_pb2 import (
    FaceGeometryEnvGeneratorCalculatorOptions,
    FaceGeometryPipelineCalculatorOptions,
)
from penstock_vision.messages.face_space_pb2 import (
    BOTTOM_LEFT_CORNER,
    FACE_DETECTION_PIPELINE,
    FACE_LANDMARK_PIPELINE,
    TOP_LEFT_CORNER,
    Environment,
    GeometryPipelineMetadata,
)
from penstock_vision.space.face_geometry import (
    FaceGeometryEnvGeneratorCalculator,
    FaceGeometryPipelineCalculator,
)
from penstock_vision.space.procrustes import similarity

SIZE = (640, 480)
#: The canonical face with six points: x, y, z, u, v (MediaPipe geometry_pipeline_metadata_detection.pbtxt).
FACE = [
    (-3.1511454582214355, 2.6246179342269897, 3.4656630754470825, 0.349575996398926, 0.38137748837470997),
    (3.1511454582214355, 2.6246179342269897, 3.4656630754470825, 0.650443494319916, 0.38137999176979054),
    (0.0, -1.126865029335022, 7.475604057312012, 0.500025987625122, 0.547487020492554),
    (0.0, -4.304508209228516, 4.162498950958252, 0.499989986419678, 0.694203019142151),
    (-7.664182186126709, 0.673132002353668, -2.435867071151733, 0.007561000064015, 0.480777025222778),
    (7.664182186126709, 0.673132002353668, -2.435867071151733, 0.992439985275269, 0.480777025222778),
]
TRIANGLES = [0, 1, 2, 1, 5, 2, 4, 0, 2, 4, 2, 3, 2, 5, 3]
#: Recorded from MediaPipe 0.10.35 on Linux: landmarks, pose, points of the mesh.
RECORDED = {
    (FACE_LANDMARK_PIPELINE, TOP_LEFT_CORNER): (
        [
            (0.5139, 0.5127, -0.0610),
            (0.5879, 0.4873, -0.0328),
            (0.5873, 0.5799, -0.0799),
            (0.5677, 0.6176, -0.0334),
            (0.4384, 0.5448, -0.0082),
            (0.5982, 0.4889, 0.0585),
        ],
        [
            (0.9053214192390442, -0.14980590343475342, 0.3974306881427765, 3.020524263381958),
            (0.23193293809890747, 0.9582674503326416, -0.1671227514743805, -2.005002737045288),
            (-0.3558090329170227, 0.2434769868850708, 0.9022853374481201, -50.6403694152832),
        ],
        [
            (-3.227212905883789, 2.72174072265625, 3.3929710388183594),
            (3.2084732055664062, 2.6986312866210938, 3.4583168029785156),
            (0.17554092407226562, -1.1751508712768555, 7.447666168212891),
            (-0.02423858642578125, -4.391242027282715, 4.149425506591797),
            (-7.701911926269531, 0.6654453277587891, -2.457775115966797),
            (7.569362640380859, 0.6446905136108398, -2.292926788330078),
        ],
    ),
    (FACE_LANDMARK_PIPELINE, BOTTOM_LEFT_CORNER): (
        [
            (0.4924, 0.5203, -0.0375),
            (0.5750, 0.4926, -0.0548),
            (0.5117, 0.4305, -0.0856),
            (0.5133, 0.3840, -0.0416),
            (0.4608, 0.5103, 0.0499),
            (0.6334, 0.4519, 0.0048),
        ],
        [
            (0.9431391954421997, 0.20400115847587585, -0.2624357044696808, 2.972804307937622),
            (-0.23524408042430878, 0.9674393534660339, -0.09339094161987305, -1.9646239280700684),
            (0.23483869433403015, 0.1498170644044876, 0.9604196548461914, -50.36863327026367),
        ],
        [
            (-3.3907032012939453, 2.765199661254883, 3.53289794921875),
            (3.175747871398926, 2.695672035217285, 3.3553733825683594),
            (-0.011251449584960938, -1.1084442138671875, 7.251224517822266),
            (0.05413341522216797, -4.467040061950684, 4.154621124267578),
            (-7.611333847045898, 0.668701171875, -2.2679595947265625),
            (7.78341007232666, 0.6100406646728516, -2.3284339904785156),
        ],
    ),
    (FACE_DETECTION_PIPELINE, TOP_LEFT_CORNER): (
        [
            (0.4833, 0.4816, 0.0),
            (0.5059, 0.5553, 0.0),
            (0.4510, 0.5794, 0.0),
            (0.4927, 0.5924, 0.0),
            (0.5349, 0.4346, 0.0),
            (0.6024, 0.6151, 0.0),
        ],
        [
            (0.38890597224235535, 0.1195463016629219, -0.9134885668754578, 3.1444995403289795),
            (-0.877726137638092, 0.3493385910987854, -0.32796332240104675, -2.306790351867676),
            (0.2799099087715149, 0.9293394684791565, 0.24078868329524994, -57.3345832824707),
        ],
        [
            (-4.260242462158203, 3.0437393188476562, 3.717916488647461),
            (1.3159170150756836, 2.421947479248047, 3.7220516204833984),
            (0.04294586181640625, -1.3108100891113281, 8.250761032104492),
            (1.385488510131836, -4.316066741943359, 4.206510543823242),
            (-6.286598205566406, 1.3646125793457031, -2.589519500732422),
            (7.802487373352051, -0.039348602294921875, -3.6100330352783203),
        ],
    ),
}
#: The reference computes in 32 bits, with distances of about 60 cm: the largest difference here is 2e-5.
TOLERANCE = 1e-4


def metadata(source=FACE_LANDMARK_PIPELINE, weights=(1,) * 6, **mesh):
    return GeometryPipelineMetadata(
        input_source=source,
        canonical_mesh={"vertex_buffer": np.array(FACE).ravel(), "index_buffer": TRIANGLES} | mesh,
        procrustes_landmark_basis=[{"landmark_id": i, "weight": w} for i, w in enumerate(weights)],
    )


def environment(origin=TOP_LEFT_CORNER, **camera):
    return Environment(
        origin_point_location=origin,
        perspective_camera={"vertical_fov_degrees": 63, "near": 1, "far": 10000} | camera,
    )


def landmarks(points):
    return NormalizedLandmarkList(
        landmark=[{"x": x, "y": y, "z": z} for x, y, z in np.asarray(points, float)]
    )


GOOD = RECORDED[FACE_LANDMARK_PIPELINE, TOP_LEFT_CORNER][0]


@pytest.fixture
def places(tmp_path):
    """Return faces in space for faces on the screen."""

    def place(*faces, known=None, env=None, name="face.binarypb", size=SIZE):
        known = metadata() if known is None else known
        path = tmp_path / name
        path.write_bytes(str(known).encode() if name.endswith(".pbtxt") else known.SerializeToString())
        run = run_calculator(
            FaceGeometryPipelineCalculator,
            {"IMAGE_SIZE": [(7, size)], "MULTI_FACE_LANDMARKS": [(7, [landmarks(face) for face in faces])]},
            outputs=["MULTI_FACE_GEOMETRY"],
            side_packets={"ENVIRONMENT": environment() if env is None else env},
            options=FaceGeometryPipelineCalculatorOptions(metadata_path=str(path)),
        )
        [packet] = run.outputs["MULTI_FACE_GEOMETRY"]
        assert packet.timestamp == 7
        return packet.payload

    return place


@pytest.mark.parametrize(("source", "origin"), RECORDED)
def test_faces_are_where_the_reference_says(places, source, origin):
    points, pose, vertices = RECORDED[source, origin]
    known = metadata(source)
    [face] = places(points, known=known, env=environment(origin))
    assert Matrix.from_message(face.pose_transform_matrix).array == pytest.approx(
        np.array([*pose, (0, 0, 0, 1)]), abs=TOLERANCE
    )
    mesh = np.array(face.mesh.vertex_buffer).reshape(-1, 5)
    assert mesh[:, :3] == pytest.approx(np.array(vertices), abs=TOLERANCE)
    assert mesh[:, 3:] == pytest.approx(np.array(FACE)[:, 3:], abs=1e-7)  # the texture is the canonical one
    assert list(face.mesh.index_buffer) == TRIANGLES


def test_a_projected_canonical_face_is_found_where_it_was_up_to_its_unknown_distance(places):
    """The model's z has no perspective, so a face far away is found exactly only in the limit."""
    angle, far = 0.3, 1000.0
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    there = np.array(FACE)[:, :3] @ turn.T + (0, 0, -far)
    tall = 2 * np.tan(np.radians(63) / 2)
    x, y = there[:, 0] / -there[:, 2] / tall * 480 / 640 + 0.5, 0.5 - there[:, 1] / -there[:, 2] / tall
    z = (-there[:, 2] - far) / far / tall * 480 / 640
    [face] = places(np.stack((x, y, z), axis=1))
    pose = Matrix.from_message(face.pose_transform_matrix).array
    assert pose[:3, :3] == pytest.approx(turn, abs=0.01)
    assert pose[:3, 3] == pytest.approx((0, 0, -far), rel=0.02, abs=0.5)


def test_metadata_can_be_text(places):
    assert places(GOOD, name="face.pbtxt") == places(GOOD)


def test_several_faces_and_none(places):
    small = np.array(GOOD) * (1e-4, 1e-4, 1e-4) + 0.5
    assert len(places(GOOD, small, GOOD)) == 2
    assert places(small) == []
    assert places() == []


def test_landmarks_without_weight_do_not_count(places):
    moved = np.array(GOOD)
    moved[3] += (0.2, 0.1, 0)
    known = metadata(weights=(1, 1, 1, 0, 1, 1))

    def pose(points):
        [face] = places(points, known=known)
        return np.array(face.pose_transform_matrix.packed_data)

    # depth is measured from the mean of all landmarks, whose z is not moved
    assert pose(moved) == pytest.approx(pose(GOOD), abs=1e-5)
    assert places(moved)[0].pose_transform_matrix != places(GOOD)[0].pose_transform_matrix


def test_nothing_is_sent_without_a_size_or_without_faces(tmp_path):
    path = tmp_path / "face.binarypb"
    path.write_bytes(metadata().SerializeToString())
    run = run_calculator(
        FaceGeometryPipelineCalculator,
        {"IMAGE_SIZE": [(1, SIZE), (3, SIZE)], "MULTI_FACE_LANDMARKS": [(2, []), (3, [])]},
        outputs=["MULTI_FACE_GEOMETRY"],
        side_packets={"ENVIRONMENT": environment()},
        options=FaceGeometryPipelineCalculatorOptions(metadata_path=str(path)),
    )
    assert [(packet.timestamp, packet.payload) for packet in run.outputs["MULTI_FACE_GEOMETRY"]] == [(3, [])]


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (
            metadata(vertex_buffer=[1, 2, 3]),
            "canonical mesh of the face in space has 3 numbers of vertices and 15 of triangles",
        ),
        (metadata(index_buffer=[0, 1]), "has 30 numbers of vertices and 2 of triangles"),
        (metadata(index_buffer=[0, 1, 6]), "has a triangle with vertex 6, but there are 6"),
        (metadata(weights=(1,) * 7), "gives landmark 6 the weight 1, but landmarks are 0 to 5"),
        (metadata(weights=(-1,)), "gives landmark 0 the weight -1"),
        (metadata(weights=(0,)), "the face's metadata has no landmark with a weight"),
    ],
)
def test_a_wrong_canonical_face_is_refused(places, known, message):
    with pytest.raises(GraphRunError, match=message):
        places(GOOD, known=known)


def test_bytes_that_are_no_metadata_are_refused(tmp_path):
    for name, data in (("face.binarypb", b"\xff\xff"), ("face.pbtxt", b"mesh: 1"), ("other.pbtxt", b"\xff")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(GraphRunError, match=f"{name}' is no GeometryPipelineMetadata"):
            run_calculator(
                FaceGeometryPipelineCalculator,
                {"IMAGE_SIZE": [], "MULTI_FACE_LANDMARKS": []},
                outputs=["MULTI_FACE_GEOMETRY"],
                side_packets={"ENVIRONMENT": environment()},
                options=FaceGeometryPipelineCalculatorOptions(metadata_path=str(tmp_path / name)),
            )


def test_faces_of_another_model_are_refused(places):
    with pytest.raises(GraphRunError, match="holds a face of 5 landmarks, but the canonical face has 6"):
        places(GOOD[:5])


def test_a_face_without_a_pose_is_refused(places):
    """The canonical face is one point."""
    one = metadata(vertex_buffer=list(FACE[0]) * 6)
    with pytest.raises(GraphRunError, match="so that no Procrustes fit gives its pose"):
        places(GOOD, known=one)


def test_a_missing_path_is_refused_when_the_graph_is_loaded():
    with pytest.raises(GraphConfigError, match="metadata_path is empty, but names the file"):
        run_calculator(
            FaceGeometryPipelineCalculator,
            {"IMAGE_SIZE": [], "MULTI_FACE_LANDMARKS": []},
            side_packets={"ENVIRONMENT": environment()},
        )


# --- similarity --------------------------------------------------------------------------------------


def test_a_similarity_is_found_again():
    random = np.random.default_rng(3)
    points = random.normal(size=(3, 9))
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    turn *= np.linalg.det(turn)
    moved = 2.5 * turn @ points + np.array([[1], [-2], [3]])
    found = similarity(points, moved, random.random(9))
    assert found[:3, :3] == pytest.approx(2.5 * turn, abs=1e-12)
    assert found[:3, 3] == pytest.approx((1, -2, 3), abs=1e-12)


def test_a_weight_is_a_count_of_pairs():
    random = np.random.default_rng(4)
    points, others = random.normal(size=(3, 6)), random.normal(size=(3, 6)) * 0.2
    others += points
    counts = np.array([1, 3, 2, 1, 4, 0])
    found = similarity(points, others, counts.astype(float))
    repeated = similarity(np.repeat(points, counts, 1), np.repeat(others, counts, 1), np.ones(counts.sum()))
    assert found == pytest.approx(repeated, abs=1e-12)


def test_mirrored_points_are_brought_near_without_a_reflection():
    points = np.random.default_rng(5).normal(size=(3, 6)) * [[3], [2], [1]]
    found = similarity(points, points * [[1], [1], [-1]], np.ones(6))
    assert np.linalg.det(found[:3, :3]) > 0


# --- FaceGeometryEnvGeneratorCalculator --------------------------------------------------------------


def env_of(environment):
    run = run_calculator(
        FaceGeometryEnvGeneratorCalculator,
        options=FaceGeometryEnvGeneratorCalculatorOptions(environment=environment),
        output_side_packets=["ENVIRONMENT"],
    )
    return run.output_side_packets["ENVIRONMENT"]


def test_the_camera_is_a_side_packet():
    assert env_of(environment(BOTTOM_LEFT_CORNER)) == environment(BOTTOM_LEFT_CORNER)


@pytest.mark.parametrize(
    ("camera", "message"),
    [
        ({"near": 0}, "near of the face's perspective_camera is 0"),
        ({"far": 1}, "far of the face's perspective_camera is 1"),
        ({"vertical_fov_degrees": 0}, "vertical_fov_degrees of the face's perspective_camera is 0"),
        ({"vertical_fov_degrees": 180}, "vertical_fov_degrees of the face's perspective_camera is 180"),
        ({"near": float("nan")}, "near of the face's perspective_camera is nan"),
    ],
)
def test_a_camera_that_cannot_be_is_refused(places, camera, message):
    with pytest.raises(GraphRunError, match=message):
        env_of(environment(**camera))
    with pytest.raises(GraphRunError, match=message):
        places(GOOD, env=environment(**camera))


def test_a_graph_of_mediapipe_reads_as_it_is(tmp_path, monkeypatch):
    """modules/face_geometry/face_geometry_from_landmarks.pbtxt with an environment of its own."""
    (tmp_path / "face.binarypb").write_bytes(metadata().SerializeToString())
    monkeypatch.chdir(tmp_path)
    graph = """
        input_stream: "size" input_stream: "faces" output_stream: "geometry"
        node {
          calculator: "FaceGeometryEnvGeneratorCalculator"
          output_side_packet: "ENVIRONMENT:environment"
          node_options {
            [type.googleapis.com/mediapipe.FaceGeometryEnvGeneratorCalculatorOptions] {
              environment {
                origin_point_location: TOP_LEFT_CORNER
                perspective_camera { vertical_fov_degrees: 63.0 near: 1.0 far: 10000.0 }
              }
            }
          }
        }
        node {
          calculator: "FaceGeometryPipelineCalculator"
          input_side_packet: "ENVIRONMENT:environment"
          input_stream: "IMAGE_SIZE:size"
          input_stream: "MULTI_FACE_LANDMARKS:faces"
          output_stream: "MULTI_FACE_GEOMETRY:geometry"
          options: {
            [mediapipe.FaceGeometryPipelineCalculatorOptions.ext] { metadata_path: "face.binarypb" }
          }
        }"""
    found = penstock.run(graph, {"size": [(0, SIZE)], "faces": [(0, [landmarks(GOOD)])]})
    [packet] = found["geometry"]
    [face] = packet.payload
    assert face.pose_transform_matrix.packed_data[14] == pytest.approx(-50.6403694152832, abs=TOLERANCE)
