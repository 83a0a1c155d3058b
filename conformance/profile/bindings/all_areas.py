"""The bindings of all areas, as one part of the profile."""

from __future__ import annotations

from conformance.profile.bindings.authentication import AuthenticationBindings
from conformance.profile.bindings.cards import CardBindings
from conformance.profile.bindings.configuration import ConfigurationBindings
from conformance.profile.bindings.customers import CustomerBindings
from conformance.profile.bindings.embedded_wallets import EmbeddedWalletBindings
from conformance.profile.bindings.external_accounts import ExternalAccountBindings
from conformance.profile.bindings.internal_accounts import InternalAccountBindings
from conformance.profile.bindings.protocol import ProtocolBindings
from conformance.profile.bindings.quotes import QuoteBindings
from conformance.profile.bindings.stablecoins import StablecoinBindings
from conformance.profile.bindings.transactions import TransactionBindings
from conformance.profile.bindings.verification import VerificationBindings


class Bindings(
    # Pydantic puts the fields of the last base first.
    StablecoinBindings,
    CardBindings,
    EmbeddedWalletBindings,
    TransactionBindings,
    QuoteBindings,
    ExternalAccountBindings,
    InternalAccountBindings,
    ConfigurationBindings,
    VerificationBindings,
    CustomerBindings,
    AuthenticationBindings,
    ProtocolBindings,
):
    """Names and values that the specification leaves open, with their usual choices."""
