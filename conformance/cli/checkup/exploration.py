"""Asks a target what can be asked, and tells what a profile of it says beside the defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from conformance.cli.checkup import coins, offers
from conformance.cli.checkup.fitting import Values, fitted, heeded, listed_values
from conformance.cli.checkup.learned import Learned, question, refusal, told
from conformance.contract.judge import entries
from conformance.exchange.answer import Answer
from conformance.exchange.clock import now
from conformance.platform.given.approved import APPROVE
from conformance.platform.given.customers import verification_status
from conformance.platform.given.external_accounts import BENEFICIARY_PLACES, with_beneficiary_at
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Body,
    Resource,
    arranged_resource,
    as_resource,
    fill_template,
)
from conformance.profile.model import Environment
from conformance.testdata.accounts import AccountExample, account_examples
from conformance.testdata.examples import placed
from conformance.text.paths import value_at
from conformance.verdict.decisions import Unmet

_CURRENCY = re.compile(r"[A-Z]{3,5}")
_SIZES = ("limit", "pageSize", "page_size", "perPage", "per_page", "size", "count", "maxResults")
_CURSORS = (
    *("cursor", "after", "pageToken", "page_token", "nextToken", "next", "starting_after"),
    *("startingAfter", "pageCursor", "offset", "page"),
)
_LISTS = ("listDiscoveries", "listTransactions", "listPlatformInternalAccounts")
_DEPOSIT = 100_000
_REVIEWS = 3
_PAYMENT = 10_000
_PURPOSE = "purposeOfPayment"
_WALLETS = ("_WALLET", "LIGHTNING", "SPARK")
_MAX_SENT = 3

_CONSENT: Values = (
    ("version", "{version}"),
    ("ip", "203.0.113.7"),
    ("method", "CLICKWRAP"),
    ("at", "{now}"),
    ("time", "{now}"),
    ("date", "{now}"),
    ("accept", True),
    ("consent", True),
    ("agree", True),
)


@dataclass
class Explorer:
    """Looks at one target; what one look finds, later ones use.

    Without a sandbox nothing but reading is tried.
    """

    platform: Platform
    customer: Resource | None = None
    source: Resource | None = None
    accounts: dict[str, Resource] = field(default_factory=dict)
    _terms_shown: Mapping[str, Any] | None = None
    _terms_version: str | None = None
    _consent: Any = None
    _is_approved: bool = False
    _payable: list[str] = field(default_factory=list)
    _supported: list[str] = field(default_factory=list)
    _held: list[str] = field(default_factory=list)
    _beneficiary: str | None = None

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
        found = [code for row in rows if paths and isinstance(code := value_at(row, paths[0]), str)]
        self._supported = found
        yield from self._sent_currency(found)
        if paths and usual not in paths:
            yield Learned(
                ("bindings", "config_currency"),
                f"GET /config lists {rows[0]}",
                paths[0],
            )
        if not paths:
            yield question(
                "bindings.config_currency",
                f"{told(answer)}, and shows no currency in supportedCurrencies",
            )

    def _sent_currency(self, supported: list[str]) -> Iterator[Learned]:
        """Yield a corridor where none of those of the profile is in a supported currency."""
        currency = self.platform.profile.currency
        accounts = {one.currency: one.name for one in account_examples().values()}
        others = [one for one in supported if one in accounts]
        if currency in supported or not others:
            return
        row = {"sending": others[0], "receiving": others[0], "account": accounts[others[0]]}
        shown = f"GET /config lists {', '.join(supported)}, and no {currency}; run init again"
        yield Learned(("resources", "corridors"), shown, [row])

    def _terms(self) -> Iterator[Learned]:
        answer = self.platform.api.get_end_user_terms()
        if not answer.accepted or not isinstance(answer.body, Mapping):
            yield question(
                "bindings.terms_version",
                f"{told(answer)}: where are the terms that each customer consents to?",
            )
            return
        self._terms_shown = answer.body
        named = [str(name) for name in answer.body if "version" in str(name).lower()]
        usual = self.platform.profile.bindings.terms_version
        self._terms_version = usual if usual in answer.body or not named else named[0]
        if self._terms_version != usual:
            shown = f"{told(answer)} with {named}"
            yield Learned(("bindings", "terms_version"), shown, self._terms_version)

    def _newcomer(self) -> Iterator[Learned]:
        customers = self.platform.customers
        answer = self.platform.api.create_customer(customers.body())
        if self._terms_shown is not None:
            template, consented = fitted(
                self.platform.profile.bindings.terms_consent,
                _CONSENT,
                self._consenting,
                root="endUserTermsConsent",
            )
            if consented.accepted:
                if template != self.platform.profile.bindings.terms_consent:
                    template = heeded(template, self._consenting)
                answer, self._consent = consented, self._filled(template)
                shown = f"{told(answer)} with this consent"
                yield Learned(("bindings", "terms_consent"), shown, template)
                yield from self._unheeded_version(template)
            elif answer.accepted:
                yield question(
                    "bindings.terms_consent",
                    f"which members does a consent have? {refusal(consented)}",
                )
        if not answer.accepted:
            yield question(
                "bindings.customer", f"which members does a customer need? {refusal(answer)}"
            )
            return
        if not isinstance(answer.body, Mapping) or "id" not in answer.body:
            yield question("bindings.customer", f"{told(answer)}, and shows no id of the customer")
            return
        self.customer = as_resource(answer.body)
        yield from self._review(self.customer)

    def _review(self, customer: Resource) -> Iterator[Learned]:
        """Have a new customer approved, and yield how a review ends, where that is not known."""
        at_first = verification_status(customer)
        self.platform.approved.approve(customer)
        status = verification_status(self.platform.customers.at_status(customer, "APPROVED"))
        for _ in range(_REVIEWS):
            if status == "PENDING":
                status = verification_status(
                    self.platform.customers.at_status(customer, "APPROVED")
                )
        self._is_approved = status in ("APPROVED", None)
        is_mapped = APPROVE in self.platform.profile.triggers
        if not self._is_approved:
            yield question(
                f"triggers.{APPROVE}",
                f"a new customer {_came_to(customer, status)}"
                f"{self._vain_approval(customer)}: how does a review end with approval? Run "
                "init again once the profile says so, and it asks on",
            )
        elif status != at_first and not is_mapped:
            shown = f"a new customer was {at_first}, and its review ended with APPROVED by itself"
            yield Learned(("triggers", APPROVE), shown, {"command": ["true"]})

    def _vain_approval(self, customer: Resource) -> str:
        """Return what came of the trigger that should have approved; nothing if there is none."""
        if APPROVE not in self.platform.profile.triggers:
            return ""
        try:
            self.platform.triggers.fire(APPROVE, customerId=customer.id)
        except Unmet as error:
            return f", as the trigger failed ({error})"
        return " although the trigger succeeded"

    def _unheeded_version(self, template: Mapping[str, Any]) -> Iterator[Learned]:
        """Yield a question where any version of the terms is taken."""
        names = [name for name, value in template.items() if value == "{version}"]
        wrong = dict.fromkeys(names, "no such version")
        if not names or self._consenting({**template, **wrong}).accepted:
            yield question(
                "bindings.terms_consent",
                f"which member holds the version? {' and '.join(names) or 'None is known; any'} is "
                "taken whatever it says, so that requirements of the terms would fail",
            )

    def _consenting(self, template: Mapping[str, Any]) -> Answer:
        """Create a customer with a consent of a form."""
        consent = self._filled(template)
        body = self.platform.customers.body(endUserTermsConsent=consent)
        return self.platform.api.create_customer(body, valid=False)

    def _filled(self, template: Mapping[str, Any]) -> Any:
        terms, version = self._terms_shown or {}, self._terms_version
        shown = terms.get(version) if version else None
        return fill_template(template, {"{now}": f"{now():%Y-%m-%dT00:00:00Z}", "{version}": shown})

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
        self._held = [code for code in currencies if isinstance(code, str)]
        usual = self.platform.profile.currency
        account = currencies.get(usual)
        if account is None and not self._is_approved:
            return
        if account is None:
            yield question(
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
            yield question("triggers.deposit.arrive", f"how does a deposit arrive? {error}")

    def _external_accounts(self) -> Iterator[Learned]:
        if self.customer is None:
            return
        refused: dict[str, Answer] = {}
        yield from self._created_accounts(self.customer, refused)
        accepted = [account_examples()[name].account_type for name in self.accounts]
        if not accepted:
            why = next(map(refusal, refused.values()), "nothing was tried")
            yield question("resources.account_types", f"no external account is taken: {why}")
            return
        types: dict[str, list[str]] = {}
        for name, answer in refused.items():
            types.setdefault(refusal(answer), []).append(name)
        for why, names in types.items():
            yield question(
                "resources.account_types",
                "not offered, or in need of other values (bindings.accounts, beneficiary, "
                f"providers): {', '.join(names)}? {why}",
            )
        if wallets := [name for name in accepted if name.endswith(_WALLETS)]:
            shown = f"POST /customers/external-accounts takes {', '.join(wallets)}"
            yield Learned(("features", "crypto_payouts"), shown, value=True)

    def _created_accounts(
        self, customer: Resource, refused: dict[str, Answer]
    ) -> Iterator[Learned]:
        """Create an account of each type; ``refused`` takes the refusals in, by the type."""
        providers: dict[str, list[str]] = {}
        for example in _one_of_each_type():
            body = self._account_body(customer, example.name)
            answer = self.platform.api.create_external_account(body)
            if not answer.accepted and self._beneficiary is None:
                answer = self._with_beneficiary(body) or answer
            if listed := listed_values(answer, "provider"):
                named = placed(body, "accountInfo.provider", listed[0])
                again = self.platform.api.create_external_account(named, valid=False)
                if again.accepted:
                    answer, providers[example.currency] = again, listed
            elif answer.accepted:
                providers |= self._further_providers(example.currency, body)
            if answer.accepted and isinstance(answer.body, Mapping) and "id" in answer.body:
                self.accounts[example.name] = as_resource(answer.body, customer)
            else:
                refused[example.account_type] = answer
        if self._beneficiary is not None:
            shown = "POST /customers/external-accounts takes accounts with the beneficiary there"
            yield Learned(("bindings", "beneficiary"), shown, self._beneficiary)
        if providers:
            usual = self.platform.profile.bindings.providers
            shown = f"refusals of POST /customers/external-accounts list {', '.join(providers)}"
            yield Learned(("bindings", "providers"), shown, {**usual, **providers})

    def _further_providers(self, currency: str, body: Body) -> dict[str, list[str]]:
        """Return those of a currency if one but the first, which was taken, is refused."""
        for name in self.platform.profile.bindings.providers.get(currency, ())[1:]:
            named = placed(body, "accountInfo.provider", name)
            answer = self.platform.api.create_external_account(named, valid=False)
            if listed := listed_values(answer, "provider"):
                return {currency: listed}
        return {}

    def _account_body(self, customer: Resource, name: str) -> Body:
        """Return a body that creates an account, with the beneficiary where it is read."""
        body = self.platform.external_accounts.body(customer, name)
        place = self._beneficiary
        return body if place is None else with_beneficiary_at(body, place)

    def _with_beneficiary(self, body: Body) -> Answer | None:
        """Return the answer to a refused body once its beneficiary stands where it is read.

        The place is kept. Where the profile names another one than the usual, none is tried.
        """
        usual = BENEFICIARY_PLACES[0]
        if self.platform.profile.bindings.beneficiary != usual:
            return None
        for place in BENEFICIARY_PLACES[1:]:
            moved = with_beneficiary_at(body, place)
            if moved == body:
                return None
            answer = self.platform.api.create_external_account(moved, valid=False)
            if answer.accepted:
                self._beneficiary = place
                return answer
        return None

    def _corridors(self) -> Iterator[Learned]:
        if self.source is None or not self.accounts or not self._is_approved:
            return
        found: dict[str, str] = {}
        needing: dict[str, str] = {}
        why = ""
        # Other tests pay to the account whose ownership is asked for.
        owned = self.platform.profile.resources.ownership_account
        for name, account in sorted(
            self.accounts.items(), key=lambda one: (not _is_usual(one[0]), one[0] != owned)
        ):
            currency = account_examples()[name].currency
            ready = self.platform.external_accounts.activate(account)
            body = self.platform.quotes.body(self.source, ready, amount=_PAYMENT)
            answer = self.platform.api.create_quote(body)
            if not answer.accepted and _PURPOSE not in body and _PURPOSE in refusal(answer):
                purpose = self._purpose(answer)
                again = self.platform.api.create_quote({**body, _PURPOSE: purpose})
                if again.accepted:
                    answer, needing[currency] = again, purpose
            if answer.accepted:
                found.setdefault(currency, name)
            else:
                why = refusal(answer)
        if needing:
            shown = f"POST /quotes asks for a {_PURPOSE} in {', '.join(needing)}"
            yield Learned(("bindings", "purpose_of_payment"), shown, next(iter(needing.values())))
            yield Learned(("bindings", "purpose_currencies"), shown, sorted(needing))
        if not found:
            yield question("resources.corridors", f"which are there? POST /quotes: {why}")
            return
        sending = self.platform.profile.currency
        order = sorted(found, key=lambda one: (one in needing, one != sending, one))
        self._payable = [found[receiving] for receiving in order]
        rows = [
            {"sending": sending, "receiving": receiving, "account": found[receiving]}
            for receiving in sorted(found, key=lambda one: (one != sending, one))
        ]
        shown = f"POST /quotes from {sending} takes destinations in {', '.join(found)}"
        known = self.platform.profile.usual_corridor.account
        usual = next((row for row in rows if row["account"] == known), rows[0])
        if other := self._other_sending(usual):
            rows.append({**usual, "sending": other})
            shown += f", and one from {other} to {usual['account']}"
        yield Learned(("resources", "corridors"), shown, rows)

    def _other_sending(self, usual: Mapping[str, str]) -> str | None:
        """Return a currency of another worth that is sent to the usual account too, if any is.

        Args:
            usual: the corridor that is used by default.
        """
        # Coins that stand for US dollars have names that begin so, and are worth the same.
        worth = usual["sending"][:3]
        codes = dict.fromkeys([*self._held, *self._supported])
        for code in [code for code in codes if code[:3] != worth][:_MAX_SENT]:
            with suppress(Unmet):
                source, destination = self._ends({**usual, "sending": code})
                body = self.platform.quotes.body(source, destination, amount=_PAYMENT)
                if self.platform.api.create_quote(body).accepted:
                    return code
        return None

    def _ends(self, corridor: Mapping[str, str]) -> tuple[Resource, Resource]:
        """Return the accounts at the ends of a corridor, of a customer of its own.

        Raises:
            Unmet: there is none.
        """
        currencies = sorted({self.platform.profile.currency, corridor["sending"]})
        customer = self.platform.approved.individual(
            endUserTermsConsent=self._consent, currencies=currencies
        )
        source = self.platform.internal_accounts.account(
            corridor["sending"], amount=_DEPOSIT, customer=customer
        )
        body = self._account_body(customer, corridor["account"])
        account = arranged_resource(self.platform.api.create_external_account(body))
        return source, self.platform.external_accounts.activate(account)

    def _purpose(self, answer: Answer) -> str:
        """Return the purpose that the profile names, or one that a refusal may take."""
        known = self.platform.profile.bindings.purpose_of_payment
        return known or next(iter(listed_values(answer, _PURPOSE)), "GOODS_OR_SERVICES")

    def _readable_features(self) -> Iterator[Learned]:
        answer = self.platform.api.list_stablecoins()
        if answer.accepted:
            yield Learned(("features", "stablecoins"), told(answer), value=True)
        yield Learned(
            ("environment",),
            "is it a sandbox? Then say so, and init (with --sandbox) tries what changes something",
            is_question=True,
        )

    def _features(self) -> Iterator[Learned]:
        if self.customer is None:
            return
        account = next(iter(self.accounts.values()), None)
        found = list(offers.offered(self.platform, self.customer, account))
        yield from found
        if any(one.key == ("features", "stablecoins") and one.value for one in found):
            yield from coins.forms(self.platform, self.source, account)
        if self.source is not None and self._is_approved and self.accounts:
            # What is asked with a quote is asked with one that is taken.
            payable = {name: self.accounts[name] for name in self._payable} or self.accounts
            yield from offers.offered_in_quotes(self.platform, self.source, payable)

    def _suffixes(self) -> Iterator[Learned]:
        customers = self.platform.customers
        name = f"{self.platform.samples.full_name()}002"
        body = customers.body(fullName=name, endUserTermsConsent=self._consent)
        answer = self.platform.api.create_customer(body, valid=False)
        if not answer.accepted or not isinstance(answer.body, Mapping) or "id" not in answer.body:
            return
        customer = as_resource(answer.body)
        # A suffix decides the outcome once the submission is in (States, line 330).
        with suppress(Unmet):
            self.platform.verification.reviews.submission(customer)
        seen = customers.at_status(customer, "REJECTED")
        status = verification_status(seen)
        shown = f"a customer whose fullName ends in 002 {_came_to(customer, status)}"
        if status == "REJECTED":
            magic = {"magic": {"fullName": "Jane Rejected002"}}
            yield Learned(("triggers", "customer.reject"), shown, magic)
        elif "customer.reject" not in self.platform.profile.triggers:
            yield question("triggers.customer.reject", f"{shown}: how does a review reject one?")

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
            yield question(
                "bindings.list_page_size",
                f"which parameter sets the size of a page, if any does? No usual one; lists: "
                f"{names}",
            )
            return
        operation, query, rows, size = found
        shown = f"{operation} lists {len(rows)} entries, and one with {size}=1"
        yield Learned(("bindings", "list_page_size"), shown, size)
        page = self.platform.api.call(operation, query={**query, size: 1}).body
        shown_beside = page if isinstance(page, Mapping) else {}
        following = {
            name: value for name, value in shown_beside.items() if isinstance(value, str | int)
        }
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
        yield question("bindings.list_cursor", f"how is the page turned? {shown}")

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


def _came_to(new: Resource, status: str | None) -> str:
    """Return as text what a customer was as it was created, and after init had it reviewed."""
    before, after = (one or "shown without a status" for one in (verification_status(new), status))
    if before == after:
        return f"is {after}"
    return f"is {before} when created, and {after} after init asked for its review"


def _is_usual(name: str) -> bool:
    """Return whether an example is the one of its currency that is named after it."""
    return name == f"{account_examples()[name].currency.lower()}_account"


def _one_of_each_type() -> Iterator[AccountExample]:
    seen: set[str] = set()
    for example in account_examples().values():
        if example.account_type not in seen:
            seen.add(example.account_type)
            yield example


def _currency_paths(row: Any, start: str = "") -> Iterator[str]:
    """Yield the dotted paths in an entry of the configuration that lead to a currency's code."""
    if isinstance(row, Mapping):
        for name, value in row.items():
            yield from _currency_paths(value, f"{start}.{name}" if start else str(name))
    elif isinstance(row, str) and _CURRENCY.fullmatch(row):
        yield start
