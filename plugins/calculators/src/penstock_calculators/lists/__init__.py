"""Lists: taken apart, put together, and loops over their elements."""
