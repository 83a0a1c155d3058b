"""Builders of patches: each says in one row what becomes of one function.

Each takes a holder, which is a module or a class of the reference, and the name of an attribute of
it, and returns a patch. A missing name raises ``NoSuchTarget`` when the patch is applied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.proof.patch import Apply, Function, Holder, Patch
from conformance.reference import errors
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Handler = Callable[[Unit, Ask], Any]
Place = tuple[Holder, str]
"""A module or a class of the reference, and the name of an attribute of it."""

Builder = Callable[..., Apply]
"""Makes a patch of a place and a function, or of a function alone."""


def patch_of(function: Function, place: Place | None, how: Builder) -> Apply:
    """Return the patch that a decorated function stands for.

    With a place, ``how`` makes a patch of place and function: ``around`` if nothing else is said.
    Without one, ``how`` makes it of the function alone; by default the function is the patch.
    """
    if place is not None:
        return how(*place, function)
    return function if how is around else how(function)


def together(*patches: Apply) -> Apply:
    """Apply several patches, one after the other."""

    def apply(patch: Patch) -> None:
        for one in patches:
            one(patch)

    return apply


def concerning(holder: Holder, name: str) -> Apply:
    """Change nothing, and say that what else is changed concerns this place too.

    Variants of another group that change it are not applied at the same time.
    """
    return lambda patch: patch.concern(holder, name)


def around(holder: Holder, name: str, function: Function) -> Apply:
    """Call ``function`` in the place of another, with that one as its first argument."""
    return lambda patch: patch.wrap(holder, name, function)


def instead(holder: Holder, name: str, value: Any) -> Apply:
    """Put another function or value in the place of an attribute."""
    return lambda patch: patch.replace(holder, name, value)


def before(holder: Holder, name: str, act: Function) -> Apply:
    """Call ``act`` with the same arguments first; what it raises is raised."""

    def acting(original: Function, *arguments: Any, **named: Any) -> Any:
        act(*arguments, **named)
        return original(*arguments, **named)

    return around(holder, name, acting)


def after(holder: Holder, name: str, act: Function) -> Apply:
    """Call ``act`` with the same arguments afterwards, where nothing was raised."""

    def acting(original: Function, *arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        act(*arguments, **named)
        return result

    return around(holder, name, acting)


def skipped(holder: Holder, name: str, condition: Callable[..., bool]) -> Apply:
    """Do nothing, and return None, where ``condition`` holds for the arguments."""

    def unless(original: Function, *arguments: Any, **named: Any) -> Any:
        return None if condition(*arguments, **named) else original(*arguments, **named)

    return around(holder, name, unless)


def edited(holder: Holder, name: str, change: Callable[[Any], Any]) -> Apply:
    """Return what ``change`` makes of a result that is not None.

    ``change`` gets a copy of objects and lists of JSON, to which it may write.
    """

    def changed(original: Function, *arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        return None if result is None else change(_copied(result))

    return around(holder, name, changed)


def receives(holder: Holder, name: str, change: Callable[[Json], Any]) -> Apply:
    """Let a handler work on what ``change`` makes of the body, where that is an object.

    ``change`` may write to the members of the object that it gets, not to what is in them.
    """

    def handler(original: Function, unit: Unit, ask: Ask) -> Any:
        if isinstance(ask.body, dict):
            ask = replace(ask, body=change(dict(ask.body)))
        return original(unit, ask)

    return around(holder, name, handler)


def rescued(holder: Holder, name: str, rescue: Function, *codes: str) -> Apply:
    """Return what ``rescue`` returns where a function refuses with one of the codes.

    ``rescue`` gets the refusal, and then the arguments of the function. Without codes every
    refusal counts.
    """

    def rescuing(original: Function, *arguments: Any, **named: Any) -> Any:
        try:
            return original(*arguments, **named)
        except errors.Refusal as refusal:
            if codes and refusal.code not in codes:
                raise
            return rescue(refusal, *arguments, **named)

    return around(holder, name, rescuing)


def recoded(holder: Holder, name: str, other: str, *codes: str) -> Apply:
    """Refuse with another code where a function refuses with one of the codes, or at all."""

    def refuse(refusal: errors.Refusal, *_: Any, **__: Any) -> Any:
        raise errors.Refusal(other, refusal.reason, refusal.details) from refusal

    return rescued(holder, name, refuse, *codes)


def later_pages(holder: Holder, name: str, change: Callable[[list[Json]], list[Json]]) -> Apply:
    """Return a patch after which all pages of a list but the first have other rows."""

    def changed(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = original(unit, ask)
        return {**body, "data": change(body["data"])} if "cursor" in ask.query else body

    return around(holder, name, changed)


def invented(holder: Holder, name: str, parameter: str) -> Apply:
    """Answer with the id of a parameter of the path, and no more, where a handler refuses."""
    return rescued(holder, name, lambda _refusal, _unit, ask: {"id": ask.params[parameter]})


def _copied(value: Any) -> Any:
    """Return a copy of JSON; anything else in it stays what it is."""
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    return [_copied(entry) for entry in value] if isinstance(value, list) else value
