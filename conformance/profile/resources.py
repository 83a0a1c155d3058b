"""What exists on the target and the suite cannot make or find out."""

from __future__ import annotations

from typing import Literal

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart


class Limits(ProfilePart):
    """A limit whose value the specification does not give, in smallest units."""

    currency: str
    amount: int = Field(gt=0)


class TransactionLimit(Limits):
    """The largest single transaction: its value, and which amount of a payment it is on."""

    side: Literal["SENDING", "RECEIVING"] | None = Field(
        None,
        description="The side that the limit is on; null where it is not known, so that only what "
        "is above the limit on both sides has to be refused.",
    )


class Corridor(ProfilePart):
    """A pair of currencies to quote between, and the kind of account that receives."""

    sending: str
    receiving: str
    account: str = Field(
        description="The name of an example of fixtures/accounts, for example `usd_account`."
    )

    @property
    def currencies(self) -> list[str]:
        """The codes of one or two currencies, those that a customer needs here."""
        return sorted({self.sending, self.receiving})


class Resources(ProfilePart):
    """What exists on the target and the suite cannot make or find out."""

    corridors: list[Corridor] = Field(
        min_length=1,
        default_factory=lambda: [
            Corridor(sending="USD", receiving="USD", account="usd_account"),
            Corridor(sending="USD", receiving="MXN", account="mxn_account"),
        ],
        description="Currencies to quote between, and the example of fixtures/accounts that "
        "receives. The first corridor within one currency is used by default, and its account "
        "is the usual one. One more corridor to that account from a currency of another worth, "
        "such as EUR, has the fees, rates and lookups of two sending currencies compared.",
    )
    pullable_account: str = Field(
        "usd_account",
        description="The example of fixtures/accounts whose accounts money can be pulled from.",
    )
    ownership_account: str = Field(
        "solana_wallet",
        description="The example of fixtures/accounts whose ownership a customer can be asked to "
        "prove.",
    )
    account_types: list[str] | None = Field(
        None,
        description="The `accountType` values that are offered; null for all that the "
        "specification shows.",
    )
    realtime_currency: str = Field(
        "USD", description="The currency in which customers fund quotes just in time."
    )
    wallet_currency: str | None = Field(
        None, description="The currency in which customers get an embedded wallet; null for none."
    )
    card_currency: str = Field(
        "USD", description="The currency of the internal accounts that fund cards."
    )
    stablecoin_account: str = Field(
        "usd_account",
        description="The example of fixtures/accounts to whose accounts stablecoins can be minted.",
    )
    single_transaction_limit: TransactionLimit | None = Field(
        None,
        description="The largest single transaction, in the currency's smallest unit, such as "
        "`{currency: USD, amount: 100, side: SENDING}`; null where there is none. Without a `side` "
        "the limit may be on the amount with or without fees. Twice as much is deposited at once, "
        "so that `budget.amount` has to be as large.",
    )
