from penstock_formats.messages import matrix_data_pb2 as _matrix_data_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OriginPointLocation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BOTTOM_LEFT_CORNER: _ClassVar[OriginPointLocation]
    TOP_LEFT_CORNER: _ClassVar[OriginPointLocation]

class InputSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEFAULT: _ClassVar[InputSource]
    FACE_LANDMARK_PIPELINE: _ClassVar[InputSource]
    FACE_DETECTION_PIPELINE: _ClassVar[InputSource]
BOTTOM_LEFT_CORNER: OriginPointLocation
TOP_LEFT_CORNER: OriginPointLocation
DEFAULT: InputSource
FACE_LANDMARK_PIPELINE: InputSource
FACE_DETECTION_PIPELINE: InputSource

class PerspectiveCamera(_message.Message):
    __slots__ = ("vertical_fov_degrees", "near", "far")
    VERTICAL_FOV_DEGREES_FIELD_NUMBER: _ClassVar[int]
    NEAR_FIELD_NUMBER: _ClassVar[int]
    FAR_FIELD_NUMBER: _ClassVar[int]
    vertical_fov_degrees: float
    near: float
    far: float
    def __init__(self, vertical_fov_degrees: _Optional[float] = ..., near: _Optional[float] = ..., far: _Optional[float] = ...) -> None: ...

class Environment(_message.Message):
    __slots__ = ("origin_point_location", "perspective_camera")
    ORIGIN_POINT_LOCATION_FIELD_NUMBER: _ClassVar[int]
    PERSPECTIVE_CAMERA_FIELD_NUMBER: _ClassVar[int]
    origin_point_location: OriginPointLocation
    perspective_camera: PerspectiveCamera
    def __init__(self, origin_point_location: _Optional[_Union[OriginPointLocation, str]] = ..., perspective_camera: _Optional[_Union[PerspectiveCamera, _Mapping]] = ...) -> None: ...

class Mesh3d(_message.Message):
    __slots__ = ("vertex_type", "primitive_type", "vertex_buffer", "index_buffer")
    class VertexType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        VERTEX_PT: _ClassVar[Mesh3d.VertexType]
    VERTEX_PT: Mesh3d.VertexType
    class PrimitiveType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        TRIANGLE: _ClassVar[Mesh3d.PrimitiveType]
    TRIANGLE: Mesh3d.PrimitiveType
    VERTEX_TYPE_FIELD_NUMBER: _ClassVar[int]
    PRIMITIVE_TYPE_FIELD_NUMBER: _ClassVar[int]
    VERTEX_BUFFER_FIELD_NUMBER: _ClassVar[int]
    INDEX_BUFFER_FIELD_NUMBER: _ClassVar[int]
    vertex_type: Mesh3d.VertexType
    primitive_type: Mesh3d.PrimitiveType
    vertex_buffer: _containers.RepeatedScalarFieldContainer[float]
    index_buffer: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, vertex_type: _Optional[_Union[Mesh3d.VertexType, str]] = ..., primitive_type: _Optional[_Union[Mesh3d.PrimitiveType, str]] = ..., vertex_buffer: _Optional[_Iterable[float]] = ..., index_buffer: _Optional[_Iterable[int]] = ...) -> None: ...

class FaceGeometry(_message.Message):
    __slots__ = ("mesh", "pose_transform_matrix")
    MESH_FIELD_NUMBER: _ClassVar[int]
    POSE_TRANSFORM_MATRIX_FIELD_NUMBER: _ClassVar[int]
    mesh: Mesh3d
    pose_transform_matrix: _matrix_data_pb2.MatrixData
    def __init__(self, mesh: _Optional[_Union[Mesh3d, _Mapping]] = ..., pose_transform_matrix: _Optional[_Union[_matrix_data_pb2.MatrixData, _Mapping]] = ...) -> None: ...

class WeightedLandmarkRef(_message.Message):
    __slots__ = ("landmark_id", "weight")
    LANDMARK_ID_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    landmark_id: int
    weight: float
    def __init__(self, landmark_id: _Optional[int] = ..., weight: _Optional[float] = ...) -> None: ...

class GeometryPipelineMetadata(_message.Message):
    __slots__ = ("input_source", "canonical_mesh", "procrustes_landmark_basis")
    INPUT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_MESH_FIELD_NUMBER: _ClassVar[int]
    PROCRUSTES_LANDMARK_BASIS_FIELD_NUMBER: _ClassVar[int]
    input_source: InputSource
    canonical_mesh: Mesh3d
    procrustes_landmark_basis: _containers.RepeatedCompositeFieldContainer[WeightedLandmarkRef]
    def __init__(self, input_source: _Optional[_Union[InputSource, str]] = ..., canonical_mesh: _Optional[_Union[Mesh3d, _Mapping]] = ..., procrustes_landmark_basis: _Optional[_Iterable[_Union[WeightedLandmarkRef, _Mapping]]] = ...) -> None: ...
