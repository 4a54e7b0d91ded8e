"""Plugins: the hooks that they implement, and how they are found."""
