"""What the pack adds to Penstock, by name: adapters. Payload types are imported, not named in graphs."""

from __future__ import annotations

from typing import Final

from penstock import Components, hookimpl

_FRAME: Final = "penstock_formats.image_frame.ImageFrame"
_IMAGE: Final = "penstock_formats.image.Image"
_ARRAY: Final = "numpy.ndarray"
_PILLOW: Final = "PIL.Image.Image"
#: Both types → the calculator and the function that it is made of.
_ADAPTERS: Final = {
    (_ARRAY, _FRAME): ("ArrayToImageFrameCalculator", "array_adapters:array_to_image_frame"),
    (_ARRAY, _IMAGE): ("ArrayToImageCalculator", "array_adapters:array_to_image"),
    (_FRAME, _ARRAY): ("ImageFrameToArrayCalculator", "array_adapters:image_frame_to_array"),
    (_IMAGE, _ARRAY): ("ImageToArrayCalculator", "array_adapters:image_to_array"),
    ("DLPack", _FRAME): ("DlpackToImageFrameCalculator", "array_adapters:dlpack_to_image_frame"),
    ("DLPack", _IMAGE): ("DlpackToImageCalculator", "array_adapters:dlpack_to_image"),
    (_PILLOW, _FRAME): ("PillowToImageFrameCalculator", "pillow:pillow_to_image_frame"),
    (_PILLOW, _IMAGE): ("PillowToImageCalculator", "pillow:pillow_to_image"),
    (_FRAME, _PILLOW): ("ImageFrameToPillowCalculator", "pillow:image_frame_to_pillow"),
    (_IMAGE, _PILLOW): ("ImageToPillowCalculator", "pillow:image_to_pillow"),
}


@hookimpl
def penstock_components() -> Components:
    """Return the adapters, each a calculator too."""
    return Components(
        calculators={name: f"penstock_formats.{target}" for name, target in _ADAPTERS.values()},
        adapters={
            f"{source}->{made}": f"penstock_formats.{target}"
            for (source, made), (_, target) in _ADAPTERS.items()
        },
    )
