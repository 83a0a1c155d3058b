"""Judges single messages against the OpenAPI document, under requirement ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import islice
from typing import Any

import jsonschema_rs

from conformance.contract.data import SPEC
from conformance.contract.difference import Difference, Kind
from conformance.contract.document import JSON, Document, Operation, document
from conformance.contract.moments import UTC_MOMENT, is_utc_moment
from conformance.contract.spec_files import parsed

KEY = "x-requirement"
_ANY_MEMBER = "*"
_OF_OBJECTS = frozenset({"if", "required", "properties"})
_BRANCHES = ("allOf", "anyOf", "oneOf")
_CLIENT_ERRORS = range(400, 500)
_SERVER_ERROR = 500
MAX_OBSERVATIONS = 20
MAX_OBSERVATION_CHARS = 200
MAX_DETAIL_CHARS = 1000
MAX_DESCRIBED = 20_000
"""Characters and parts of a value of which it is told why it does not fit."""

MAX_LOOKED_AT = 2_000
"""Entries of a list that are looked at one by one, where it does not fit as a whole."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one message says about one requirement."""

    requirement: str
    passed: bool
    detail: str = ""
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class MessageFindings:
    """All findings on one message, and what was seen that the document does not mention."""

    findings: tuple[Finding, ...]
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Misfit:
    """Why a value does not fit a schema: in words, and as data."""

    detail: str
    difference: Difference


@dataclass(frozen=True)
class _Annotation:
    """A place of a schema that decides requirements: where it is, and what must hold there."""

    requirements: tuple[str, ...]
    instance_path: tuple[str, ...]
    schema: Mapping[str, Any]
    required: bool

    @cached_property
    def passed(self) -> tuple[Finding, ...]:
        """What a value says that has something here, and keeps to it."""
        return tuple(Finding(name, passed=True) for name in self.requirements)

    @cached_property
    def is_of_objects(self) -> bool:
        """Whether its keywords hold of everything but objects, and say nothing about it."""
        return not self.schema.keys().isdisjoint(_OF_OBJECTS)


class SchemaJudge:
    """Judges JSON values against one schema and its annotations.

    A violation counts against the innermost annotated subschema that it lies in, so that each
    annotation is judged without those within it. A requirement is decided only where the value
    has something to decide it on.
    """

    def __init__(self, schema: Mapping[str, Any], fallback: str) -> None:
        self._schema = schema
        self._fallback = fallback
        self._validator = _compile(schema)
        self._annotations = list(_annotations(schema, (), required=False))
        self._validators: dict[int, jsonschema_rs.Draft202012Validator] = {}

    def judge(self, value: Any) -> Iterator[Finding]:
        """Yield what ``value`` says about each requirement that the schema carries."""
        if self._validator.is_valid(value):
            yield Finding(self._fallback, passed=True)
            for note in self._annotations:
                if self._decides(note, value):
                    yield from note.passed
            return
        # What a schema with an annotation of its own says is for that one to decide.
        rest = None if KEY in self._schema else _misfit(self._bare(self._schema), value)
        failed = [
            (note, error) for note in self._annotations if (error := self._error(note, value))
        ]
        for note, error in failed:
            yield from (_failed(name, error) for name in note.requirements)
        if rest is None and not failed:
            rest = _misfit(self._validator, value)
        yield (
            Finding(self._fallback, passed=True) if rest is None else _failed(self._fallback, rest)
        )
        broken = {id(note) for note, _ in failed}
        for note in self._annotations:
            if id(note) not in broken and self._decides(note, value):
                yield from note.passed

    def unknown_members(self, value: Any) -> Iterator[str]:
        """Yield the members of ``value`` that the schema does not name."""
        known = self._schema.get("properties")
        if known is not None and isinstance(value, dict):
            yield from (name for name in value if name not in known)

    def _error(self, note: _Annotation, value: Any) -> _Misfit | None:
        if note.required:
            for holder in _walk(value, note.instance_path[:-1]):
                if isinstance(holder, dict) and note.instance_path[-1] not in holder:
                    place = _dotted(note.instance_path)
                    return _Misfit(f"{place} is missing", _in_body(place, "required"))
        # A null where something is required is wrong; elsewhere null and absent are alike.
        for found in _walk(value, note.instance_path) if note.required else _at(value, note):
            error = _misfit(self._bare(note.schema), found, note.instance_path)
            if error is not None:
                return error
        return None

    def _decides(self, note: _Annotation, value: Any) -> bool:
        """Return whether a value has something that an annotation says something about."""
        return any(self._applies(note, found) for found in _at(value, note))

    def _applies(self, note: _Annotation, found: Any) -> bool:
        if note.is_of_objects and not isinstance(found, dict):
            return False
        condition = note.schema.get("if")
        return condition is None or self._validator_of(condition).is_valid(found)

    def _bare(self, schema: Mapping[str, Any]) -> jsonschema_rs.Draft202012Validator:
        """Return what judges by a schema, less what is for annotations within it."""
        return self._validator_of(schema, bare=True)

    def _validator_of(
        self, schema: Mapping[str, Any], *, bare: bool = False
    ) -> jsonschema_rs.Draft202012Validator:
        if id(schema) not in self._validators:
            self._validators[id(schema)] = _compile(_bare(schema) if bare else schema)
        return self._validators[id(schema)]


@dataclass(frozen=True)
class Judge:
    """Judges requests, responses and deliveries against one OpenAPI document.

    ``ids`` are the requirements that hold for every message; the document names them itself
    under ``x-judge``. ``statuses`` maps each error code to the statuses it may come with.
    """

    document: Document
    statuses: Mapping[str, frozenset[int]]
    _judges: dict[tuple[str, str], SchemaJudge] = field(default_factory=dict)

    def response(
        self,
        operation: Operation,
        status: int,
        media_type: str,
        body: Any,
        *,
        intended: bool,
        is_json: bool = True,
        is_bounded: bool = True,
    ) -> MessageFindings:
        """Judge one response.

        Args:
            operation: the operation that was called.
            status: the HTTP status.
            media_type: the response's media type as :func:`media_type_of` gives it, or ``""``.
            body: the decoded JSON value, or ``None`` where the response has no body.
            intended: whether the request was valid by the document. An invalid one may be
                answered with any client error; where it is taken, the resource may hold what was
                wrong, and is not judged.
            is_json: whether a body, if there is one, could be decoded as JSON.
            is_bounded: whether it could be read at all. Of one that is nested too deep nothing is
                known but its status and media type.
        """
        ids: Mapping[str, str] = self.document.raw["x-judge"]
        documented = operation.response(status)
        if documented is None:
            if not intended and status in _CLIENT_ERRORS:
                return MessageFindings(
                    (), (f"{operation.id} answered {status}, which it does not list",)
                )
            listed = ", ".join(operation.raw["responses"])
            detail = f"{operation.id} answered {status}; documented are {listed}"
            difference = Difference(Kind.STATUS, operation.id, expected=listed, got=str(status))
            return MessageFindings((Finding(ids["status"], False, detail, difference),))
        findings = [Finding(ids["status"], passed=True)]
        if status == _SERVER_ERROR:
            difference = Difference(
                Kind.STATUS, operation.id, expected="a success or a refusal", got=str(status)
            )
            detail = f"{operation.id} answered {status}, whatever it was sent"
            broken = operation.requirement("server-error")
            findings.append(Finding(broken, False, detail, difference))
        content: Mapping[str, Any] = documented.get("content", {})
        schema = content.get(JSON, {}).get("schema")
        is_left_out = body is None and is_json and not media_type and _says_nothing(schema)
        if not content or is_left_out or (media_type in content and not is_bounded):
            unread = f"{operation.id} answered {status} with a body too deep or too long to be read"
            return MessageFindings(tuple(findings), (unread,) if content and not is_bounded else ())
        if media_type not in content or not is_json:
            shown = _shortened(media_type, MAX_OBSERVATION_CHARS) or "no media type"
            detail = (
                f"{operation.id} answered {status} with {shown}"
                + ("" if is_json else " and a body that is not JSON")
                + f"; documented is {', '.join(content)}"
            )
            difference = Difference(
                Kind.MEDIA_TYPE,
                operation.id,
                expected=", ".join(content),
                got=shown if is_json else f"{shown} that is not JSON",
            )
            findings.append(Finding(ids["media-type"], False, detail, difference))
            return MessageFindings(tuple(findings))
        findings.append(Finding(ids["media-type"], passed=True))
        if not intended and status < _CLIENT_ERRORS.start:
            return MessageFindings(tuple(findings))
        judge = self._judge(operation.id, str(status), schema, ids["schema"])
        found = entries(body) if _leaves_open_where_the_list_stands(schema) else None
        judged = judge.judge(body if found is None else found)
        findings.extend(_of_message(judged, Kind.BODY, operation.id))
        code = error_code(body)
        if status >= _CLIENT_ERRORS.start and code is not None and code in self.statuses:
            fits = status in self.statuses[code]
            listed = " or ".join(map(str, sorted(self.statuses[code])))
            detail = f"{code} came with {status}; its status is {listed}"
            difference = Difference(
                Kind.CODE_STATUS, operation.id, place=code, expected=listed, got=str(status)
            )
            failed = Finding(ids["code-status"], False, detail, difference)
            findings.append(Finding(ids["code-status"], passed=True) if fits else failed)
        unknown = tuple(
            _shortened(f"answers carry {name!r}, which the suite does not look at")
            for name in islice(judge.unknown_members(body), MAX_OBSERVATIONS)
        )
        return MessageFindings(tuple(findings), unknown)

    def delivery(self, body: Any) -> MessageFindings:
        """Judge the body of one webhook delivery by its ``type``."""
        ids: Mapping[str, str] = self.document.raw["x-judge"]
        kind = body.get("type") if isinstance(body, dict) else None
        webhooks: Mapping[str, Any] = self.document.raw["webhooks"]
        if not isinstance(kind, str) or (described := _described(kind, webhooks)) is None:
            seen = f"an event of type {kind!r} arrived, which the suite does not look at"
            return MessageFindings((), (_shortened(seen),))
        media = webhooks[described]["post"]["requestBody"]["content"][JSON]
        judge = self._judge("webhook", described, media["schema"], ids["schema"])
        return MessageFindings(tuple(_of_message(judge.judge(body), Kind.WEBHOOK, described)))

    def request_errors(self, operation: Operation, body: Any) -> list[str]:
        """Return what makes a request body invalid by the document; nothing if it is valid.

        A form is judged as the object of its parts.
        """
        schema = operation.request_schema or operation.form_schema
        if schema is None:
            return [f"{operation.id} takes no JSON body"] if body is not None else []
        if body is None:
            return [f"{operation.id} needs a body"] if operation.body_required else []
        judge = self._judge(operation.id, "request", schema, "")
        return [finding.detail for finding in judge.judge(body) if not finding.passed]

    def _judge(self, name: str, part: str, schema: Mapping[str, Any], fallback: str) -> SchemaJudge:
        key = (name, part)
        if key not in self._judges:
            self._judges[key] = SchemaJudge(schema, fallback)
        return self._judges[key]


def _failed(requirement: str, misfit: _Misfit) -> Finding:
    return Finding(requirement, False, misfit.detail, misfit.difference)


def _of_message(findings: Iterable[Finding], kind: Kind, name: str) -> Iterator[Finding]:
    """Yield what a schema finds, with what message it was found in."""
    for finding in findings:
        if finding.difference is None:
            yield finding
        else:
            difference = replace(finding.difference, kind=kind, operation=name)
            yield replace(finding, difference=difference)


def _in_body(place: str, keyword: str) -> Difference:
    return Difference(Kind.BODY, place=place, expected=keyword)


def decided_by_schema(schema: Mapping[str, Any]) -> set[str]:
    """Return the requirements that the annotations of ``schema`` can decide."""
    return {name for note in _annotations(schema, (), required=False) for name in note.requirements}


def entries(body: Any) -> list[Any] | None:
    """Return the list that a body is, or holds under ``data``, or alone under another name."""
    if not isinstance(body, dict):
        lists = [body]
    elif isinstance(body.get("data"), list):
        lists = [body["data"]]
    else:
        lists = [value for value in body.values() if isinstance(value, list)]
    return lists[0] if len(lists) == 1 and isinstance(lists[0], list) else None


def error_code(body: Any) -> str | None:
    """Return the ``code`` of an error object, ``None`` for what is none."""
    code = body.get("code") if isinstance(body, dict) else None
    return code if isinstance(code, str) else None


@cache
def error_codes() -> Mapping[str, frozenset[int]]:
    """Return every error code of the specification with its HTTP statuses; none where not said."""
    codes = parsed(SPEC / "errors.yaml")
    return {entry["code"]: frozenset(entry.get("statuses") or ()) for entry in codes}


@cache
def faults_of_requests() -> frozenset[str]:
    """Return the error codes that blame a request itself, or the state of what it is about.

    The others may come to a request that is in order: a limit is reached, a rate or a provider is
    not to be had, a document is judged.
    """
    codes = parsed(SPEC / "errors.yaml")
    return frozenset(entry["code"] for entry in codes if entry.get("blames_request"))


@cache
def judge() -> Judge:
    """Return the judge of the document that the suite ships."""
    placed = {code: statuses for code, statuses in error_codes().items() if statuses}
    return Judge(document(), placed)


def _described(kind: str, webhooks: Mapping[str, Any]) -> str | None:
    """Return the name by which the document describes a type of event, alone or by its family."""
    names = (kind, f"{kind.partition('.')[0]}.*")
    return next((name for name in names if name in webhooks), None)


def _says_nothing(schema: Any) -> bool:
    """Return whether a schema leaves open what a body is, and so whether there is one at all."""
    return isinstance(schema, Mapping) and not schema.keys() - {"description"}


