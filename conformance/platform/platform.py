"""The suite in the part of a platform: its operations, and what it arranges in each area."""

from __future__ import annotations

from conformance.platform.given.agents import Agents
from conformance.platform.given.approved import ApprovedCustomers
from conformance.platform.given.authentication import StrongAuthentication
from conformance.platform.given.beneficiaries import Ownership, Trust
from conformance.platform.given.cards import Cards
from conformance.platform.given.configuration import Configuration
from conformance.platform.given.customers import Customers
from conformance.platform.given.embedded_wallets import EmbeddedWallets
from conformance.platform.given.external_accounts import ExternalAccounts
from conformance.platform.given.factor_resets import FactorResets
from conformance.platform.given.internal_accounts import InternalAccounts
from conformance.platform.given.logins import Logins
from conformance.platform.given.quotes import Quotes
from conformance.platform.given.rule_based_accounts import RuleBasedAccounts
from conformance.platform.given.stablecoins import Stablecoins
from conformance.platform.given.transactions import Transactions
from conformance.platform.given.transfers import Transfers
from conformance.platform.given.verification import (
    Contact,
    Documents,
    HostedLinks,
    Owners,
    Reviews,
)
from conformance.platform.part import Context
from conformance.platform.waiting import Waiting


class Verification:
    """What verifies customers."""

    def __init__(self, context: Context, customers: Customers) -> None:
        self.contact = Contact(context, customers)
        self.links = HostedLinks(context)
        self.documents = Documents(context)
        self.owners = Owners(context, customers)
        self.reviews = Reviews(
            context,
            customers,
            contact=self.contact,
            documents=self.documents,
            links=self.links,
            owners=self.owners,
        )


class Platform:
    """Acts on the target as a platform would.

    ``api`` has a method for each operation, which sends one request and returns its
    :class:`Answer`, whatever it is. The parts arrange resources and return them.
    """

    def __init__(self, context: Context) -> None:
        self.api = context.api
        self.profile = context.profile
        self.triggers = context.triggers
        self.webhooks = context.webhooks
        self.samples = context.samples
        self.ledger = context.ledger
        self.observe = context.observe
        self.until = Waiting(context.profile.timing, context.memory.patience).until

        self.customers = Customers(context)
        self.verification = Verification(context, self.customers)
        self.approved = ApprovedCustomers(
            context,
            self.verification.contact,
            self.customers,
            self.verification.links,
            self.verification.reviews,
        )
        self.configuration = Configuration(context)
        self.internal_accounts = InternalAccounts(context, self.approved, self.customers)
        self.external_accounts = ExternalAccounts(context, self.approved, self.customers)
        self.ownership = Ownership(context, self.external_accounts)
        self.logins = Logins(context)
        self.trust = Trust(context, self.approved, self.external_accounts, self.logins)
        self.rule_based = RuleBasedAccounts(
            context, self.approved, self.external_accounts, self.internal_accounts
        )
        self.transactions = Transactions(context)
        self.quotes = Quotes(
            context,
            self.approved,
            self.external_accounts,
            self.internal_accounts,
            self.transactions,
        )
        self.transfers = Transfers(context)
        self.sca = StrongAuthentication(
            context, self.approved, self.internal_accounts, self.quotes, self.logins
        )
        self.resets = FactorResets(context, self.approved)
        self.agents = Agents(context, self.external_accounts, self.transactions)
        self.wallets = EmbeddedWallets(context, self.approved, self.internal_accounts)
        self.cards = Cards(context, self.approved, self.internal_accounts)
        self.stablecoins = Stablecoins(context, self.external_accounts, self.internal_accounts)
