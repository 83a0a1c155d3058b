"""Mutants of limits: of lengths, sizes, amounts, shares and numbers of requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Handler,
    Json,
    around,
    before,
    instead,
    receives,
    recoded,
    skipped,
)
from conformance.proof.kit.edits import turned, where
from conformance.proof.kit.tables import with_field, with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.internal_accounts.toolkit import labelled, rowed
from conformance.proof.mutants.quotes.toolkit import (
    KINDS,
    PAYING,
    at_once,
    debit_though_refused,
    refusing,
    spelled,
)
from conformance.proof.mutants.verification.toolkit import blind_to, document_refused, owner_refused
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, platform, rules
from conformance.reference.authentication import factor_resets, logins
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import rule_based
from conformance.reference.quotes import limits, quotes
from conformance.reference.store import Customer, FactorReset, Quote, Transaction
from conformance.reference.unit import Ask, Unit, Upload, timestamp
from conformance.reference.unit import after as moment_after
from conformance.reference.verification import documents, kyc_links

# --- Texts and amounts of payments ----------------------------------------------------------

declare(
    "LIM-002",
    "remittanceInformation-without-max_length",
    "the rule max_length of remittanceInformation is not checked",
    with_field(rules, "QUOTE_FIELDS", "remittanceInformation", max_length=None),
)

for _requirement, _path, _statement, _changes in (
    ("LIM-001", "remittanceInformation", "the limit is one too low", {"max_length": 79}),
    ("LIM-002", "remittanceInformation", "the limit is one too high", {"max_length": 81}),
    ("LIM-003", "remittanceInformation", "it has to be given", {"required": True}),
):
    declare(
        _requirement,
        f"{_path}-{'-'.join(_changes)}-{next(iter(_changes.values()))}",
        f"{_path}: {_statement}",
        with_field(rules, "QUOTE_FIELDS", _path, **_changes),
    )


def _bytes_counted(member: str, most: int) -> Callable[[Unit, Ask], None]:
    """Return a check of a request by which a text has so many bytes, and not characters."""

    def refuse_long(_unit: Unit, ask: Ask) -> None:
        text = ask.body.get(member) if isinstance(ask.body, dict) else None
        if isinstance(text, str) and len(text.encode()) > most:
            raise errors.invalid_input(errors.field_error(member, f"Expected {most} bytes."))

    return refuse_long


for _kind in PAYING:
    _where = _kind.replace("-", " ")
    declare(
        "LIM-001",
        f"refused-{_kind}",
        f"a remittanceInformation is refused where the payment is {_where}",
        refusing(_kind, "remittanceInformation", bool),
    )
    declare(
        "LIM-001",
        f"one-too-low-{_kind}",
        f"the limit of a remittanceInformation is one too low where the payment is {_where}",
        refusing(_kind, "remittanceInformation", lambda text: len(text) >= 80),
    )

declare(
    "LIM-011",
    "bytes",
    "a remittanceInformation has at most 80 bytes",
    before(quotes, "create", _bytes_counted("remittanceInformation", 80)),
)
declare(
    "LIM-011",
    "ascii-counted",
    "a remittanceInformation is cut where it has other letters than those of ASCII",
    receives(
        quotes,
        "create",
        turned("remittanceInformation", lambda text: text if text.isascii() else text[:80]),
    ),
)


def _by_wire(body: Json) -> bool:
    destination = body.get("destination")
    return isinstance(destination, dict) and destination.get("paymentRail") == "WIRE"


declare(
    "LIM-002",
    "cut-by-wire",
    "a remittanceInformation is cut where the payment goes by wire",
    receives(
        quotes, "create", where(_by_wire, turned("remittanceInformation", lambda text: text[:80]))
    ),
)


for _kind in KINDS:
    declare(
        "LIM-002",
        f"cut-{_kind}",
        f"a remittanceInformation is cut where the payment is {_kind.replace('-', ' ')}",
        spelled(
            _kind,
            "remittanceInformation",
            lambda text: text[:80] if isinstance(text, str) else text,
        ),
    )
LIMITED: tuple[tuple[str, str, str, Callable[..., bool]], ...] = (
    ("LIM-004", "is_over_transaction_limit", "never", lambda amount, limit: False),
    ("LIM-004", "is_over_transaction_limit", "late", lambda amount, limit: amount > limit + 1),
    ("LIM-005", "is_over_transaction_limit", "early", lambda amount, limit: amount >= limit),
    ("LIM-006", "is_over_daily_limit", "never", lambda moved, amount, limit: False),
    (
        "LIM-084",
        "is_over_daily_limit",
        "early",
        lambda moved, amount, limit: moved + amount >= limit,
    ),
    ("LIM-085", "is_over_daily_limit", "never", lambda moved, amount, limit: False),
    (
        "LIM-085",
        "is_over_daily_limit",
        "late",
        lambda moved, amount, limit: moved + amount > limit + 1,
    ),
)
"""Requirement, function of the limits, when it says that one is passed, its replacement."""

for _requirement, _function, _when, _broken in LIMITED:
    declare(
        _requirement,
        f"{_function}-{_when}",
        f"{_function} says so {_when}",
        instead(limits, _function, _broken),
    )

declare(
    "LIM-004",
    "create-refuses-with-INVALID_INPUT",
    "create refuses with INVALID_INPUT instead of TRANSACTION_SIZE_LIMIT_EXCEEDED",
    recoded(quotes, "create", "INVALID_INPUT", "TRANSACTION_SIZE_LIMIT_EXCEEDED"),
)
declare(
    "LIM-004",
    "TRANSACTION_SIZE_LIMIT_EXCEEDED-at-409",
    "TRANSACTION_SIZE_LIMIT_EXCEEDED comes with 409",
    with_status("TRANSACTION_SIZE_LIMIT_EXCEEDED", 409),
)


def _unlimited_where(condition: Callable[[quotes.Order], bool]) -> Apply:
    """Return a patch after which quotes of such an order have no maximum."""
    return _unlimited(lambda _unit, order: condition(order))


def _unlimited(condition: Callable[[Unit, quotes.Order], bool]) -> Apply:
    """Return a patch after which quotes of such an order, in their unit, have no maximum."""

    def draft(original: Callable[..., Quote], unit: Unit, order: quotes.Order) -> Quote:
        if condition(unit, order):
            no_limits = {"transaction_limits": {"USD": 10**15}}
            unit = replace(unit, settings=unit.settings.model_copy(update=no_limits))
        return original(unit, order)

    return around(quotes, "draft", draft)


def _locks(side: str, order: quotes.Order) -> bool:
    return order.side == side


for _side in ("SENDING", "RECEIVING"):
    declare(
        "LIM-086",
        f"unlimited-where-{_side}-is-locked",
        f"there is no maximum where the {_side} amount is locked",
        _unlimited_where(partial(_locks, _side)),
    )

declare(
    "LIM-086",
    "unlimited-just-in-time",
    "there is no maximum of what is funded just in time",
    _unlimited_where(lambda order: order.source.kind == "REALTIME"),
)
declare(
    "LIM-086",
    "unlimited-where-pulled",
    "there is no maximum of what is pulled",
    _unlimited_where(lambda order: order.source.kind == "EXTERNAL"),
)


def _proves(unit: Unit, order: quotes.Order) -> bool:
    payer = order.source.customer_id
    return payer is not None and customers.needs_sca(customers.get(unit, payer))


declare(
    "LIM-086",
    "unlimited-where-proven",
    "there is no maximum of what a customer proves",
    _unlimited(_proves),
)


def _none_of(kind: str, order: quotes.Order, amount: int) -> int:
    return 0 if order.source.kind == kind else amount


def _volume_of(amount_of: Callable[[quotes.Order, int], int]) -> Apply:
    """Return a patch after which the volume is compared with another amount of a new quote."""

    def apply(patch: Patch) -> None:
        drafted: list[quotes.Order] = []

        def draft(original: Function, unit: Unit, order: quotes.Order) -> Quote:
            drafted[:] = [order]
            quote: Quote = original(unit, order)
            drafted.clear()
            return quote

        def refuse(
            original: Function, unit: Unit, customer: Customer, amount: int, currency: str
        ) -> None:
            of_order = amount_of(drafted[0], amount) if drafted else 0
            original(unit, customer, of_order, currency)

        patch.wrap(quotes, "draft", draft)
        patch.wrap(limits, "refuse_volume", refuse)

    return apply


declare(
    "LIM-088",
    "locked-amount",
    "the volume is compared with the locked amount, whatever its currency is",
    _volume_of(lambda order, _amount: order.amount),
)
declare(
    "LIM-087",
    "sending-locked-alone",
    "the volume is not looked at where the receiving amount is locked",
    _volume_of(lambda order, amount: amount if order.side == "SENDING" else 0),
)


declare(
    "LIM-116",
    "completed-forgotten",
    "a payment counts for the volume of its day until it completes",
    instead(limits, "_MOVED", limits._MOVED.where(Transaction.status != "COMPLETED")),
)


for _requirement, _name, _kind, _what in (
    ("ERR-010", "pulled", "EXTERNAL", "money is pulled"),
    ("LIM-085", "pulled", "EXTERNAL", "money is pulled"),
    ("LIM-095", "just-in-time", "REALTIME", "a quote is funded just in time"),
):
    declare(
        _requirement,
        _name,
        f"the volume is not looked at where {_what}",
        _volume_of(partial(_none_of, _kind)),
    )


def _without_volume(condition: Callable[[Customer], bool]) -> Apply:
    """Return a patch after which such a customer has no daily volume."""
    return skipped(limits, "refuse_volume", lambda _unit, customer, *_: condition(customer))


for _requirement in ("ERR-010", "LIM-085"):
    declare(
        _requirement,
        "unlimited-business",
        "a business has no daily volume",
        _without_volume(lambda customer: customer.customer_type == "BUSINESS"),
    )
    declare(
        _requirement,
        "unlimited-where-proven",
        "who proves payments has no daily volume",
        _without_volume(customers.needs_sca),
    )


declare(
    "LIM-006",
    "debits-though-refused",
    "the debit is not rolled back when DAILY_VOLUME_LIMIT_EXCEEDED refuses it",
    debit_though_refused("DAILY_VOLUME_LIMIT_EXCEEDED"),
)
declare(
    "LIM-007",
    "fee-in-any-currency",
    "a standing fee is taken in any currency",
    instead(platform, "broken_fee", lambda _config: []),
)
declare(
    "LIM-007",
    "first-fee-alone",
    "of several standing fees the first one alone is checked",
    around(platform, "fee_config_errors", lambda check, configs: check(configs[:1])),
)
declare(
    "LIM-007",
    "last-fee-alone",
    "of several standing fees the last one alone is checked",
    around(platform, "fee_config_errors", lambda check, configs: check(configs[-1:])),
)
declare(
    "LIM-008",
    "override-everywhere",
    "the platform's fee is taken in any currency",
    instead(quotes, "refuse_foreign_override", lambda _order: None),
)


@mutant(
    "LIM-008",
    "the platform's fee is for what arrives in dollars",
    (quotes, "refuse_foreign_override"),
    around,
)
def override_into_dollars(original: Callable[[quotes.Order], None], order: quotes.Order) -> None:
    if order.destination.currency != "USD":
        original(order)


for _form, _what, _exempt in (
    ("receiving", "the receiving side is locked", lambda order: order.side == "RECEIVING"),
    ("uma", "a UMA address is paid", lambda order: order.destination.kind == "UMA"),
):
    declare(
        "LIM-008",
        f"unchecked-{_form}",
        f"the platform's fee is taken in any currency where {_what}",
        skipped(quotes, "refuse_foreign_override", _exempt),
        at=f"[{_form}]",
    )


@mutant("LIM-008", "the platform's fee is taken in any currency where a quote is executed at once")
def override_at_once(patch: Patch) -> None:
    sent: list[bool] = []

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        sent.append(isinstance(ask.body, dict) and at_once(ask.body))
        return original(unit, ask)

    patch.wrap(quotes, "create", create)
    patch.wrap(
        quotes,
        "refuse_foreign_override",
        lambda original, order: None if sent[-1:] == [True] else original(order),
    )


@mutant("LIM-008", "a stablecoin counts as dollars", (quotes, "refuse_foreign_override"), around)
def override_in_stablecoins(original: Callable[[quotes.Order], None], order: quotes.Order) -> None:
    if order.source.currency != "USDC":
        original(order)


TRANSFERS = (
    ("LIM-080", "LIM-081", "is_over_transaction_limit", "TRANSACTION_SIZE_LIMIT_EXCEEDED"),
    ("LIM-082", "LIM-083", "is_over_daily_limit", "DAILY_VOLUME_LIMIT_EXCEEDED"),
)
"""Requirements of the refusal of a transfer and of its debit, function of the limits, code."""

for _refused, _undebited, _function, _code in TRANSFERS:
    for _requirement in (_refused, _undebited):
        declare(
            _requirement,
            "unlimited",
            "there is no limit",
            instead(limits, _function, lambda *_: False),
        )
    declare(_undebited, "debited", "the debit is not rolled back", debit_though_refused(_code))

declare(
    "LIM-080", "at-409", "it is a conflict", with_status("TRANSACTION_SIZE_LIMIT_EXCEEDED", 409)
)
declare("LIM-082", "at-400", "it is a bad request", with_status("DAILY_VOLUME_LIMIT_EXCEEDED", 400))


# --- Labels and keys of rule-based accounts -------------------------------------------------

declare("LIM-050", "short", "a label has at most 254 characters", rowed("label", max_length=254))
declare("LIM-051", "long", "a label has at most 256 characters", rowed("label", max_length=256))
declare("LIM-051", "unlimited", "a label may be of any length", rowed("label", max_length=None))
declare("LIM-054", "cut", "a label is cut short", labelled(lambda t: t and t[:100]))
declare(
    "LIM-056",
    "bytes",
    "a label has at most 255 bytes",
    before(rule_based, "create", _bytes_counted("label", 255)),
)


def _keys_of(longest: int) -> Apply:
    """Return a patch after which a key has at most ``longest`` characters."""
    return instead(rule_based, "longest_key", lambda: longest)


for _requirement, _name, _longest in (
    ("LIM-052", "short", 254),
    ("LIM-053", "long", 256),
    ("LIM-053", "unlimited", 10_000),
):
    declare(_requirement, _name, f"a key has at most {_longest} characters", _keys_of(_longest))


@mutant("LIM-055", "a long key is cut short where it is kept")
def key_cut(patch: Patch) -> None:
    patch.wrap(
        rule_based,
        "claim",
        lambda claim, unit, key, account, body: claim(unit, key[:200], account, body),
    )


# --- Keys of hosted links -------------------------------------------------------------------


@mutant("LIM-020", "the limit of keys is one too low")
def short_keys(patch: Patch) -> None:
    patch.replace(rules, "MAX_IDEMPOTENCY_KEY_CHARS", 254)


@mutant("LIM-021", "the limit of keys is one too high")
def long_keys(patch: Patch) -> None:
    patch.replace(rules, "MAX_IDEMPOTENCY_KEY_CHARS", 256)


@mutant("LIM-021", "keys have no limit")
def endless_keys(patch: Patch) -> None:
    patch.replace(kyc_links, "refuse_long_key", lambda _ask: None)


# --- Resets of factors -----------------------------------------------------------------------


@mutant("LIM-070", "a customer starts four resets a day")
def four_starts(patch: Patch) -> None:
    patch.replace(factor_resets, "MAX_STARTS", 4)


@mutant("LIM-071", "a customer starts six resets a day")
def six_starts(patch: Patch) -> None:
    patch.replace(factor_resets, "MAX_STARTS", 6)


@mutant("LIM-071", "too many starts are refused with 409")
def too_many_conflict(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "RATE_LIMITED", 409)


def _counting(*counted: str) -> Apply:
    """Count the starts of resets that are at one of some statuses."""

    def starts(unit: Unit, customer: Customer) -> list[str]:
        query = select(FactorReset.factor).where(FactorReset.customer_id == customer.id)
        return list(unit.session.scalars(query.where(FactorReset.status.in_(counted))))

    return instead(factor_resets, "starts", starts)


declare(
    "LIM-071",
    "rejected",
    "resets that were rejected do not count",
    _counting("INITIATED", "PENDING_REVIEW", "LIVENESS_PASSED", "COMPLETED", "EXPIRED"),
)
declare(
    "LIM-071",
    "completed",
    "resets that were completed do not count",
    _counting("INITIATED", "PENDING_REVIEW", "LIVENESS_PASSED", "REJECTED", "EXPIRED"),
)


def _business_counts(starts: Function, unit: Unit, customer: Customer) -> list[str]:
    found: list[str] = starts(unit, customer)
    return [] if customer.customer_type == "BUSINESS" else found


declare(
    "LIM-071",
    "business",
    "a business starts as many resets as it likes",
    around(factor_resets, "starts", _business_counts),
)


def _business_is_limited(unit: Unit, customer: Customer) -> None:
    if customer.customer_type == "BUSINESS" and len(factor_resets.starts(unit, customer)) > 2:
        raise errors.Refusal("RATE_LIMITED", "A business has started three resets today.")


declare(
    "LIM-070",
    "business",
    "a business starts three resets a day",
    before(factor_resets, "refuse_beyond_cap", _business_is_limited),
)


@mutant("LIM-072", "the starts of all customers count together")
def starts_of_all(patch: Patch) -> None:
    patch.replace(
        factor_resets,
        "starts",
        lambda unit, _: list(unit.session.scalars(select(FactorReset.factor))),
    )


@mutant("LIM-073", "the starts count for each factor alone")
def starts_by_factor(patch: Patch) -> None:
    def counting(start: Function, unit: Unit, ask: Ask) -> Json:
        customer = factor_resets.customer_of(unit, ask)
        same = [f for f in factor_resets.starts(unit, customer) if f == ask.body["factor"]]
        if len(same) >= factor_resets.MAX_STARTS:
            raise errors.Refusal("RATE_LIMITED", "The factor was reset too often.")
        begun: Json = start(unit, ask)
        return begun

    patch.wrap(factor_resets, "start", counting)
    patch.replace(factor_resets, "refuse_beyond_cap", lambda _unit, _customer: None)


@mutant(
    "LIM-074",
    "who started too many resets completes none either",
    (factor_resets, "complete"),
    before,
)
def completions_limited(unit: Unit, ask: Ask) -> None:
    factor_resets.refuse_beyond_cap(unit, factor_resets.customer_of(unit, ask))


@mutant("LIM-075", "a session ends after 90 days")
def short_session(patch: Patch) -> None:
    patch.replace(logins, "SESSION_SECONDS", 90 * 86_400)


@mutant("LIM-075", "a session ends after six months of the calendar, which are 181 days or more")
def session_in_months(patch: Patch) -> None:
    patch.replace(logins, "SESSION_SECONDS", 181 * 86_400)


@mutant("LIM-075", "a session of 180 days is counted in hours")
def session_in_hours(patch: Patch) -> None:
    patch.replace(logins, "SESSION_SECONDS", 180 * 3_600)


@mutant("LIM-075", "the session of a business ends after 90 days", (logins, "complete"))
def short_session_of_a_business(complete: Function, unit: Unit, ask: Ask) -> Json:
    session: Json = complete(unit, ask)
    if factor_resets.customer_of(unit, ask).customer_type != "BUSINESS":
        return session
    return {"sessionExpiresAt": timestamp(moment_after(unit.now, 90 * 86_400))}


# --- Files ----------------------------------------------------------------------------------


def is_old(_unit: Unit, ask: Ask) -> bool:
    """Return whether a file is dated more than three weeks ago."""
    found = re.search(rb"Date: (\d{4}-\d\d-\d\d)", ask.files["file"].content)
    if found is None:
        return False
    return (datetime.now(UTC).date() - date.fromisoformat(found[1].decode())).days > 21


declare(
    "LIM-036",
    "proofs-have-to-be-of-this-month",
    "proofs have to be of this month",
    document_refused(is_old),
)


@mutant("LIM-034", "10 megabytes are one byte too much")
def limit_one_low(patch: Patch) -> None:
    patch.replace(documents, "MAX_FILE_BYTES", 9_999_999)


@mutant("LIM-034", "a file has at most one megabyte, as bodies in JSON have")
def limit_of_bodies(patch: Patch) -> None:
    patch.replace(documents, "MAX_FILE_BYTES", 1_000_000)


@mutant("LIM-035", "files may have 11 megabytes")
def limit_too_high(patch: Patch) -> None:
    patch.replace(documents, "MAX_FILE_BYTES", 11 * 1024 * 1024)


@mutant("LIM-035", "images may be as large as they are")
def large_images(patch: Patch) -> None:
    def errors_of(original: Function, files: dict[str, Upload]) -> Any:
        file = files.get("file")
        if file is None or not file.content_type.startswith("image/"):
            return original(files)
        start = file.content[: documents.MAX_FILE_BYTES]
        return original({**files, "file": replace(file, content=start)})

    patch.wrap(documents, "file_errors", errors_of)


@mutant("LIM-035", "a file one byte too large is let through")
def limit_one_high(patch: Patch) -> None:
    patch.replace(documents, "MAX_FILE_BYTES", documents.MAX_FILE_BYTES + 1)


declare(
    "LIM-037",
    "not-seen",
    "a document that is OUTDATED is taken in",
    blind_to("OUTDATED"),
)


@mutant("LIM-037", "the papers of an owner may be of any age", (documents, "create"), before)
def papers_of_owners_of_any_age(unit: Unit, ask: Ask) -> None:
    owner = documents.holder(unit, ask.body["documentHolder"])
    owned = ask.body["documentHolder"].startswith("BeneficialOwner:")
    if owned and owner.conditions.get(documents.FAULT) == "OUTDATED":
        owner.conditions = {}


@mutant("LIM-037", "a tax return may be of any year", (documents, "create"), before)
def tax_return_of_any_year(unit: Unit, ask: Ask) -> None:
    owner = documents.holder(unit, ask.body["documentHolder"])
    if (
        ask.body["documentType"] == "TAX_RETURN"
        and owner.conditions.get(documents.FAULT) == "OUTDATED"
    ):
        owner.conditions = {}


# --- Shares of owners -----------------------------------------------------------------------

WRONGLY_REFUSED: tuple[tuple[str, str, Callable[[Unit, Json], bool]], ...] = (
    ("LIM-030", "a quarter is too little", lambda _, owner: owner["ownershipPercentage"] <= 25),
    ("LIM-031", "a quarter from everybody", lambda _, owner: owner["ownershipPercentage"] < 25),
    ("LIM-032", "everybody owns something", lambda _, owner: owner["ownershipPercentage"] == 0),
)
"""Requirement, statement and the owners that are refused."""

for _requirement, _statement, _condition in WRONGLY_REFUSED:
    declare(_requirement, _statement.replace(" ", "-"), _statement, owner_refused(_condition))
