"""What penstock-graphs brings, as names; nothing is imported until it is used."""

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the components by name."""
    return Components(graph_readers={"json": "penstock_json_graphs.reader:JsonReader"})
