"""What this pack adds to Penstock, by name; importing it imports nothing of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the calculators and their options: names to "module:attribute", imported on first use."""
    return Components(
        calculators={
            "CallbackCalculator": "penstock_calculators.callback:CallbackCalculator",
            "FlowLimiterCalculator": "penstock_calculators.flow_limiter:FlowLimiterCalculator",
            "GateCalculator": "penstock_calculators.gate:GateCalculator",
            "PacketClonerCalculator": "penstock_calculators.packet_cloner:PacketClonerCalculator",
            "PassThroughCalculator": "penstock_calculators.pass_through:PassThroughCalculator",
            "PreviousLoopbackCalculator": "penstock_calculators.previous_loopback:PreviousLoopbackCalculator",
            "RealTimeFlowLimiterCalculator": (
                "penstock_calculators.real_time_flow_limiter:RealTimeFlowLimiterCalculator"
            ),
        },
        options={
            "penstock.FlowLimiterCalculatorOptions": (
                "penstock.CalculatorOptions",
                326963320,
                "penstock_calculators.flow_limiter_calculator_pb2:FlowLimiterCalculatorOptions",
            ),
            "penstock.GateCalculatorOptions": (
                "penstock.CalculatorOptions",
                261754847,
                "penstock_calculators.gate_calculator_pb2:GateCalculatorOptions",
            ),
            "penstock.PacketClonerCalculatorOptions": (
                "penstock.CalculatorOptions",
                258872085,
                "penstock_calculators.packet_cloner_calculator_pb2:PacketClonerCalculatorOptions",
            ),
        },
    )
