"""The executors: on which threads the nodes of a graph run. Graphs name them."""
