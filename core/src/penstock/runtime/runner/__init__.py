"""One run at work: `Runner` in `runner`, put together from layers, each of which adds one concern.

`locked` (the lock around the engine), `deferred` (steps that complete later) and `waiting` (waits of the
application) are its base classes. `queue_work` has the loop that executors run, `timer` the thread for
time-outs, `byte_limit` what it weighs, and `news` the condition that waits use.
"""
