"""What penstock-kafka brings, as names; nothing is imported until it is used."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the calculators by name."""
    return Components(
        calculators={
            "KafkaSinkCalculator": "penstock_kafka.sink:KafkaSinkCalculator",
            "KafkaSourceCalculator": "penstock_kafka.source:KafkaSourceCalculator",
        }
    )
