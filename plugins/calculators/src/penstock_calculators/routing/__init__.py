"""Which packets go on to which stream: joined, chosen, distributed, switched."""
