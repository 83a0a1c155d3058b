"""Mutants of the end-user terms and their acceptance."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, edited, receives
from conformance.proof.kit.edits import put, shows, where, without
from conformance.proof.kit.tables import with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.customers import customers, onboarding
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.store import Customer
from conformance.reference.transactions import transactions
from conformance.reference.unit import Ask, Unit

_UNKNOWN_VERSION = "END_USER_TERMS_VERSION_NOT_FOUND"


_NOT_ACCEPTED = "END_USER_TERMS_NOT_ACCEPTED"


# --- The terms and their acceptance ---------------------------------------------------------


for _requirement, _name, _patch in (
    ("TRM-001", "no-version", edited(onboarding, "terms", without("version"))),
    ("TRM-001", "empty-version", edited(onboarding, "terms", put("version", " "))),
    ("TRM-002", "no-url", edited(onboarding, "terms", without("url"))),
    ("TRM-002", "path-alone", edited(onboarding, "terms", put("url", "/terms/2025-10-01"))),
    ("TRM-006", "flag", edited(customers, "view", put("endUserTermsConsent", True))),
    (
        "TRM-006",
        "moment-alone",
        edited(customers, "view", put("endUserTermsConsent", "2026-01-15")),
    ),
):
    declare(_requirement, _name, "another form than is stated", _patch)


def _refusing_where(condition: Callable[[Json], bool]) -> Callable[[Json], Json]:
    def change(body: Json) -> Json:
        if condition(body):
            raise errors.invalid_input(errors.field_error("endUserTermsConsent", "Not expected."))
        return body

    return change


def _names_consent(body: Json) -> bool:
    return "endUserTermsConsent" in body


for _requirement, _place, _condition, _statement in (
    ("TRM-003", (onboarding, "create"), _names_consent, "a creation takes no acceptance"),
    ("TRM-004", (onboarding, "update"), _names_consent, "an update takes no acceptance"),
    (
        "TRM-005",
        (onboarding, "create"),
        lambda body: "endUserTermsConsent" not in body,
        "the acceptance is needed at creation",
    ),
):
    declare(_requirement, "refused", _statement, receives(*_place, _refusing_where(_condition)))


PARTS: tuple[tuple[str, str, str, str], ...] = (
    ("TRM-010", "TRM-014", "acceptedAt", "2020-01-01T00:00:00Z"),
    ("TRM-011", "TRM-015", "ipAddress", "127.0.0.1"),
    ("TRM-012", "TRM-016", "termsVersion", "1"),
    ("TRM-013", "TRM-017", "acceptanceMethod", "API"),
)
"""Requirements at creation and update, member and another value of it."""

for _at_creation, _by_update, _member, _value in PARTS:
    for _requirement in (_at_creation, _by_update):
        declare(
            _requirement,
            f"other-{_member}",
            f"the {_member} is not kept as it was sent",
            edited(customers, "view", put(f"endUserTermsConsent.{_member}", _value)),
        )


for _requirement, _member, _value in (
    ("TRM-010", "acceptedAt", "2020-01-01T00:00:00Z"),
    ("TRM-013", "acceptanceMethod", "API"),
):
    declare(
        _requirement,
        f"{_member}-answered",
        f"the answer to the creation shows another {_member} than is kept",
        edited(onboarding, "create", put(f"endUserTermsConsent.{_member}", _value)),
    )
    declare(
        _requirement,
        f"{_member}-of-a-business",
        f"the {_member} of a business is not kept as it was sent",
        edited(
            customers,
            "view",
            where(shows("customerType", "BUSINESS"), put(f"endUserTermsConsent.{_member}", _value)),
        ),
    )


def _in_local_time(customer: Json) -> Json:
    """Return a customer whose acceptance is dated by the clocks of Helsinki in summer."""
    if not customer.get("endUserTermsConsent"):
        return customer
    moment = datetime.fromisoformat(customer["endUserTermsConsent"]["acceptedAt"])
    local = moment.astimezone(timezone(timedelta(hours=3))).isoformat()
    shown: Json = put("endUserTermsConsent.acceptedAt", local)(customer)
    return shown


for _requirement in ("TRM-010", "TRM-014"):
    declare(
        _requirement,
        "local-time",
        "the moment of an acceptance is shown in local time",
        edited(customers, "view", _in_local_time),
    )
declare(
    "TRM-014",
    "answered",
    "the answer to the update shows another moment than is kept",
    edited(onboarding, "update", put("endUserTermsConsent.acceptedAt", "2020-01-01T00:00:00Z")),
)
declare(
    "TRM-016",
    "of-a-business",
    "the version that a business accepts is shown as another one",
    edited(
        customers,
        "view",
        where(shows("customerType", "BUSINESS"), put("endUserTermsConsent.termsVersion", "1")),
    ),
)


def _taking_texts(body: Json) -> Json:
    """Return a body less an acceptance that is a text."""
    given = body.get("endUserTermsConsent")
    return body if isinstance(given, dict) else without("endUserTermsConsent")(body)


def _taking_any_moment(body: Json) -> Json:
    """Return a body whose acceptance has a moment that can be read."""
    given = body.get("endUserTermsConsent")
    if not isinstance(given, dict) or "day" not in str(given.get("acceptedAt")):
        return body
    return {**body, "endUserTermsConsent": {**given, "acceptedAt": "2026-01-15T09:00:00Z"}}


for _requirement, _place, _reading, _statement in (
    ("TRM-020", (onboarding, "create"), _taking_texts, "an acceptance that is a text is left out"),
    ("TRM-021", (onboarding, "update"), _taking_texts, "an acceptance that is a text is left out"),
    ("TRM-022", (onboarding, "create"), _taking_any_moment, "any text is a moment"),
    ("TRM-023", (onboarding, "update"), _taking_any_moment, "any text is a moment"),
):
    declare(_requirement, "unread", _statement, receives(*_place, _reading))


def _updating(change: Callable[[Customer, Json | None, Json], None]) -> Apply:
    """Return a patch after which an update changes more: it gets the acceptance before, too."""

    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = customers.get(unit, ask.params["customerId"])
        before = customer.consent
        original(unit, ask)
        change(customer, before, ask.body)
        return customers.view(customer)

    return around(onboarding, "update", update)


def _keep_first(customer: Customer, before: Json | None, _body: Json) -> None:
    customer.consent = before or customer.consent


def _forget(customer: Customer, _before: Json | None, body: Json) -> None:
    customer.consent = customer.consent if _names_consent(body) else None


declare("TRM-018", "first-stays", "the first acceptance stays", _updating(_keep_first))
declare("TRM-019", "forgotten", "a change without acceptance forgets it", _updating(_forget))


@mutant("TRM-034", "an update that is refused for its version withdraws the acceptance")
def refusal_withdraws(patch: Patch) -> None:
    withdrawn: set[str] = set()

    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code == _UNKNOWN_VERSION:
                withdrawn.add(ask.params["customerId"])
            raise

    patch.wrap(onboarding, "update", update)
    patch.wrap(
        customers,
        "has_accepted_terms",
        lambda original, customer: customer.id not in withdrawn and original(customer),
    )


def any_version(patch: Patch) -> None:
    """Take whatever version is accepted."""
    patch.replace(
        onboarding,
        "accepted_terms",
        lambda _unit, body: body.get("endUserTermsConsent"),
    )


for _requirement in ("TRM-030", "TRM-031", "TRM-032", "TRM-033"):
    declare(_requirement, "any-version", "any version can be accepted", any_version)

for _requirement in ("TRM-030", "TRM-031"):
    declare(_requirement, "not-found", "it is answered by 404", with_status(_UNKNOWN_VERSION, 404))


@mutant("TRM-030", "an unknown version is some invalid input")
def version_by_another_code(patch: Patch) -> None:
    patch.wrap(onboarding, "accepted_terms", _by_another_code)


@mutant("TRM-031", "an unknown version is some invalid input")
def version_by_another_code_later(patch: Patch) -> None:
    patch.wrap(onboarding, "accepted_terms", _by_another_code)


def _by_another_code(original: Callable[..., Any], unit: Unit, body: Json) -> Any:
    try:
        return original(unit, body)
    except errors.Refusal:
        error = errors.field_error("endUserTermsConsent.termsVersion", "Unknown.")
        raise errors.invalid_input(error) from None


# --- No quotes before the acceptance --------------------------------------------------------


def _unchecked(condition: Callable[[quotes.Order], bool], *, business: bool = False) -> Apply:
    """Return a patch after which orders of a kind are quoted without any acceptance.

    With ``business`` that holds for those of businesses alone.
    """

    def patch(patch: Patch) -> None:
        drafted: list[bool] = []

        def draft(original: Callable[..., Any], unit: Unit, order: quotes.Order) -> Any:
            drafted.append(condition(order))
            try:
                return original(unit, order)
            finally:
                drafted.pop()

        patch.wrap(quotes, "draft", draft)
        patch.wrap(
            customers,
            "has_accepted_terms",
            lambda original, customer: (
                (
                    bool(drafted)
                    and drafted[-1]
                    and (not business or customer.customer_type == "BUSINESS")
                )
                or original(customer)
            ),
        )

    return patch


def _immediate(patch: Patch, *, business: bool = False) -> None:
    """Ask for the acceptance only where the quote is not executed at once.

    With ``business`` those of individuals are asked for it still.
    """
    asked_for: list[bool] = []

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = ask.body
        asked_for.append(isinstance(body, dict) and body.get("immediatelyExecute") is True)
        try:
            return original(unit, ask)
        finally:
            asked_for.pop()

    patch.wrap(quotes, "create", create)
    patch.wrap(
        customers,
        "has_accepted_terms",
        lambda original, customer: (
            (
                bool(asked_for)
                and asked_for[-1]
                and (not business or customer.customer_type == "BUSINESS")
            )
            or original(customer)
        ),
    )


for _requirement in ("TRM-040", "TRM-041"):
    declare(_requirement, "immediate", "an immediate execution needs no acceptance", _immediate)

declare(
    "TRM-040",
    "immediate-of-a-business",
    "an immediate execution of a business needs no acceptance",
    partial(_immediate, business=True),
)

declare(
    "TRM-042",
    "real-time",
    "a just-in-time funded quote needs no acceptance",
    _unchecked(lambda order: order.source.kind == "REALTIME"),
)
declare(
    "TRM-043",
    "cross-currency",
    "a cross-currency quote needs no acceptance",
    _unchecked(lambda order: order.source.currency != order.destination.currency),
)


@mutant("TRM-044", "a business needs no acceptance")
def businesses_exempt(patch: Patch) -> None:
    patch.wrap(
        customers,
        "has_accepted_terms",
        lambda original, customer: customer.customer_type == "BUSINESS" or original(customer),
    )


for _requirement, _name, _condition in (
    ("TRM-042", "real-time-of-a-business", lambda order: order.source.kind == "REALTIME"),
    ("TRM-800", "pulled-by-a-business", lambda order: order.source.external is not None),
):
    declare(
        _requirement,
        _name,
        f"a quote needs no acceptance that is {_name.replace('-', ' ')}",
        _unchecked(_condition, business=True),
    )


@mutant("TRM-030", "a business may accept any version")
def any_version_of_a_business(patch: Patch) -> None:
    def accepted_terms(original: Callable[..., Any], unit: Unit, body: Json) -> Any:
        if body.get("customerType") == "BUSINESS":
            return body.get("endUserTermsConsent")
        return original(unit, body)

    patch.wrap(onboarding, "accepted_terms", accepted_terms)


@mutant("TRM-045", "a refused quote leaves its transaction")
def transaction_left(patch: Patch) -> None:
    unchecked: list[bool] = []

    def answer(original: Callable[..., Any], self: Any, handler: Handler, ask: Ask) -> Any:
        try:
            return original(self, handler, ask)
        except errors.Refusal as refusal:
            if refusal.code == _NOT_ACCEPTED:
                unchecked.append(True)
                original(self, handler, ask)
                unchecked.clear()
            raise

    patch.wrap(Service, "answer", answer)
    patch.wrap(
        customers,
        "has_accepted_terms",
        lambda original, customer: bool(unchecked) or original(customer),
    )


@mutant("TRM-045", "a refused quote leaves its transaction, which shows no quote")
def unlinked_transaction_left(patch: Patch) -> None:
    transaction_left(patch)
    edited(transactions, "view", without("quoteId"))(patch)


@mutant("TRM-046", "the acceptance of one customer counts for all")
def acceptance_of_anyone(patch: Patch) -> None:
    given: list[Json] = []

    def accepted_terms(original: Callable[..., Any], unit: Unit, body: Json) -> Any:
        consent = original(unit, body)
        given.extend([consent] if consent else [])
        return consent

    patch.wrap(onboarding, "accepted_terms", accepted_terms)
    patch.replace(customers, "has_accepted_terms", lambda _customer: bool(given))


@mutant("TRM-800", "what is pulled needs no acceptance of the terms")
def pulled_without_terms(patch: Patch) -> None:
    pulled: list[bool] = []

    def drafted(draft: Function, unit: Unit, order: quotes.Order) -> Any:
        pulled.append(order.source.external is not None)
        try:
            return draft(unit, order)
        finally:
            pulled.pop()

    patch.wrap(quotes, "draft", drafted)
    patch.wrap(
        customers,
        "refuse_without_terms",
        lambda refuse, customer: None if any(pulled) else refuse(customer),
    )


@mutant("TRM-019", "a change of anything else keeps the version of an acceptance alone")
def cut_by_a_change(patch: Patch) -> None:
    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        original(unit, ask)
        customer = customers.get(unit, ask.params["customerId"])
        if customer.consent is not None and "endUserTermsConsent" not in ask.body:
            customer.consent = {"termsVersion": customer.consent["termsVersion"]}
        return customers.view(customer)

    patch.wrap(onboarding, "update", update)
