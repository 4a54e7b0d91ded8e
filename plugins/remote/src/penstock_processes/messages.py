"""What a driver and a worker say to each other: the kinds of messages."""

from __future__ import annotations

from typing import Final

# Kinds of messages. From the driver; the number says which node, or which call.
MAKE: Final = 0
CALL: Final = 1
# From the worker; the number is the call's.
READY: Final = 2
ANSWER: Final = 3
ERROR: Final = 4
LOG: Final = 5

#: On the control socket, from the driver: cancel a call, or end. The end of the socket means end too.
CANCEL: Final = b"c"
END: Final = b"e"
