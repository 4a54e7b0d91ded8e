# /// script
# requires-python = ">=3.11"
# dependencies = ["grpcio-tools==1.71.*"]
# ///
"""Write the *_pb2.py and *_pb2.pyi beside each .proto file of the workspace.

    python scripts/protos.py            write them
    python scripts/protos.py --check    say which are stale, and exit 1

Needs grpcio-tools 1.71 (protoc 5.29): the files that it writes can be imported with every protobuf
from 5.29 on, and another version writes other bytes. Packages with .proto files are found in
core/, plugins/, subgraphs/ and contrib/; a file's import path begins at its `src` directory.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.resources
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT: Final = Path(__file__).resolve().parents[1]
COMPILER: Final = "1.71."
SUFFIXES: Final = ("_pb2.py", "_pb2.pyi")


def compiler_fault() -> str | None:
    """Return why this environment cannot write the files, or None if it can."""
    try:
        version = importlib.metadata.version("grpcio-tools")
    except importlib.metadata.PackageNotFoundError:
        return "grpcio-tools is not installed; run: pip install 'grpcio-tools==1.71.*'"
    if not version.startswith(COMPILER):
        return f"grpcio-tools is {version}, the files are written with {COMPILER}*"
    return None


def sources(root: Path) -> list[Path]:
    """Return the `src` directories of all members, the core's first."""
    members = [root / "core"]
    for folder in ("plugins", "subgraphs", "contrib"):
        members += sorted((root / folder).glob("*"))
    return [member / "src" for member in members if (member / "src").is_dir()]


def protos(source: Path) -> list[Path]:
    """Return the .proto files below one `src` directory, as paths relative to it."""
    return sorted(path.relative_to(source) for path in source.rglob("*.proto"))


def generate(root: Path, into: Path) -> None:
    """Compile every .proto file of the workspace, each package below its place in `into`.

    Raises:
        SystemExit: protoc refuses a file; it has printed the reason on standard error.
    """
    # Not among this project's requirements, and imported only where files are written.
    from grpc_tools import protoc

    well_known = importlib.resources.files("grpc_tools") / "_proto"
    found = sources(root)
    include = [f"-I{source}" for source in found] + [f"-I{well_known}"]
    for source in found:
        files = [path.as_posix() for path in protos(source)]
        if not files:
            continue
        target = into / source.relative_to(root)
        target.mkdir(parents=True, exist_ok=True)
        out = [f"--python_out={target}", f"--pyi_out={target}"]
        if protoc.main(["protoc", *include, *out, *files]):
            sys.exit(f"protoc failed for {source}")


def stale(root: Path) -> Iterator[str]:
    """Yield each generated file that is missing, differs, or whose .proto no longer exists."""
    with tempfile.TemporaryDirectory() as directory:
        fresh = Path(directory)
        generate(root, fresh)
        for source in sources(root):
            place = source.relative_to(root)
            wanted = {path.relative_to(fresh) for path in (fresh / place).rglob("*") if path.is_file()}
            there = {path.relative_to(root) for suffix in SUFFIXES for path in source.rglob(f"*{suffix}")}
            for path in sorted(wanted | there):
                if path not in wanted:
                    yield f"{path} has no .proto file"
                elif path not in there:
                    yield f"{path} is missing"
                elif (root / path).read_bytes() != (fresh / path).read_bytes():
                    yield f"{path} is stale"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing, say what is stale")
    options = parser.parse_args(arguments)
    fault = compiler_fault()
    if fault is not None:
        sys.exit(fault)
    if not options.check:
        generate(ROOT, ROOT)
        return 0
    found = list(stale(ROOT))
    sys.stdout.writelines(f"{line}; run: python scripts/protos.py\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
