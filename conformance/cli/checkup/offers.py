"""Asks a sandbox which features it offers, by requests that do no more than they must."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.cli.checkup.learned import Learned, question, told
from conformance.contract.judge import error_code
from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource
from conformance.verdict.decisions import Unmet

_NOWHERE = "no-operation-of-the-interface"
_NOT_FOUND = 404
_NOT_SERVED = frozenset({405, 501})
_FORBIDDEN = 403
_NOBODY = "no-such-resource"
_PAYMENT = 10_000

_SHAPED_BY = {"platform_fees": ", with other members (bindings.platform_fee_override)"}
"""What else the question about a feature of quotes asks."""

Ask = Callable[[Platform, Resource, Resource | None], Answer | None]
"""Asks for one feature, about a customer and an external account; None where it cannot."""

_ABOUT_ITS_CUSTOMER: Mapping[str, Ask] = {
    "hosted_onboarding": lambda platform, customer, _: platform.verification.links.create(customer),
    "direct_onboarding": lambda platform, customer, _: platform.verification.reviews.submit(
        customer
    ),
    "contact_verification": lambda platform, customer, _: platform.api.send_email_code(customer.id),
    "trusted_beneficiaries": lambda platform, _, account: (
        None if account is None else platform.api.untrust_beneficiary(account.id)
    ),
}
"""Requests that may be accepted."""

_TO_BE_REFUSED: Mapping[str, Ask] = {
    "sca": lambda platform, *_: platform.api.complete_sca_login(body={}, valid=False),
    "factor_reset": lambda platform, *_: platform.api.start_factor_reset(body={}, valid=False),
    "deprecated_transfers": lambda platform, *_: platform.api.transfer_in(body={}, valid=False),
    "ownership_verification": lambda platform, _, account: (
        None
        if account is None
        else platform.api.challenge_ownership(account.id, body={}, valid=False)
    ),
    "agents": lambda platform, *_: platform.api.approve_transaction(_NOBODY),
    # A list of them may be there, and empty, where nobody can have one.
    "stablecoins": lambda platform, *_: platform.api.create_stablecoin(body={}, valid=False),
    "cards": lambda platform, *_: platform.api.simulate_return_reversal(
        _NOBODY, body={}, valid=False
    ),
}
"""Requests without what they need: who takes them takes everything."""


@dataclass(frozen=True, slots=True)
class Nowhere:
    """What a target answers where there is no operation."""

    status: int
    code: str | None

    @classmethod
    def of(cls, platform: Platform) -> Nowhere:
        """Ask a target for what the interface does not have."""
        client = platform.api.client
        status, body = client.trigger("POST", f"{client.base_url}/{_NOWHERE}", {})
        return cls(status, error_code(body))

    def serves(self, answer: Answer) -> bool:
        """Return whether an answer is one of an operation that is there."""
        if answer.status in _NOT_SERVED:
            return False
        if answer.status == _NOT_FOUND:
            # That a resource is not there is told by a code of its own.
            return answer.code is not None and answer.code != self.code
        return (answer.status, answer.code) != (self.status, self.code)


def offered(platform: Platform, customer: Resource, account: Resource | None) -> Iterator[Learned]:
    """Yield the features that have operations of their own, and questions about the others.

    Args:
        platform: who asks.
        customer: a customer of its own.
        account: an external account of the customer, if there is one.
    """
    nowhere = Nowhere.of(platform)
    is_served: dict[str, bool] = {}
    for name, ask in {**_ABOUT_ITS_CUSTOMER, **_TO_BE_REFUSED}.items():
        try:
            answer = ask(platform, customer, account)
        except Unmet as error:
            yield question(f"features.{name}", str(error))
            continue
        if answer is None or not nowhere.serves(answer):
            continue
        takes_all = name in _TO_BE_REFUSED and answer.accepted
        is_served[name] = answer.status != _FORBIDDEN and not takes_all
        if not is_served[name]:
            how = " to a request without what it needs" if takes_all else ""
            yield question(f"features.{name}", f"is it offered? {told(answer)}{how}")
            continue
        yield Learned(("features", name), _shown(answer), value=True)
    for name in ("agents", "cards"):
        if name not in is_served and not platform.profile.features.declares(name):
            yield question(f"features.{name}", "is it offered? Nothing that was asked shows it")
    if ways := [name for name in ("direct_onboarding", "hosted_onboarding") if is_served.get(name)]:
        shown = f"the service verifies customers ({', '.join(ways)})"
        yield Learned(("features", "platform"), shown, "unregulated")
    yield from _uma(platform, customer)


def _uma(platform: Platform, customer: Resource) -> Iterator[Learned]:
    usual = platform.profile.bindings.uma_address
    shown = [name for name in platform.customers.read(customer) if "uma" in str(name).lower()]
    if not shown:
        yield question("features.uma", "is it offered? A customer shows no member with uma in it")
        return
    text = f"GET /customers/{{customerId}} shows {', '.join(shown)}"
    yield Learned(("features", "uma"), text, value=True)
    if usual not in shown:
        yield Learned(("bindings", "uma_address"), text, shown[0])


def offered_in_quotes(
    platform: Platform, source: Resource, accounts: Mapping[str, Resource]
) -> Iterator[Learned]:
    """Yield the features that quotes show; none of the quotes is executed.

    Args:
        platform: who asks.
        source: an internal account of an approved customer.
        accounts: external accounts of the same customer, one at least, by the names of their
            examples.
    """
    ready = {
        name: platform.external_accounts.activate(account) for name, account in accounts.items()
    }
    usual = platform.quotes.body(source, next(iter(ready.values())), amount=_PAYMENT)
    fee = platform.profile.bindings.platform_fee_override
    just_in_time = {
        "sourceType": "REALTIME_FUNDING",
        "customerId": source["customerId"],
        "currency": platform.profile.resources.realtime_currency,
    }
    tried: dict[str, dict[str, Any]] = {
        "realtime_funding": {"source": just_in_time},
        **({"platform_fees": {"platformFeeOverride": fee}} if fee is not None else {}),
    }
    for name, members in tried.items():
        answer = platform.api.create_quote({**usual, **members}, valid=False)
        with_what = f"with {', '.join(members)} of {name}"
        if name == "platform_fees" and answer.accepted and not _own_fee(answer):
            yield question(
                "bindings.platform_fee_override",
                f"which members does it have? {told(answer)} {with_what}, and shows no "
                "platformFeesIncluded above 0",
            )
        elif answer.accepted:
            yield Learned(("features", name), f"{told(answer)} {with_what}", value=True)
        else:
            how = _SHAPED_BY.get(name, "")
            yield question(f"features.{name}", f"is it offered{how}? {answer} {with_what}")
    yield from _pulled(platform, usual, ready)


def _pulled(
    platform: Platform, usual: Mapping[str, Any], accounts: Mapping[str, Resource]
) -> Iterator[Learned]:
    known = platform.profile.resources.pullable_account
    home = {"destinationType": "ACCOUNT", "accountId": usual["source"]["accountId"]}
    for name in sorted(accounts, key=lambda one: one != known):
        source = {**usual["source"], "accountId": accounts[name].id}
        for destination in (usual["destination"], home):
            if destination["accountId"] == source["accountId"]:
                continue
            body = {**usual, "source": source, "destination": destination}
            answer = platform.api.create_quote(body, valid=False)
            if answer.accepted:
                shown = f"{told(answer)} with an account of {name} as the source"
                yield Learned(("features", "pullable_sources"), shown, value=True)
                yield Learned(("resources", "pullable_account"), shown, name)
                return
    yield question(
        "features.pullable_sources", "is it offered? No external account is taken as a source"
    )


def _own_fee(answer: Answer) -> Any:
    return answer.body.get("platformFeesIncluded") if isinstance(answer.body, Mapping) else None


def _shown(answer: Answer) -> str:
    return told(answer) + ("" if answer.code is None else f" {answer.code}")
