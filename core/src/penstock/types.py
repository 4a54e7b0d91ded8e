"""Types of payloads, and options as classes and messages: for packs of tools.

Types of payloads
    `PayloadType` is what a port may declare. `is_type`, `is_any`, `members`, `agree`, `runtime_classes`,
    `type_name` and `type_names` answer questions about it. `hints_of` evaluates annotations, `HintParts`
    takes one apart.
Options
    `Options` finds the options of a node by their class; `OptionTypes` finds classes by their names, and
    `unpacked_message` takes a message out of an Any. `OptionEntry` is one declared options message.
    `is_options_class`, `options_classes`, `full_name`, `fields_of` (`ClassField`), `classes_inside` and
    `enum_numbers` describe attrs classes, `can_be_option` checks the type of a field. `message_class`,
    `extension_class` and `inner_classes` derive protobuf messages from them. `has_no_default`,
    `default_value` and `converted_value` say what the class makes of a field.
"""
# A name is loaded when it is first used. Type checkers read the stub beside this file: scripts/stubs.py.

from typing import Final

from penstock.late_names import late_names as _late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.config.options.message_class": "extension_class inner_classes message_class",
    "penstock.config.options.message_values": "converted_value default_value",
    "penstock.config.options.messages": "unpacked_message",
    "penstock.config.options.options": "Options",
    "penstock.config.options.message_types": "OptionTypes",
    "penstock.attrs_options": (
        "ClassField can_be_option classes_inside enum_numbers fields_of full_name has_no_default "
        "is_options_class options_classes"
    ),
    "penstock.payload_types": (
        "PayloadType agree is_any is_type members runtime_classes type_name type_names"
    ),
    "penstock.registry_entries": "OptionEntry",
    "penstock.type_hints": "HintParts hints_of",
}

__all__, __getattr__, __dir__ = _late_names(__name__, _HOMES)
