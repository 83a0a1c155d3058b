"""Grounds: for each operation live resources, and a whole request that it accepts on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from conformance.contract.document import Operation, document
from conformance.exchange.answer import Answer
from conformance.platform.given.cards import PRICE
from conformance.platform.given.stablecoins import Kind
from conformance.platform.given.transfers import Direction
from conformance.platform.given.verification import submissions_in
from conformance.platform.platform import Platform
from conformance.platform.resource import Body, Json, Resource, fill_template
from conformance.testdata.accounts import account_examples
from conformance.verdict.decisions import (
    FeatureUndeclared,
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
)

MADE_UP = "00000000-0000-4000-8000-000000000000"
"""In the place of a parameter of the path that no resource is there for."""

_DEPOSIT = 100_000
_TRANSFER = 1_000
_JSON = "application/json"
_UNMET = (FeatureUndeclared, PreconditionFailed, ResourceMissing, TriggerFailed, TriggerMissing)
_CARD_TRIGGERS = ("deposit.arrive", "card.issue", "card.authorize", "card.settle", "card.return")


def _nothing() -> None:
    """Read nothing: the operation changes nothing that can be seen."""


def _settled(_: Answer) -> None:
    """Note nothing: the operation moves no money."""


@dataclass(frozen=True)
class Ground:
    """What exists on the target for the requests of one operation.

    ``path`` and ``query`` are values of parameters, ``live`` values of members by their dotted
    paths. ``body`` is a valid one (of a form, its parts), and ``twin`` sends one that the operation
    accepts. In a value of ``headers``, ``{key}`` stands for a text of each request's own.

    Generated requests are many, and their ``body`` is one that may be sent often. Of a whole
    request, ``right`` is the body where it is another one, and ``asking`` further values of the
    query.

    ``state`` reads what the operation would change, as far as that can be seen: two readings are
    equal unless something has changed it. ``settle`` tells the audit what an accepted request
    moved.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    live: Mapping[str, Any] = field(default_factory=dict)
    body: Body = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    twin: Callable[[], Answer] | None = None
    right: Body | None = None
    asking: Mapping[str, str] = field(default_factory=dict)
    state: Callable[[], Any] = _nothing
    settle: Callable[[Answer], None] = _settled


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
        return self.ground.state is not _nothing

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
    """Return the ground of an operation, laid out anew."""
    return GROUNDS[name](platform) if name in GROUNDS else Ground()


def request(name: str, platform: Platform) -> Request:
    """Return the whole request of an operation, its ground laid out anew."""
    operation, laid = document().operations[name], ground(name, platform)
    if operation.method == "GET":
        laid = replace(laid, state=_nothing)
    return Request(operation, laid, platform)


def any_request(name: str, platform: Platform) -> Request:
    """Return the whole request of an operation, or where its ground cannot be laid, another."""
    try:
        found = request(name, platform)
    except _UNMET:
        return groundless(name, platform)
    try:
        found.state()
    except _UNMET:
        # What cannot be read tells nothing, and the request may do without it.
        return replace(found, ground=replace(found.ground, state=_nothing))
    return found


def groundless(name: str, platform: Platform) -> Request:
    """Return a request of an operation that names what does not exist, and has no body."""
    return Request(document().operations[name], Ground(), platform, whole=False)


def _money(platform: Platform, account: Json) -> Callable[[], Any]:
    """Return what reads an account's balances and the transactions of its owner."""
    return lambda: (
        platform.internal_accounts.balances(account),
        _rows(platform, account["customerId"]),
    )


def _rows(platform: Platform, owner: str) -> Any:
    return sorted(
        (str(t.get("id")), str(t.get("status"))) for t in platform.transactions.of_customer(owner)
    )


def _customer(platform: Platform, customer: Json, *members: str) -> Callable[[], Any]:
    """Return what reads members of a customer."""

    def read() -> Any:
        seen = platform.customers.read(customer)
        return {name: seen.get(name) for name in members}

    return read


def _external(platform: Platform, account: Json) -> Callable[[], Any]:
    """Return what reads an external account: the status of the answer, and what it shows."""

    def read() -> Any:
        answer = platform.api.get_external_account(account["id"])
        shown = dict(answer.body) if isinstance(answer.body, Mapping) and answer.accepted else {}
        # What is kept of the account itself; not when somebody looked at it last.
        shown.pop("updatedAt", None)
        return answer.accepted, shown

    return read


def _owner(platform: Platform) -> Resource:
    return platform.approved.customer()


def _account(platform: Platform) -> Resource:
    funded = "deposit.arrive" in platform.profile.triggers
    return platform.internal_accounts.account(amount=_DEPOSIT if funded else 0)


