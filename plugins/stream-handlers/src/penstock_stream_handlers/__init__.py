"""The input policies: which packets a node sees together, and when."""
