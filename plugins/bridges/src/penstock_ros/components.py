"""The components of penstock_ros by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "RosBagSinkCalculator": "penstock_ros.sink:RosBagSinkCalculator",
    "RosBagSourceCalculator": "penstock_ros.source:RosBagSourceCalculator",
}
