"""What every operation of the interface is sent by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict, Unpack

import httpx

from conformance.exchange.answer import Answer
from conformance.exchange.client import RecordingClient
from conformance.exchange.cuts import Cut
from conformance.platform.ledger import Ledger
from conformance.platform.one_shots import OneShots
from conformance.platform.repetition import CREATION, Repetition
from conformance.platform.resource import arranged_body, listed_members
from conformance.profile.model import Profile
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed

Query = Mapping[str, Any]
"""The values of a query's parameters; those that are None are left out."""

MAX_PAGES = 500
_EMPTY_PAGE = 10
"""For how many pages one counts that lists nothing, as a list without end may have no others."""
PAGE_SIZE = 100


class OptionsBesideHeaders(TypedDict, total=False):
    """What may differ from one request of an operation to another, beside its headers.

    ``auth`` are other credentials than the target's, ``content`` bytes in the place of the body.
    ``valid`` says whether the request is meant to be valid by the OpenAPI document, ``judged``
    whether its answer is judged by it; both are True by default. ``cut`` is the moment at which the
    suite cuts the line, so that the answer is lost.
    """

    auth: httpx.Auth | None
    content: bytes | None
    valid: bool
    judged: bool
    cut: Cut


class Options(OptionsBesideHeaders, total=False):
    """What may differ from one request of an operation to another; ``headers`` are further ones."""

    headers: Mapping[str, str] | None


class Operations:
    """Sends requests with one client, and tells the ledger what may move money.

    Who ``explores`` asks for what the profile does not declare, too. ``repetition`` hears how
    requests for customers are answered.
    """

    def __init__(
        self,
        client: RecordingClient,
        profile: Profile,
        ledger: Ledger,
        one_shots: OneShots | None = None,
        *,
        explores: bool = False,
        repetition: Repetition | None = None,
    ) -> None:
        self.client = client
        self._repetition = repetition
        self._one_shots = one_shots
        self._bindings = profile.bindings
        self._features = None if explores else profile.features
        self._ledger = ledger

    def call(self, operation: str, **parts: Any) -> Answer:
        """Send an operation by its ``operationId``; as :meth:`RecordingClient.call`."""
        sent = {name: parts.get(name) for name in ("path", "body")}
        if self._one_shots is not None:
            self._one_shots.before(operation, sent)
        answer = self.client.call(operation, **parts)
        self._ledger.note(answer)
        if self._one_shots is not None:
            self._one_shots.after(sent, answer.body)
        is_usual = operation == CREATION and parts.get("auth") is None and parts.get("valid", True)
        if is_usual and self._repetition is not None:
            self._repetition.heed(parts.get("body"), answer)
        return answer

    def pages(
        self,
        operation: str,
        query: Query | None = None,
        *,
        path: Mapping[str, str] | None = None,
        auth: httpx.Auth | None = None,
        may_repeat: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Yield what an operation lists, page after page as the profile's bindings turn them.

        Args:
            operation: the ``operationId``.
            query: the query of the first page.
            path: the parameters of the path.
            auth: other credentials than the target's.
            may_repeat: whether a page that comes again is the last one, with its rows twice.

        Raises:
            PreconditionFailed: a page is refused, or is no list, or there are more than
                ``MAX_PAGES``: then nothing is known of the rest.
        """
        names = self._bindings
        asked = dict(query or {})
        left = MAX_PAGES
        before: tuple[Any, list[Any]] | None = None
        while left > 0:
            body = arranged_body(self.call(operation, path=path, query=asked, auth=auth))
            rows = listed_members(body)
            yield from rows
            left -= 1 if rows else _EMPTY_PAGE
            has_next = isinstance(body, Mapping) and names.list_next is not None
            following = body.get(names.list_next) if has_next else None
            if not following or not names.list_cursor:
                return
            page = following, [row.get("id") for row in rows]
            if may_repeat and rows and page == before:
                return
            before = page
            asked[names.list_cursor] = following
        raise PreconditionFailed(f"{operation} does not end within {MAX_PAGES} pages")

    def by_pages(self, operation: str, size: int, query: Query) -> Iterator[dict[str, Any]]:
        """Yield what an operation lists from pages of a size, or all at once.

        The profile's bindings say how pages are turned. A list that stands bare says nothing of
        where it goes on, and who refuses a size may have one for all pages.

        Raises:
            PreconditionFailed: a page is refused, or is no list.
        """
        names = self._bindings
        if names.list_page_size and names.list_next and names.list_cursor:
            sized = {**query, names.list_page_size: size}
            first = self.call(operation, query=sized)
            if first.accepted and isinstance(first.body, Mapping):
                return self.pages(operation, sized, may_repeat=True)
        return self.pages(operation, query)

    @property
    def large_pages(self) -> dict[str, Any]:
        """The query of as large pages as the suite asks for; none where they have one size."""
        name = self._bindings.list_page_size
        return {name: PAGE_SIZE} if name else {}

    def _send(
        self,
        operation: str,
        *,
        path: Mapping[str, Any] | None = None,
        query: Query | None = None,
        body: Any = None,
        form: Any = None,
        **options: Unpack[Options],
    ) -> Answer:
        if self._features and (feature := self._features.lacks(operation)) is not None:
            raise FeatureUndeclared(feature)
        return self.call(operation, path=path, query=query, body=body, form=form, **options)
