"""Trace files of runs, in the Trace Event Format."""
