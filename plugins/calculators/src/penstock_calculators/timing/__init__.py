"""When packets come, how many and how late, and other timestamps for them."""
