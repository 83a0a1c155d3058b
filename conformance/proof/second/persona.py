"""The choices that the specification leaves open, and named sets of them: personas."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Persona:
    """One way to fill what the specification leaves open. The defaults are the persona `strict`.

    Durations are in seconds. `purposeful` has the currencies that are paid out for a named purpose
    alone. `throttled_each` refuses each so many requests for their pace, 0 none.
    `max_unproven_cents` is what an external account may receive, in US cents, before its ownership
    is proven, and `min_cents` the least that is paid at all. `delivery_jitter` is the longest time
    before a webhook is sent, and `hook_key` how the secret that webhooks are signed with spells
    the key. `profile` holds what differs from `fixtures/profiles/second.yaml` for a target of this
    persona, as nested mappings. `lacks` is found, as a regular expression, in the
    paths that are not there.
    """

    summary: str

    # Forms of messages
    id_form: Literal["uuid", "hex", "digits", "letters", "mixed"] = "uuid"
    bare_ids: bool = False
    time_form: Literal["seconds", "micros", "offset"] = "seconds"
    error_media: str = "application/json"
    with_charset: bool = False
    with_both_statuses: bool = False
    with_contact_body: bool = True
    codes: Literal["same", "fresh"] = "same"
    rate_as_float: bool = False
    with_nulls: bool = True
    with_extras: bool = False
    with_hints: bool = True
    refuses_unknown: bool = True
    created_status: int = 201
    list_form: Literal["data", "bare"] = "data"
    page_size: int = 25
    list_order: Literal["newest", "oldest", "id"] = "newest"
    path_form: Literal["dots", "brackets"] = "dots"
    path_root: bool = True
    no_owner: Literal["empty", "null", "absent"] = "empty"
    verification_form: Literal["data", "object", "bare"] = "data"
    reads_one: bool = True
    rate_scale: Literal["whole", "smallest"] = "whole"
    pretty: bool = False
    masked: bool = False
    shows_beneficiary: bool = True
    tidies: bool = False
    platform_fees_form: Literal["integer", "money"] = "integer"
    kept_challenge: bool = False
    executed_status: int = 200
    config_body: bool = True
    more_events: bool = False

    # Codes and statuses of refusals
    own_codes: bool = True
    body_reference_status: int = 404
    amount_code: str = "INVALID_AMOUNT"
    format_code: str = "INVALID_REQUEST_FORMAT"
    terms_status: int = 400
    wrong_method_status: int = 404
    wrong_media_status: int = 400
    key_status: int = 400
    eligibility_status: int = 400
    wrong_proof_status: int = 400
    wrong_state_status: int = 409
    file_status: int = 400
    terminal_reset_status: int = 400
    purposeful: tuple[str, ...] = ()
    version_code: tuple[int, str] = (412, "UNSUPPORTED_UMA_VERSION")
    expired_code: str = "QUOTE_EXPIRED"
    account_code: str = "INVALID_INPUT"
    unapproved_code: tuple[int, str] = (400, "MISSING_MANDATORY_USER_INFO")

    # Where something is noticed
    registration_noticed: Literal["creation", "quote"] = "creation"
    unlisted_rail: Literal["refused", "ignored"] = "refused"
    approval_noticed: Literal["creation", "execution"] = "creation"
    gone_destination: Literal["paid", "refused"] = "paid"
    platform_externals: bool = True
    untrust_path: Literal["long", "short"] = "long"
    region_demands: Literal["submission", "creation"] = "submission"
    single_word: Literal["creation", "submission"] = "creation"
    funds_noticed: Literal["execution", "creation"] = "execution"
    destination_noticed: Literal["creation", "execution"] = "creation"
    volume_noticed: Literal["creation", "execution"] = "creation"
    sent_rails: Literal["refused", "ignored"] = "refused"
    check_digits: bool = True
    optional_bank_names: bool = False
    beneficiary_place: Literal["nested", "top"] = "nested"
    max_file_bytes: int = 10_000_000
    max_unproven_cents: int = 300
    same_account: Literal["new", "first"] = "new"
    cleared_factor: Literal["resets", "refused"] = "resets"

    # States
    regulated: bool = False
    eu_channels: tuple[str, ...] = ("email", "phone")
    changed_contact: Literal["kept", "pending"] = "kept"
    eu_wallet_start: Literal["ACTIVE", "PENDING_OWNERSHIP_VERIFICATION"] = "ACTIVE"
    verifications: Literal["each", "one"] = "each"
    approved_at: Literal["answer", "later"] = "answer"
    provisioned_at: Literal["approval", "creation"] = "approval"
    external_start: Literal["ACTIVE", "PENDING"] = "ACTIVE"
    settle_seconds: float = 0.05
    review_seconds: float = 0.3
    quote_seconds: int = 300
    immediate_status: Literal["PROCESSING", "COMPLETED"] = "PROCESSING"
    refunded_status: Literal["FAILED", "REFUNDED", "REFUND"] = "FAILED"
    expired_quote: Literal["EXPIRED", "PENDING"] = "EXPIRED"
    repeated_execution: Literal["same", "refused"] = "same"
    realtime_execution: Literal["refused", "same"] = "refused"
    immediate_with_sca: Literal["challenge", "refused"] = "challenge"
    realtime_sca: Literal["creation", "execution"] = "creation"
    lapsed_challenge: Literal["FAILED", "EXPIRED"] = "FAILED"
    authorizing_status: Literal["PENDING", "PENDING_AUTHORIZATION"] = "PENDING"
    first_factors: tuple[str, ...] = ("SMS_OTP",)
    first_session: Literal["creation", "login"] = "creation"
    enrollment_at: Literal["start", "completion"] = "completion"
    announces_quotes: bool = False
    verification_follows: bool = False
    throttled_each: int = 0
    deliveries: int = 1
    delivery_jitter: float = 0.0
    hook_key: Literal["text", "base64"] = "text"
    same_key_same_link: bool = False
    lacks: str = "(?!)"

    # Money
    with_service_fee: bool = True
    min_cents: int = 0
    told_balance: Literal["both", "available"] = "both"
    rounding: Literal["down", "half"] = "half"
    fee_sum: Literal["total", "apart"] = "total"
    foreign_fee: Literal["refused", "dropped"] = "refused"
    underfunded_card: Literal["DECLINED", "EXCEPTION"] = "DECLINED"

    profile: Mapping[str, Any] = field(default_factory=dict)


STRICT = Persona(summary="Refuses unknown members, names every fault, and settles at once.")

PERSONAS: Mapping[str, Persona] = {
    "strict": STRICT,
    "lenient": replace(
        STRICT,
        summary="Takes unknown members, and answers with members that the text does not name.",
        refuses_unknown=False,
        with_extras=True,
        bare_ids=True,
        sent_rails="ignored",
        check_digits=False,
        optional_bank_names=True,
        realtime_execution="same",
        foreign_fee="dropped",
        unlisted_rail="ignored",
        max_file_bytes=10_485_760,
        created_status=200,
        wrong_proof_status=422,
        first_factors=("SMS_OTP", "TOTP", "PASSKEY"),
    ),
    "terse": replace(
        STRICT,
        summary="Leaves out whatever it may leave out of an answer.",
        with_nulls=False,
        with_hints=False,
        no_owner="absent",
        reads_one=False,
        list_form="bare",
        verification_form="object",
        own_codes=False,
        path_root=False,
        with_contact_body=False,
        profile={"bindings": {"list_page_size": None, "list_cursor": None}},
    ),
    "codes": replace(
        STRICT,
        summary="Has the other code or status wherever the text leaves one open.",
        own_codes=False,
        body_reference_status=400,
        amount_code="INVALID_INPUT",
        format_code="INVALID_INPUT",
        terms_status=409,
        wrong_method_status=405,
        wrong_media_status=415,
        key_status=422,
        eligibility_status=409,
        wrong_proof_status=401,
        wrong_state_status=400,
        file_status=422,
        terminal_reset_status=409,
        version_code=(424, "NO_COMPATIBLE_UMA_VERSION"),
        expired_code="QUOTE_RATE_UNAVAILABLE",
        repeated_execution="refused",
        path_form="brackets",
        platform_externals=False,
        purposeful=("MXN",),
        profile={"bindings": {"purpose_currencies": ["MXN"]}},
    ),
    "slow": replace(
        STRICT,
        summary="Comes to every state late, by way of the states before it.",
        settle_seconds=0.8,
        review_seconds=1.0,
        external_start="PENDING",
        authorizing_status="PENDING_AUTHORIZATION",
        announces_quotes=True,
        enrollment_at="start",
        lapsed_challenge="EXPIRED",
        realtime_sca="execution",
        realtime_execution="same",
        refunded_status="REFUND",
        quote_seconds=900,
        deliveries=2,
        delivery_jitter=0.3,
        hook_key="base64",
        single_word="submission",
        profile={"webhooks": {"signature": {"key_encoding": "base64"}}},
    ),
    "paged": replace(
        STRICT,
        summary="Pages of three, oldest first, with other forms of ids and times.",
        page_size=3,
        list_order="oldest",
        id_form="digits",
        time_form="offset",
        no_owner="null",
        verification_form="bare",
        rate_scale="smallest",
        rate_as_float=True,
        with_both_statuses=True,
        verification_follows=True,
        untrust_path="short",
    ),
    "problem": replace(
        STRICT,
        summary="Errors as problem+json, times to the microsecond, ids of letters.",
        error_media="application/problem+json",
        id_form="letters",
        time_form="micros",
        rounding="down",
        fee_sum="apart",
        expired_quote="PENDING",
        refunded_status="REFUNDED",
        underfunded_card="EXCEPTION",
        same_key_same_link=True,
        with_charset=True,
        max_unproven_cents=0,
    ),
    "regulated": replace(
        STRICT,
        summary="A regulated platform: customers are approved when they are created.",
        regulated=True,
        provisioned_at="creation",
        immediate_status="COMPLETED",
        beneficiary_place="top",
        id_form="hex",
        profile={
            "features": {
                "platform": "regulated",
                "hosted_onboarding": False,
                "direct_onboarding": False,
            },
            "bindings": {"beneficiary": "beneficiary"},
            "triggers": {"internal_account.await": None},
        },
    ),
    "eager": replace(
        STRICT,
        summary="Accounts before approval, and every fault noticed at the first step.",
        provisioned_at="creation",
        region_demands="creation",
        funds_noticed="creation",
        immediate_with_sca="refused",
        profile={"triggers": {"internal_account.await": None}},
    ),
    "late": replace(
        STRICT,
        summary="Every fault noticed at the last step at which it can be.",
        single_word="submission",
        destination_noticed="execution",
        volume_noticed="execution",
        registration_noticed="quote",
        id_form="mixed",
        throttled_each=97,
        immediate_status="COMPLETED",
        first_session="login",
        codes="fresh",
        profile={
            "triggers": {
                name: {"http": {"url": f"{{origin}}/backstage/{path}", "returns": {"code": "code"}}}
                for name, path in (
                    ("contact.code", "customers/{customerId}/codes/{channel}"),
                    ("sca.code", "challenges/{challengeId}/code"),
                )
            }
        },
    ),
    "discreet": replace(
        STRICT,
        summary="Masks numbers, shows no beneficiary, and tidies what it is told; takes no fee.",
        masked=True,
        shows_beneficiary=False,
        tidies=True,
        pretty=True,
        list_order="id",
        platform_fees_form="money",
        account_code="INVALID_BANK_ACCOUNT",
        eu_channels=("email",),
        changed_contact="pending",
        verifications="one",
        with_service_fee=False,
        min_cents=50,
        quote_seconds=60,
    ),
    "deferring": replace(
        STRICT,
        summary="Accepts with 202 and acts a moment later; says more by events, less by answers.",
        created_status=202,
        executed_status=202,
        config_body=False,
        kept_challenge=True,
        delivery_jitter=0.15,
        more_events=True,
        unapproved_code=(409, "CUSTOMER_NOT_VERIFIED"),
        approval_noticed="execution",
        gone_destination="refused",
        same_account="first",
        cleared_factor="refused",
        eu_channels=("phone",),
        eu_wallet_start="PENDING_OWNERSHIP_VERIFICATION",
        approved_at="later",
        told_balance="available",
        id_form="mixed",
    ),
    "core": replace(
        STRICT,
        summary="Offers no more than customers, accounts, quotes and transactions.",
        lacks="^/(stablecoins|cards|sandbox/cards|transfer-|internal-accounts$|sca/factors)"
        "|/(kyc-link|untrust.*|challenge|verify|approve)$",
        profile={
            "features": dict.fromkeys(
                (
                    *("stablecoins", "cards", "deprecated_transfers", "hosted_onboarding"),
                    *("factor_reset", "trusted_beneficiaries", "ownership_verification"),
                    *("rule_based_accounts", "agents"),
                ),
                False,
            ),
        },
    ),
}
