"""Runs graphs: the only place with threads and locks, which lends the engine's steps to executors.

* `graph` is the application's interface; `poller`, `run`, `running` and `rows/` are further ways to use it.
* `graph_runs` starts and ends the runs of a graph; `new_run` and `build` make the engine of one run.
* `runner/` runs it: the lock around the engine, the loop that executes steps, and the application's waits.
* `executors/` and `event_loops/` provide the threads of calculators and the loop of their coroutines.
* The other modules each do one thing for these: `adding_packets`, `counters`, `tracing`, `report` and so on.
"""
