"""What lends threads to a run.

`executor` has the interface, `borrowed` adapts pools of the application, and `assignment` decides which
node runs on which executor. The executors themselves are plugins.
"""