def _create_quote(platform: Platform) -> Ground:
    source = _account(platform)
    body = platform.quotes.body(source)
    return Ground(
        live={
            "source.accountId": source["id"],
            "source.customerId": source["customerId"],
            "source.currency": platform.profile.resources.realtime_currency,
            "destination.accountId": body["destination"]["accountId"],
        },
        body=body,
        twin=lambda: platform.api.create_quote(body),
        state=_money(platform, source),
        settle=lambda answer: _note_quote(platform, answer),
    )


def _note_quote(platform: Platform, answer: Answer) -> None:
    if isinstance(answer.body, Mapping):
        platform.ledger.quotes[str(answer.body.get("id"))] = answer.body


def _execute_quote(platform: Platform) -> Ground:
    source = _account(platform)
    return Ground(
        path={"quoteId": platform.quotes.pending(source)["id"]}, state=_money(platform, source)
    )


def _authorize_quote(platform: Platform) -> Ground:
    can_challenge = "deposit.arrive" in platform.profile.triggers and platform.profile.features.sca
    source = platform.sca.account() if can_challenge else _account(platform)
    quote = (
        platform.sca.challenged(source=source) if can_challenge else platform.quotes.pending(source)
    )
    return Ground(
        path={"quoteId": quote["id"]},
        body={"code": platform.profile.bindings.sca_wrong_code},
        right=platform.sca.proof_for(quote),
        state=_money(platform, source),
        # With a quote of its own: the proofs before may have locked the other's customer out.
        twin=lambda: platform.sca.send_proof(platform.sca.challenged()),
    )


def _approve_transaction(platform: Platform) -> Ground:
    source = _account(platform)
    waits = platform.profile.features.agents and all(
        map(platform.triggers.maps, ("deposit.arrive", "agent.initiate"))
    )
    payment = platform.agents.initiate(source) if waits else platform.quotes.pending(source)
    return Ground(path={"transactionId": payment["transactionId"]}, state=_money(platform, source))


def _create_customer(platform: Platform) -> Ground:
    body = platform.customers.body(endUserTermsConsent=platform.customers.terms_consent())
    return Ground(body=body, twin=lambda: platform.api.create_customer(body))


def _of_customer(platform: Platform) -> Ground:
    return Ground(path={"customerId": _owner(platform)["id"]})


def _update_customer(platform: Platform) -> Ground:
    customer = _owner(platform)
    return Ground(
        path={"customerId": customer["id"]},
        right={"fullName": platform.samples.full_name()},
        state=_customer(platform, customer, "fullName"),
    )


def _by_customer(platform: Platform) -> Ground:
    return Ground(query={"customerId": _owner(platform)["id"]})


def _create_external_account(platform: Platform) -> Ground:
    owner = _owner(platform)
    body = platform.external_accounts.body(owner)
    return Ground(
        live={"customerId": owner["id"], "currency": body["currency"]},
        body=body,
        twin=lambda: platform.api.create_external_account(body),
        state=lambda: sorted(
            str(row.get("id")) for row in platform.external_accounts.of_customer(owner)
        ),
    )


def _of_external_account(platform: Platform) -> Ground:
    owner = _owner(platform)
    account = platform.external_accounts.account(owner)
    return Ground(
        path={"externalAccountId": account["id"], "accountId": account["id"]},
        query={"customerId": owner["id"], "sendingCurrency": platform.profile.currency},
        state=_external(platform, account),
    )


def _untrust(platform: Platform) -> Ground:
    if not platform.triggers.maps("beneficiary.trust"):
        return _of_external_account(platform)
    account = platform.trust.trusted(platform.trust.customer())
    return Ground(
        path={"externalAccountId": account["id"]},
        right=dict(platform.profile.bindings.untrust),
    )


def _confirm(operation: str) -> Callable[[Platform], Ground]:
    def lay(platform: Platform) -> Ground:
        here = _untrust(platform)
        account = {"id": here.path["externalAccountId"]}
        platform.trust.ask_to_untrust(account)
        # A path of which the specification means the other reading may be answered by anybody.
        if not platform.trust.serves_confirmation(operation, account):
            raise ResourceMissing(f"{operation} is not served")
        # The wrong code that told so may have ended the untrusting.
        platform.trust.ask_to_untrust(account)
        return replace(
            here,
            body=platform.trust.confirmation_body(right=False),
            right=platform.trust.confirmation_body(),
        )

    return lay


def _prove(platform: Platform) -> Ground:
    if not platform.triggers.maps("ownership.demand"):
        return _of_external_account(platform)
    account = platform.ownership.unproven(platform.external_accounts.account_holder())
    return Ground(
        path={"externalAccountId": account["id"]},
        body=dict(platform.profile.bindings.ownership_challenges.get("signature", {})),
    )


