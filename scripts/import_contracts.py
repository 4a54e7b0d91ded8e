"""A contract of import-linter: a pack imports of another pack only what that pack makes public.

Public are the root of a package, its module `api`, and the packages that `.importlinter` lists. Modules that
protoc writes import those of other packs as their .proto files do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from importlinter import Contract, ContractCheck, fields, output

if TYPE_CHECKING:
    from grimp import ImportGraph

_PACK: Final = "penstock_"
_GENERATED: Final = "_pb2"


class PublicPartsContract(Contract):
    """The packages are the root packages that begin with `penstock_`."""

    type_name = "public_parts"

    also_public = fields.SetField(subfield=fields.StringField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002, FBT001  # import-linter's
        """Look at every import between two packs."""
        public = set(cast("set[str] | None", self.also_public) or ())
        wrong = [
            (importer, imported)
            for importer in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if _is_between_packs(importer, imported)
            and not (_is_public(imported) or imported in public or importer.endswith(_GENERATED))
        ]
        return ContractCheck(kept=not wrong, metadata={"wrong": wrong})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each import that is not allowed, and where to look for the public name."""
        for importer, imported in check.metadata["wrong"]:
            root = imported.partition(".")[0]
            output.print_error(
                f"{importer} imports {imported}, which is not public; import from {root} or {root}.api"
            )
            output.new_line()


def _is_between_packs(importer: str, imported: str) -> bool:
    roots = {name.partition(".")[0] for name in (importer, imported)}
    return len(roots) == 2 and all(root.startswith(_PACK) for root in roots)  # noqa: PLR2004  # two packs


def _is_public(module: str) -> bool:
    root, _, rest = module.partition(".")
    return rest in {"", "api"} or not root
