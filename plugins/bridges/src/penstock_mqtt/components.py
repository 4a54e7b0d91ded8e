"""The components of penstock_mqtt by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "MqttSinkCalculator": "penstock_mqtt.sink:MqttSinkCalculator",
    "MqttSourceCalculator": "penstock_mqtt.source:MqttSourceCalculator",
}
