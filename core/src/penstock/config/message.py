"""The type of protobuf messages in signatures."""

from __future__ import annotations

from typing import Any, TypeAlias

#: A protobuf message: a graph, a part of one, or options. protobuf makes its classes at run time, with fields
#: that type checkers do not know, and the messages of attrs classes have no module at all.
Message: TypeAlias = Any
