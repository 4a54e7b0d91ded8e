"""Types of payloads, and options as classes and messages: for packs of tools.

Types of payloads
    `PayloadType` is what a port may declare. `is_type`, `is_any_payload`, `payload_types_in`,
    `agree`, `runtime_classes`, `payload_type_name` and `payload_type_names` answer questions about it.
    `hints_of` evaluates annotations, `HintParts` takes one apart.
Options
    `Options` finds the options of a node by their class; `OptionTypes` finds classes by their names, and
    `unpacked_message` takes a message out of an Any. `OptionEntry` is one declared options message.
    `is_attrs_options`, `options_classes`, `attrs_name`, `fields_of` (`ClassField`),
    `attrs_classes` and `attrs_enum_numbers` describe attrs classes, `can_be_option` checks the type of
    a field. `message_class`, `extension_class` and `inner_message_classes` derive protobuf messages from
    them. `has_no_default`, `attrs_default` and `attrs_converted` say what the class makes of a field.
"""
# A name is loaded when it is first used. Type checkers read the stub beside this file: scripts/stubs.py.

from typing import Final

from penstock.late_names import late_names as _late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.config.options.message_class": "extension_class inner_message_classes message_class",
    "penstock.config.options.messages": "unpacked_message",
    "penstock.config.options.options": "Options",
    "penstock.config.options.option_types": "OptionTypes",
    "penstock.attrs_options": (
        "ClassField attrs_classes attrs_enum_numbers attrs_name can_be_option attrs_converted "
        "attrs_default fields_of has_no_default is_attrs_options options_classes"
    ),
    "penstock.payload_types": (
        "PayloadType agree is_any_payload is_type payload_types_in payload_type_name "
        "payload_type_names runtime_classes"
    ),
    "penstock.registry_entries": "OptionEntry",
    "penstock.type_hints": "HintParts hints_of",
}

__all__, __getattr__, __dir__ = _late_names(__name__, _HOMES)
