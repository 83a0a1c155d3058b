"""Reads a profile file, and tells what is wrong with it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from conformance.contract.vocabulary import nearest
from conformance.profile.model import PROBLEM, Profile
from conformance.profile.part import ProfileError
from conformance.profile.triggers import DOCUMENTED_TRIGGERS
from conformance.profile.yaml_file import NotUsable, places_in, read_yaml
from conformance.text import addresses

_MAX_PROBLEMS = 50


def read_profile(path: Path) -> Profile:
    """Read a profile file.

    Raises:
        ProfileError: the file is missing, is not YAML, or holds a key or value that the
            profile does not have; the message names each with the nearest valid one.
    """
    try:
        content = read_yaml(path)
    except NotUsable as error:
        raise ProfileError(f"profile {path} {error}") from error
    except OSError as error:
        raise ProfileError(f"profile {path}: {error.strerror}") from error
    if not isinstance(content, dict):
        raise ProfileError(f"profile {path}: expected a mapping, got {type(content).__name__}")
    try:
        content = _with_authority(_with_key(content, path.parent), path.parent)
        return Profile.model_validate(_with_documented_triggers(content))
    except ValidationError as error:
        raise ProfileError(_explain(path, content, error)) from error


def _with_documented_triggers(content: dict[str, Any]) -> dict[str, Any]:
    """Add the triggers that the specification offers itself, less those that are ``null``."""
    triggers = content.get("triggers")
    if not isinstance(triggers, dict | None):
        return content
    merged = {**DOCUMENTED_TRIGGERS, **(triggers or {})}
    mapped = {name: trigger for name, trigger in merged.items() if trigger is not None}
    return {**content, "triggers": mapped}


def _with_key(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Put the content of a key file in the place of its name.

    Raises:
        ProfileError: it cannot be read.
    """
    webhooks = content.get("webhooks")
    if not isinstance(webhooks, dict) or not isinstance(webhooks.get("signature"), dict):
        return content
    signature = webhooks["signature"]
    key = signature.get("key")
    if not isinstance(key, str) or not key.endswith(".pem"):
        return content
    try:
        # Whoever opens a pipe waits for somebody to write.
        if not (folder / key).is_file():
            raise FileNotFoundError
        pem = (folder / key).read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise ProfileError(f"webhooks.signature.key: {folder / key} cannot be read") from error
    return {**content, "webhooks": {**webhooks, "signature": {**signature, "key": pem}}}


def _with_authority(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Make the path of a certificate authority absolute, so that workers find it.

    Raises:
        ProfileError: it cannot be read, or holds no certificate.
    """
    tls = content.get("tls")
    if not isinstance(tls, dict) or not isinstance(tls.get("certificate_authority"), str):
        return content
    file = (folder / tls["certificate_authority"]).absolute()
    try:
        if not file.is_file():
            raise ProfileError(f"tls.certificate_authority: {file} is no file")
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=file)
    except ssl.SSLError as error:
        raise ProfileError(
            f"tls.certificate_authority: {file} holds no certificate in PEM, which begins with "
            "-----BEGIN CERTIFICATE-----"
        ) from error
    except (OSError, ValueError) as error:
        raise ProfileError(f"tls.certificate_authority: {file} cannot be read") from error
    return {**content, "tls": {**tls, "certificate_authority": str(file)}}


def _explain(path: Path, content: Any, error: ValidationError) -> str:
    lines = [f"profile {path} is not valid:"]
    problems = error.errors()
    place_of = places_in(path)
    for problem in problems[:_MAX_PROBLEMS]:
        keys = list(_written(problem["loc"], content))
        # What is missing stands nowhere, but ought to stand in what holds it.
        place = place_of(keys[:-1] if problem["type"] == "missing" else keys)
        key = ".".join(map(str, keys)) or "the profile"
        told = (place, key, _told(problem))
        lines.append(f"  {': '.join(text for text in told if text)}")
    if len(problems) > _MAX_PROBLEMS:
        lines.append(f"  and {len(problems) - _MAX_PROBLEMS} more")
    return "\n".join(lines)


def _told(problem: ErrorDetails) -> str:
    """Return what is wrong, in words."""
    keys = problem["loc"]
    if problem["type"] == "extra_forbidden":
        hint = nearest(str(keys[-1]), _keys_at(keys[:-1]))
        return "unknown key" + (f"; the nearest valid one is {hint!r}" if hint else "")
    if problem["type"] == "missing":
        return "this key is required"
    if keys[:1] in (("credentials",), ("secrets",)) and problem["type"] != PROBLEM:
        # What stands there may be the secret itself, and is not shown.
        return "expected the name of an environment variable, never its value"
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] != PROBLEM and not isinstance(problem["input"], dict):
        message += f", got {addresses.shortened(problem['input'])}"
    return message


def _written(keys: tuple[int | str, ...], content: Any) -> Iterator[int | str]:
    """Yield the keys that lead to a value as the file has it, where one thing may be no list."""
    for key in keys:
        if isinstance(key, int) and isinstance(content, dict):
            continue
        yield key
        if isinstance(content, dict):
            content = content.get(key)
        elif isinstance(content, list) and isinstance(key, int):
            content = content[key] if key < len(content) else None
        else:
            content = None


def _keys_at(place: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the profile's schema has at ``place``."""
    root = _schema()
    node: Any = root
    for step in place:
        node = _dereference(node, root)
        members = node.get("properties", {})
        if isinstance(step, int):
            node = node.get("items", node)
        else:
            node = members.get(step) or node.get("additionalProperties") or {}
    return list(_dereference(node, root).get("properties", {}))


@cache
def _schema() -> dict[str, Any]:
    return Profile.model_json_schema()


def _dereference(node: Any, root: Mapping[str, Any]) -> Any:
    for option in node.get("anyOf", ()):
        if "$ref" in option:
            node = option
            break
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return root["$defs"][name]
    return node
