"""The bindings of all areas, as one part of the profile."""

from __future__ import annotations

from typing import Any

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
from conformance.verdict.decisions import ResourceMissing


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

    def require(self, name: str) -> Any:
        """Return the value of a binding.

        Raises:
            ResourceMissing: it is null, as the implementation has no such thing.
        """
        value = getattr(self, name)
        if value is None:
            raise ResourceMissing(f"bindings.{name} of the profile is null: there is none")
        return value
