"""Overlay of one image on another, in a shader."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats.api import pass_header
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.image_inputs import expect_size, image_at, size_of
from penstock_gpu.calculators.pixels import colours, stored
from penstock_gpu.calculators.rendering import DrawingCalculator, render
from penstock_gpu.drawing.helper import GlCalculatorHelper
from penstock_gpu.formats import GpuBufferFormat, pixel_layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_gpu.drawing.uniform_values import UniformValue

_BYTE_MAX: Final = 255
_TWO_CHANNELS: Final = 2
#: Index of alpha among the channels of a pixel.
_ALPHA: Final = 3
_WHITE: Final = (1.0, 1.0, 1.0)


class OverlayMode(enum.Enum):
    """How an overlay is combined with the image below."""

    #: It covers the image in proportion to its alpha.
    ALPHA_OVER = 0
    #: It replaces the image where its red, green or blue is not 0.
    REPLACE_NONZERO = 1
    #: Its colours, times its alpha, are added.
    ADD = 2
    #: Both are mixed, equally everywhere.
    MIX = 3


def _check_part(instance: object, field: attrs.Attribute[int], value: int) -> None:  # noqa: ARG001  # attrs
    if not 0 <= value <= _BYTE_MAX:
        raise InvalidArgumentError(
            f"the GPU overlay's {field.name} is {value}, but each part of a colour must be 0 to 255"
        )


def _check_share(instance: object, field: attrs.Attribute[float], value: float) -> None:  # noqa: ARG001  # attrs
    if not 0 <= value <= 1:
        raise InvalidArgumentError(f"the GPU overlay's {field.name} is {value:g}, but must be 0 to 1")


@attrs.frozen
class OverlayColor:
    """A colour.

    Attributes:
        r: red, 0 to 255.
        g: green, 0 to 255.
        b: blue, 0 to 255.
    """

    r: int = attrs.field(default=0, validator=_check_part)
    g: int = attrs.field(default=0, validator=_check_part)
    b: int = attrs.field(default=0, validator=_check_part)


@attrs.frozen
class OverlayRegion:
    """A part of an image, in shares of its width and height: 0 is the left or upper border, 1 the other.

    Attributes:
        xmin: the left border.
        ymin: the upper border.
        width: above 0; the right border, xmin + width, is at most 1.
        height: above 0; the lower border, ymin + height, is at most 1.
    """

    xmin: float = 0.0
    ymin: float = 0.0
    width: float = 1.0
    height: float = 1.0

    def __attrs_post_init__(self) -> None:
        for start, length in ((self.xmin, self.width), (self.ymin, self.height)):
            if not (start >= 0 and length > 0 and start + length <= 1):
                raise InvalidArgumentError(
                    f"the GPU overlay's region has xmin {self.xmin:g}, ymin {self.ymin:g}, width "
                    f"{self.width:g} and height {self.height:g}, but must be inside the image, 0 to 1, and "
                    "not empty"
                )

    def borders(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Return (left, top, right, bottom) in an image of this size, in whole pixels, rounded."""
        return (
            round(self.xmin * width),
            round(self.ymin * height),
            round((self.xmin + self.width) * width),
            round((self.ymin + self.height) * height),
        )


@attrs.frozen
class GlOverlayCalculatorOptions:
    """How one image is laid over another.

    Attributes:
        mode: ALPHA_OVER, REPLACE_NONZERO, ADD or MIX.
        alpha: the strength of the overlay, 0 to 1; 0 makes it invisible.
        color: the colour that an overlay of one channel paints; white if it is not given.
        darkening: how much darker the image becomes before, 0 to 1; 0 not at all, 1 black.
        region: the part of the image that is darkened and laid over; all of it if it is not given.
    """

    mode: OverlayMode = OverlayMode.ALPHA_OVER
    alpha: float = attrs.field(default=1.0, validator=_check_share)
    color: OverlayColor | None = None
    darkening: float = attrs.field(default=0.0, validator=_check_share)
    region: OverlayRegion | None = None


#: MODE is the number of an OverlayMode. MASK: the overlay has one channel; PAINTED: a colour is given for it.
_FRAGMENT: Final = """\
uniform sampler2D frame;
uniform sampler2D overlay;
uniform vec3 color;
uniform float alpha;
uniform float light;
uniform vec4 region;

void main() {
  ivec2 place = ivec2(gl_FragCoord.xy);
  vec4 below = texelFetch(frame, place, 0);
  if (any(lessThan(gl_FragCoord.xy, region.xy)) || any(greaterThan(gl_FragCoord.xy, region.zw))) {
    gl_FragColor = below;
    return;
  }
  below.rgb *= light;
  vec4 above = texelFetch(overlay, place, 0);
#if MASK
  float value = above.MASK_CHANNEL;
  bool covers = value != 0.0;
#if MODE == 0
  above = vec4(color, value);
#elif MODE == 1 && PAINTED
  above = vec4(color, 1.0);
#else
  above = vec4(color * value, 1.0);
#endif
#else
  bool covers = any(notEqual(above.rgb, vec3(0.0)));
#endif
#if MODE == 0
  gl_FragColor = mix(below, vec4(above.rgb, 1.0), above.a * alpha);
#elif MODE == 1
  gl_FragColor = covers ? mix(below, above, alpha) : below;
#elif MODE == 2
  gl_FragColor = vec4(below.rgb + above.rgb * (above.a * alpha), below.a);
#else
  gl_FragColor = mix(below, above, alpha);
#endif
}
"""


