"""Options of nodes, set by name and field: `{"handlandmarkcpu__ThresholdingCalculator.threshold": 0.5}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from google.protobuf.descriptor import FieldDescriptor

from penstock.error_text import near_names
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_mediapipe.python_errors import behind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from google.protobuf.message import Message

    from penstock.types import OptionTypes

#: The calculators whose options may be set.
_CALCULATORS: Final = frozenset(
    f"{name}Calculator"
    for name in [
        "ConstantSidePacket",
        "ImageTransformation",
        "LandmarksSmoothing",
        "Logic",
        "Thresholding",
        "TensorsToDetections",
        "Lift2DFrameAnnotationTo3D",
    ]
)
_TYPE_URL: Final = "type.googleapis.com"


def set_calculator_params(
    nodes: Iterable[tuple[str, Any]], params: Mapping[str, Any], types: OptionTypes
) -> None:
    """Set fields of the options of nodes.

    Args:
        nodes: the name and the message of each node of the expanded graph; the messages are changed.
        params: "<node name>.<field>" → value; None clears the field.
        types: finds the messages of options.

    Raises:
        InvalidArgumentError: a key does not have exactly one dot, no node has that name, its options may not
            be set, it has `options` and `node_options`, it has no such field, or a repeated field gets what
            is not iterable.
        TypeError: a value is of another type than the field.
        UnavailableError: the options of that calculator are not installed.
    """
    wanted: dict[str, dict[str, Any]] = {}
    for key, value in params.items():
        node, _, field = key.partition(".")
        if not field or "." in field:
            raise InvalidArgumentError(
                f'{key!r} in calculator_params has {key.count(".")} dots, but must be "<node name>.<field>"'
            )
        wanted.setdefault(node, {})[field] = value
    names = []
    for name, node_config in nodes:
        names.append(name)
        fields = wanted.pop(name, None)
        if fields is not None:
            _set_options(name, node_config, fields, types)
    if wanted:
        unknown = next(iter(wanted))
        near = ", ".join(map(repr, near_names(unknown, names)))
        raise InvalidArgumentError(
            f"calculator_params names the node {unknown!r}, which the expanded graph does not have"
            + (f"; similar names: {near}" if near else "; use a name of its nodes")
        )


def _set_options(name: str, node: Any, fields: dict[str, Any], types: OptionTypes) -> None:
    calculator = node.calculator
    if calculator not in _CALCULATORS:
        ours = (
            f"calculator_params sets options of node {name!r}, a {calculator}, but may set only the options "
            f"of {', '.join(sorted(_CALCULATORS))}"
        )
        raise InvalidArgumentError(
            behind(f"Modifying the calculator options of {name} is not supported.", ours)
        )
    if node.HasField("options") and node.node_options:
        ours = f"calculator_params sets options of node {name!r}; leave one of them in the graph"
        raise InvalidArgumentError(behind(f"{name} has both options and node_options fields.", ours))
    options_class = types.message_class(f"penstock.{calculator}Options")
    if options_class is None:
        raise UnavailableError(
            f"calculator_params sets options of node {name!r}, but no installed pack has {calculator}Options"
        )
    if not node.node_options:
        _set_fields(name, node.options.Extensions[options_class.ext], fields)
        return
    full_name = options_class.DESCRIPTOR.full_name
    packed = next((one for one in node.node_options if one.TypeName() == full_name), None)
    options = options_class()
    if packed is None:
        packed = node.node_options.add()
    else:
        options.ParseFromString(packed.value)
    _set_fields(name, options, fields)
    packed.type_url = f"{_TYPE_URL}/{full_name}"
    packed.value = options.SerializePartialToString()


def _set_fields(name: str, options: Message, fields: dict[str, Any]) -> None:
    for field, value in fields.items():
        known = options.DESCRIPTOR.fields_by_name
        if field not in known:
            raise InvalidArgumentError(
                f"calculator_params sets {field!r} of node {name!r}, but its options are: {', '.join(known)}"
            )
        options.ClearField(field)
        if value is None:
            continue
        try:
            if _is_repeated(known[field]):
                if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
                    raise InvalidArgumentError(
                        f"calculator_params sets {field!r} of node {name!r} to {value!r}, but the field is "
                        "repeated; give a list"
                    )
                getattr(options, field).extend(value)
            else:
                setattr(options, field, value)
        except TypeError as error:
            raise TypeError(
                f"calculator_params sets {field!r} of node {name!r} to {value!r}: {error}"
            ) from error


def _is_repeated(field: Any) -> bool:
    # `label` is deprecated in protobuf 6, `is_repeated` is not in protobuf 5.
    repeated = getattr(field, "is_repeated", None)
    return field.label == FieldDescriptor.LABEL_REPEATED if repeated is None else bool(repeated)
