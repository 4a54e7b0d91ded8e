"""How images become the input of a model; its file says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock_detect.detector_input_options import Axes, DetectorInputCalculatorOptions

if TYPE_CHECKING:
    from penstock_detect.detector_options import DetectorSubgraphOptions
    from penstock_detect.model_file import ModelFile
    from penstock_tensors import TensorInfo

#: The dimensions of a batch of images.
_DIMENSIONS: Final = 4
#: Element types of images that models take; int8 has a scale that .onnx files do not tell.
_TAKEN: Final = ("float32", "float16", "uint8")
#: The shape of a second input that takes the size of the image, int64.
_SIZES: Final = (1, 2)


def input_of(options: DetectorSubgraphOptions, model: ModelFile) -> DetectorInputCalculatorOptions:
    """Return how images become the input of a model.

    Raises:
        InvalidArgumentError: the model takes no image, or leaves a size open that no option gives.
    """
    info = model.inputs[0]
    further = model.inputs[1:]
    gives_size = len(further) == 1 and _is_size(further[0])
    if (further and not gives_size) or len(info.shape) != _DIMENSIONS or info.shape[0] not in (-1, 1):
        raise _no_image(model)
    if info.element_type not in _TAKEN:
        raise InvalidArgumentError(
            f"the input {info.name!r} of the model {model.name!r} is {info}, but images are given as "
            f"{', '.join(_TAKEN)}; export the model with such an input"
        )
    if info.shape[1] in (1, 3) or (info.shape[1] == -1 and info.shape[3] not in (1, 3)):
        axes, (channels, rows, columns) = Axes.NCHW, info.shape[1:]
    elif info.shape[3] in (1, 3):
        axes, (rows, columns, channels) = Axes.NHWC, info.shape[1:]
    else:
        raise _no_image(model)
    height, width = _sides(options, model, rows, columns)
    is_bytes = info.element_type == "uint8"
    return DetectorInputCalculatorOptions(
        width=width,
        height=height,
        channels=max(channels, 1) if channels > 0 else 3,
        resize=options.resize,
        interpolation=options.interpolation,
        short_side=options.short_side,
        pad_value=options.pad_value,
        axes=axes,
        bgr=options.bgr,
        scale=1.0 if is_bytes else options.scale,
        mean=() if is_bytes else options.mean,
        std=() if is_bytes else options.std,
        element_type=info.element_type,
        gives_size=gives_size,
    )


def _is_size(info: TensorInfo) -> bool:
    fits = len(info.shape) == len(_SIZES) and all(
        own in (-1, wanted) for own, wanted in zip(info.shape, _SIZES, strict=True)
    )
    return fits and info.element_type == "int64"


def _sides(options: DetectorSubgraphOptions, model: ModelFile, rows: int, columns: int) -> tuple[int, int]:
    """Return height and width of the input.

    Raises:
        InvalidArgumentError: the model leaves them open, or has others than the options.
    """
    told = model.numbers("imgsz")
    sides = []
    for i, (name, own, given) in enumerate(
        (("height", rows, options.height), ("width", columns, options.width))
    ):
        if own > 0 and given not in (0, own):
            raise InvalidArgumentError(
                f"{name} is {given}, but the model {model.name!r} takes {model.inputs[0]}; leave it out"
            )
        side = own if own > 0 else given or (told[i] if len(told) == 2 else 0)  # noqa: PLR2004  # height, width
        if side < 1:
            raise InvalidArgumentError(
                f"the model {model.name!r} takes {model.inputs[0]}, and leaves the {name} open; set width "
                "and height in the options to the size of its training"
            )
        sides.append(side)
    return sides[0], sides[1]


def _no_image(model: ModelFile) -> InvalidArgumentError:
    listed = ", ".join(f"{one.name!r} {one}" for one in model.inputs)
    return InvalidArgumentError(
        f"the inputs of the model {model.name!r} are {listed}, but must be one image, 1x3xHxW or 1xHxWx3 (or "
        "of 1 channel), and at most the size of it, int64 1x2; export it with a batch of 1"
    )
