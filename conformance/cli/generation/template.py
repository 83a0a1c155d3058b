"""The template profile: every key with its meaning and default, every trigger with an example."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from conformance.cli.generation.flow import flow, member
from conformance.contract.areas import areas
from conformance.contract.vocabulary import Trigger, features, triggers
from conformance.profile.model import Profile

_WIDTH = 100


def sections() -> Mapping[str, list[str]]:
    """Return the lines of each section of the template that is generated, by its key."""
    default = Profile.model_validate({"implementation": {"name": ""}})
    defaults = default.model_dump(mode="json", by_alias=True)
    return {
        **{
            name: list(_section(field.annotation, defaults[name]))
            for name, field in Profile.model_fields.items()
            if _is_model(field.annotation) and not field.is_required()
        },
        "triggers": list(_triggers()),
    }


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _section(model: Any, defaults: Mapping[str, Any]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        known = features().get(name) if model.__name__ == "Features" else None
        yield from _comment(known.meaning if known else str(field.description))
        if defaults[name] is None:
            yield from _inner_members(field)
        yield from (f"  {line}" for line in member(name, defaults[name], _WIDTH - 2))


def _inner_members(field: FieldInfo) -> Iterator[str]:
    """Yield what may stand at a key whose default is nothing."""
    for model in filter(_is_model, get_args(field.annotation)):
        for name, inner in model.model_fields.items():
            if inner.description:
                yield from _comment(f"- {name}: {inner.description}{_choice(inner)}")


def _choice(field: FieldInfo) -> str:
    """Return what else is to be known of a member: its possible values, and its default."""
    told = ""
    if get_origin(field.annotation) is Literal:
        told += f" One of {', '.join(get_args(field.annotation))}."
    if field.default and not field.is_required():
        told += f" By default {flow(field.default)}."
    return told


def _triggers() -> Iterator[str]:
    for area, of_area in groupby(triggers().values(), lambda trigger: trigger.area):
        yield "  #"
        yield f"  # --- {areas()[area].title} ---"
        for trigger in of_area:
            yield "  #"
            yield from _trigger(trigger)


def _trigger(trigger: Trigger) -> Iterator[str]:
    told = [trigger.told]
    for word, names in (("Parameters", trigger.parameters), ("Results", trigger.results)):
        if names:
            told.append(f"{word}: {', '.join(names)}.")
    yield from _comment(" ".join(told))
    yield from (f"  # {line}" for line in member(trigger.name, trigger.example, _WIDTH - 4))


def _comment(text: str) -> Iterator[str]:
    # No line is indented by more: without the comment marks, examples alone are.
    mark = "  # "
    return iter(
        textwrap.wrap(
            text,
            _WIDTH,
            initial_indent=mark,
            subsequent_indent=mark,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )
