"""Views of graphs and runs: components described as data, drawings, timelines and trace files."""
