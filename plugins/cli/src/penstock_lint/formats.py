"""Findings as text, JSON, annotations of GitHub, and SARIF."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock_lint.lint import all_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock_lint.finding import Finding

_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def _text(findings: Sequence[Finding]) -> str:
    return "\n".join(map(str, findings))


def _json(findings: Sequence[Finding]) -> str:
    return json.dumps(
        {"findings": [attrs.asdict(one, filter=attrs.filters.exclude("edit")) for one in findings]}, indent=2
    )


def _github(findings: Sequence[Finding]) -> str:
    return "\n".join(
        f"::warning file={_escaped(one.file)},line={max(one.line, 1)},col={max(one.column, 1)},"
        f"title={one.code} {one.name}::{_escaped(f'{one.what}; {one.cure}')}"
        for one in findings
    )


def _escaped(text: str) -> str:
    """Return text as workflow commands want it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _sarif(findings: Sequence[Finding]) -> str:
    rules = all_rules()
    used = sorted({one.code for one in findings} & rules.keys())
    run = {
        "tool": {
            "driver": {
                "name": "penstock lint",
                "rules": [
                    {
                        "id": code,
                        "name": rules[code].name,
                        "shortDescription": {"text": rules[code].summary},
                        "help": {"text": rules[code].cure},
                    }
                    for code in used
                ],
            }
        },
        "results": [_result(one) for one in findings],
    }
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(finding: Finding) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": finding.file},
        "region": {"startLine": max(finding.line, 1), "startColumn": max(finding.column, 1)},
    }
    return {
        "ruleId": finding.code,
        "level": "warning",
        "message": {"text": f"{finding.what}; {finding.cure}"},
        "locations": [{"physicalLocation": place}],
    }


#: Name → what writes findings so.
FORMATS: Final[dict[str, Callable[[Sequence[Finding]], str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
}
