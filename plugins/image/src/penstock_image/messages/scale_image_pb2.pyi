from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import image_format_pb2 as _image_format_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ScaleImageCalculatorOptions(_message.Message):
    __slots__ = ("target_width", "target_height", "preserve_aspect_ratio", "min_aspect_ratio", "max_aspect_ratio", "output_format", "algorithm", "alignment_boundary", "set_alignment_padding", "OBSOLETE_skip_linear_rgb_conversion", "post_sharpening_coefficient", "input_format", "scale_to_multiple_of", "use_bt709", "target_max_area")
    class ScaleAlgorithm(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[ScaleImageCalculatorOptions.ScaleAlgorithm]
        LINEAR: _ClassVar[ScaleImageCalculatorOptions.ScaleAlgorithm]
        CUBIC: _ClassVar[ScaleImageCalculatorOptions.ScaleAlgorithm]
        AREA: _ClassVar[ScaleImageCalculatorOptions.ScaleAlgorithm]
        LANCZOS: _ClassVar[ScaleImageCalculatorOptions.ScaleAlgorithm]
        DEFAULT_WITHOUT_UPSCALE: _ClassVar[ScaleImageCalculatorOptions.ScaleAlgorithm]
    DEFAULT: ScaleImageCalculatorOptions.ScaleAlgorithm
    LINEAR: ScaleImageCalculatorOptions.ScaleAlgorithm
    CUBIC: ScaleImageCalculatorOptions.ScaleAlgorithm
    AREA: ScaleImageCalculatorOptions.ScaleAlgorithm
    LANCZOS: ScaleImageCalculatorOptions.ScaleAlgorithm
    DEFAULT_WITHOUT_UPSCALE: ScaleImageCalculatorOptions.ScaleAlgorithm
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TARGET_WIDTH_FIELD_NUMBER: _ClassVar[int]
    TARGET_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    PRESERVE_ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    MIN_ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    MAX_ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FORMAT_FIELD_NUMBER: _ClassVar[int]
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_BOUNDARY_FIELD_NUMBER: _ClassVar[int]
    SET_ALIGNMENT_PADDING_FIELD_NUMBER: _ClassVar[int]
    OBSOLETE_SKIP_LINEAR_RGB_CONVERSION_FIELD_NUMBER: _ClassVar[int]
    POST_SHARPENING_COEFFICIENT_FIELD_NUMBER: _ClassVar[int]
    INPUT_FORMAT_FIELD_NUMBER: _ClassVar[int]
    SCALE_TO_MULTIPLE_OF_FIELD_NUMBER: _ClassVar[int]
    USE_BT709_FIELD_NUMBER: _ClassVar[int]
    TARGET_MAX_AREA_FIELD_NUMBER: _ClassVar[int]
    target_width: int
    target_height: int
    preserve_aspect_ratio: bool
    min_aspect_ratio: str
    max_aspect_ratio: str
    output_format: _image_format_pb2.ImageFormat.Format
    algorithm: ScaleImageCalculatorOptions.ScaleAlgorithm
    alignment_boundary: int
    set_alignment_padding: bool
    OBSOLETE_skip_linear_rgb_conversion: bool
    post_sharpening_coefficient: float
    input_format: _image_format_pb2.ImageFormat.Format
    scale_to_multiple_of: int
    use_bt709: bool
    target_max_area: int
    def __init__(self, target_width: _Optional[int] = ..., target_height: _Optional[int] = ..., preserve_aspect_ratio: bool = ..., min_aspect_ratio: _Optional[str] = ..., max_aspect_ratio: _Optional[str] = ..., output_format: _Optional[_Union[_image_format_pb2.ImageFormat.Format, str]] = ..., algorithm: _Optional[_Union[ScaleImageCalculatorOptions.ScaleAlgorithm, str]] = ..., alignment_boundary: _Optional[int] = ..., set_alignment_padding: bool = ..., OBSOLETE_skip_linear_rgb_conversion: bool = ..., post_sharpening_coefficient: _Optional[float] = ..., input_format: _Optional[_Union[_image_format_pb2.ImageFormat.Format, str]] = ..., scale_to_multiple_of: _Optional[int] = ..., use_bt709: bool = ..., target_max_area: _Optional[int] = ...) -> None: ...