def _verify(platform: Platform) -> Ground:
    here = _prove(platform)
    platform.ownership.start({"id": here.path["externalAccountId"]}, "signature")
    return replace(
        here,
        body=platform.ownership.body(right=False),
        right=platform.ownership.body(),
        state=_external(platform, {"id": here.path["externalAccountId"]}),
    )


def _fund(platform: Platform) -> Ground:
    account = platform.internal_accounts.account(amount=0)
    words = {"{amount}": _TRANSFER, "{currency}": platform.profile.currency}
    return Ground(
        path={"accountId": account["id"]},
        right=fill_template(platform.profile.bindings.fund, words),
        state=_money(platform, account),
    )


def _transfer(direction: Direction) -> Callable[[Platform], Ground]:
    def lay(platform: Platform) -> Ground:
        account = _account(platform)
        ends = [account, platform.external_accounts.account(account.owner)]
        source, destination = reversed(ends) if direction == "in" else ends
        amount = {"amount": _TRANSFER}
        moved = {"id": "", "sentAmount": amount, "receivedAmount": amount}
        return Ground(
            body=platform.transfers.body(direction, source, destination, _TRANSFER),
            state=_money(platform, account),
            settle=lambda answer: platform.transfers.settle(answer, moved, (source, destination)),
        )

    return lay


def _create_kyc_link(platform: Platform) -> Ground:
    customer = platform.customers.applicant()
    return Ground(
        path={"customerId": customer["id"]},
        body={"redirectUri": platform.profile.bindings.redirect_uri},
        headers={"Idempotency-Key": "{key}"},
        twin=lambda: platform.verification.links.create(customer),
    )


def _of_channel(channel: str) -> Callable[[Platform], Ground]:
    def confirm(platform: Platform) -> Answer:
        customer = platform.verification.contact.customer(channel)
        platform.verification.contact.arrange_code(customer, channel)
        return platform.verification.contact.confirm_code(customer, channel)

    def lay(platform: Platform) -> Ground:
        customer = platform.verification.contact.customer(channel)
        platform.verification.contact.arrange_code(customer, channel)
        return Ground(
            path={"customerId": customer["id"]},
            body={"code": platform.profile.bindings.contact_wrong_code},
            # With a customer of its own: the codes before may have locked the other one out.
            twin=lambda: confirm(platform),
            right={"code": platform.profile.bindings.contact_code},
            state=lambda: platform.verification.contact.status(customer, channel),
        )

    return lay


def _create_owner(platform: Platform) -> Ground:
    business = platform.customers.applicant(business=True)
    body = platform.verification.owners.body(business)
    return Ground(
        live={"customerId": business["id"]},
        body=body,
        twin=lambda: platform.api.create_beneficial_owner(body),
    )


def _create_document(platform: Platform) -> Ground:
    form = platform.verification.documents.form(platform.customers.applicant())
    return Ground(
        live={name: form[name] for name in ("documentHolder", "documentType")},
        body=form,
        twin=lambda: platform.api.create_document(form),
    )


def _create_verification(platform: Platform) -> Ground:
    customer = platform.customers.applicant()
    return Ground(
        live={"customerId": customer["id"]},
        body={"customerId": customer["id"]},
        twin=lambda: platform.verification.reviews.submit(customer),
        state=lambda: _submissions(platform, customer),
    )


def _submissions(platform: Platform, customer: Json) -> int:
    """Return how many submissions are found; none may be an answer of its own."""
    answer = platform.api.list_verifications({"customerId": customer["id"]})
    return len(submissions_in(answer.body)) if answer.accepted else 0


def _create_internal_account(platform: Platform) -> Ground:
    home = platform.rule_based.holder_account()
    body = platform.rule_based.body(home)
    return Ground(
        body=body,
        headers={"Idempotency-Key": "{key}"},
        twin=lambda: platform.rule_based.create(body),
        state=lambda: sorted(
            str(row.get("id")) for row in platform.internal_accounts.of_customer(home.owner)
        ),
    )


def _start_factor_reset(platform: Platform) -> Ground:
    customer = platform.resets.holder()
    names = platform.profile.bindings
    return Ground(
        query={"customerId": customer["id"]},
        live={"factor": names.reset_factor},
        body={"factor": names.reset_factor, "endUserIpAddress": names.end_user_ip},
        # Of a customer of its own: the other may have started too many.
        twin=lambda: platform.resets.start(platform.resets.holder()),
    )


