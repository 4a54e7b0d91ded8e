"""Without the library of an extra, a part is there, and says what to install when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import importlib.abc, importlib.util, sys
import penstock

class Without(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(name)

def find_spec(name, package=None, real=importlib.util.find_spec):
    return None if name in sys.argv[1].split(",") else real(name, package)

sys.meta_path.insert(0, Without())
importlib.util.find_spec = find_spec
graph = penstock.CalculatorGraph(sys.argv[2])
try:
    with graph:
        graph.start_run()
        graph.close_all_input_streams()
        graph.wait_until_done(30)
except penstock.errors.GraphRunError as error:
    print(type(error.errors[0].__cause__).__name__, error)
"""

KAFKA = """node {{ calculator: "Kafka{0}Calculator" {1} node_options {{
  [type.googleapis.com/penstock_kafka.Kafka{0}CalculatorOptions] {{
    bootstrap_servers: "127.0.0.1:9" topic: "t" {2} }} }} }}"""
ROS = """node {{ calculator: "RosBag{0}Calculator" {1} node_options {{
  [type.googleapis.com/penstock_ros.RosBag{0}CalculatorOptions] {{ path: "a.bag" {2} }} }} }}"""
MQTT = """node {{ calculator: "Mqtt{0}Calculator" {1} node_options {{
  [type.googleapis.com/penstock_mqtt.Mqtt{0}CalculatorOptions] {{
    address: "127.0.0.1:9" topic: "t" {2} }} }} }}"""
GRAPHS = {
    "RerunSinkCalculator": (
        "rerun",
        """input_stream: "in" node { calculator: "RerunSinkCalculator" input_stream: "in" node_options {
        [type.googleapis.com/penstock_rerun.RerunSinkCalculatorOptions] { path: "a.rrd" } } }""",
        "rerun",
    ),
    "MqttSourceCalculator": (
        "paho",
        MQTT.format("Source", 'output_stream: "VALUE:v"', 'client_id: "c"'),
        "mqtt",
    ),
    "MqttSinkCalculator": (
        "paho",
        'input_stream: "in" ' + MQTT.format("Sink", 'input_stream: "VALUE:in"', ""),
        "mqtt",
    ),
    "RosBagSourceCalculator": (
        "rosbags,PIL",
        ROS.format("Source", 'output_stream: "a"', 'topic: "/a"'),
        "ros",
    ),
    "RosBagSinkCalculator": (
        "rosbags,PIL",
        'input_stream: "in" ' + ROS.format("Sink", 'input_stream: "in"', ""),
        "ros",
    ),
    "KafkaSourceCalculator": (
        "confluent_kafka",
        KAFKA.format("Source", 'output_stream: "VALUE:v"', 'group_id: "g"'),
        "kafka",
    ),
    "KafkaSinkCalculator": (
        "confluent_kafka",
        'input_stream: "in" ' + KAFKA.format("Sink", 'input_stream: "VALUE:in"', ""),
        "kafka",
    ),
}


@pytest.mark.parametrize("calculator", GRAPHS)
def test_a_calculator_without_its_library_says_which_extra_brings_it(calculator):
    modules, text, extra = GRAPHS[calculator]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, modules, text],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    first = modules.split(",")[0]
    said = f'{calculator} needs {first}, which is not installed; pip install "penstock-bridges[{extra}]"'
    assert done.stdout.startswith("FailedPreconditionError")
    assert said in done.stdout
