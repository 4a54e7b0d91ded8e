"""All orders of a small graph, counted; seeded orders of larger ones; a failing order made smaller."""
