"""Bindings of quotes, deprecated transfers and payments to UMA addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart

_TRANSFER: Mapping[str, Any] = {
    "source": {"accountId": "{sourceAccountId}"},
    "destination": {"accountId": "{destinationAccountId}", "paymentRail": "{paymentRail}"},
    "amount": "{amount}",
    "remittanceInformation": "{remittanceInformation}",
    "purposeOfPayment": "{purposeOfPayment}",
}


class QuoteBindings(ProfilePart):
    """What the specification leaves open of quotes and payments to UMA addresses."""

    unsupported_currency: str = Field("XTS", description="A currency that is never offered.")
    purpose_of_payment: str | None = Field(
        None, description="A `purposeOfPayment` that the implementation takes; null for none."
    )
    purpose_currencies: tuple[str, ...] = Field(
        (),
        description="Currencies whose destinations require a `purposeOfPayment`; quotes that are "
        "paid out in them carry it.",
    )
    realtime_platform: Any = Field(
        None,
        description="The value of `platform` in the source of a quote that the platform funds just "
        "in time; null where none is known.",
    )
    quote_lookup: str | None = Field(
        None,
        description="The member of `POST /quotes` that takes the `lookupId`, also where it is not "
        "used; null where there is none.",
    )
    uma_address: str | None = Field(
        "umaAddress",
        description="The member of a customer that holds its UMA address; null where it is not "
        "shown. Where customers get none by themselves, `customer` above can send one.",
    )
    uma_destination: dict[str, Any] = Field(
        default_factory=lambda: {
            "destinationType": "UMA_ADDRESS",
            "umaAddress": "{umaAddress}",
        },
        description="The destination of a quote to a UMA address; `{umaAddress}` is filled in, "
        "and `{currency}` where a test has the receiver paid in another currency. A member whose "
        "value there is not is left out.",
    )
    uma_receiver: str | None = Field(
        None, description="The UMA address of somebody who can be paid; null for none."
    )
    uma_stranger: str | None = Field(
        None,
        description="A well-formed UMA address whose counterparty can be asked and has nobody of "
        "that name; null for none.",
    )
    transfer_in: dict[str, Any] = Field(
        default_factory=lambda: dict(_TRANSFER),
        description="The body of `POST /transfer-in`; the names in its default are filled in, and "
        "a member whose value a request does not have is left out.",
    )
    transfer_out: dict[str, Any] = Field(
        default_factory=lambda: dict(_TRANSFER),
        description="The body of `POST /transfer-out`; the names in its default are filled in, and "
        "a member whose value a request does not have is left out.",
    )
    transfer_transaction: str | None = Field(
        "id",
        description="The dotted path of the transaction's id in the answer to a deprecated "
        "transfer, such as `transaction.id`; null where it is not told.",
    )
