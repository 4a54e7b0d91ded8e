"""A function or class that has been read: all that its calculator needs to know.

Invariant: a definition that exists makes a calculator; whatever is wrong is refused while reading.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import attrs

from penstock.engine.calculator import Calculator, CalculatorContext
from penstock.errors import InvalidArgumentError
from penstock.functions.options import made_class
from penstock.functions.parameters import Parameters, PortParameter, read_parameters
from penstock.functions.result_annotations import Results, read_results
from penstock.registry_entries import check_entry_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.contract import CalculatorContract, PortSpec, PortSpecs
    from penstock.functions.annotations import Meaning
    from penstock.port_collection import Ports
    from penstock.port_tags import PortKey


@attrs.frozen(eq=False)
class Definition:
    """What was decorated."""

    #: The function, or the class.
    target: Callable[..., Any]
    #: The name of the calculator.
    name: str
    #: Which of the two it is.
    is_class: bool
    #: What is called for each input set: the function, or that of the class.
    process: Callable[..., Any]
    #: The parameters of `process`.
    parameters: Parameters
    #: The parameters of the class's `__init__`.
    own: Parameters
    #: The results of `process`.
    results: Results
    #: The options class of the options that are parameters of their own; None for none.
    fields: Any = None

    @property
    def options(self) -> tuple[Any, ...]:
        """The classes of the options that it takes, each once."""
        given = [one for _, one in (*self.own.options, *self.parameters.options)]
        return tuple(dict.fromkeys([*given, self.fields] if self.fields is not None else given))

    @property
    def is_async(self) -> bool:
        """Whether what a call returns has to be awaited."""
        return inspect.iscoroutinefunction(self.process)

    @property
    def sides(self) -> tuple[PortParameter, ...]:
        """The side packets that it takes, each tag once."""
        by_tag = {side.tag: side for side in (*self.parameters.sides, *self.own.sides)}
        return tuple(by_tag.values())

    def declare(self, cc: CalculatorContract) -> None:
        """Fill in the contract."""
        results = self.results
        _declare(cc.inputs, [(p.tag, p.meaning, p.is_optional) for p in self.parameters.inputs])
        _declare(cc.outputs, [(o.tag, o.meaning, results.is_fields) for o in results.outputs])
        _declare(cc.input_side_packets, [(p.tag, p.meaning, p.is_optional) for p in self.sides])
        if results.side is not None:
            _declare(cc.output_side_packets, [(results.side.tag, results.side.meaning, False)])
        if self.parameters.inputs and results.outputs:
            cc.set_timestamp_offset(0)
        if self.parameters.inputs and not self.is_class:
            cc.declare(stateless=True, may_skip=any(output.meaning.allows_none for output in results.outputs))
        for options in self.options:
            cc.options(options)

    def given(self, cc: CalculatorContext, parameters: Parameters) -> dict[str, Any]:
        """Return what is passed by name in this run: side packets that are there, and options."""
        sides = cc.input_side_packets
        keys = dict(
            zip((p.tag for p in self.sides), keys_of(sides, [p.tag for p in self.sides]), strict=True)
        )
        found: dict[str, Any] = {}
        for side in parameters.sides:
            key = keys[side.tag]
            found[side.name] = sides[key].payload if key in sides else side.default
        for name, options in parameters.options:
            found[name] = cc.options(options)
        if parameters.fields:
            fields = cc.options(self.fields)
            found.update({one.name: getattr(fields, one.name) for one in parameters.fields})
        return found


def define(target: object, name: str | None) -> Definition:
    """Read a function or class.

    Raises:
        InvalidArgumentError: it cannot be a calculator; says why, and what to write.
    """
    if inspect.isfunction(target):
        who = f"function {target.__qualname__!r}"
        called = _camel_case(target.__name__) if name is None else name
        return _read(target, called, target, who, Parameters())
    if not isinstance(target, type):
        raise InvalidArgumentError(f"{target!r} is no definition of a calculator: decorate a function")
    who = f"class {target.__qualname__!r}"
    if issubclass(target, Calculator):
        raise InvalidArgumentError(
            f"definition of {who}: it is a penstock.Calculator already; leave the decorator out, or the base"
        )
    process = inspect.getattr_static(target, "process", None)
    if not inspect.isfunction(process):
        raise InvalidArgumentError(f"{who} is no definition of a calculator: give it a method process")
    made = inspect.getattr_static(target, "__init__")
    own = Parameters()
    if inspect.isfunction(made):
        own = read_parameters(made, f"{who}: __init__", is_method=True, only_by_name=True)
    return _read(target, target.__name__ if name is None else name, process, f"{who}: process", own)


def keys_of(ports: PortSpecs | Ports[Any], tags: Sequence[str]) -> list[PortKey]:
    """Return where each tag is: itself; or its position, where all connected ports are untagged."""
    return list(range(len(tags))) if ports.tags() == ("",) else list(tags)


def _read(
    target: Callable[..., Any], name: str, process: Callable[..., Any], who: str, own: Parameters
) -> Definition:
    check_entry_name("calculator", name)
    is_class = isinstance(target, type)
    parameters = read_parameters(process, who, is_method=is_class)
    results = read_results(process, who, has_inputs=bool(parameters.inputs))
    if parameters.extras and not parameters.inputs:
        raise InvalidArgumentError(
            f"{who} defines a calculator without inputs, where a {parameters.extras[0][1].__name__} has no "
            "meaning; remove it"
        )
    if results.side is not None and is_class:
        raise InvalidArgumentError(f"{who}: only a function can be defined to make a side packet")
    fields = made_class(name, target, (*own.fields, *parameters.fields), who)
    return Definition(target, name, is_class, process, parameters, own, results, fields)


def _declare(specs: PortSpecs, ports: Sequence[tuple[str, Meaning, bool]]) -> None:
    for key, (_, meaning, is_optional) in zip(
        keys_of(specs, [tag for tag, _, _ in ports]), ports, strict=True
    ):
        spec: PortSpec = specs[key].set(meaning.type, meaning.description)
        if is_optional:
            spec.optional()


def _camel_case(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
