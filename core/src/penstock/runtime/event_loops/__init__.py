"""The event loop that runs the coroutines of calculators: `lazy_loop`, with its `task_futures`."""
