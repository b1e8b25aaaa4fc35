"""Findings as SARIF 2.1.0, which code scanning takes: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html"""

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from regraft.core.finding_baseline import identities
from regraft.core.findings import Finding, Witness
from regraft.render import safe

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(
    findings: Iterable[Finding], version: str, rules: Mapping[str, str], texts: Mapping[str, bytes], top: str = ""
) -> str:
    """One run. `rules`: what each rule is about, by its id. `texts`: the files that `identities` may look into.

    `top`: what the paths of the repository begin with here (`../`). It is left out, of their names and identities: code
    scanning knows files by their paths in the repository, from wherever this was run.
    """
    found = tuple(_below(top, one) for one in findings)
    texts = {path.removeprefix(top): data for path, data in texts.items()}
    named = list(dict.fromkeys(one.rule for one in found))
    driver = {
        "name": "regraft",
        "semanticVersion": version,
        "rules": [{"id": rule, "shortDescription": {"text": rules.get(rule) or rule}} for rule in named],
    }
    results = [
        _result(one, named.index(one.rule), identity)
        for one, identity in zip(found, identities(found, texts), strict=True)
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _below(top: str, finding: Finding) -> Finding:
    witnesses = tuple(replace(one, path=one.path.removeprefix(top)) for one in finding.witnesses)
    return replace(finding, path=finding.path.removeprefix(top), witnesses=witnesses)


def _result(finding: Finding, index: int, identity: str) -> dict[str, Any]:
    message = safe.text(finding.message, 1000) + (f"\nWhat to do: {safe.text(finding.fix)}" if finding.fix else "")
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": message},
        "locations": [_location(finding.path, finding.line, finding.column)],
        "partialFingerprints": {"regraft/v1": identity},
        "properties": {"confidence": finding.confidence},
    }
    if finding.witnesses:
        result["relatedLocations"] = [_related(at, one) for at, one in enumerate(finding.witnesses, 1)]
    return result


def _related(number: int, witness: Witness) -> dict[str, Any]:
    location = _location(witness.path, witness.line, None)
    return {"id": number, **location, "message": {"text": safe.text(witness.message)}}


def _location(path: str, line: int | None, column: int | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(path.encode("utf-8", "surrogateescape"))}}
    if line is not None:
        place["region"] = {"startLine": line, **({"startColumn": column} if column is not None else {})}
    return {"physicalLocation": place}
