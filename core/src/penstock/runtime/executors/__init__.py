"""What lends threads to a run: the interface, pools of the application, and which node runs where."""