def _of_factor_reset(platform: Platform) -> Ground:
    passes = platform.triggers.maps("factor_reset.pass")
    reset = platform.resets.passed() if passes else platform.resets.started()
    return Ground(
        path={"resetId": reset["resetId"]},
        query={"customerId": reset["customerId"]},
        body=platform.resets.completion_body(reset),
        twin=lambda: platform.resets.complete(platform.resets.passed()),
        state=lambda: platform.resets.read(reset).get("status"),
    )


def _login(platform: Platform) -> Ground:
    customer = platform.approved.sca_customer()
    return Ground(query={"customerId": customer["id"]}, right=platform.logins.body(customer))


def _list_discoveries(_: Platform) -> Ground:
    examples = account_examples().values()
    known = {one.country: one.currency for one in examples if one.country is not None}
    country = min(known)
    return Ground(asking={"country": country, "currency": known[country]})


def _update_config(_: Platform) -> Ground:
    # Every user of the target shares the settings, so that they are changed by none of these.
    return Ground(right={})


def _of_stablecoin(kind: Kind) -> Callable[[Platform], Ground]:
    def lay(platform: Platform) -> Ground:
        coin = platform.stablecoins.coin(kind)
        platform.stablecoins.stock(kind, coin)
        stocked = int(kind == "burn")
        platform.until(
            lambda: len(platform.stablecoins.operation_rows(coin)), lambda seen: seen >= stocked
        )
        return Ground(
            path={"stablecoinId": coin.id},
            body=platform.stablecoins.body(kind, coin),
            state=lambda: len(platform.stablecoins.operation_rows(coin)),
        )

    return lay


def _create_stablecoin(platform: Platform) -> Ground:
    body = platform.stablecoins.body("register", platform.stablecoins.registered())
    told = [value for value in body.values() if isinstance(value, str)]

    def state() -> int:
        rows = map(str, platform.stablecoins.rows())
        return sum(all(text in row for text in told) for row in rows)

    return Ground(body=body, state=state)


def _reverse_return(platform: Platform) -> Ground:
    if not all(map(platform.triggers.maps, _CARD_TRIGGERS)):
        return Ground()
    card = platform.cards.card()
    _, row = platform.cards.returned_purchase(card)
    path, body = platform.cards.return_reversal(card, row["id"])
    spent = platform.ledger.spent
    # As much as the reversal may take again.
    spent[card["accountId"]] = spent.get(card["accountId"], 0) + PRICE

    def state() -> Any:
        shown = ("id", "status", "refundedAmount")
        rows = platform.cards.transactions(card)
        return sorted(str([seen.get(name) for name in shown]) for seen in rows)

    return Ground(path=path, body=body, state=state)


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "createQuote": _create_quote,
    "executeQuote": _execute_quote,
    "authorizeQuote": _authorize_quote,
    "approveTransaction": _approve_transaction,
    "createCustomer": _create_customer,
    "getCustomer": _of_customer,
    "updateCustomer": _update_customer,
    "listCustomerInternalAccounts": _by_customer,
    "listCustomerExternalAccounts": _by_customer,
    "createExternalAccount": _create_external_account,
    "getExternalAccount": _of_external_account,
    "deleteExternalAccount": _of_external_account,
    "lookupExternalAccount": _of_external_account,
    "untrustBeneficiary": _untrust,
    "confirmUntrust": _confirm("confirmUntrust"),
    "confirmBeneficiary": _confirm("confirmBeneficiary"),
    "challengeOwnership": _prove,
    "verifyOwnership": _verify,
    "createInternalAccount": _create_internal_account,
    "fundInternalAccount": _fund,
    "listDiscoveries": _list_discoveries,
    "updateConfig": _update_config,
    "simulateReturnReversal": _reverse_return,
    "transferIn": _transfer("in"),
    "transferOut": _transfer("out"),
    "createKycLink": _create_kyc_link,
    "sendEmailCode": _of_channel("email"),
    "confirmEmail": _of_channel("email"),
    "sendPhoneCode": _of_channel("phone"),
    "confirmPhone": _of_channel("phone"),
    "createBeneficialOwner": _create_owner,
    "createDocument": _create_document,
    "createVerification": _create_verification,
    "listVerifications": _by_customer,
    "startFactorReset": _start_factor_reset,
    "getFactorReset": _of_factor_reset,
    "completeFactorReset": _of_factor_reset,
    "completeScaLogin": _login,
    "createStablecoin": _create_stablecoin,
    "mintStablecoin": _of_stablecoin("mint"),
    "burnStablecoin": _of_stablecoin("burn"),
    "listStablecoinOperations": _of_stablecoin("mint"),
}
"""How the ground of each operation is laid; an operation without needs none."""
