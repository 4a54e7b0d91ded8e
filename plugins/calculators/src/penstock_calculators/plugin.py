"""What this pack adds to Penstock, by name; importing it imports nothing of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the calculators and their options: names to "module:attribute", imported on first use."""
    return Components(
        calculators={
            "CallbackCalculator": "penstock_calculators.callback:CallbackCalculator",
            "PacketClonerCalculator": "penstock_calculators.packet_cloner:PacketClonerCalculator",
            "PassThroughCalculator": "penstock_calculators.pass_through:PassThroughCalculator",
        },
        options={
            "penstock.PacketClonerCalculatorOptions": (
                "penstock.CalculatorOptions",
                258872085,
                "penstock_calculators.packet_cloner_calculator_pb2:PacketClonerCalculatorOptions",
            ),
        },
    )
