"""The tables of the Markdown files, from the data and the code that they tell about."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from conformance.cli.generation.flow import flow
from conformance.cli.main import FOR_CONTRIBUTORS, FOR_REPORTS
from conformance.contract.classes import classes
from conformance.contract.data import SPEC
from conformance.contract.spec_files import parsed
from conformance.contract.vocabulary import features, triggers
from conformance.exit_status import EXIT_MEANING
from conformance.profile.bindings.all_areas import Bindings
from conformance.profile.model import Profile
from conformance.profile.resources import Resources
from conformance.proof.compared import Comparisons
from conformance.testdata.accounts import account_examples

Row = Sequence[str]

_COLUMNS = 105


def tables(program: Any) -> Mapping[str, list[str]]:
    """Return the lines of each table by its name, with an empty one before and after it.

    What plain schemathesis finds of the same mutants stands below what a run costs.

    Args:
        program: the console command, as click has it.
    """
    made: Mapping[str, Callable[[], Iterator[Row]]] = {
        "triggers": _triggers,
        "features": _features,
        "profile-keys": _profile_keys,
        "bindings": lambda: _members(Bindings),
        "resources": lambda: _members(Resources),
        "account-examples": _account_examples,
        "error-codes": _error_codes,
        "exit-statuses": _exit_statuses,
        "classes": _classes,
        "commands": lambda: _commands(program, panel=None),
        "report-commands": lambda: _commands(program, panel=FOR_REPORTS),
        "contributor-commands": lambda: _commands(program, panel=FOR_CONTRIBUTORS),
        "benchmark": _benchmark,
    }
    found = {name: [*_table(rows())] for name, rows in made.items()}
    found["benchmark"] += ["", *wrap(str(Comparisons.read()), _COLUMNS)]
    return {name: ["", *lines, ""] for name, lines in found.items()}


def _table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a table, whose first row is its head."""
    for number, row in enumerate(rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
        if number == 0:
            yield f"|{' --- |' * len(row)}"


def _code(text: str) -> str:
    return f"`{text}`"


def _codes(words: Iterable[object]) -> str:
    return ", ".join(_code(str(word)) for word in words)


def _triggers() -> Iterator[Row]:
    yield "Trigger", "Parameters", "Results", "Meaning"
    for trigger in triggers().values():
        yield (
            _code(trigger.name),
            _codes(trigger.parameters),
            _codes(trigger.results),
            trigger.told,
        )


def _features() -> Iterator[Row]:
    yield "Feature", "Meaning"
    for feature in features().values():
        yield _code(feature.name), feature.meaning


def _profile_keys() -> Iterator[Row]:
    yield "Key", "What it says"
    for name, field in Profile.model_fields.items():
        yield _code(name), field.description or _description_of_class(field)


def _description_of_class(field: FieldInfo) -> str:
    """Return what the class of a key says about itself."""
    return " ".join(inspect.cleandoc(str(field.annotation.__doc__)).split())


def _members(model: type[BaseModel]) -> Iterator[Row]:
    yield "Name", "Default", "Meaning"
    defaults = model().model_dump(mode="json", by_alias=True)
    for name, field in model.model_fields.items():
        yield _code(name), _code(flow(defaults[name])), str(field.description)


def _account_examples() -> Iterator[Row]:
    yield "Example", "`accountType`", "Currency", "What its `accountInfo` holds beside"
    for name, example in account_examples().items():
        info = example.body["accountInfo"]
        others = {k: v for k, v in info.items() if k not in ("accountType", "beneficiary")}
        yield _code(name), _code(example.account_type), example.currency, _code(flow(others))


def _error_codes() -> Iterator[Row]:
    yield "Code", "Status", "Meaning"
    for code in parsed(SPEC / "errors.yaml"):
        statuses = ", ".join(map(str, code["statuses"] or ()))
        yield _code(code["code"]), statuses or "not stated", code["when"]


def _exit_statuses() -> Iterator[Row]:
    yield "Exit status", "Meaning"
    for status, meaning in sorted(EXIT_MEANING.items()):
        yield str(status), meaning


def _classes() -> Iterator[Row]:
    yield (
        "Class",
        "What an implementation claims by it",
        "It offers at least one of",
        "and may offer",
    )
    for one in classes().values():
        yield _code(one.name), f"{one.title}. {one.text}", _codes(one.features), _codes(one.options)


def _commands(program: Any, *, panel: str | None) -> Iterator[Row]:
    yield "Command", "What it does", "Options"
    for name, command in _leaves(program, "payments-conformance", panel):
        paragraph = str(command.help).partition("\n\n")[0]
        options = (option.opts[0] for option in command.params if option.opts[0].startswith("--"))
        yield _code(name), " ".join(paragraph.split()), _codes(options)


def _benchmark() -> Iterator[Row]:
    kept = json.loads((SPEC.parent / "reports" / "benchmark.json").read_text(encoding="utf-8"))
    machine = kept["machine"]
    where = f"{machine['cores']} cores, {machine['processor']}, Python {machine['python']}"
    yield "What it costs", f"Median on {where}", "Half of the samples"
    for figure in kept["figures"]:
        if figure["unit"] not in {"s", "times"}:
            continue
        yield (
            figure["name"],
            f"{figure['value']:g} {figure['unit']}",
            f"{figure['low']:g} to {figure['high']:g}",
        )


def _leaves(command: Any, name: str, panel: str | None) -> Iterator[tuple[str, Any]]:
    """Yield each command of a panel that does something, with all the words before its arguments.

    Commands below another stand in the panel of that one.
    """
    for word in command.list_commands(None):
        below = command.get_command(None, word)
        if (below.rich_help_panel or None) != panel:
            continue
        if hasattr(below, "list_commands"):
            yield from _leaves(below, f"{name} {word}", None)
        else:
            yield f"{name} {word}", below
