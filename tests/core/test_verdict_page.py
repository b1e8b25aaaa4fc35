"""The page of `verify` names each rule that can be found, and no other."""

import ast
import re
from pathlib import Path

from regraft.core import (
    imports,
    verdict,
    verdict_checkout,
    verdict_distributions,
    verdict_environment,
    verdict_modules,
    verdict_site,
    verdict_versions,
)

PAGE = Path(__file__).resolve().parents[2] / "docs/commands/verify.md"
MODULES = (
    *(imports, verdict, verdict_checkout, verdict_distributions, verdict_environment, verdict_modules),
    *(verdict_site, verdict_versions),
)


def rules() -> set[str]:
    """The words that stand where a rule stands: first in a finding, in a table of rules, or chosen just before."""
    found = {rule for rule, *_ in verdict_checkout._RULES.values()} | {"not-installed", "rebuild-when"}
    for module in MODULES:
        for node in ast.walk(ast.parse(Path(module.__file__ or "").read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name(id="Finding") | ast.Attribute(attr="finding"), args=[ast.Constant(value), *_]
                ):
                    found.add(str(value))
                case ast.Assign(targets=[ast.Name(id="rule")], value=value):
                    found |= {one.value for one in ast.walk(value) if isinstance(one, ast.Constant)} - {"keep"}
    return found


def test_the_page_names_each_rule_and_no_other() -> None:
    table = PAGE.read_text("utf-8").partition("## Findings")[2]
    first_cells = re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
    named = {name for cell in first_cells for name in re.findall(r"`([a-z-]+)`", cell)}
    assert named == rules()
