"""Image files in memory."""
