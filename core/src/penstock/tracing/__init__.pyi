# Written by scripts/stubs.py, of the table in the module.

from penstock.tracing.tracer import Mark as Mark
from penstock.tracing.tracer import OwnTrace as OwnTrace
from penstock.tracing.tracer import PacketAdded as PacketAdded
from penstock.tracing.tracer import PacketsDropped as PacketsDropped
from penstock.tracing.tracer import QueueChanged as QueueChanged
from penstock.tracing.tracer import TracedRun as TracedRun
from penstock.tracing.tracer import TracedStep as TracedStep
from penstock.tracing.tracer import Tracer as Tracer
