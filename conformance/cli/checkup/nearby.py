"""Looks for the interface near a base URL where it does not answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

from conformance.profile.model import Profile
from conformance.sut.errors import TargetError
from conformance.sut.target import VERSION, BadBaseUrl, NotTheInterface, Target

_MAX_ASKED = 4


def proposal(base_url: str, profile: Profile, error: TargetError) -> str:
    """Return which base URL of the same origin answers as the interface does, for a message.

    Empty where none does, or where the URL is not what was wrong.

    Args:
        base_url: the one that was given.
        profile: names the credentials, which the origin gets anyhow.
        error: what was wrong.
    """
    if not isinstance(error, BadBaseUrl | NotTheInterface):
        return ""
    for url in list(_near(base_url))[:_MAX_ASKED]:
        try:
            target = Target.resolve(url, profile, os.environ)
            target.check()
        except TargetError:
            continue
        return f"; {target.base_url} answers as the interface does: give that one"
    return ""


def _near(base_url: str) -> Iterator[str]:
    """Yield the base URLs that may be meant, the nearest first.

    The version segment may be missing, or stand there twice, before something else, or below
    another path.
    """
    try:
        parts = urlsplit(base_url)
    except ValueError:
        return
    if "@" in parts.netloc or parts.query or parts.fragment:
        return
    origin = f"{parts.scheme}://{parts.netloc}"
    segments = [segment for segment in parts.path.split("/") if segment]
    others = [segment for segment in segments if segment != VERSION]
    found = [segments[: segments.index(VERSION)]] if VERSION in segments else []
    found += [others[:length] for length in range(len(others), -1, -1)]
    urls = dict.fromkeys("/".join([origin, *before, VERSION]) for before in found)
    yield from (url for url in urls if url != base_url.rstrip("/"))
