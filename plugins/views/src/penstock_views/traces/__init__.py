"""Traces of runs as files for https://ui.perfetto.dev, which uploads nothing.

tracer = ChromeTracer()
graph.set_tracer(tracer)
graph.run()
print(tracer.write("trace.json"))
"""

from penstock_views.traces.chrome_tracer import ChromeTraceFile, ChromeTracer

__all__ = ["ChromeTraceFile", "ChromeTracer"]
