"""What a registered component is, as data: ports, options, policy, example, and its distribution.

Built from the component itself: its docstring, its contract, and the descriptors of its options messages.
Only `get_contract` is called.
"""

from penstock_views.describe.component import Description, InputPolicy, describe
from penstock_views.describe.option_messages import Choice, OptionField, OptionMessage
from penstock_views.describe.ports import NodePorts, PortInfo

__all__ = [
    "Choice",
    "Description",
    "InputPolicy",
    "NodePorts",
    "OptionField",
    "OptionMessage",
    "PortInfo",
    "describe",
]
