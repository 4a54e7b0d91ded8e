"""Which packets may enter a part of the graph: limiters, gates, loops."""
