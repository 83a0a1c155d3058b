"""The whole request of an operation, sent as it is or with a part of it changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx

from conformance.contract.document import Operation, document
from conformance.exchange.answer import Answer
from conformance.platform.grounds import (
    authentication,
    cards,
    configuration,
    customers,
    external_accounts,
    internal_accounts,
    quotes,
    stablecoins,
    verification,
)
from conformance.platform.grounds.ground import Ground, read_nothing
from conformance.platform.platform import Platform
from conformance.platform.resource import Body
from conformance.verdict.decisions import (
    FeatureUndeclared,
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
)

MADE_UP = "00000000-0000-4000-8000-000000000000"
"""In the place of a parameter of the path that no resource is there for."""

_JSON = "application/json"
NOT_LAID = (
    FeatureUndeclared,
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
)
"""Why the ground of an operation cannot be laid, although a target may be asked."""

_AREAS = (
    authentication,
    customers,
    verification,
    configuration,
    internal_accounts,
    external_accounts,
    quotes,
    cards,
    stablecoins,
)

GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    name: lay for area in _AREAS for name, lay in area.GROUNDS.items()
}
"""How the ground of each operation is laid; an operation without needs none."""


@dataclass(frozen=True)
class Request:
    """The whole request of an operation on its ground; sent as it is, it is accepted.

    One that is not ``whole`` names what does not exist, and has no body: the target does not offer
    what its ground needs.
    """

    operation: Operation
    ground: Ground
    platform: Platform
    whole: bool = True

    @property
    def body(self) -> Body | None:
        """The body; of a form, its parts; ``None`` for none."""
        found = self.ground.body if self.ground.right is None else self.ground.right
        takes_one = "requestBody" in self.operation.raw
        return found if takes_one and (found or self.operation.body_required) else None

    @property
    def path(self) -> Mapping[str, str]:
        """The values of the path's parameters."""
        return {**dict.fromkeys(self._names("path"), MADE_UP), **self.ground.path}

    @property
    def query(self) -> Mapping[str, str]:
        """The values of the query's parameters."""
        known = self._names("query")
        values = {**self.ground.query, **self.ground.asking}
        return {name: value for name, value in values.items() if name in known}

    @property
    def shows(self) -> bool:
        """Whether anything of what the operation changes can be seen."""
        return self.ground.state is not read_nothing

    def state(self) -> Any:
        """Read what the operation would change, as far as that can be seen."""
        return self.ground.state()

    def send(
        self,
        *,
        auth: httpx.Auth | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        path: Mapping[str, str] | None = None,
        valid: bool = True,
        judged: bool = True,
    ) -> Answer:
        """Send the request, or one that differs from it in a part.

        Args:
            auth: other credentials than the target's.
            content: bytes in the place of the body, JSON unless ``headers`` say otherwise.
            headers: further headers, or others; an empty one is left out.
            path: other values of the path's parameters.
            valid: whether the request is meant to be valid by the OpenAPI document.
            judged: whether the answer is judged by the document.
        """
        own = {
            name: value.replace(
                "{key}", self.platform.samples.idempotency_key([self.path, self.body])
            )
            for name, value in self.ground.headers.items()
        }
        if content is not None:
            own["content-type"] = _JSON
        is_form = self.operation.form_schema is not None
        sent = {} if content is not None else {"form" if is_form else "body": self.body}
        answer = self.platform.api.call(
            self.operation.id,
            path={**self.path, **(path or {})},
            query=self.query or None,
            headers={k: v for k, v in {**own, **(headers or {})}.items() if v},
            auth=auth,
            content=content,
            valid=valid and self.whole,
            # Where the operation is not offered, anything may answer.
            judged=judged and self.whole,
            **sent,
        )
        if answer.accepted:
            self.ground.settle(answer)
        return answer

    def stray(self, path: str) -> Answer:
        """Send the request to another path, which goes over the wire as it is written."""
        content, headers = None, dict(self.ground.headers)
        if self.operation.form_schema is None and self.body is not None:
            content, headers["content-type"] = json.dumps(self.body).encode(), _JSON
        return self.platform.api.client.stray(
            self.operation.id, path=path, content=content, headers=headers
        )

    def _names(self, place: str) -> frozenset[str]:
        parameters = self.operation.raw["parameters"]
        return frozenset(found["name"] for found in parameters if found["in"] == place)


def ground(name: str, platform: Platform) -> Ground:
    """Return the ground of an operation, laid out anew.

    Raises:
        FeatureUndeclared: the operation is part of a feature that the profile does not declare.
    """
    if (feature := platform.profile.features.lacks(name)) is not None:
        raise FeatureUndeclared(feature)
    return GROUNDS[name](platform) if name in GROUNDS else Ground()


def request(name: str, platform: Platform) -> Request:
    """Return the whole request of an operation, its ground laid out anew."""
    operation, laid = document().operations[name], ground(name, platform)
    if operation.method == "GET":
        laid = replace(laid, state=read_nothing)
    return Request(operation, laid, platform)


def any_request(name: str, platform: Platform) -> Request:
    """Return the whole request of an operation, or where its ground cannot be laid, another."""
    try:
        found = request(name, platform)
    except NOT_LAID:
        return groundless(name, platform)
    try:
        found.state()
    except NOT_LAID:
        # What cannot be read tells nothing, and the request may do without it.
        return replace(found, ground=replace(found.ground, state=read_nothing))
    return found


def groundless(name: str, platform: Platform) -> Request:
    """Return a request of an operation that names what does not exist, and has no body."""
    return Request(document().operations[name], Ground(), platform, whole=False)
