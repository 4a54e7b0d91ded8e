"""What packs use that make options for nodes, as the builder does.

`as_message` makes an options message of a dict or an instance, `messages_of` returns those of a node, and
`set_node_options` sets one. `message_of` makes a message of an instance of an attrs class.
"""
# A name is loaded when it is first used.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_builder.node_options import set_node_options as set_node_options
    from penstock_builder.option_messages import as_message as as_message
    from penstock_builder.option_messages import message_of as message_of
    from penstock_builder.option_messages import messages_of as messages_of

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_builder.node_options": "set_node_options",
    "penstock_builder.option_messages": "as_message message_of messages_of",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
