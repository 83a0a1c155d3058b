"""Proofs that customers own external accounts, and their trust in beneficiaries."""

from __future__ import annotations

from typing import Any, Literal

from conformance.exchange.answer import Answer
from conformance.platform.given.approved import ApprovedCustomers
from conformance.platform.given.external_accounts import UNPROVEN, ExternalAccounts
from conformance.platform.given.logins import Logins
from conformance.platform.part import Context, Part
from conformance.platform.resource import (
    Body,
    Json,
    Resource,
    arranged_body,
    fill_template,
)
from conformance.text.paths import value_at
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
)

Way = Literal["signature", "liveness"]
"""How a customer proves that an external account is its own."""

_SIGN = "ownership.sign"

_LIVENESS = {True: "ownership.prove", False: "ownership.disprove"}
"""The trigger that ends a liveness check, by whether it shows the owner."""

CONFIRMATIONS = ("confirmUntrust", "confirmBeneficiary")
"""The two readings of the path at which an untrusting is confirmed."""

_UNROUTED = (403, 404, 405, 501)
"""What is answered where nothing is served; some gateways know no path but those behind them."""


class Ownership(Part):
    """Proofs that a customer owns an external account."""

    def __init__(self, context: Context, external_accounts: ExternalAccounts) -> None:
        super().__init__(context)
        self._external_accounts = external_accounts

    def unproven(self, customer: Json) -> Resource:
        """Create an external account whose ownership the customer has to prove."""
        name = self._profile.resources.ownership_account
        return self._external_accounts.moved(customer, "ownership.demand", name)

    def start(self, account: Json, way: Way) -> Answer:
        """Start a proof of ownership.

        Raises:
            ResourceMissing: the profile says that there are no such proofs.
        """
        body = self._profile.bindings.ownership_challenges.get(way)
        if body is None:
            raise ResourceMissing(f"bindings.ownership_challenges of the profile has no {way}")
        return self._api.challenge_ownership(account["id"], body)

    @property
    def can_sign(self) -> bool:
        """Whether the profile has a way to the owner's signature."""
        is_fixed = self._profile.bindings.ownership_signature is not None
        return is_fixed or self._triggers.maps(_SIGN)

    def body(self, account: Json, started: Answer, *, right: bool = True) -> Body:
        """Return a body that completes a proof by a signature, the owner's or another one.

        Args:
            account: the external account.
            started: the answer to the start of the proof, which shows what is to be signed.
            right: whether it is the owner's signature.

        Raises:
            ResourceMissing: the answer shows nothing to be signed.
            TriggerMissing: the profile has no way to the owner's signature.
        """
        names = self._profile.bindings
        signature = (
            self._signature(account, started)
            if right
            else names.require("ownership_wrong_signature")
        )
        body: Body = fill_template(names.ownership_proof, {"{signature}": signature})
        return body

    def _signature(self, account: Json, started: Answer) -> str:
        names = self._profile.bindings
        if names.ownership_signature is not None:
            return names.ownership_signature
        message = value_at(started.body, names.ownership_message)
        if message is None and self._triggers.maps(_SIGN):
            raise ResourceMissing(
                f"{names.ownership_message} is to be signed by bindings.ownership_message of the "
                f"profile, and is not shown: {started!r}"
            )
        signature = self._triggers.fire(
            _SIGN, externalAccountId=account["id"], message=message
        ).get("signature")
        if not isinstance(signature, str):
            raise TriggerFailed(f"trigger {_SIGN}: the result signature is {signature!r}")
        return signature

    def sign(self, account: Json, started: Answer, *, right: bool = True) -> Answer:
        """Complete a proof by a signature; the arguments are those of :meth:`body`."""
        return self._api.verify_ownership(account["id"], self.body(account, started, right=right))

    def conclude(self, account: Json, way: Way, *, right: bool) -> None:
        """Start a proof of ownership and let it succeed or fail."""
        started = self.start(account, way)
        if not started.accepted and account.get("status") == UNPROVEN:
            can_start = "EXT-060" if way == "signature" else "EXT-061"
            raise PreconditionFailed(f"no proof can be started: {started}", breaks=[can_start])
        arranged_body(started)
        if way == "signature":
            self.sign(account, started, right=right)
        else:
            self._triggers.fire(_LIVENESS[right], externalAccountId=account["id"])

    def prove(self, account: Json) -> None:
        """Prove the ownership of an account by a signature or by a liveness check.

        The ways that the profile has are tried one after the other, until one leads there.
        """
        self._conclude_somehow(account, "ACTIVE", right=True)

    def disprove(self, account: Json) -> None:
        """Let a proof of ownership fail, in one of the ways as in :meth:`prove`."""
        self._conclude_somehow(account, "UNVERIFIED", right=False)

    def _conclude_somehow(self, account: Json, status: str, *, right: bool) -> None:
        has: tuple[tuple[Way, bool], ...] = (
            ("signature", self.can_sign),
            ("liveness", self._triggers.maps(_LIVENESS[right])),
        )
        ways: list[Way] = [way for way, is_there in has if is_there] or ["liveness"]
        for way in ways[:-1]:
            try:
                self.conclude(account, way, right=right)
            except (PreconditionFailed, ResourceMissing, TriggerFailed) as error:
                self._observe(f"a proof of ownership by {way} did not work: {error}")
                continue
            if self._external_accounts.at_status(account, status).get("status") == status:
                return
            self._observe(f"a proof of ownership by {way} did not lead to {status}")
        self.conclude(account, ways[-1], right=right)

    def proven(self, account: Resource) -> Resource:
        """Return an external account, whose ownership is proved where its status waits for that."""
        if account.get("status") != "PENDING_OWNERSHIP_VERIFICATION":
            return account
        self.prove(account)
        return self._external_accounts.arrange_status(account, "ACTIVE")


