"""The sources of a user's shader and its values, and the checks of them that need no GL."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import attrs

from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.lowlevel import Resources
from penstock_gpu.calculators.cpu_function import check_cpu_function, parameters_taken
from penstock_gpu.calculators.samplers import own_uniforms
from penstock_gpu.calculators.shader_options import uniform_values
from penstock_gpu.drawing.glsl import declarations
from penstock_gpu.drawing.uniform_values import check_uniform_name, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from penstock_gpu.calculators.shader_options import ShaderCalculatorOptions


@attrs.frozen
class ShaderSource:
    """The arguments of `shader_calculator`."""

    #: The text; "" if options or a side packet give it.
    fragment: str = ""
    #: Name → value.
    uniforms: Mapping[str, Any] = attrs.field(factory=dict)
    #: Computes the same with NumPy, or None.
    cpu: Callable[..., Any] | None = None

    @classmethod
    def of(
        cls, fragment: str, resource: str, uniforms: Mapping[str, Any], cpu: Callable[..., Any] | None
    ) -> ShaderSource:
        """Return the arguments, checked as far as possible. Raises as `shader_calculator`."""
        text = _one_of({"fragment": fragment, "resource": resource})
        if cpu is not None:
            check_cpu_function(cpu)
        return cls(read_resource(resource) if resource else text, dict(uniforms), cpu)

    def text(self, options: ShaderCalculatorOptions, side_packet: str) -> str:
        """Return the text of the shader.

        Raises:
            InvalidArgumentError: it is given nowhere, or in two ways.
            NotFoundError: the resource does not exist.
        """
        given = {
            "the calculator itself": self.fragment,
            "option 'fragment'": options.fragment,
            "option 'resource'": options.resource,
            "side packet 'FRAGMENT'": side_packet,
        }
        _one_of(given)
        return read_resource(options.resource) if options.resource else next(filter(None, given.values()))

    def uniforms_with(self, options: ShaderCalculatorOptions, samplers: Iterable[str]) -> dict[str, Any]:
        """Return all values; those of the options replace the calculator's own.

        Raises:
            InvalidArgumentError: a uniform is given twice, or is one that the calculator sets itself.
        """
        found = {**self.uniforms, **uniform_values(options)}
        own = {*samplers, *own_uniforms(samplers)}
        taken = next((name for name in found if name in own), None)
        if taken is not None:
            raise InvalidArgumentError(
                f"the shader source has a value for uniform {taken!r}, which the calculator sets itself; "
                "give yours another name"
            )
        return found

    def check_uniforms(self, text: str, values: Mapping[str, Any], program: str) -> None:
        """Refuse, without GL, values that do not fit the shader.

        Raises:
            InvalidArgumentError: the shader declares no such uniform, or the value does not fit.
        """
        declared = {one.name: one for one in declarations(text) if one.storage == "uniform"}
        for name, value in values.items():
            check_uniform_name(name, declared, program)
            numbers(name, declared[name].kind, declared[name].length, value)

    def parameters(self, given: Collection[str], samplers: Iterable[str]) -> tuple[str, ...]:
        """Return which of the available arguments the cpu function takes.

        Raises:
            InvalidArgumentError: it needs an argument that is not available.
        """
        assert self.cpu is not None  # called only if there is one  # noqa: S101
        return parameters_taken(self.cpu, {*given, *own_uniforms(samplers)})


def read_resource(resource: str) -> str:
    """Return a text file of an installed package. The package is not imported.

    Args:
        resource: "package:path", the path below the package's directory, with "/".

    Raises:
        InvalidArgumentError: the name has another form, the path leads out of the package, or the file is not
            UTF-8.
        NotFoundError: there is no such package or file.
    """
    package, colon, path = resource.partition(":")
    if not colon or not package or not path:
        raise InvalidArgumentError(
            f"shader source {resource!r} has another form than 'package:path'; write it as in "
            "'my_pack:shaders/blur.frag'"
        )
    try:
        spec = importlib.util.find_spec(package.partition(".")[0])
    except ValueError:
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise NotFoundError(f"shader source {resource!r}: package {package!r} is not installed; install it")
    below = "/".join([*package.split(".")[1:], path])
    try:
        with Resources(spec.submodule_search_locations).open(below) as file:
            return file.read().decode()
    except NotFoundError:
        raise NotFoundError(
            f"shader source {resource!r}: package {package!r} holds no file {path!r}; correct the path"
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"shader source {resource!r} is no text in UTF-8: {error}") from error
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"shader source {resource!r}: {path!r} is no file inside of package {package!r}; give a path "
            "below its directory, with '/'"
        ) from error


def _one_of(given: Mapping[str, str]) -> str:
    """Return the only non-empty text."""
    there = [what for what, text in given.items() if text]
    if len(there) != 1:
        found = f"{' and '.join(there)} both give one" if there else "there is none"
        raise InvalidArgumentError(
            f"the shader's text: {found}; give it in exactly one way: {', '.join(given)}"
        )
    return given[there[0]]
