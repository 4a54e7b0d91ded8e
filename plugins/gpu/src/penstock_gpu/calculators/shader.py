"""A calculator that runs the user's fragment shader, from options or from Python."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import check_frame_size
from penstock_formats.api import pass_header
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.cpu_function import check_returned
from penstock_gpu.calculators.image_inputs import image_at, size_of
from penstock_gpu.calculators.rendering import DrawingCalculator, render
from penstock_gpu.calculators.samplers import names_of_samplers
from penstock_gpu.calculators.shader_options import ShaderCalculatorOptions, check_size
from penstock_gpu.calculators.shader_source import ShaderSource
from penstock_gpu.drawing.helper import GlCalculatorHelper
from penstock_gpu.errors import GpuUnavailableError
from penstock_gpu.formats import pixel_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_gpu.drawing.uniform_values import UniformValue

    #: Computes with NumPy what a shader draws; see `shader_calculator`.
    CpuFunction = Callable[..., NDArray[Any]]

_SECOND: Final = 1_000_000
_NOTHING: Final = np.zeros((1, 1, 4), np.uint8)


class ShaderCalculator(DrawingCalculator):
    """Draw each image with a fragment shader that the graph gives.

    Inputs: one or more, of any tags (GpuBuffer). The shader reads each as a `sampler2D` whose name is the
    tag in small letters, with the index where that is above 0: VIDEO is `video`, VIDEO:1 `video1`,
    untagged ones `video`, `video1`, ... The main input is VIDEO, else the first untagged one, else the
    first by the order of tags: a timestamp without its packet gives no output. Another missing input reads as
    transparent black.
    Input side packet FRAGMENT (optional): str, the shader's text, instead of the options'.
    Output: exactly one, of any tag (GpuBuffer). The stream header of the main input is forwarded.
    Timestamp offset 0.

    Options `ShaderCalculatorOptions`: `fragment`, or `resource` ("package:path" of a text file in an
    installed package); `uniform`, repeated, with `name` and `value` (numbers, matrices row by row);
    `width` and `height` of the result (those of the main input); `format` (BGRA32). `GlContextOptions`
    choose the context.

    The shader is GLSL 3.30 or ES 3.00 without `#version`, written once for both. It writes
    `gl_FragColor`, or an output that it declares, and may read, without declaring them, the samplers
    and `in vec2 sample_coordinate`, 0 to 1 over the result, row 0 at 0. These uniforms are set if it declares
    them: `float time`, seconds since the first image's timestamp; `vec2 size` of the result in pixels; and
    for each sampler, such as `video`, `vec2 video_size` and `bool has_video`. Rows of an image count from the
    top: pixel (x, y) of `video` is `texelFetch(video, ivec2(x, y), 0)`.

    Raises in `open`: ShaderError if it does not compile, with the node's name and the driver's log, in the
    line numbers of the text; InvalidArgumentError for no text or several, an unknown uniform, a value that
    does not fit; GpuUnavailableError if GL is not used (see `shader_calculator` for shaders that also run on
    NumPy). In `process`: GlError if GL fails.

    Config::

        node {
          calculator: "ShaderCalculator"
          input_stream: "VIDEO:image"
          output_stream: "VIDEO:brighter"
          node_options {
            [type.googleapis.com/penstock_gpu.ShaderCalculatorOptions] {
              fragment:
                "uniform float gain;"
                "void main() {"
                "  vec4 color = texture(video, sample_coordinate);"
                "  gl_FragColor = vec4(color.rgb * gain, color.a);"
                "}"
              uniform { name: "gain" value: 1.5 }
            }
          }
        }
    """

    Options = ShaderCalculatorOptions

    #: The arguments of `shader_calculator`.
    given: ClassVar[ShaderSource] = ShaderSource()

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the connected images.

        Raises:
            InvalidArgumentError: no input, not exactly one output, or two inputs whose samplers have the same
                name.
        """
        if not cc.inputs.ids() or len(cc.outputs.ids()) != 1:
            raise InvalidArgumentError(
                f"shader node {cc.node_name!r} has {len(cc.inputs)} inputs and {len(cc.outputs)} outputs; "
                "connect at least one input and exactly one output"
            )
        names_of_samplers(cc.inputs.ids())
        for port in (*cc.inputs, *cc.outputs):
            port.set(GpuBuffer, "images")
        cc.input_side_packets["FRAGMENT"].set(str, "the fragment shader's text").optional()
        cc.set_timestamp_offset(0)
        GlCalculatorHelper.update_contract(cc)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Compile the shader, set the uniforms; forward the stream header."""
        options = cc.options(ShaderCalculatorOptions)
        check_size(options)
        check_frame_size(options.width, options.height, "options width and height")
        pixel_layout(options.format)
        self._options = options
        self._samplers = names_of_samplers(cc.inputs.ids())
        self._first: int | None = None
        side = cc.input_side_packets
        text = self.given.text(options, side["FRAGMENT"].get(str) if "FRAGMENT" in side else "")
        self._uniforms = self.given.uniforms_with(options, self._samplers)
        pass_header(cc.inputs[next(iter(self._samplers.values()))], cc.output)
        super().open(cc)
        if self.helper.uses_gl:
            self.helper.run_in_gl_context(lambda: self._compile(text))
        else:
            self._check_cpu(cc, text)

    def process(self, cc: CalculatorContext) -> None:
        """Draw one image."""
        ports = {name: cc.inputs[port] for name, port in self._samplers.items()}
        clock = next(iter(ports.values()))
        if clock.is_empty():
            return
        at = int(cc.input_timestamp)
        self._first = at if self._first is None else self._first
        images = {name: None if port.is_empty() else image_at(port) for name, port in ports.items()}
        options = self._options
        size = (options.width, options.height) if options.width else size_of(image_at(clock))
        known: dict[str, Any] = {"time": (at - self._first) / _SECOND, "size": size}
        for name, image in images.items():
            known[f"{name}_size"] = (0, 0) if image is None else size_of(image)
            known[f"has_{name}"] = image is not None
        if self.helper.uses_gl:
            made = self.helper.run_in_gl_context(lambda: self._drawn(images, size, known))
        else:
            made = self._computed(images, size, known)
        cc.output.add(made, cc.input_timestamp)

    def _compile(self, text: str) -> None:
        program = self.program(text, samplers=tuple(self._samplers))
        for name, value in self._uniforms.items():
            program.set(name, value)
        self._program = program
        self._blank = GpuBuffer.of_array(_NOTHING)

    def _drawn(
        self, images: Mapping[str, GpuBuffer | None], size: tuple[int, int], known: Mapping[str, Any]
    ) -> GpuBuffer:
        inputs = {name: self._blank if one is None else one for name, one in images.items()}
        uniforms = {name: value for name, value in known.items() if name in self._program.uniforms}
        return render(self.helper, self._program, inputs, *size, self._options.format, uniforms)

    def _check_cpu(self, cc: CalculatorContext, text: str) -> None:
        if self.given.cpu is None:
            raise GpuUnavailableError(
                f"node {cc.node_name!r}: its shader needs GL, and there is none: {self.helper.why_off}",
                "bring GL, or make the calculator with shader_calculator(..., cpu=a_function)",
                node=cc.node_name,
            )
        self.given.check_uniforms(text, self._uniforms, cc.node_name)
        self._wanted = self.given.parameters({*self._samplers, *self._uniforms}, self._samplers)

    def _computed(
        self, images: Mapping[str, GpuBuffer | None], size: tuple[int, int], known: Mapping[str, Any]
    ) -> GpuBuffer:
        arrays = {name: None if one is None else one.array() for name, one in images.items()}
        arguments = {**known, **self._uniforms, **arrays}
        cpu, kind = self.given.cpu, self._options.format
        assert cpu is not None  # checked in `open`  # noqa: S101
        made = cpu(**{name: arguments[name] for name in self._wanted})
        check_returned(made, size, kind)
        return GpuBuffer.of_array(made, kind)


def shader_calculator(
    fragment: str = "",
    *,
    name: str = "",
    uniforms: Mapping[str, UniformValue] | None = None,
    cpu: CpuFunction | None = None,
    resource: str = "",
) -> type[ShaderCalculator]:
    """Make a calculator of a fragment shader: a filter without writing a class.

    It is a `ShaderCalculator` with a given text; see there for what the shader may read, and for the options
    that a graph may still give: `uniform`, `width`, `height`, `format`::

        Invert = shader_calculator(
            "void main() { gl_FragColor = vec4(1.0) - texture(video, sample_coordinate); }",
            name="InvertCalculator",
            cpu=lambda video: 255 - video,
        )

    Args:
        fragment: the shader's text.
        name: the name for graphs of this process, registered as by `penstock.register_calculator`. With "" it
            is not registered: give the class to a graph builder, or to `register_calculator`.
        uniforms: name → value: numbers, sequences, arrays; matrices row by row.
        cpu: computes the same with NumPy, where GL is not used. It is called by name with those of the
            following arguments that it takes: each input under its sampler's name, as a read-only array in
            the buffer's own layout ((H, W, 4) uint8 for BGRA32), None if it is missing; the uniforms, as
            given; `time`, `size`, `video_size`, `has_video`. It returns an array of the result's size and
            format.
        resource: "package:path" of the text in an installed package, instead of `fragment`.

    Returns:
        A subclass of ShaderCalculator.

    Raises:
        InvalidArgumentError: neither or both of `fragment` and `resource` are given, or `cpu` has
            parameters that cannot be given by name.
        NotFoundError: `resource` does not exist.
        AlreadyExistsError: another class is registered under that name.
    """
    source = ShaderSource.of(fragment, resource, uniforms or {}, cpu)
    made = type(
        name or "ShaderFilter", (ShaderCalculator,), {"given": source, "__doc__": ShaderCalculator.__doc__}
    )
    # the caller's module, so that a module or a notebook cell that runs again replaces its calculator
    made.__module__ = sys._getframe(1).f_globals.get("__name__", __name__)  # noqa: SLF001
    return penstock.register_calculator(made) if name else made