class GlOverlayCalculator(DrawingCalculator):
    """Lay one image over another, or paint a colour through a mask.

    Inputs: VIDEO (GpuBuffer) and OVERLAY (GpuBuffer of the same size; one of one channel, such as
    ONE_COMPONENT8, is a mask). Output: VIDEO (GpuBuffer, BGRA32, of the same size; an image without an
    overlay at its timestamp is forwarded unchanged, an overlay without an image gives no output). The stream
    header of VIDEO is forwarded. Timestamp offset 0.

    With V the image, O the overlay (alpha 1 if it has none), values 0 to 1, the modes are:

    - ALPHA_OVER (default): V mixed with (O's colour, 1) by O's alpha times `alpha`; the usual "over" for an
    opaque V, which stays opaque.
    - REPLACE_NONZERO: V mixed with O by `alpha` where O's red, green or blue is not 0; else V.
    - ADD: V plus O's colour times its alpha times `alpha`, at most 1; V's alpha is kept.
    - MIX: V mixed with O by `alpha`, all four channels.

    V is darkened by `darkening` before; outside of `region` it stays as it is.

    A mask with value v paints `color`, or white: in ALPHA_OVER that colour with alpha v; in REPLACE_NONZERO
    the colour where v is not 0, or without `color` the grey v; in the other modes the colour times v.

    Options `GlOverlayCalculatorOptions`: `mode`, `alpha` (1), `color` (`r`, `g`, `b`, each 0 to 255),
    `darkening` (0), `region` (`xmin`, `ymin`, `width`, `height`, in shares of the image's sides).
    `GlContextOptions` choose the context. If the service is off, it works in NumPy. Against the
    exact value, rounded, both ways are off by at most 1 of 255.

    Raises when the graph is loaded: InvalidArgumentError for options outside their range. In `process`:
    the same for an overlay of another size or of two channels, or a format that has no texture; GlError if GL
    fails.

    Config::

        node {
          calculator: "GlOverlayCalculator"
          input_stream: "VIDEO:image"
          input_stream: "OVERLAY:edges"
          output_stream: "VIDEO:painted"
          node_options {
            [type.googleapis.com/penstock_gpu.GlOverlayCalculatorOptions] {
              mode: REPLACE_NONZERO
              color { g: 255 }
            }
          }
        }
    """

    Options = GlOverlayCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare VIDEO and OVERLAY in, VIDEO out; check the options."""
        cc.inputs["VIDEO"].set(GpuBuffer, "images")
        cc.inputs["OVERLAY"].set(GpuBuffer, "overlays")
        cc.outputs["VIDEO"].set(GpuBuffer, "images with their overlays")
        cc.set_timestamp_offset(0)
        cc.options(GlOverlayCalculatorOptions)
        GlCalculatorHelper.update_contract(cc)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options; forward the stream header of VIDEO."""
        self._options = cc.options(GlOverlayCalculatorOptions)
        color = self._options.color
        self._color = _WHITE if color is None else tuple(part / _BYTE_MAX for part in attrs.astuple(color))
        self._light = 1 - self._options.darkening
        self._region = self._options.region or OverlayRegion()
        pass_header(cc.inputs["VIDEO"], cc.outputs["VIDEO"])
        super().open(cc)

    def process(self, cc: CalculatorContext) -> None:
        """Combine one image with its overlay."""
        source, over = cc.inputs["VIDEO"], cc.inputs["OVERLAY"]
        if source.is_empty():
            return
        if over.is_empty():
            cc.outputs["VIDEO"].add_packet(source.packet)
            return
        frame, overlay = image_at(source), image_at(over)
        expect_size(overlay, "OVERLAY", frame, "VIDEO")
        channels = pixel_layout(overlay.format).channels
        if channels == _TWO_CHANNELS:
            raise InvalidArgumentError(
                f"GPU overlay: input 'OVERLAY' holds {overlay!r} of two channels, but it takes one, a mask, "
                "or three and more, an image; convert it"
            )
        if self.helper.uses_gl:
            made = self.helper.run_in_gl_context(lambda: self._drawn(frame, overlay))
        else:
            made = self._computed(frame, overlay)
        cc.outputs["VIDEO"].add(made, cc.input_timestamp)

    def _drawn(self, frame: GpuBuffer, overlay: GpuBuffer) -> GpuBuffer:
        options = self._options
        defines = {
            "MODE": options.mode.value,
            "MASK": int(_is_mask(overlay)),
            "MASK_CHANNEL": "ra"[_mask_channel(overlay) // 3],
            "PAINTED": int(options.color is not None),
        }
        program = self.program(_FRAGMENT, defines=defines)
        uniforms: dict[str, UniformValue] = {
            "color": self._color,
            "alpha": options.alpha,
            "light": self._light,
            "region": self._region.borders(*size_of(frame)),
        }
        inputs = {"frame": frame, "overlay": overlay}
        return render(self.helper, program, inputs, *size_of(frame), GpuBufferFormat.BGRA32, uniforms)

    def _computed(self, frame: GpuBuffer, overlay: GpuBuffer) -> GpuBuffer:
        kind = GpuBufferFormat.BGRA32
        pixels = frame.array()
        made = _as_bytes(pixels, frame.format)
        left, top, right, bottom = self._region.borders(*size_of(frame))
        inside = slice(top, bottom), slice(left, right)
        part, pixels, over = made[inside], pixels[inside], overlay.array()[inside]
        if self._light < 1:
            part[...] = stored(self._darkened(pixels, frame), kind)
        if self._options.mode is OverlayMode.MIX:  # changes every pixel
            part[...] = stored(self._mixed(pixels, frame, over, overlay), kind)
            return GpuBuffer.of_array(made, kind)
        # Most overlays, such as edges, change few pixels; the other pixels are copied unchanged.
        there = _shown(over, by_colour=self._options.mode is OverlayMode.REPLACE_NONZERO)
        if there.any():
            part[there] = stored(self._mixed(pixels[there][None], frame, over[there][None], overlay), kind)[0]
        return GpuBuffer.of_array(made, kind)

    def _mixed(
        self, pixels: NDArray[Any], frame: GpuBuffer, over: NDArray[Any], overlay: GpuBuffer
    ) -> NDArray[np.float32]:
        """Return what the shader draws for some pixels of both images."""
        below, above = self._darkened(pixels, frame), colours(over, overlay.format)
        covers: NDArray[np.bool_] = (above[..., :3] != 0).any(axis=2)
        if _is_mask(overlay):
            value = above[..., _mask_channel(overlay)]
            covers = value != 0
            above = self._painted(value)
        return _combined(self._options.mode, np.float32(self._options.alpha), below, above, covers)

    def _darkened(self, pixels: NDArray[Any], frame: GpuBuffer) -> NDArray[np.float32]:
        """Return the colours of some pixels of an image below its overlay."""
        below = colours(pixels, frame.format)
        below[..., :_ALPHA] *= np.float32(self._light)
        return below

    def _painted(self, value: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the overlay that a mask means, where it covers the image."""
        mode = self._options.mode
        above = np.empty((*value.shape, 4), np.float32)
        above[..., :3] = self._color
        above[..., 3] = value if mode is OverlayMode.ALPHA_OVER else 1
        if mode is not OverlayMode.ALPHA_OVER and not (
            mode is OverlayMode.REPLACE_NONZERO and self._options.color is not None
        ):
            above[..., :3] *= value[..., None]
        return above


def _shown(over: NDArray[Any], *, by_colour: bool) -> NDArray[np.bool_]:
    """Return, as (H, W), which pixels an overlay may change."""
    found: NDArray[np.bool_] = np.ones(over.shape[:2], np.bool_)
    if over.ndim == 2:  # noqa: PLR2004  # (H, W): a mask
        found = over != 0
    elif by_colour:
        found = (over[..., :3] != 0).any(axis=2)
    elif over.shape[2] > _ALPHA:
        found = over[..., _ALPHA] != 0
    return found


def _as_bytes(pixels: NDArray[Any], kind: GpuBufferFormat) -> NDArray[Any]:
    """Return an image as BGRA32, in new memory."""
    if pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] >= _ALPHA:  # noqa: PLR2004  # (H, W, channels)
        made = np.full((*pixels.shape[:2], 4), _BYTE_MAX, np.uint8)
        made[..., : pixels.shape[2]] = pixels
        return made
    return stored(colours(pixels, kind), GpuBufferFormat.BGRA32)


def _combined(
    mode: OverlayMode,
    alpha: np.float32,
    below: NDArray[np.float32],
    above: NDArray[np.float32],
    covers: NDArray[np.bool_],
) -> NDArray[np.float32]:
    """Return what the shader draws."""
    if mode is OverlayMode.ALPHA_OVER:
        share = above[..., 3:] * alpha
        above[..., 3] = 1
        return below + (above - below) * share
    if mode is OverlayMode.REPLACE_NONZERO:
        share = alpha * covers[..., None].astype(np.float32)
        return below + (above - below) * share
    if mode is OverlayMode.ADD:
        below[..., :3] += above[..., :3] * (above[..., 3:] * alpha)
        return below
    return below + (above - below) * alpha


def _is_mask(overlay: GpuBuffer) -> bool:
    return pixel_layout(overlay.format).channels == 1


def _mask_channel(overlay: GpuBuffer) -> int:
    """Return the channel in which a shader reads a mask: 0, red, or 3, alpha."""
    return 3 if overlay.format == GpuBufferFormat.ONE_COMPONENT8_ALPHA else 0
