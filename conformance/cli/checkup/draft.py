"""Drafts of profiles: what was learned of a target, beside the defaults."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from conformance.cli.checkup.learned import Key, Learned
from conformance.profile.model import Profile
from conformance.text.legible import legible

_SCHEMA = Path(__file__).parents[2] / "profile" / "profile.schema.json"
_WIDTH = 1000
_MAX_SHOWN_CHARS = 500

NOT_TRIED = (
    *("sca_code", "sca_proofs", "sca_login", "contact_code", "reset_mobile", "agent_headers"),
    *("fee_configs", "card_tokenization_2fa_config", "rule_based_account", "untrust"),
    *("untrust_confirmation", "ownership_challenges", "ownership_proof", "uma_destination"),
    *("transfer_in", "transfer_out", "return_reversal"),
)
"""The bindings of codes and of bodies that init sends no request about."""

LEFT_TO_SAY = (
    f"bindings: not tried: {', '.join(NOT_TRIED)} (the guide has their defaults).",
    "features.rule_based_accounts: can customers have further account numbers? Asking would mint",
    "  one for good (irreversible.account_numbers).",
    "triggers: what else can the sandbox bring about? The template lists all, with examples.",
)
"""What no request shows, as comments at the end of a draft."""


def news(learned: Iterable[Learned], known: Mapping[str, Any]) -> list[Learned]:
    """Return what differs from what a profile says, by its defaults too, and the questions."""
    content = {"implementation": {"name": ""}, **known, "triggers": {}}
    said = Profile.model_validate(content).model_dump(mode="json")
    said["triggers"] = known.get("triggers") or {}
    return [one for one in learned if one.is_question or one.value != _at(said, one.key)]


def render(name: str, learned: Sequence[Learned], *, sandbox: bool) -> str:
    """Return the text of a new profile.

    Args:
        name: that of the implementation.
        learned: what differs from the defaults, and the questions.
        sandbox: whether it is known to be a sandbox.
    """
    return "\n".join(_lines(name, learned, sandbox=sandbox)) + "\n"


def _lines(name: str, learned: Sequence[Learned], *, sandbox: bool) -> Iterator[str]:
    yield f"# yaml-language-server: $schema={_SCHEMA.as_uri()}"
    yield "#"
    yield "# Written by payments-conformance init: what differs from the defaults. The line above a"
    yield "# key says what showed it. What begins with `?` is a question."
    yield f"implementation: {flow({'name': name})}"
    if sandbox:
        yield "environment: sandbox"
    ordered = sorted(learned, key=lambda one: (one.key[0], one.is_question))
    for section, members in groupby(ordered, key=lambda one: one.key[0]):
        yield ""
        known = list(members)
        if all(one.is_question for one in known):
            yield from _questions(known)
            continue
        yield f"{section}:"
        for one in known:
            yield from (f"  {line}" for line in _member(one))
    yield ""
    yield "# Left to say:"
    yield from (f"# ? {line}" if line[0] != " " else f"#   {line}" for line in LEFT_TO_SAY)


def _questions(questions: Iterable[Learned]) -> Iterator[str]:
    for one in questions:
        yield f"# ? {'.'.join(one.key)}: {_comment(one.shown)}"


def _member(one: Learned) -> Iterator[str]:
    if one.is_question:
        yield f"# ? {one.key[1]}: {_comment(one.shown)}"
        return
    yield f"# {_comment(one.shown)}"
    yield from _entry(one.key[1], one.value)


def _entry(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        yield f"{name}:"
        yield from (f"  - {flow(row)}" for row in value)
    else:
        yield f"{name}: {flow(value)}"


def _compact(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a profile as a draft has them, less what is not said."""
    for section, members in content.items():
        if not isinstance(members, Mapping):
            yield from _entry(section, members)
            continue
        yield f"{section}:"
        for name, value in members.items():
            yield from (f"  {line}" for line in _entry(name, value))


def _comment(text: str) -> str:
    return legible(" ".join(text.split()), _MAX_SHOWN_CHARS)


def flow(value: Any) -> str:
    """Return a value as YAML in one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=_WIDTH, sort_keys=False)
    text = text.removesuffix("...\n").strip()
    return json.dumps(value) if "\n" in text else text


def merged(profile: Mapping[str, Any], learned: Iterable[Learned]) -> dict[str, Any]:
    """Return the content of a profile with what was learned; nothing that it holds is removed.

    Lists get the entries that they lack.
    """
    content = deepcopy(dict(profile))
    for one in learned:
        if one.is_question:
            continue
        holder = content
        for name in one.key[:-1]:
            holder = holder.setdefault(name, {})
        known = holder.get(one.key[-1])
        if isinstance(known, list) and isinstance(one.value, list):
            holder[one.key[-1]] = [*known, *(row for row in one.value if row not in known)]
        elif not isinstance(known, dict):
            holder[one.key[-1]] = one.value
    return content


def proposed(name: str, profile: Mapping[str, Any], learned: Iterable[Learned]) -> list[str]:
    """Return the lines of a diff that brings a profile up to what was learned; none where it is."""
    before, after = (list(_compact(content)) for content in (profile, merged(profile, learned)))
    return list(difflib.unified_diff(before, after, name, f"{name} (proposed)", lineterm="", n=1))


def _at(value: Any, key: Key) -> Any:
    for name in key:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
