"""The suite in the part of a platform whose external accounts are reviewed, proved and trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from conformance.client.actor import Json, filled, resource
from conformance.client.destinations import Destinations
from conformance.client.http import Answer
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

Way = Literal["signature", "liveness"]
"""How a customer proves that an external account is its own."""

WAITING = "PENDING"
UNPROVEN = "PENDING_OWNERSHIP_VERIFICATION"

LEADS_TO: Mapping[str, str] = {
    "external_account.approve": "ACTIVE",
    "external_account.review": "UNDER_REVIEW",
    "external_account.disable": "INACTIVE",
    "ownership.demand": UNPROVEN,
}
"""The triggers that move an external account, with the status that each leads to."""

CONFIRMATIONS = ("confirmUntrust", "confirmBeneficiary")
"""The two readings of the path at which an untrusting is confirmed."""

_UNROUTED = (403, 404, 405, 501)
"""What is answered where nothing is served; some gateways know no path but those behind them."""


class ExternalStates(Destinations):
    """External accounts at each of their statuses, proofs of ownership, trusted beneficiaries."""

    def external_account_now(self, account: Json) -> Json:
        """Return an external account as it stands now."""
        return resource(self.get_external_account(account))

    def external_account_in(self, account: Json, *statuses: str) -> Json:
        """Return an external account once its status is one of ``statuses``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self.until(
            lambda: self.external_account_now(account), lambda seen: seen.get("status") in statuses
        )

    def listed(self, customer: Json, account: Json) -> Json | None:
        """Return an account as its customer's list shows it, once it does; ``None`` if never."""

        def find() -> Json | None:
            rows = self.external_accounts(customer)
            return next((row for row in rows if row.get("id") == account["id"]), None)

        return self.until(find, lambda found: found is not None)

    def external_accounts_by(self, customer: Json, size: int) -> list[Json]:
        """Return the external accounts of a customer from pages of a size, where there are such."""
        name = self.profile.bindings.list_page_size
        query = {"customerId": customer["id"], **({name: size} if name else {})}
        listing = "listCustomerExternalAccounts"
        first = self.client.call(listing, query=query)
        if not first.accepted or isinstance(first.body, list):
            # A list that stands bare does not say where it goes on.
            return self.external_accounts(customer)
        return list(self.pages(listing, **query))

    # --- Statuses ---------------------------------------------------------------------------

    def meeting(self, customer: Json, trigger: str, name: str | None = None) -> Json:
        """Create an external account of a customer, and let something happen to it.

        Args:
            customer: the owner (its ``id`` is enough).
            trigger: what happens to the account, once it is active or by a magic value at once.
            name: an example of ``fixtures/accounts``; that of the usual corridor by default.
        """
        magic = self.triggers.magic(trigger)
        if magic is not None:
            return resource(
                self.create_external_account(self.destination_body(customer, name, **magic))
            )
        account = self.destination(customer, name)
        if account.get("status") != LEADS_TO.get(trigger):
            self.cause(trigger, externalAccountId=account["id"])
        return account

    def moved(self, customer: Json, trigger: str, name: str | None = None) -> Json:
        """Create an external account of a customer and return it once a trigger has moved it.

        Raises:
            PreconditionFailed: it does not come to the status that the trigger leads to.
        """
        return self.settled(self.meeting(customer, trigger, name), LEADS_TO[trigger])

    def settled(self, account: Json, status: str) -> Json:
        """Return an external account at a status; raise ``PreconditionFailed`` otherwise."""
        seen = self.external_account_in(account, status)
        if seen.get("status") != status:
            raise PreconditionFailed(f"{account['id']} is {seen.get('status')}, not {status}")
        return seen

    def approve_account(self, account: Json) -> None:
        """Let the review of an external account end with approval."""
        try:
            self.cause("external_account.approve", externalAccountId=account["id"])
        except TriggerFailed:
            # The sandbox may have ended it in between.
            if self.external_account_in(account, "ACTIVE").get("status") != "ACTIVE":
                raise

    def waiting(self, customer: Json) -> Json:
        """Create an external account of a customer that awaits its verification.

        Raises:
            ResourceMissing: a new account does not wait.
        """
        magic: Mapping[str, Any] = {}
        if self.triggers.maps("external_account.await"):
            magic = self.triggers.magic("external_account.await") or {}
            if not magic:
                self.cause("external_account.await", customerId=customer["id"])
        body = self.destination_body(customer, **magic)
        account = resource(self.create_external_account(body))
        if account.get("status") != WAITING:
            raise ResourceMissing(f"a new external account is {account.get('status')}")
        return account

    # --- Ownership --------------------------------------------------------------------------

    def unproven(self, customer: Json) -> Json:
        """Create an external account whose ownership the customer has to prove."""
        name = self.profile.resources.ownership_account
        return self.moved(customer, "ownership.demand", name)

    def start_proof(self, account: Json, way: Way) -> Answer:
        """Start a proof of ownership.

        Raises:
            ResourceMissing: the profile says that there are no such proofs.
        """
        body = self.profile.bindings.ownership_challenges.get(way)
        if body is None:
            raise ResourceMissing(f"bindings.ownership_challenges of the profile has no {way}")
        return self.challenge_ownership(account, body)

    def proof_body(self, *, right: bool = True) -> Json:
        """Return a body that completes a proof by a signature, the owner's or another one."""
        names = self.profile.bindings
        signature = names.ownership_signature if right else names.ownership_wrong_signature
        body: Json = filled(names.ownership_proof, {"{signature}": signature})
        return body

    def sign(self, account: Json, *, right: bool = True) -> Answer:
        """Complete a proof by a signature, the owner's or another one."""
        return self.verify_ownership(account, self.proof_body(right=right))

    def conclude(self, account: Json, way: Way, *, right: bool) -> None:
        """Start a proof of ownership and let it succeed or fail."""
        self.arranged(self.start_proof(account, way))
        if way == "signature":
            self.sign(account, right=right)
        else:
            trigger = "ownership.prove" if right else "ownership.disprove"
            self.cause(trigger, externalAccountId=account["id"])

    # --- Trust ------------------------------------------------------------------------------

    def truster(self) -> Json:
        """Create a customer who may trust beneficiaries: one who needs SCA, where there is any."""
        return self.sca_customer() if self.profile.features.sca else self.customer()

    def trusted(self, customer: Json) -> Json:
        """Create an external account of a customer whose beneficiary is trusted."""
        return self.meeting(customer, "beneficiary.trust")

    def confirmation_body(self, *, right: bool = True) -> Json:
        """Return a body that confirms an untrusting, with a right or a wrong code."""
        names = self.profile.bindings
        code = names.sca_code if right else names.sca_wrong_code
        body: Json = filled(names.untrust_confirmation, {"{code}": code})
        return body

    def serves_confirmation(self, operation: str, account: Json) -> bool:
        """Return whether one reading of the confirmation's path is served, by a wrong code."""
        path = {"externalAccountId": account["id"]}
        body = self.confirmation_body(right=False)
        return (
            self.client.call(operation, path=path, body=body, judged=False).status not in _UNROUTED
        )

    def confirm_untrust(self, account: Json, *, right: bool = True) -> Answer:
        """Confirm that a beneficiary is no longer trusted, with a right or a wrong code.

        The path has two readings. Which one is served the first answer of either shows.
        """
        known = self.memory.confirmation
        first: Answer | None = None
        for name in sorted(CONFIRMATIONS, key=lambda name: name != known):
            # What is not served may be answered by whatever stands before the implementation.
            answer = self.client.call(
                name,
                path={"externalAccountId": account["id"]},
                body=self.confirmation_body(right=right),
                judged=name == known,
            )
            if answer.status not in _UNROUTED:
                self.memory.confirmation = name
                return answer
            first = first or answer
        assert first is not None
        return first

    def untrusted(self, account: Json) -> Json:
        """Take the trust in a beneficiary away, with its confirmation; return the account."""
        asked = self.arranged(self.untrust(account))
        confirmed = self.confirm_untrust(account)
        # Where no proof is asked for, it may have been enough to ask.
        if challenge_of(asked) is not None:
            self.arranged(confirmed)
        return account


def challenge_of(asked: Any) -> Json | None:
    """Return the SCA challenge that the answer to an untrusting is or shows, if any."""
    if not isinstance(asked, dict):
        return None
    itself = str(asked.get("id")).startswith("ScaChallenge:")
    found = asked if itself else asked.get("scaChallenge")
    return found if isinstance(found, dict) else None