def _leaves_open_where_the_list_stands(schema: Mapping[str, Any]) -> bool:
    return any(branch.get("type") == "array" for branch in schema.get("anyOf", ()))


def _compile(schema: Mapping[str, Any]) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        dict(schema), validate_formats=True, formats={UTC_MOMENT: is_utc_moment}
    )


def _annotations(schema: Any, path: tuple[str, ...], *, required: bool) -> Iterator[_Annotation]:
    """Yield the annotations of ``schema``, which stands at ``path`` of the value."""
    if not isinstance(schema, dict):
        return
    if KEY in schema:
        named = schema[KEY]
        yield _Annotation(
            (named,) if isinstance(named, str) else tuple(named),
            path,
            schema,
            required,
        )
    needed: Iterable[str] = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        yield from _annotations(member, (*path, name), required=name in needed)
    yield from _annotations(schema.get("items"), (*path, _ANY_MEMBER), required=False)
    for keyword in _BRANCHES:
        for branch in schema.get(keyword, ()):
            yield from _annotations(branch, path, required=False)


def _bare(schema: Any) -> Any:
    """Return ``schema`` without what the annotations within it decide."""
    if not isinstance(schema, dict):
        return schema

    def inner(part: Any) -> Any:
        return True if isinstance(part, dict) and KEY in part else _bare(part)

    bare = dict(schema)
    members = schema.get("properties", {})
    if members:
        bare["properties"] = {name: inner(member) for name, member in members.items()}
    if "required" in schema:
        bare["required"] = [name for name in schema["required"] if KEY not in members.get(name, {})]
    if "items" in schema:
        bare["items"] = inner(schema["items"])
    for keyword in _BRANCHES:
        if keyword in schema:
            bare[keyword] = [inner(branch) for branch in schema[keyword]]
    return bare


def _at(value: Any, note: _Annotation) -> Iterator[Any]:
    return (found for found in _walk(value, note.instance_path) if found is not None)


def _walk(value: Any, path: tuple[str, ...]) -> Iterator[Any]:
    for number, step in enumerate(path, 1):
        if step == _ANY_MEMBER:
            if isinstance(value, list):
                for member in islice(value, MAX_LOOKED_AT):
                    yield from _walk(member, path[number:])
            return
        if not isinstance(value, dict) or step not in value:
            return
        value = value[step]
    yield value


def _misfit(
    validator: jsonschema_rs.Draft202012Validator, value: Any, at: tuple[str, ...] = ()
) -> _Misfit | None:
    """Return where ``value``, which stands at ``at``, does not fit, and why; ``None`` if it fits.

    To tell why takes time and memory for each of its parts, so that of a long list only the first
    entry that does not fit is looked at, and other long values not at all.
    """
    if validator.is_valid(value):
        return None
    if not _is_long(value):
        return _describe(next(validator.iter_errors(value)), at)
    first = islice(value, MAX_LOOKED_AT) if isinstance(value, list) else ()
    for number, entry in enumerate(first):
        if not (validator.is_valid([entry]) or _is_long(entry)):
            return _describe(next(validator.iter_errors([entry])), at, number)
    detail = ": ".join(filter(None, [_dotted(at), "it does not fit, and is too long to be shown"]))
    return _Misfit(detail, _in_body(_dotted(at), "size"))


def _describe(
    error: jsonschema_rs.ValidationError, at: tuple[str, ...] = (), number: int | None = None
) -> _Misfit:
    """Return an error in words and as data; ``number`` is what it says in the place of entry 0."""
    path = list(map(str, error.instance_path))
    if path and number is not None:
        path[0] = str(number)
    place = _dotted((*at, *path))
    told = _shortened(f"{place}: {error.message}" if place else error.message, MAX_DETAIL_CHARS)
    kind = error.kind
    member = (
        (kind.property,) if isinstance(kind, jsonschema_rs.ValidationErrorKind.Required) else ()
    )
    steps = (_ANY_MEMBER if isinstance(step, int) else str(step) for step in error.instance_path)
    where = _shortened(_dotted((*at, *steps, *member)))
    return _Misfit(told, _in_body(where, kind.name))


def _is_long(value: Any) -> bool:
    """Return whether a value has many parts, or long ones."""
    room = MAX_DESCRIBED
    parts = [value]
    while parts:
        part = parts.pop()
        room -= len(part) if isinstance(part, str | list | dict) else 1
        if room < 0:
            return True
        if isinstance(part, dict):
            parts.extend(part)
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)
    return False


def _shortened(text: str, limit: int = MAX_OBSERVATION_CHARS) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _dotted(path: Iterable[str]) -> str:
    return ".".join(path)
