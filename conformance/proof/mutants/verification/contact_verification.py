"""Mutants of contact verification: which channels, which codes, and whose."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Handler, after, around, before, edited, instead, together
from conformance.proof.kit.edits import put, without
from conformance.proof.kit.tables import with_row, with_status, without_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.store import Customer, Json
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import contact
from conformance.text.paths import value_at

_WRONG_STATUS = 400
_REGION = "DE"
"""That of the customers who have channels to verify."""

Change = Callable[[Unit, Customer, str], None]


def other(channel: str) -> str:
    """Return the channel that ``channel`` is not."""
    return next(name for name in rules.CHANNEL_ADDRESS if name != channel)


def status_of(status: str) -> Json:
    """Return a channel that has come to a status."""
    return {"status": status, "code": None}


def moved(channel: str, status: str) -> Change:
    """Return a change that brings a channel of a customer to a status."""
    return lambda unit, customer, _channel: contact.put(unit, customer, channel, status_of(status))


def followed(handler: str, channel: str, change: Change) -> Apply:
    """Let something else happen after a request for a channel was served."""

    def served(original: Handler, unit: Unit, ask: Ask) -> Any:
        answer = original(unit, ask)
        customer = customers.get(unit, ask.params["customerId"])
        change(unit, customer, channel)
        return answer if answer is None else customers.view(customer)

    return around(contact, f"{handler}_{channel}", served)


def served_where(
    handler: str, channel: str, condition: Callable[[Customer, Any], bool], change: Change | None
) -> Apply:
    """Serve the requests of a condition in another way: with a change, and never refused."""

    def served(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = customers.get(unit, ask.params["customerId"])
        code = ask.body.get("code") if isinstance(ask.body, dict) else None
        if not condition(customer, code):
            return original(unit, ask)
        if change is not None:
            change(unit, customer, channel)
        return customers.view(customer) if handler == "confirm" else None

    return around(contact, f"{handler}_{channel}", served)


def refusing(handler: str, channel: str) -> Apply:
    """Refuse every request for a channel."""

    def refuse(_unit: Unit, _ask: Ask) -> None:
        raise errors.Refusal("CONFLICT", "No.")

    return instead(contact, f"{handler}_{channel}", refuse)


def unknown_served(handler: str, channel: str) -> Apply:
    """Serve requests for customers who do not exist."""

    def served(original: Handler, unit: Unit, ask: Ask) -> Any:
        if unit.session.get(Customer, ask.params["customerId"]) is not None:
            return original(unit, ask)
        return {} if handler == "confirm" else None

    return around(contact, f"{handler}_{channel}", served)


def begun_verified(channel: str) -> Apply:
    """Let a channel of new customers be verified from the start."""

    def begin(customer: Customer) -> None:
        if channel in customer.contact:
            customer.contact = {**customer.contact, channel: status_of("VERIFIED")}

    return after(contact, "begin", begin)


def addressless(channel: str) -> Apply:
    """Take in customers without the address of a channel."""

    def missing_errors(found: list[Json]) -> list[Json]:
        return [error for error in found if error["field"] != rules.CHANNEL_ADDRESS[channel]]

    return edited(contact, "missing_errors", missing_errors)


def is_wrong(_customer: Customer, code: Any) -> bool:
    """Return whether a code is not the one that the sandbox sends."""
    return code not in (None, "", rules.SANDBOX_CODE)


def is_late(channel: str, code: str | None, customer: Customer, given: Any) -> bool:
    """Return whether a verified channel is confirmed; by the right code, or by a wrong one."""
    verified = bool(customer.contact[channel]["status"] == "VERIFIED")
    return verified and (given == code if code else given != rules.SANDBOX_CODE)


def _verify(unit: Unit, customer: Customer, channel: str) -> None:
    contact.put(unit, customer, channel, status_of("VERIFIED"))


_Row = tuple[str, str, str, Apply]


def rows(channel: str, *ids: str) -> list[_Row]:
    """Return requirement, name, statement and patch of the mutants of a channel."""
    beside = other(channel)
    late = partial(is_late, channel)
    patches: tuple[tuple[str, str, Apply], ...] = (
        ("begun-verified", "is verified from the start", begun_verified(channel)),
        ("unsent", "gets no code", refusing("send", channel)),
        (
            "verified-by-sending",
            "is verified as soon as a code is sent",
            followed("send", channel, _verify),
        ),
        ("unconfirmed", "cannot be confirmed", refusing("confirm", channel)),
        (
            "confirmed-in-vain",
            "stays pending when it is confirmed",
            followed("confirm", channel, moved(channel, "PENDING")),
        ),
        (
            "verifies-the-other",
            "is verified together with the other one",
            followed("confirm", channel, moved(beside, "VERIFIED")),
        ),
        (
            "forgets-the-other",
            "makes the other one pending again",
            followed("confirm", channel, moved(beside, "PENDING")),
        ),
        (
            "any-code",
            "is verified by any code",
            served_where("confirm", channel, is_wrong, _verify),
        ),
        (
            "empty-code",
            "is verified by an empty code",
            served_where("confirm", channel, lambda _customer, code: code == "", _verify),
        ),
        (
            "no-code",
            "is confirmed without a code",
            served_where("confirm", channel, lambda _customer, code: code is None, None),
        ),
        (
            "unverified-by-wrong-code",
            "is pending again after a wrong code",
            served_where(
                "confirm",
                channel,
                lambda customer, code: late(None, customer, code),
                moved(channel, "PENDING"),
            ),
        ),
        (
            "unverified-by-used-code",
            "is pending again when its code comes twice",
            served_where(
                "confirm",
                channel,
                lambda customer, code: late(rules.SANDBOX_CODE, customer, code),
                moved(channel, "PENDING"),
            ),
        ),
        (
            "sent-unasked",
            "gets codes where it need not be verified",
            served_where(
                "send", channel, lambda customer, _: channel not in customer.contact, None
            ),
        ),
        (
            "confirmed-unasked",
            "is confirmed where it need not be verified",
            served_where(
                "confirm", channel, lambda customer, _: channel not in customer.contact, None
            ),
        ),
        ("unknown-sent", "of nobody gets a code", unknown_served("send", channel)),
        (
            "unknown-confirmed",
            "of nobody is confirmed",
            unknown_served("confirm", channel),
        ),
        ("addressless", "needs no address", addressless(channel)),
        (
            "business-in-vain",
            "of a business stays pending when it is confirmed",
            served_where(
                "confirm", channel, lambda customer, _: customer.customer_type == "BUSINESS", None
            ),
        ),
    )
    return [
        (id_, name, f"the {channel} {statement}", patch)
        for id_, (name, statement, patch) in zip(ids, patches, strict=True)
    ]


MUTANTS = (
    *rows(
        "email",
        *("CON-005", "CON-007", "CON-009", "CON-013", "CON-015", "CON-017", "CON-020"),
        *("CON-021", "CON-023", "CON-025", "CON-027", "CON-029", "CON-033", "CON-035"),
        *("CON-037", "CON-039", "CON-042", "CON-044"),
    ),
    *rows(
        "phone",
        *("CON-006", "CON-008", "CON-010", "CON-014", "CON-016", "CON-018", "CON-019"),
        *("CON-022", "CON-024", "CON-026", "CON-028", "CON-030", "CON-034", "CON-036"),
        *("CON-038", "CON-040", "CON-043", "CON-045"),
    ),
)

for _requirement, _name, _statement, _patch in MUTANTS:
    declare(_requirement, _name, _statement, _patch)


@mutant("CON-021", "any code is right for a business")
@mutant("CON-022", "any code is right for a business")
def any_code_of_a_business(patch: Patch) -> None:
    confirming: list[str] = []

    def confirm(original: Callable[..., Any], unit: Unit, ask: Ask, channel: str) -> Any:
        confirming[:] = [customers.get(unit, ask.params["customerId"]).customer_type]
        return original(unit, ask, channel)

    def is_right(original: Callable[[Json, str], bool], entry: Json, code: str) -> bool:
        return original(entry, code) or confirming == ["BUSINESS"]

    patch.wrap(contact, "confirm", confirm)
    patch.wrap(contact, "is_right_code", is_right)


for _requirement in ("CON-052", "CON-053"):
    declare(
        _requirement,
        "unsent",
        "the sandbox's code counts, whether it was sent or not",
        instead(contact, "is_right_code", lambda _entry, code: code == rules.SANDBOX_CODE),
    )


SHOWN: tuple[tuple[str, str, str, Any], ...] = (
    ("CON-001", "list", "contactVerification", ["email"]),
    ("CON-001", "text", "contactVerification", "PENDING"),
    ("CON-002", "flag", "contactVerification.email", False),
    ("CON-002", "unknown", "contactVerification.email", "SENT"),
    ("CON-003", "flag", "contactVerification.phone", False),
    ("CON-003", "unknown", "contactVerification.phone", "SENT"),
    ("CON-004", "third-channel", "contactVerification.whatsapp", "PENDING"),
    ("CON-055", "null", "contactVerification", None),
    ("CON-055", "empty", "contactVerification", {}),
)
"""Members of customers that are shown in another form."""


@mutant("CON-067", "the channels of an individual follow the nationality", (contact, "begin"))
def by_nationality(_begin: Function, customer: Customer) -> None:
    country = customer.details.get("nationality", customer.region)
    customer.contact = {name: contact.fresh() for name in contact.required_channels(country)}


for _requirement, _name, _path, _value in SHOWN:
    declare(
        _requirement,
        _name,
        f"{_path} is {_value!r}",
        edited(customers, "view", put(_path, _value)),
    )

declare(
    "CON-065",
    "empty",
    "the contactVerification of a customer without channels is an empty object",
    edited(customers, "view", lambda body: {"contactVerification": {}, **body}),
)

for _requirement, _code in (
    *((id_, "CONFLICT") for id_ in ("CON-033", "CON-034")),
    *((f"CON-0{number}", "CUSTOMER_NOT_FOUND") for number in (37, 38, 39, 40)),
):
    declare(
        _requirement,
        "other-status",
        "the refusal is a 400",
        with_status(_code, _WRONG_STATUS),
    )


@mutant(
    "CON-041", "the code for an unknown customer is that of a quote", (customers, "get"), instead
)
def unknown_quote(unit: Unit, customer_id: str, **_: bool) -> Customer:
    customer = unit.session.get(Customer, customer_id)
    if customer is None:
        raise errors.Refusal("QUOTE_NOT_FOUND", "There is none.")
    return customer


def _sent_once(unit: Unit, ask: Ask, channel: str) -> None:
    customer = customers.get(unit, ask.params["customerId"])
    if customer.contact.get(channel, {}).get("code") is not None:
        raise errors.Refusal("CONFLICT", "A code is on its way.")


for _id in ("CON-011", "CON-051"):
    declare(_id, "sent-once", "a code is sent once", before(contact, "send", _sent_once))


@mutant("CON-011", "no code is sent after a wrong guess")
def none_after_a_guess(patch: Patch) -> None:
    guessed: set[tuple[str, str]] = set()

    def confirming(confirm: Function, unit: Unit, ask: Ask, channel: str) -> Any:
        try:
            return confirm(unit, ask, channel)
        except errors.Refusal:
            guessed.add((ask.params["customerId"], channel))
            raise

    def sending(send: Function, unit: Unit, ask: Ask, channel: str) -> None:
        if (ask.params["customerId"], channel) in guessed:
            raise errors.Refusal("CONFLICT", "A code was sent.")
        send(unit, ask, channel)

    patch.wrap(contact, "confirm", confirming)
    patch.wrap(contact, "send", sending)


def after_another_code(state: Json) -> Apply:
    """Return a patch by which a channel has a state once another code is sent to it."""

    def send(
        original: Callable[[Unit, Ask, str], None], unit: Unit, ask: Ask, channel: str
    ) -> None:
        customer = customers.get(unit, ask.params["customerId"])
        again = customer.contact.get(channel, {}).get("code") is not None
        original(unit, ask, channel)
        if again:
            contact.put(unit, customer, channel, state)

    return around(contact, "send", send)


for _id in ("CON-012", "CON-066"):
    declare(
        _id,
        "other-code-awaited",
        "a code that is sent again is another one than the one awaited",
        after_another_code({"status": "PENDING", "code": "654321"}),
    )
for _id in ("CON-009", "CON-010"):
    declare(
        _id,
        "verified-by-the-second",
        "a channel is verified as soon as another code is sent to it",
        after_another_code(status_of("VERIFIED")),
    )


@mutant("CON-031", "a code verifies the channels of all customers")
def verifies_everybody(patch: Patch) -> None:
    def change(unit: Unit, _customer: Customer, channel: str) -> None:
        for customer in unit.session.scalars(select(Customer)):
            if channel in customer.contact:
                contact.put(unit, customer, channel, status_of("VERIFIED"))

    for channel in rules.CHANNEL_ADDRESS:
        followed("confirm", channel, change)(patch)


@mutant("CON-062", "a code verifies an address, for all customers who have it")
def verifies_the_address(patch: Patch) -> None:
    def change(unit: Unit, verified: Customer, channel: str) -> None:
        member = rules.CHANNEL_ADDRESS[channel]
        for customer in unit.session.scalars(select(Customer)):
            same = customer.details.get(member) == verified.details.get(member)
            if same and channel in customer.contact:
                contact.put(unit, customer, channel, status_of("VERIFIED"))

    for channel in rules.CHANNEL_ADDRESS:
        followed("confirm", channel, change)(patch)


@mutant("CON-032", "every change of a customer opens the channel of its phone again")
def phone_reopened(patch: Patch) -> None:
    def is_same_address(
        original: Callable[..., bool], customer: Customer, before: Any, channel: str
    ) -> bool:
        return channel != "phone" and original(customer, before, channel)

    patch.wrap(contact, "is_same_address", is_same_address)


@mutant("CON-032", "every change of a business opens its channels again")
def business_reopened(patch: Patch) -> None:
    def is_same_address(
        original: Callable[..., bool], customer: Customer, before: Any, channel: str
    ) -> bool:
        return customer.customer_type != "BUSINESS" and original(customer, before, channel)

    patch.wrap(contact, "is_same_address", is_same_address)


def dated_anew(path: str) -> Apply:
    """Open the channels of a customer again where a change gives it another date."""

    def is_same_address(
        original: Callable[..., bool], customer: Customer, before: Json, channel: str
    ) -> bool:
        same_date = value_at(customer.details, path) == value_at(before, path)
        return same_date and original(customer, before, channel)

    return around(contact, "is_same_address", is_same_address)


for _path in ("birthDate", "businessInfo.incorporatedOn"):
    declare(
        "CON-032",
        f"another-{_path.rpartition('.')[2]}",
        f"another {_path} opens the channels of its customer again",
        dated_anew(_path),
    )


@mutant("CON-032", "every change of a customer opens its channels again")
def reopened(patch: Patch) -> None:
    patch.replace(contact, "is_same_address", lambda *_: False)


@mutant("CON-046", "a verified channel begins the review of its customer")
def reviewed(patch: Patch) -> None:
    def change(_unit: Unit, customer: Customer, _channel: str) -> None:
        customer.status = "PENDING"

    for channel in rules.CHANNEL_ADDRESS:
        followed("confirm", channel, change)(patch)


for _country in ("HR", "MT"):
    declare(
        "CON-054",
        f"without-{_country}",
        f"{_country} is forgotten among the countries of the EU",
        without_row(rules, "CONTACT_CHANNELS", _country),
    )


@mutant("CON-054", "a business of Hungary has no channels to verify", (contact, "begin"), after)
def begun_without_channels(customer: Customer) -> None:
    if customer.customer_type == "BUSINESS" and customer.region == "HU":
        customer.contact = {}


declare(
    "CON-056",
    "first",
    "the first of the missing addresses is told alone",
    edited(contact, "missing_errors", lambda found: found[:1]),
)


# --- Codes of other channels, and what a refusal leaves behind ------------------------------


def _sent_to_all(unit: Unit, ask: Ask, _channel: str) -> None:
    customer = customers.get(unit, ask.params["customerId"])
    for name, entry in customer.contact.items():
        if entry["status"] != "VERIFIED":
            contact.put(unit, customer, name, {**entry, "code": rules.SANDBOX_CODE})


for _requirement in ("CON-052", "CON-053"):
    declare(
        _requirement,
        "one-code",
        "a customer has one code, whichever channel it was sent to",
        after(contact, "send", _sent_to_all),
    )


def _opened(original: Callable[..., Any], unit: Unit, ask: Ask, channel: str) -> Any:
    try:
        return original(unit, ask, channel)
    except errors.Refusal as refusal:
        if refusal.code == "CONFLICT":
            customer = customers.get(unit, ask.params["customerId"])
            contact.put(unit, customer, channel, contact.fresh())
            unit.session.commit()
        raise


for _handler, _requirements in (
    ("send", ("CON-033", "CON-034")),
    ("confirm", ("CON-035", "CON-036")),
):
    for _requirement in _requirements:
        declare(
            _requirement,
            "opened",
            "a channel that is refused has to be verified from then on",
            around(contact, _handler, _opened),
        )


def _claimed(original: Handler, unit: Unit, ask: Ask) -> Any:
    answer = original(unit, ask)
    unit.session.flush()
    customer = customers.get(unit, answer["id"])
    for name, status in (ask.body.get("contactVerification") or {}).items():
        if name in customer.contact:
            contact.put(unit, customer, name, status_of(status))
    return customers.view(customer)


for _requirement, _handler in (("CON-057", "create"), ("CON-058", "update")):
    declare(
        _requirement,
        "taken-over",
        "a contactVerification that is sent is taken over",
        around(onboarding, _handler, _claimed),
    )


def _needlessly_verified(original: Callable[[Customer], Json | None], customer: Customer) -> Json:
    return original(customer) or dict.fromkeys(rules.CHANNEL_ADDRESS, "VERIFIED")


for _requirement in ("CON-063", "CON-064"):
    declare(
        _requirement,
        "needless-as-verified",
        "channels that nobody has to verify are shown as verified",
        around(customers, "contact_verification", _needlessly_verified),
    )


def _renewed_first(original: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal:
        customer = customers.get(unit, ask.params["customerId"])
        for name, member in rules.CHANNEL_ADDRESS.items():
            if isinstance(ask.body, dict) and member in ask.body and name in customer.contact:
                contact.put(unit, customer, name, contact.fresh())
        unit.session.commit()
        raise


declare(
    "CON-032",
    "renewed-first",
    "a change that is refused opens the channels again whose addresses it has",
    around(onboarding, "update", _renewed_first),
)


def _opened_by_sending(original: Callable[..., Any], unit: Unit, ask: Ask, channel: str) -> None:
    customer = customers.get(unit, ask.params["customerId"])
    was_verified = customer.contact.get(channel, {}).get("status") == "VERIFIED"
    original(unit, ask, channel)
    if was_verified:
        contact.put(unit, customer, channel, contact.fresh())


for _requirement, _channel in (("CON-059", "email"), ("CON-060", "phone")):
    declare(
        _requirement,
        "opened-by-sending",
        f"another code makes the {_channel} pending again",
        around(contact, "send", _opened_by_sending),
    )


def _verifies_the_phones(unit: Unit, _customer: Customer, channel: str) -> None:
    for customer in unit.session.scalars(select(Customer)):
        if channel in customer.contact:
            contact.put(unit, customer, channel, status_of("VERIFIED"))


declare(
    "CON-031",
    "phones",
    "a code verifies the phones of all customers",
    followed("confirm", "phone", _verifies_the_phones),
)


def _of_persons(original: Callable[..., list[Json]], body: Any) -> list[Json]:
    is_business = isinstance(body, dict) and body.get("customerType") == "BUSINESS"
    return [] if is_business else original(body)


for _requirement in ("CON-042", "CON-043"):
    declare(
        _requirement,
        "of-a-business",
        "a business needs no address of a channel",
        around(contact, "missing_errors", _of_persons),
    )


declare(
    "CON-061",
    "left-out",
    "the answer to a change shows no contactVerification",
    edited(onboarding, "update", without("contactVerification")),
)


def _is_needless(channel: str, customer: Customer, _code: Any) -> bool:
    """Return whether a customer is a business that need not verify a channel."""
    return customer.customer_type == "BUSINESS" and channel not in customer.contact


for _handler, _requirement, _channel in (
    ("send", "CON-033", "email"),
    ("send", "CON-034", "phone"),
    ("confirm", "CON-035", "email"),
    ("confirm", "CON-036", "phone"),
):
    declare(
        _requirement,
        f"{_handler}-unasked-of-a-business",
        f"a business may {_handler} codes of its {_channel} where it need not",
        served_where(_handler, _channel, partial(_is_needless, _channel), None),
    )
    declare(
        _requirement,
        f"{_handler}-beside-the-other",
        f"where the {other(_channel)} alone is verified, the {_channel} may {_handler} codes too",
        together(
            with_row(rules, "CONTACT_CHANNELS", _REGION, (other(_channel),)),
            served_where(_handler, _channel, lambda customer, _: bool(customer.contact), None),
        ),
    )


def _pending_again(customer: Json) -> Json:
    channels = customer.get("contactVerification") or {}
    pending: Json = put("contactVerification", dict.fromkeys(channels, "PENDING"))(customer)
    return pending


declare(
    "CON-061",
    "as-at-first",
    "the answer to a change shows the channels as PENDING that are VERIFIED",
    edited(onboarding, "update", _pending_again),
)


def _confirmed_once(customer_type: str, channel: str) -> Apply:
    """Return a patch after which a channel that was verified is never verified again."""

    def apply(patch: Patch) -> None:
        once: set[str] = set()

        def confirm(original: Handler, unit: Unit, ask: Ask) -> Any:
            answer = original(unit, ask)
            customer = customers.get(unit, ask.params["customerId"])
            if customer.customer_type == customer_type and customer.id in once:
                contact.put(unit, customer, channel, contact.fresh())
            once.add(customer.id)
            return answer

        patch.wrap(contact, f"confirm_{channel}", confirm)

    return apply


for _requirement, _type, _channel in (
    ("CON-015", "INDIVIDUAL", "email"),
    ("CON-016", "INDIVIDUAL", "phone"),
    ("CON-044", "BUSINESS", "email"),
    ("CON-045", "BUSINESS", "phone"),
):
    declare(
        _requirement,
        "confirmed-once",
        f"the {_channel} of one {_type} is verified once, and another one in vain",
        _confirmed_once(_type, _channel),
    )


def _still_verified(original: Handler, unit: Unit, ask: Ask) -> Any:
    before = customers.view(customers.get(unit, ask.params["customerId"]))
    answer = original(unit, ask)
    if answer["customerType"] != "BUSINESS" or "email" not in ask.body:
        return answer
    return put("contactVerification", before.get("contactVerification"))(answer)


declare(
    "CON-061",
    "of-a-business-as-before",
    "the answer to another mail address of a business shows the channels from before",
    around(onboarding, "update", _still_verified),
)
