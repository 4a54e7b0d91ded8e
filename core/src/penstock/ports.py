"""The ports of nodes and contracts, for those who write input policies, executors, layers and tools.

`Ports` finds a port by "TAG", number or ("TAG", number), which together are a `PortKey`; `PortSpecs` and
`PortSpec` are what a contract holds. `TagMap` reads the ports of a node (`"TAG:0:name"`) into `TaggedPort`s,
`parse_tag_index` and `parse_tag_index_name` read one; `is_name` checks a name. `port_id` and `port_name`
turn a key into tag and number, and into the words of errors.
"""
# A name is loaded when it is first used. Type checkers read the stub beside this file: scripts/stubs.py.

from typing import Final

from penstock.late_names import late_names as _late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.contract": "PortSpec PortSpecs",
    "penstock.port_collection": "Ports",
    "penstock.port_tags": (
        "TaggedPort PortKey TagMap is_name parse_tag_index parse_tag_index_name port_id port_name"
    ),
}

__all__, __getattr__, __dir__ = _late_names(__name__, _HOMES)
