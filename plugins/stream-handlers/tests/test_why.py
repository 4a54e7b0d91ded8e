from __future__ import annotations

import penstock
from penstock_stream_handlers.mux import MuxInputStreamHandler


def test_why_names_the_stream_that_the_policy_waits_for_and_no_other(penstock_registry):
    class Nothing(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            for port in cc.inputs:
                port.set(int)

        def process(self, cc):
            pass

    registry = penstock_registry.child()
    registry.add("calculator", "Nothing", Nothing)
    registry.add("input stream handler", "MuxInputStreamHandler", MuxInputStreamHandler)
    graph = penstock.CalculatorGraph(
        'input_stream: "a" input_stream: "b" input_stream: "s" '
        'node { calculator: "Nothing" input_stream: "INPUT:0:a" input_stream: "INPUT:1:b" '
        'input_stream: "SELECT:s" input_stream_handler { input_stream_handler: "MuxInputStreamHandler" } }',
        registry=registry,
    )
    graph.start_run()
    graph.add_packet_to_input_stream("s", penstock.Packet(1, 5))
    graph.wait_until_idle(20)

    (wait,) = [wait for wait in graph.why().waits if wait.node == "Nothing"]
    assert [link.stream for link in wait.chain if link.node == "Nothing"] == ["b"]
    graph.close(20)
