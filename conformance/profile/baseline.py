"""Reads the file of a baseline: the failures of a target that are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, RootModel, ValidationError

from conformance.contract.catalogue import UnknownRequirement, catalogue
from conformance.contract.vocabulary import did_you_mean
from conformance.profile.part import ProfilePart
from conformance.profile.yaml_file import NotUsable, read_yaml_with_lines
from conformance.verdict.baseline import Baseline, KnownFailure

Line = Callable[[Sequence[int | str]], int]


class BaselineError(Exception):
    """The baseline cannot be used as it is written; the message names file, line and key."""


class BaselineEntry(ProfilePart):
    """A requirement that is known to be broken."""

    id: str = Field(pattern="^[A-Z]{3}-[0-9]{3,4}$", description="The id of the requirement.")
    reason: str = Field(min_length=1, description="Why it is broken, and who knows of it.")
    expires: date = Field(description="The last day on which it may be broken, such as 2027-01-31.")


class BaselineFile(RootModel[Annotated[tuple[BaselineEntry, ...], Field(max_length=5000)]]):
    """The failures of a target that are known, each with its reason and the day it expires."""

    model_config = ConfigDict(title="Baseline of known failures")


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file; an empty one has no entries.

    Raises:
        BaselineError: it cannot be read, or an entry has another form, names no requirement that
            can be tested, or has the id of another entry.
    """
    try:
        content, line = read_yaml_with_lines(path)
    except NotUsable as error:
        raise BaselineError(f"{path} {error}") from error
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror}") from error
    try:
        entries = BaselineFile.model_validate([] if content is None else content).root
    except ValidationError as error:
        raise BaselineError("\n".join(_problems(path, error, line))) from error
    known: dict[str, int] = {}
    for number, entry in enumerate(entries):
        at = line([number, "id"])
        if entry.id in known:
            raise BaselineError(f"{path}:{at}: {entry.id} stands already in line {known[entry.id]}")
        _check_id(entry.id, f"{path}:{at}")
        known[entry.id] = at
    return Baseline(
        str(path),
        tuple(
            KnownFailure(entry.id, entry.reason, entry.expires, known[entry.id])
            for entry in entries
        ),
    )


def _check_id(identifier: str, where: str) -> None:
    try:
        requirement = catalogue().require(identifier, where)
    except UnknownRequirement as error:
        raise BaselineError(str(error)) from None
    if requirement.untestable is not None:
        raise BaselineError(f"{where}: {identifier} is never broken, as no client can test it")


def _problems(path: Path, error: ValidationError, line: Line) -> list[str]:
    problems = []
    for problem in error.errors()[:20]:
        *_, key = problem["loc"] or ("the file",)
        message = problem["msg"]
        if problem["type"] == "extra_forbidden":
            message = f"unknown key; {did_you_mean(key, BaselineEntry.model_fields)}"
        elif problem["type"] == "missing":
            message = "this key is required"
        elif not problem["loc"]:
            message = "expected a list of entries with id, reason and expires"
        problems.append(f"{path}:{line(problem['loc'])}: {key}: {message}")
    return problems
