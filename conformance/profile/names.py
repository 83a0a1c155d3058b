"""The names in braces in the texts of a profile, and the names that its requests return."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.contract.vocabulary import REQUESTS, TRIGGERS, nearest, triggers
from conformance.profile.triggers import HttpTrigger, Step, Trigger
from conformance.text import addresses, templates

_SOME_ORIGIN = "https://target.invalid"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OWN = ("origin", "base_url")


Place = tuple[str | int, ...]
"""The keys, and the indexes of lists, that lead to a value of a profile."""

Problem = tuple[Place, str]
"""Where something is wrong in a profile, and what."""


Words = tuple[Mapping[str, str], Collection[str]]
"""The names under `variables`, with the texts that they stand for, and those under `secrets`."""


def problems_of_trigger(
    name: str, trigger: Trigger, words: Words, established: Collection[str]
) -> Iterator[Problem]:
    """Yield what is wrong with the names in a trigger.

    Args:
        name: the trigger, one of the vocabulary.
        trigger: how the profile causes it.
        words: the names under `variables` and `secrets`.
        established: the names of what the steps of `setup` return.
    """
    place: Place = ("triggers", name)
    results = triggers()[name].results
    known = (*TRIGGERS[name], *established)
    back = trigger.back
    wanted = (*results, *(_used(back) if back else ()))
    yield from _Names(known, *words).problems(place, trigger, wanted)
    if back is not None:
        more = dict.fromkeys((*returned_by(trigger), *results))
        yield from _Names((*known, *more), *words).problems((*place, "back"), back, ())
    if name in REQUESTS and trigger.http is not None and trigger.http[-1].ok:
        last = len(trigger.http) - 1
        told = f"the answer to the request {name} is looked at, whatever its status"
        yield (*place, "http", last, "ok"), told


def problems_of_steps(
    key: str, steps: Sequence[Step], words: Words, established: Sequence[str] = ()
) -> Iterator[Problem]:
    """Yield what is wrong with the names in a list of steps, each of which may use those before."""
    known = tuple(established)
    reserved = {parameter for parameters in TRIGGERS.values() for parameter in parameters}
    for number, step in enumerate(steps):
        place, told = (key, number), returned_by(step)
        yield from _Names(known, *words).problems(place, step, told)
        for name in reserved.intersection(told):
            yield place, f"triggers have a parameter {name}; return it under another name"
        known = (*known, *told)


def returned_by(step: Step) -> tuple[str, ...]:
    """Return the names of what the requests of a step return."""
    return tuple(name for call in step.http or () for name in call.returns)


def _used(step: Step) -> list[str]:
    """Return all names in braces in the texts of a step."""
    return [name for _, text in _texts_of_step(step) for name in templates.unknown(text, ())]


@dataclass(frozen=True, slots=True)
class _Names:
    """The names that may stand in a text: parameters, whose values the target sends, and others."""

    parameters: Sequence[str]
    variables: Mapping[str, str]
    secrets: Collection[str] = ()

    def problems(self, place: Place, step: Step, wanted: Collection[str]) -> Iterator[Problem]:
        """Yield what is wrong in a step; ``wanted`` are the results that somebody asks for."""
        yield from self._problems_of_command((*place, "command"), step.command or ())
        names = self
        calls = step.http or ()
        for number, call in enumerate(calls):
            here = (*place, "http", number)
            yield from names._problems_of_call(here, call)
            later = [name for other in calls[number + 1 :] for name in _used_by(other)]
            for name in call.returns:
                for told in names._problems_of_result(name, (*wanted, *later)):
                    yield (*here, "returns", name), told
            names = _Names((*names.parameters, *call.returns), self.variables, self.secrets)

    def _problems_of_call(self, place: Place, call: HttpTrigger) -> Iterator[Problem]:
        for inner, text in _texts_of(call):
            allowed = self.secrets if inner[0] == "headers" else ()
            yield from self._problems_of_text((*place, *inner), text, allowed=allowed)
        for told in self._problems_of_url(call.url):
            yield (*place, "url"), told

    def _problems_of_command(self, place: Place, words: Sequence[str]) -> Iterator[Problem]:
        for number, word in enumerate(words):
            filled = self._filled(word)
            # Within a line for a shell, braces have a meaning of their own.
            is_line = any(map(str.isspace, filled))
            yield from self._problems_of_text((*place, number), word, is_line=is_line)
            if number == 0 and (chosen := templates.named(filled, self.parameters)):
                told = f"{{{chosen[0]}}} would choose the program, and comes from the target"
                yield (*place, number), told

    def _problems_of_text(
        self, place: Place, text: str, *, is_line: bool = False, allowed: Collection[str] = ()
    ) -> Iterator[Problem]:
        given = (*_OWN, *self.parameters, *allowed)
        for shadow in templates.named(text, self.variables.keys() & set(given)):
            told = (
                f"{{{shadow}}} has a meaning of its own here; give variables.{shadow} another name"
            )
            yield place, told
        for other in () if is_line else templates.unknown(self._filled(text), given):
            yield place, self._problem_of_unknown(other)

    def _problem_of_unknown(self, name: str) -> str:
        if name in self.secrets:
            return f"{{{name}}} is a secret, which stands in the headers of requests alone"
        if name in self.variables:
            return f"{{{name}}} stands in another variable, where variables are not filled in"
        known = (*_OWN, *self.parameters, *self.variables)
        hint = nearest(name, known)
        told = f"the nearest is {{{hint}}}" if hint else f"known are {', '.join(known)}"
        return f"unknown name {{{name}}}; {told}"

    def _problems_of_result(self, name: str, wanted: Collection[str]) -> Iterator[str]:
        if not _NAME.fullmatch(name):
            yield "expected a name of letters, digits and _"
        elif name in (*_OWN, *self.parameters, *self.variables, *self.secrets):
            yield f"{{{name}}} has a meaning already; give it another name"
        elif name not in wanted:
            hint = nearest(name, wanted)
            known = ", ".join(dict.fromkeys(wanted)) or "none"
            told = f"the nearest is {hint!r}" if hint else f"known are {known}"
            yield f"unknown result, which no later request uses either; {told}"

    def _problems_of_url(self, text: str) -> Iterator[str]:
        url = self._filled(text)
        if addresses.whole_url_name(url, self.parameters) is not None:
            return
        if chosen := addresses.names_in_host(url, self.parameters):
            yield (
                f"{{{chosen[0]}}} would choose the host, and comes from the target; what is a "
                "whole URL has a name that ends in Url, and begins the text"
            )
        elif not url.lower().startswith(("http://", "https://")):
            yield f"expected an HTTP URL, for example {{origin}}/path, got {url!r}"

    def _filled(self, text: str) -> str:
        return templates.fill(text, templates.own_words(self.variables, _SOME_ORIGIN, _SOME_ORIGIN))


def _used_by(call: HttpTrigger) -> list[str]:
    return [name for _, text in _texts_of(call) for name in templates.unknown(text, ())]


def _texts_of_step(step: Step) -> Iterator[tuple[Place, str]]:
    for call in step.http or ():
        yield from _texts_of(call)
    yield from _texts_in(step.command or [], ("command",))


def _texts_of(call: HttpTrigger) -> Iterator[tuple[Place, str]]:
    """Yield the texts of a request in which names are filled in, with their places."""
    yield ("url",), call.url
    yield from _texts_in(call.json_body, ("json",))
    yield from _texts_in(call.headers, ("headers",))


def _texts_in(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts_in(member, (*place, key))
