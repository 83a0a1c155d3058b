"""The skeleton of a requirement: its entry, scenario and mutant, which a person fills in.

None of them passes as it is: the catalogue refuses placeholders, the scenario fails, and the mutant
changes nothing.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.cli.generation.flow import flow
from conformance.contract.areas import areas
from conformance.contract.catalogue import PLACEHOLDER

_WIDTH = 100

SCENARIO = '''

@requirement("{id}")
def test_{name}() -> None:
    """{statement}"""
    raise AssertionError("{id} is not checked yet")
'''
SCENARIO_IMPORTS = {"requirement": "conformance.scenarios.kit.marks"}

MUTANT = """

@mutant("{id}", "TODO: what a careless implementer would do")
def {name}(patch: Patch) -> None:
    patch.replace(rules, "TODO", None)
"""
MUTANT_IMPORTS = {
    "Patch": "conformance.proof.patch",
    "mutant": "conformance.proof.mutant",
    "rules": "conformance.reference",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of a new requirement; what is not is empty, and becomes a placeholder."""

    id: str
    statement: str = ""
    level: str = ""
    section: str = ""
    lines: Sequence[int] = ()
    operations: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The requirement's id as a part of a name in Python."""
        return self.id.lower().replace("-", "_")

    @property
    def entry(self) -> str:
        """The requirement's entry in the catalogue."""
        statement = f"  statement: {flow(self.statement or PLACEHOLDER)}"
        if len(statement) > _WIDTH:
            indent = " " * 4
            wrapped = textwrap.fill(
                self.statement, _WIDTH, initial_indent=indent, subsequent_indent=indent
            )
            statement = f"  statement: >-\n{wrapped}"
        section = flow(self.section or PLACEHOLDER)
        return (
            f"- id: {self.id}\n"
            f"  level: {self.level or PLACEHOLDER}\n"
            f"{statement}\n"
            f"  source: {{section: {section}, lines: {_listed(self.lines)}}}\n"
            f"  operations: {_listed(self.operations)}\n"
        )


@dataclass(frozen=True, slots=True)
class Rooms:
    """The folders of one area: of its entries, its scenarios and its mutants."""

    entries: Path
    scenarios: Path
    mutants: Path

    @classmethod
    def of(cls, root: Path, identifier: str) -> Rooms:
        """Return the folders for a requirement in a checkout.

        Raises:
            AreaError: no area has its prefix.
        """
        area = areas().of(identifier).name
        package = root / "conformance"
        return cls(
            root / "spec" / "requirements" / area,
            package / "scenarios" / area,
            package / "proof" / "mutants" / area,
        )


def neighbours(identifier: str, known: Iterable[str]) -> list[str]:
    """Return the ids of the same prefix, the nearest number first, of two the lower one."""
    prefix, number = _divided(identifier)
    of_prefix = (other for other in known if _divided(other)[0] == prefix)

    def distance(other: str) -> tuple[int, int]:
        away = _divided(other)[1] - number
        return abs(away), away

    return sorted(of_prefix, key=distance)


def home(files: Sequence[Path], others: Sequence[str]) -> Path | None:
    """Return the file that names the first of some ids which any names; the first one if none."""
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    for other in others:
        for path, text in texts.items():
            if other in text:
                return path
    return files[0] if files else None


def with_entry(text: str, draft: Draft) -> str:
    """Return a file of the catalogue with the entry at its end."""
    return f"{text.rstrip()}\n\n{draft.entry}".lstrip()


def with_scenario(text: str, draft: Draft) -> str:
    """Return a module of scenarios with the scenario at its end."""
    return _with(text, SCENARIO, SCENARIO_IMPORTS, draft)


def with_mutant(text: str, draft: Draft) -> str:
    """Return a module of mutants with the mutant at its end."""
    return _with(text, MUTANT, MUTANT_IMPORTS, draft)


def _with(text: str, template: str, imports: Mapping[str, str], draft: Draft) -> str:
    statement = _docstring(draft.statement)
    code = template.format(id=draft.id, name=draft.name, statement=statement)
    return _importing(text, imports).rstrip() + "\n" + code


def _docstring(statement: str) -> str:
    """Return what stands in the docstring of a scenario: the statement, if a line has room."""
    fits = statement and len(statement) <= _WIDTH - len('    """"""')
    return statement if fits else f"{PLACEHOLDER}."


def _importing(text: str, imports: Mapping[str, str]) -> str:
    """Return a module with those imports added that it lacks, after its last one."""
    module = ast.parse(text)
    statements = [node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)]
    bound = {alias.asname or alias.name for node in statements for alias in node.names}
    lines = text.splitlines()
    last = max((node.end_lineno or 0 for node in statements), default=_after_docstring(module))
    missing = _by_module({name: imports[name] for name in imports if name not in bound})
    lines[last:last] = [
        f"from {origin} import {', '.join(names)}" for origin, names in missing.items()
    ]
    return "\n".join(lines)


def _after_docstring(module: ast.Module) -> int:
    has_docstring = ast.get_docstring(module) is not None
    return module.body[0].end_lineno or 0 if has_docstring else 0


def _by_module(imports: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, origin in sorted(imports.items()):
        found.setdefault(origin, []).append(name)
    return found


def _divided(identifier: str) -> tuple[str, int]:
    prefix, _, number = identifier.partition("-")
    return prefix, int(number)


def _listed(values: Collection[object]) -> str:
    return flow(list(values) or [PLACEHOLDER])
