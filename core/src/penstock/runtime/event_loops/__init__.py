"""The event loop that runs the coroutines of calculators: `loop`, made on first use by `lazy_loop`."""
