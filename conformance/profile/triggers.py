"""How the triggers of the vocabulary are caused on one target."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from pydantic import (
    Field,
)

from conformance.contract.vocabulary import TRIGGERS, nearest
from conformance.profile.part import ProfilePart
from conformance.text import addresses, templates

DOCUMENTED_TRIGGERS = {
    # The specification names the operation and leaves its body open (Endpoints / Internal
    # accounts, line 351).
    "deposit.arrive": {
        "http": {
            "url": "{base_url}/sandbox/internal-accounts/{accountId}/fund",
            "json": {"amount": "{amount}"},
        }
    },
}

_SOME_ORIGIN = "https://target.invalid"


class HttpTrigger(ProfilePart):
    """Causes a trigger by one HTTP request with the suite's credentials.

    Texts may hold ``{origin}``, ``{base_url}`` and the trigger's parameters.
    """

    method: Literal["POST", "PUT", "PATCH", "DELETE", "GET"] = "POST"
    url: str
    json_body: dict[str, Any] = Field(default_factory=dict, alias="json")
    returns: dict[str, str] = Field(
        default_factory=dict,
        description="The names of results, each with the member of the response that holds it.",
    )


class WaitTrigger(ProfilePart):
    """Causes a trigger by letting the time pass that a parameter names."""

    until: Literal["expiresAt"]


class Trigger(ProfilePart):
    """How one trigger of the vocabulary is caused: exactly one of four kinds."""

    http: HttpTrigger | None = None
    command: list[str] | None = Field(None, min_length=1)
    magic: dict[str, Any] | None = None
    wait: WaitTrigger | None = None

    def model_post_init(self, _context: Any) -> None:
        """Refuse a trigger of no kind or of several."""
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            shown = ", ".join(given) or "none"
            raise ValueError(
                f"a trigger has exactly one of http, command, magic, wait; got {shown}"
            )


def problems_of_names(name: str, trigger: Trigger, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with the names in braces in the texts of a trigger."""
    parameters = TRIGGERS[name]
    given = ("origin", "base_url", *parameters)
    own = templates.own_words(variables, _SOME_ORIGIN, _SOME_ORIGIN)
    for place, text in _texts_of(trigger):
        key = f"triggers.{name}.{place}"
        for shadow in templates.named(text, variables.keys() & set(given)):
            yield (
                f"{key}: {{{shadow}}} has a meaning of its own here; give variables.{shadow} "
                "another name"
            )
        filled = templates.fill(text, own)
        # Within a line for a shell, braces have a meaning of their own.
        line = place.startswith("command") and any(map(str.isspace, filled))
        for other in () if line else templates.unknown(filled, given):
            yield f"{key}: {_problem_of_unknown(other, given, variables)}"
        if place == "http.url":
            yield from (f"{key}: {problem}" for problem in _problems_of_url(filled, parameters))
        elif place == "command.0" and (chosen := templates.named(filled, parameters)):
            yield f"{key}: {{{chosen[0]}}} would choose the program, and comes from the target"


def _problem_of_unknown(name: str, given: Collection[str], variables: Mapping[str, str]) -> str:
    if name in variables:
        return f"{{{name}}} stands in another variable, where variables are not filled in"
    known = (*given, *variables)
    hint = nearest(name, known)
    told = f"the nearest is {{{hint}}}" if hint else f"known are {', '.join(known)}"
    return f"unknown name {{{name}}}; {told}"


def _problems_of_url(url: str, parameters: Collection[str]) -> Iterator[str]:
    if chosen := addresses.names_in_host(url, parameters):
        yield f"{{{chosen[0]}}} would choose the host, and comes from the target"
    elif not url.lower().startswith(("http://", "https://")):
        yield f"expected an HTTP URL, for example {{origin}}/path, got {url!r}"


def _texts_of(trigger: Trigger) -> Iterator[tuple[str, str]]:
    """Yield the texts of a trigger in which names are filled in, with their places."""
    if trigger.http is not None:
        yield "http.url", trigger.http.url
        yield from _texts_in(trigger.http.json_body, "http.json")
    if trigger.command is not None:
        yield from _texts_in(trigger.command, "command")


def _texts_in(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts_in(member, f"{place}.{key}")
