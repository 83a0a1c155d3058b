"""Asks a target what can be asked, and tells what a profile of it says beside the defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.contract.judge import entries
from conformance.exchange.answer import Answer
from conformance.platform.given.customers import verification_status
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, as_resource
from conformance.profile.model import Environment
from conformance.testdata.accounts import AccountExample, account_examples
from conformance.text.paths import value_at
from conformance.verdict.decisions import Unmet

Key = tuple[str, ...]
"""The keys that lead to a value of a profile."""

_NOT_SERVED = frozenset({404, 405, 501})
_FORBIDDEN = 403
_CURRENCY = re.compile(r"[A-Z]{3,5}")
_SIZES = ("limit", "pageSize", "page_size", "perPage", "per_page", "size", "count", "maxResults")
_CURSORS = (
    *("cursor", "after", "pageToken", "page_token", "nextToken", "next", "starting_after"),
    *("startingAfter", "pageCursor", "offset", "page"),
)
_LISTS = ("listDiscoveries", "listTransactions", "listPlatformInternalAccounts")
_DEPOSIT = 100_000
_PAYMENT = 10_000
_WALLETS = ("_WALLET", "LIGHTNING", "SPARK")

_SERVED: Mapping[str, Callable[[Platform, Resource, Resource | None], Answer | None]] = {
    "hosted_onboarding": lambda platform, customer, _: platform.verification.links.create(customer),
    "direct_onboarding": lambda platform, customer, _: platform.verification.reviews.submit(
        customer
    ),
    "contact_verification": lambda platform, customer, _: platform.api.send_email_code(customer.id),
    "sca": lambda platform, *_: platform.api.complete_sca_login(body={}, valid=False),
    "factor_reset": lambda platform, *_: platform.api.start_factor_reset(body={}, valid=False),
    "deprecated_transfers": lambda platform, *_: platform.api.transfer_in(body={}, valid=False),
    "stablecoins": lambda platform, *_: platform.api.list_stablecoins(),
    "ownership_verification": lambda platform, _, account: (
        None
        if account is None
        else platform.api.challenge_ownership(account.id, body={}, valid=False)
    ),
    "trusted_beneficiaries": lambda platform, _, account: (
        None if account is None else platform.api.untrust_beneficiary(account.id)
    ),
}
"""A request for each feature that has an operation of its own, about a customer and an account."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What the target showed, and the key of the profile that says so.

    ``shown`` is the request that showed it, and what came. A question has no value.
    """

    key: Key
    shown: str
    value: Any = None
    is_question: bool = False


def _question(key: str, shown: str) -> Learned:
    return Learned(tuple(key.split(".", 1)), shown, is_question=True)


@dataclass
class Explorer:
    """Looks at one target; what one look finds, later ones use.

    Without a sandbox nothing but reading is tried.
    """

    platform: Platform
    customer: Resource | None = None
    source: Resource | None = None
    accounts: dict[str, Resource] = field(default_factory=dict)
    _has_consent: bool = False
    _is_approved: bool = False

    def looks(self) -> Iterator[tuple[str, Callable[[], Iterator[Learned]]]]:
        """Yield what to look at, in the order in which one needs the other."""
        yield "GET /config", self._configuration
        if self.platform.profile.environment is Environment.SANDBOX:
            yield "GET /customers/end-user-terms", self._terms
            yield "POST /customers", self._newcomer
            yield "GET /customers/internal-accounts", self._internal_accounts
            yield "POST /customers/external-accounts", self._external_accounts
            yield "POST /quotes", self._corridors
            yield "features", self._features
            yield "sandbox suffixes", self._suffixes
        else:
            yield "features", self._readable_features
        yield "pages of lists", self._pages

    def _configuration(self) -> Iterator[Learned]:
        answer = self.platform.api.get_config()
        listed = (
            answer.body.get("supportedCurrencies") if isinstance(answer.body, Mapping) else None
        )
        rows = listed if isinstance(listed, list) else []
        paths = [path for row in rows[:1] for path in _currency_paths(row)]
        usual = self.platform.profile.bindings.config_currency
        if paths and usual not in paths:
            yield Learned(
                ("bindings", "config_currency"),
                f"GET /config lists {rows[0]}",
                paths[0],
            )
        if not paths:
            yield _question(
                "bindings.config_currency",
                f"{_told(answer)}, and shows no currency in supportedCurrencies",
            )

    def _terms(self) -> Iterator[Learned]:
        answer = self.platform.api.get_end_user_terms()
        shown = answer.body if answer.accepted and isinstance(answer.body, Mapping) else {}
        named = [str(name) for name in shown if "version" in str(name).lower()]
        if named and self.platform.profile.bindings.terms_version not in shown:
            yield Learned(("bindings", "terms_version"), f"{_told(answer)} with {named}", named[0])

    def _newcomer(self) -> Iterator[Learned]:
        customers = self.platform.customers
        answers = [
            self.platform.api.create_customer(customers.body(**consent))
            for consent in ({}, {"endUserTermsConsent": customers.terms_consent()})
        ]
        plain, with_consent = answers
        if plain.accepted and not with_consent.accepted:
            yield _question(
                "bindings.terms_consent",
                f"which members does a consent have? {_refusal(with_consent)}",
            )
        answer = with_consent if with_consent.accepted else plain
        if not answer.accepted or not isinstance(answer.body, Mapping):
            yield _question(
                "bindings.customer", f"which members does a customer need? {_refusal(answer)}"
            )
            return
        self._has_consent = with_consent.accepted
        self.customer = as_resource(answer.body)
        self.platform.approved.approve(self.customer)
        status = verification_status(customers.at_status(self.customer, "APPROVED"))
        self._is_approved = status in ("APPROVED", None)
        if not self._is_approved:
            yield _question(
                "triggers.customer.approve",
                f"a new customer is {status}: how does a review end with approval? Run init again "
                "once the profile says so, and it asks on",
            )

    def _internal_accounts(self) -> Iterator[Learned]:
        if self.customer is None:
            return
        listed = self.platform.internal_accounts.of_customer(self.customer)
        currencies = {value_at(one, "balance.currency.code"): one for one in listed}
        if wallets := [one for one in listed if one.get("type") == "EMBEDDED_WALLET"]:
            shown = "GET /customers/internal-accounts lists an EMBEDDED_WALLET"
            currency = value_at(wallets[0], "balance.currency.code")
            yield Learned(("features", "embedded_wallets"), shown, value=True)
            yield Learned(("resources", "wallet_currency"), shown, currency)
        usual = self.platform.profile.currency
        account = currencies.get(usual)
        if account is None and not self._is_approved:
            return
        if account is None:
            yield _question(
                "resources.corridors",
                f"GET /customers/internal-accounts lists {sorted(map(str, currencies)) or 'none'}, "
                f"and no account in {usual}: which currencies are sent?",
            )
            return
        self.source = account.but(customerId=self.customer.id)
        if self._is_approved:
            yield from self._deposit(self.source)

    def _deposit(self, account: Resource) -> Iterator[Learned]:
        try:
            self.platform.internal_accounts.deposit(account, _DEPOSIT)
        except Unmet as error:
            yield _question("triggers.deposit.arrive", f"how does a deposit arrive? {error}")

    def _external_accounts(self) -> Iterator[Learned]:
        if self.customer is None:
            return
        refused: dict[str, Answer] = {}
        for example in _one_of_each_type():
            body = self.platform.external_accounts.body(self.customer, example.name)
            answer = self.platform.api.create_external_account(body)
            if answer.accepted and isinstance(answer.body, Mapping) and "id" in answer.body:
                self.accounts[example.name] = as_resource(answer.body, self.customer)
            else:
                refused[example.account_type] = answer
        accepted = [account_examples()[name].account_type for name in self.accounts]
        if not accepted:
            told = next(map(_refusal, refused.values()), "nothing was tried")
            yield _question("resources.account_types", f"no external account is taken: {told}")
            return
        for name, answer in refused.items():
            yield _question(
                "resources.account_types",
                f"is {name} not offered, or does it need other values (bindings.accounts, "
                f"bindings.providers)? {_refusal(answer)}",
            )
        if wallets := [name for name in accepted if name.endswith(_WALLETS)]:
            shown = f"POST /customers/external-accounts takes {', '.join(wallets)}"
            yield Learned(("features", "crypto_payouts"), shown, value=True)

    def _corridors(self) -> Iterator[Learned]:
        if self.source is None or not self.accounts or not self._is_approved:
            return
        found: dict[str, str] = {}
        refusal = ""
        for name, account in sorted(self.accounts.items(), key=lambda one: not _is_usual(one[0])):
            ready = self.platform.external_accounts.activate(account)
            body = self.platform.quotes.body(self.source, ready, amount=_PAYMENT)
            answer = self.platform.api.create_quote(body)
            if answer.accepted:
                found.setdefault(account_examples()[name].currency, name)
            else:
                refusal = _refusal(answer)
        if not found:
            yield _question("resources.corridors", f"which are there? POST /quotes: {refusal}")
            return
        sending = self.platform.profile.currency
        yield Learned(
            ("resources", "corridors"),
            f"POST /quotes from {sending} takes destinations in {', '.join(found)}",
            [
                {"sending": sending, "receiving": receiving, "account": found[receiving]}
                for receiving in sorted(found, key=lambda one: (one != sending, one))
            ],
        )

    def _readable_features(self) -> Iterator[Learned]:
        answer = self.platform.api.list_stablecoins()
        if answer.accepted:
            yield Learned(("features", "stablecoins"), _told(answer), value=True)
        yield Learned(
            ("environment",),
            "is it a sandbox? Then say so, and init (with --sandbox) tries what changes something",
            is_question=True,
        )

    def _features(self) -> Iterator[Learned]:
        if self.customer is None:
            return
        account = next(iter(self.accounts.values()), None)
        served = []
        for name, ask in _SERVED.items():
            try:
                answer = ask(self.platform, self.customer, account)
            except Unmet as error:
                yield _question(f"features.{name}", str(error))
                continue
            if answer is None or answer.status in _NOT_SERVED:
                continue
            if answer.status == _FORBIDDEN:
                yield _question(f"features.{name}", f"is it offered? {_told(answer)}")
                continue
            served.append(name)
            yield Learned(("features", name), _told(answer), value=True)
        if ways := {"hosted_onboarding", "direct_onboarding"}.intersection(served):
            shown = f"the service verifies customers ({', '.join(sorted(ways))})"
            yield Learned(("features", "platform"), shown, "unregulated")

    def _suffixes(self) -> Iterator[Learned]:
        customers = self.platform.customers
        name = f"{self.platform.samples.full_name()}002"
        consent = {"endUserTermsConsent": customers.terms_consent()} if self._has_consent else {}
        body = customers.body(fullName=name, **consent)
        answer = self.platform.api.create_customer(body)
        if not answer.accepted or not isinstance(answer.body, Mapping):
            return
        seen = customers.at_status(as_resource(answer.body), "REJECTED")
        shown = f"a customer whose fullName ends in 002 is {verification_status(seen)}"
        if verification_status(seen) == "REJECTED":
            magic = {"magic": {"fullName": "Jane Rejected002"}}
            yield Learned(("triggers", "customer.reject"), shown, magic)
        else:
            yield _question("triggers.customer.reject", f"{shown}: how does a review reject one?")

    def _pages(self) -> Iterator[Learned]:
        whole = list(self._long_lists())
        sized = (
            (operation, query, rows, name)
            for operation, query, rows in whole
            for name in _SIZES
            if len(self._rows(operation, {**query, name: 1})) == 1
        )
        found = next(sized, None)
        if found is None:
            names = ", ".join(operation for operation, *_ in whole) or "none has two entries"
            yield _question(
                "bindings.list_page_size",
                f"which parameter sets the size of a page? No usual one does; lists: {names}",
            )
            return
        operation, query, rows, size = found
        shown = f"{operation} lists {len(rows)} entries, and one with {size}=1"
        yield Learned(("bindings", "list_page_size"), shown, size)
        page = self.platform.api.call(operation, query={**query, size: 1}).body
        told = page if isinstance(page, Mapping) else {}
        following = {name: value for name, value in told.items() if isinstance(value, str | int)}
        for member, value in following.items():
            for cursor in _CURSORS:
                second = self._rows(operation, {**query, size: 1, cursor: value})
                if len(second) == 1 and second[0] != rows[0]:
                    shown = (
                        f"{operation} with {cursor}= its {member} lists the entry after the first"
                    )
                    yield Learned(("bindings", "list_cursor"), shown, cursor)
                    yield Learned(("bindings", "list_next"), shown, member)
                    return
        shown = f"{operation} with {size}=1 shows {sorted(following) or 'nothing'} beside its entry"
        yield _question("bindings.list_cursor", f"how is the page turned? {shown}")

    def _long_lists(self) -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
        """Yield the operations that list several entries, with their queries and the entries."""
        own = [] if self.customer is None else [("listCustomerExternalAccounts", self.customer.id)]
        for operation, customer in (*own, *((name, "") for name in _LISTS)):
            query = {"customerId": customer} if customer else {}
            rows = self._rows(operation, query)
            if len(rows) > 1:
                yield operation, query, rows

    def _rows(self, operation: str, query: Mapping[str, Any]) -> list[Any]:
        answer = self.platform.api.call(operation, query=query)
        return (entries(answer.body) or []) if answer.accepted else []


def _is_usual(name: str) -> bool:
    """Return whether an example is the one of its currency that is named after it."""
    return name == f"{account_examples()[name].currency.lower()}_account"


def _one_of_each_type() -> Iterator[AccountExample]:
    seen: set[str] = set()
    for example in account_examples().values():
        if example.account_type not in seen and example.sender == "INDIVIDUAL":
            seen.add(example.account_type)
            yield example


def _currency_paths(row: Any, start: str = "") -> Iterator[str]:
    """Yield the dotted paths in an entry of the configuration that lead to a currency's code."""
    if isinstance(row, Mapping):
        for name, value in row.items():
            yield from _currency_paths(value, f"{start}.{name}" if start else str(name))
    elif isinstance(row, str) and _CURRENCY.fullmatch(row):
        yield start


def _told(answer: Answer) -> str:
    operation = answer.operation
    return f"{operation.method} {operation.path} answered {answer.status}"


def _refusal(answer: Answer) -> str:
    """Return a refusal as text: what it says of each field, where it names any."""
    listed = value_at(answer.body, "details.errors")
    rows = [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list) else []
    fields = [f"{row.get('field')}: {row.get('message', row.get('constraint'))}" for row in rows]
    return f"{_told(answer)}: {'; '.join(fields)}" if fields else str(answer)
