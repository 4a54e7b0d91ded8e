"""Calls and answers as messages; payloads that are large arrays, or wrap one, travel beside the pickle.

A copy of a frame empties the caches, so that the Python after it is slow: each line counts. To pickle an
array in the general way takes many more lines of Python and NumPy than what is done here for such a payload.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from penstock_processes.plain_payloads import FORMATS
from penstock_remote.api import Answer, Call

if TYPE_CHECKING:
    from penstock_processes.carrier import Carrier, Lent

    #: How a payload is made of its array: None where it is the array, else a class and its other arguments.
    Maker: TypeAlias = tuple[type, tuple[Any, ...]] | None

#: Fields of what an input shows where there is a packet.
_WITH_PAYLOAD: Final = 3
#: Names of classes that wrap an array.
_NAMES: Final = frozenset(name for _, name in FORMATS)


def pack_call(carrier: Carrier, key: int, call: Call) -> bytes:
    """Return a call of a node as a message.

    Raises:
        Exception: what pickling raises; nothing is kept then.
    """
    places: list[tuple[int, Maker]] = []
    lent: list[Lent] = []
    try:
        for number, shown in enumerate(call.inputs):
            if len(shown) == _WITH_PAYLOAD and _may_be_lent(shown[2]):
                is_lent, maker = _lend(carrier, shown[2], lent)
                if is_lent:
                    places.append((number, maker))
        if not lent:
            return carrier.dumps((key, *call))
        inputs: list[Any] = list(call.inputs)
        for number, _ in places:
            inputs[number] = inputs[number][:2]
        return carrier.dumps((key, places, call.method, call.stamp, inputs, *call[3:]), lent)
    except BaseException:
        carrier.take_back(lent)
        raise


def unpack_call(carrier: Carrier, message: memoryview) -> tuple[int, Call]:
    """Return the key and the call that a message carries.

    Raises:
        Exception: what unpickling raises.
    """
    (key, *fields), arrays = carrier.unpack(message)
    if not arrays:
        return key, Call(*fields)
    places, *fields = fields
    call = Call(*fields)
    inputs: list[Any] = call.inputs
    for (number, maker), array in zip(places, arrays, strict=True):
        inputs[number] = (*inputs[number], _made(array, maker))
    return key, call


def pack_answer(carrier: Carrier, answer: Answer) -> bytes:
    """Return an answer as a message.

    Raises:
        Exception: what pickling raises; nothing is kept then.
    """
    places: list[tuple[int, int, Maker]] = []
    lent: list[Lent] = []
    try:
        for number, written in enumerate(answer.outputs):
            if written is None:
                continue
            for place, (_, payload) in enumerate(written[0]):
                if _may_be_lent(payload):
                    is_lent, maker = _lend(carrier, payload, lent)
                    if is_lent:
                        places.append((number, place, maker))
        if not lent:
            return carrier.dumps(tuple(answer))
        outputs: list[Any] = [
            None if written is None else (list(written[0]), *written[1:]) for written in answer.outputs
        ]
        for number, place, _ in places:
            packets = outputs[number][0]
            packets[place] = packets[place][:1]
        return carrier.dumps((places, outputs, *answer[1:]), lent)
    except BaseException:
        carrier.take_back(lent)
        raise


def unpack_answer(carrier: Carrier, message: memoryview) -> Answer:
    """Return the answer that a message carries.

    Raises:
        Exception: what unpickling raises.
    """
    fields, arrays = carrier.unpack(message)
    if not arrays:
        return Answer(*fields)
    places, *fields = fields
    answer = Answer(*fields)
    outputs: list[Any] = answer.outputs
    for (number, place, maker), array in zip(places, arrays, strict=True):
        packets = outputs[number][0]
        packets[place] = (*packets[place], _made(array, maker))
    return answer


def _may_be_lent(payload: object) -> bool:
    """Return whether a payload is an array, or wraps one and is made of it and of small arguments."""
    kind = payload.__class__
    if kind is np.ndarray:
        return True
    return kind.__qualname__ in _NAMES and (kind.__module__, kind.__qualname__) in FORMATS


def _lend(carrier: Carrier, payload: Any, lent: list[Lent]) -> tuple[bool, Maker]:
    """Lend the array of a payload; return whether that was done, and how the payload is made of it."""
    if payload.__class__ is np.ndarray:
        return carrier.lend(payload, lent), None
    made_by, (array, *others) = payload.__reduce__()
    if array.__class__ is not np.ndarray:
        return False, None
    return carrier.lend(array, lent), (made_by, tuple(others))


def _made(array: np.ndarray[Any, Any], maker: Maker) -> Any:
    if maker is None:
        return array
    made_by, others = maker
    return made_by(array, *others)
