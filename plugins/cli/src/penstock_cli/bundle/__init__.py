"""`penstock bundle`: a graph file with all that it needs, as one file or folder that any Python runs."""
