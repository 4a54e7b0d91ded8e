"""EventsToJsonCalculator: events as text, for sinks that take text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock_detect.zones.events import ZoneEvent, json_of

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class EventsToJsonCalculator(penstock.Calculator):
    """Makes JSON of events, for sinks that take text: topics of MQTT and Kafka.

    Input: EVENTS (list[ZoneEvent]). Output: JSON (str), an array of objects with the members event,
    timestamp, place, direction, label, track, x, y, dwell_s and speed; null where there is no value; at the
    timestamps of EVENTS. Timestamp offset 0.

    Config::

        node {
          calculator: "EventsToJsonCalculator"
          input_stream: "EVENTS:events"
          output_stream: "JSON:text"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs["EVENTS"].set(list[ZoneEvent], "what happened")
        cc.outputs["JSON"].set(str, "an array of objects")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Write the events of one timestamp."""
        if not cc.inputs["EVENTS"].is_empty():
            cc.outputs["JSON"].add(json_of(cc.inputs["EVENTS"].payload), cc.stamp)