class Trust(Part):
    """Beneficiaries that a customer trusts, and no longer does."""

    def __init__(
        self,
        context: Context,
        approved: ApprovedCustomers,
        external_accounts: ExternalAccounts,
        logins: Logins,
    ) -> None:
        super().__init__(context)
        self._approved = approved
        self._external_accounts = external_accounts
        self._logins = logins
        self._challenges: dict[str, Any] = {}

    def ask_to_untrust(self, account: Json) -> Answer:
        """Ask for the trust in an account to be taken away."""
        body = self._profile.bindings.untrust or None
        answer = self._logins.in_session(
            account.get("customerId"),
            lambda: self._api.untrust_beneficiary(account["id"], body),
        )
        challenge = challenge_of(answer.body) if answer.accepted else None
        self._challenges[account["id"]] = (challenge or {}).get("id")
        return answer

    def customer(self, *, business: bool | None = None) -> Resource:
        """Create a customer who may trust beneficiaries: one who needs SCA, where there is any.

        ``business`` says whether it is one; by default its type does not matter.
        """
        return self._approved.of_type(business, sca=self._profile.features.sca)

    def trusted(self, customer: Json) -> Resource:
        """Create an external account of a customer whose beneficiary is trusted."""
        return self._external_accounts.account_after(customer, "beneficiary.trust")

    def confirmation_body(self, account: Json, *, right: bool = True) -> Body:
        """Return a body that confirms an untrusting, with a right or a wrong code."""
        names = self._profile.bindings
        code = names.sca_wrong_code
        if right:
            challenge_id = self._challenges.get(account["id"])
            code = self._logins.codes.of_challenge(account.get("customerId"), challenge_id)
        body: Body = fill_template(names.untrust_confirmation, {"{code}": code})
        return body

    def serves_confirmation(self, operation: str, account: Json) -> bool:
        """Return whether one reading of the confirmation's path is served, by a wrong code."""
        path = {"externalAccountId": account["id"]}
        body = self.confirmation_body(account, right=False)
        return self._api.call(operation, path=path, body=body, judged=False).status not in _UNROUTED

    def confirm(self, account: Json, *, right: bool = True) -> Answer:
        """Confirm that a beneficiary is no longer trusted, with a right or a wrong code."""
        return self._logins.in_session(
            account.get("customerId"), lambda: self._confirm(account, right=right)
        )

    def _confirm(self, account: Json, *, right: bool) -> Answer:
        """Send the confirmation.

        The path has two readings. Which one is served the first answer of either shows.
        """
        known = self._memory.confirmation
        first: Answer | None = None
        for name in sorted(CONFIRMATIONS, key=lambda name: name != known):
            # What is not served may be answered by whatever stands before the implementation.
            answer = self._api.call(
                name,
                path={"externalAccountId": account["id"]},
                body=self.confirmation_body(account, right=right),
                judged=name == known,
            )
            if answer.status not in _UNROUTED:
                self._memory.confirmation = name
                return answer
            first = first or answer
        assert first is not None
        return first

    def untrusted(self, account: Resource) -> Resource:
        """Take the trust in a beneficiary away, with its confirmation; return the account."""
        asked = arranged_body(self.ask_to_untrust(account))
        confirmed = self.confirm(account)
        # Where no proof is asked for, it may have been enough to ask.
        if challenge_of(asked) is not None:
            arranged_body(confirmed)
        return account


def challenge_of(asked: Any) -> Body | None:
    """Return the SCA challenge that the answer to an untrusting is or shows, if any."""
    if not isinstance(asked, dict):
        return None
    itself = str(asked.get("id")).startswith("ScaChallenge:")
    found = asked if itself else asked.get("scaChallenge")
    return found if isinstance(found, dict) else None
