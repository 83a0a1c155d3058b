"""What `accountInfo` has to hold, by account type, and what beneficiaries have to tell."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.proof.second.check import COUNTRY, DATE, PHONE, Fault, Rule, digits, one_of, text
from conformance.proof.second.customer_form import ADDRESS
from conformance.proof.second.money import Json
from conformance.proof.second.world import World

NAME = text(most=200)
SWIFT = text(r"[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?")
SAVINGS = one_of("CHECKING", "SAVINGS")
ACCOUNT = text(r"[A-Za-z0-9-]{4,34}")
SHORT_ADDRESS = ("line1", "city", "postalCode", "country")

PROVIDERS = {
    "KES": ("SAFARICOM",),
    "TZS": ("VODACOM_TZ", "TIGO"),
    "ZMW": ("MTN_ZM", "AIRTEL_ZM", "ZAMTEL_ZM", "ZEDMOBILE"),
    "RWF": ("MTN_RW", "AIRTEL_RW"),
    "MWK": ("TNM_MW", "AIRTEL_MW"),
    "UGX": ("MTN_UG", "AIRTEL_UG"),
    "XOF": ("WAVE", "ORANGE_SN", "MOOV"),
    "BWP": ("MASCOM", "ORANGE_BW"),
}
PHONES = {
    "KES": r"\+254[0-9]{9}",
    "TZS": r"\+255[0-9]{9}",
    "ZMW": r"\+260[0-9]{9}",
    "RWF": r"\+250[0-9]{9}",
    "MWK": r"\+265[0-9]{9}",
    "UGX": r"\+256[0-9]{9}",
    "XOF": r"\+221[0-9]{9}|\+225[0-9]{10}|\+229[0-9]{8,9}",
    "BWP": r"\+[1-9][0-9]{6,14}",
}

PHILIPPINE_BANKS = ("BDO Unibank", "Bank of the Philippine Islands", "Metrobank", "GCash")

# By currency and country the names of receiving institutions.
BANKS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("PHP", "PH"): PHILIPPINE_BANKS,
    ("MXN", "MX"): ("BBVA Mexico", "Banorte"),
    ("NGN", "NG"): ("Access Bank", "Zenith Bank"),
    ("USD", "US"): ("First Example Bank",),
    ("USD", "SV"): ("Banco Agricola",),
    ("EUR", "DE"): ("Beispielbank",),
    ("EUR", "FR"): ("Banque Exemple",),
    ("INR", "IN"): ("HDFC Bank", "State Bank of India"),
    ("BRL", "BR"): ("Banco do Brasil",),
    ("COP", "CO"): ("Bancolombia", "Nequi"),
}


@dataclass(frozen=True)
class AccountType:
    """One account type; each of `forms` is a set of members, of which one has to be there."""

    currencies: tuple[str, ...]
    members: Mapping[str, Rule]
    forms: tuple[tuple[str, ...], ...]
    beneficiary: bool = True


def _mobile(code: str) -> AccountType:
    provider = one_of(*PROVIDERS[code])
    members = {"phoneNumber": text(PHONES[code], kind="tel"), "provider": provider}
    needs = ("phoneNumber", "provider") if code == "BWP" else ("phoneNumber",)
    return AccountType((code,), members, (needs,))


def _wallet(*codes: str) -> AccountType:
    return AccountType(codes, {"address": text(most=200)}, (("address",),), beneficiary=False)


def _local(code: str) -> AccountType:
    members = {"accountNumber": text(r"[0-9]{6,18}"), "bankName": NAME}
    return AccountType((code,), members, (("accountNumber",),))


TYPES: Mapping[str, AccountType] = {
    "USD_ACCOUNT": AccountType(
        ("USD",),
        {
            "accountNumber": digits(4, 17),
            "routingNumber": digits(9),
            "bankAccountType": SAVINGS,
            "bankName": NAME,
            "intermediaryBankName": NAME,
            "intermediaryRoutingNumber": digits(9),
            "fiToFiInformation": text(most=200),
        },
        (("accountNumber", "routingNumber", "bankAccountType", "bankName"),),
    ),
    "MXN_ACCOUNT": AccountType(
        ("MXN",), {"clabeNumber": digits(18), "bankName": NAME}, (("clabeNumber", "bankName"),)
    ),
    "BRL_ACCOUNT": AccountType(
        ("BRL",),
        {
            "pixKey": text(most=100),
            "pixKeyType": one_of("CPF", "CNPJ", "EMAIL", "PHONE", "RANDOM"),
            "bankName": NAME,
            "taxId": text(most=20),
        },
        (("pixKey", "pixKeyType", "bankName", "taxId"),),
    ),
    "COP_ACCOUNT": AccountType(
        ("COP",),
        {
            "bankName": NAME,
            "accountNumber": ACCOUNT,
            "bankAccountType": SAVINGS,
            "phoneNumber": PHONE,
        },
        (("bankName", "accountNumber", "bankAccountType"), ("bankName", "phoneNumber")),
    ),
    "SLV_ACCOUNT": AccountType(
        ("USD",),
        {
            "bankName": NAME,
            "accountNumber": ACCOUNT,
            "bankAccountType": SAVINGS,
            "phoneNumber": PHONE,
        },
        (("bankName", "accountNumber", "bankAccountType"), ("phoneNumber",)),
    ),
    "EUR_ACCOUNT": AccountType(
        ("EUR",),
        {
            "iban": text(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}"),
            "bankName": NAME,
            "swiftCode": SWIFT,
        },
        (("iban", "bankName"),),
    ),
    "PHP_ACCOUNT": AccountType(
        ("PHP",),
        {"bankName": one_of(*PHILIPPINE_BANKS), "accountNumber": digits(8, 16)},
        (("bankName", "accountNumber"),),
    ),
    "GBP_ACCOUNT": AccountType(
        ("GBP",),
        {"sortCode": digits(6), "accountNumber": digits(8), "bankName": NAME},
        (("sortCode", "accountNumber"),),
    ),
    "INR_ACCOUNT": AccountType(
        ("INR",),
        {
            "vpa": text(r"[^@\s]+@[^@\s]+"),
            "accountNumber": digits(9, 18),
            "ifsc": text(r"[A-Z0-9]{11}"),
            "rail": one_of("NEFT", "RTGS"),
            "bankName": NAME,
        },
        (("vpa",), ("accountNumber", "ifsc", "rail")),
    ),
    "NGN_ACCOUNT": AccountType(
        ("NGN",), {"accountNumber": digits(10), "bankName": NAME}, (("accountNumber", "bankName"),)
    ),
    "ZAR_ACCOUNT": AccountType(
        ("ZAR",),
        {"accountNumber": digits(9, 13), "bankName": NAME},
        (("accountNumber", "bankName"),),
    ),
    "CAD_ACCOUNT": AccountType(
        ("CAD",),
        {"bankCode": digits(3), "branchCode": digits(5), "accountNumber": digits(7, 12)},
        (("bankCode", "branchCode", "accountNumber"),),
    ),
    "AED_ACCOUNT": AccountType(
        ("AED",),
        {"iban": text(r"AE[A-Z0-9]{21}"), "swiftCode": SWIFT, "bankName": NAME},
        (("iban",),),
    ),
    "ILS_ACCOUNT": AccountType(
        ("ILS",), {"iban": text(r"IL[A-Z0-9]{21}"), "bankName": NAME}, (("iban", "bankName"),)
    ),
    "BDT_ACCOUNT": AccountType(
        ("BDT",),
        {
            "bankName": NAME,
            "accountNumber": ACCOUNT,
            "branchCode": text(most=20),
            "swiftCode": SWIFT,
            "phoneNumber": PHONE,
        },
        (("bankName", "accountNumber"), ("bankName", "phoneNumber")),
    ),
    "CNY_ACCOUNT": AccountType(
        ("CNY",),
        {"bankName": NAME, "accountNumber": ACCOUNT, "phoneNumber": PHONE},
        (("bankName", "accountNumber"), ("bankName", "phoneNumber")),
    ),
    **{f"{code}_ACCOUNT": _mobile(code) for code in PROVIDERS},
    **{
        f"{code}_ACCOUNT": _local(code)
        for code in ("DKK", "HKD", "IDR", "MYR", "SGD", "THB", "VND", "XAF")
    },
    "BASE_WALLET": _wallet("USDC"),
    "POLYGON_WALLET": _wallet("USDC"),
    "SOLANA_WALLET": _wallet("USDC"),
    "TRON_WALLET": _wallet("USDT"),
    "PLASMA_WALLET": _wallet("USDT"),
    "ARBITRUM_WALLET": _wallet("USDC", "USDT"),
    "SPARK_WALLET": _wallet("BTC"),
    "LIGHTNING": AccountType(
        ("BTC",),
        {
            "lightningAddress": text(r"[^@\s]+@[^@\s]+"),
            "invoice": text(r"(?i)ln[a-z0-9]+", most=4000),
            "bolt12": text(r"(?i)lno[a-z0-9]+", most=4000),
        },
        (("lightningAddress",), ("invoice",), ("bolt12",)),
        beneficiary=False,
    ),
}

PERSON: Mapping[str, Rule] = {
    "beneficiaryType": one_of("INDIVIDUAL", "BUSINESS"),
    "fullName": NAME,
    "birthDate": DATE,
    "nationality": COUNTRY,
    "address": ADDRESS,
    "legalName": NAME,
    "registrationNumber": text(most=60),
    "taxId": text(most=60),
    "documentType": one_of("CC", "CE", "TI", "NIT", "PP"),
    "documentNumber": text(most=40),
}

INDIVIDUAL_ADDRESS = frozenset({"USD", "GBP", "EUR", "AED"})
REGISTERED = frozenset(
    ["EUR", "NGN", "ZAR", "KES", "TZS", "RWF", "ZMW", "UGX", "BWP", "MWK", "XOF", "XAF"]
)
TAXED = REGISTERED - {"EUR"}
ADDRESSED = REGISTERED | frozenset(
    [
        "USD",
        "MXN",
        "GBP",
        "INR",
        "BRL",
        "DKK",
        "PHP",
        "HKD",
        "IDR",
        "MYR",
        "SGD",
        "THB",
        "VND",
        "AED",
        "ILS",
    ]
)
SENDER_REGISTERED = frozenset(
    ["GBP", "INR", "BRL", "DKK", "PHP", "HKD", "IDR", "MYR", "SGD", "THB", "VND", "AED", "ILS"]
)


def info_faults(world: World, info: Json, kind: AccountType, faults: list[Fault]) -> None:
    """Find what is wrong with the members of `accountInfo`."""
    for name, rule in kind.members.items():
        skipped = name == "clabeNumber" and world.has("short-clabe")
        if name == "provider" and _is_of_neighbour(info, kind):
            skipped = world.has("provider-of-neighbour")
        short = name == "phoneNumber" and "XOF" in kind.currencies
        if short and re.fullmatch(r"\+225[0-9]{8,9}", str(info.get(name))):
            nine = len(str(info[name])) == len("+225") + 9
            skipped = (
                world.has("ivory-coast-nine") if nine else world.has("ivory-coast-old-numbers")
            )
        skipped = skipped or _is_free(world, info, kind, name)
        skipped = skipped or _is_free_number(world, info, kind, name)
        if info.get(name) is not None and not skipped:
            rule(info[name], f"accountInfo.{name}", faults)
    _refused_by_bugs(world, info, kind, faults)
    _refused_by_more_bugs(world, info, kind, faults)
    forms = kind.forms
    if world.persona.optional_bank_names:
        # Of ILS and of accounts with two forms the text itself says what is required.
        stated = len(forms) > 1 or "ILS" in kind.currencies
        soft = set() if stated else {"bankName", "taxId", "bankAccountType"}
        forms = tuple(tuple(name for name in form if name not in soft) for form in forms)
    whole = [form for form in forms if all(info.get(name) is not None for name in form)]
    several = len(whole) > 1 and not _is_beside(world, whole)
    if not whole and _is_whole_by_bugs(world, info, kind):
        whole = [()]
    if not whole and not world.has("half-form"):
        nearest = max(forms, key=lambda form: sum(info.get(name) is not None for name in form))
        faults += [
            (f"accountInfo.{name}", "text", "is required")
            for name in nearest
            if info.get(name) is None
        ]
    if several and "invoice" in kind.members and not world.has("lightning-any"):
        faults.append(("accountInfo.invoice", "text", "only one destination may be there"))
    if world.persona.check_digits and not faults:
        faults += [
            (f"accountInfo.{name}", "text", "has a wrong check digit")
            for name, holds in CHECKS.items()
            if isinstance(info.get(name), str) and not holds(info[name].removesuffix("\n"))
        ]


def _is_whole_by_bugs(world: World, info: Json, kind: AccountType) -> bool:
    """Tell whether a planted bug takes a form that lacks a member."""
    if is_number_taken(world, info, kind) or _is_cut(world, info, kind):
        return True
    mobile = "BDT" in kind.currencies and info.get("phoneNumber") is not None
    return mobile and info.get("bankName") is None and world.has("taka-wallet-nameless")


def _is_cut(world: World, info: Json, kind: AccountType) -> bool:
    """Tell whether a planted bug takes a form that lacks one member."""
    lacks = [
        name
        for name in ("bankCode", "branchCode", "bankName", "accountNumber", "bankAccountType")
        if name in kind.members and info.get(name) is None
    ]
    if "CAD" in kind.currencies and lacks == ["branchCode"]:
        return world.has("cad-branch-code-optional")
    colombian = "COP" in kind.currencies and lacks == ["bankAccountType"]
    return colombian and world.has("cop-bank-account-type-optional")


def is_number_taken(world: World, info: Json, kind: AccountType) -> bool:
    """Tell whether a planted bug takes an accountNumber for the number of another name."""
    if info.get("accountNumber") is None:
        return False
    if "iban" in kind.members and info.get("iban") is None:
        return world.has("number-for-iban")
    mexican = "MXN" in kind.currencies and info.get("clabeNumber") is None
    return mexican and world.has("number-for-clabe")


def _is_beside(world: World, whole: list[tuple[str, ...]]) -> bool:
    """Tell whether a planted bug takes an offer of Lightning beside an address."""
    offered = len(whole) == 2 and ("bolt12",) in whole
    if offered and world.has("lightning-offer-beside-any"):
        return True
    both = whole == [("lightningAddress",), ("bolt12",)]
    return both and world.has("lightning-offer-beside-address")


def _is_free(world: World, info: Json, kind: AccountType, name: str) -> bool:
    """Tell whether a planted bug takes any operator, or an account number with letters."""
    given = str(info.get(name))
    if name == "bankName" and "PHP" in kind.currencies and given not in PHILIPPINE_BANKS:
        return _is_bank_free(world, info.get(name))
    if name == "accountNumber" and "routingNumber" in kind.members:
        short = isinstance(info.get(name), str) and re.fullmatch("[0-9]{1,3}", given)
        return bool(short) and world.has("us-three-digits-taken")
    if name == "provider" and "RWF" in kind.currencies and given not in PROVIDERS["RWF"]:
        return isinstance(info.get(name), str) and world.has("rwandan-provider-free")
    if name == "pixKeyType" and isinstance(info.get(name), str):
        return world.has("pix-type-free")
    mixed = re.fullmatch(r"[0-9A-Za-z]{10}", given) and not given.isdigit()
    if name == "accountNumber" and "NGN" in kind.currencies and mixed:
        return world.has("naira-number-letters")
    return False


def _is_free_number(world: World, info: Json, kind: AccountType, name: str) -> bool:
    """Tell whether a planted bug takes a number that is too long, or one of another country."""
    given = info.get(name)
    if not isinstance(given, str):
        return False
    if name == "accountNumber" and "ZAR" in kind.currencies and re.fullmatch("[0-9]{14}", given):
        return world.has("zar-number-too-long")
    if name == "phoneNumber" and "provider" in kind.members:
        pattern = PHONES[kind.currencies[0]]
        tailed = re.match(pattern, given) and not re.fullmatch(pattern, given)
        return bool(tailed) and world.has("phone-with-tail")
    if _is_free_form(world, info, kind, name):
        return True
    israeli = name == "iban" and "ILS" in kind.currencies and not given.startswith("IL")
    if israeli and re.fullmatch("[A-Z]{2}[A-Z0-9]{21}", given):
        return world.has("israeli-iban-prefix-unchecked")
    foreign = re.fullmatch("[A-Z]{2}[A-Z0-9]{21}", given) and not given.startswith("AE")
    emirates = name == "iban" and "AED" in kind.currencies
    return bool(foreign) and emirates and world.has("aed-iban-prefix-unchecked")


def _is_free_form(world: World, info: Json, kind: AccountType, name: str) -> bool:
    """Tell whether a planted bug takes a text whose form is nearly the right one."""
    given = info[name]
    emirates = name == "iban" and "ILS" in kind.currencies and given.startswith("AE")
    if emirates and re.fullmatch("AE[A-Z0-9]{21}", given):
        return world.has("ils-iban-check-shared-with-aed")
    israeli = name == "iban" and "AED" in kind.currencies and given.startswith("IL")
    if israeli and re.fullmatch("IL[A-Z0-9]{21}", given) and world.has("aed-takes-an-israeli-iban"):
        return True
    salvadoran = name == "phoneNumber" and info["accountType"] == "SLV_ACCOUNT"
    if salvadoran and re.fullmatch("[0-9]{8}", given):
        return world.has("slv-phone-in-national-format")
    faults: list[Fault] = []
    kind.members[name](given.removesuffix("\n"), name, faults)
    numeric = re.fullmatch("[0-9]+\n", given) and not faults
    return bool(numeric) and world.has("format-check-lets-trailing-newline")


def _is_bank_free(world: World, given: Any) -> bool:
    """Tell whether a planted bug takes an institution that discoveries do not name for PHP."""
    label = isinstance(given, str) and given.removesuffix(" (PH)") in PHILIPPINE_BANKS
    if label and world.has("philippine-bank-by-label"):
        return True
    elsewhere = any(given in names for names in BANKS.values())
    if elsewhere and world.has("philippine-bank-of-elsewhere"):
        return True
    named = isinstance(given, str) and bool(given.strip())
    return named and world.has("philippine-bank-any")


def _is_of_neighbour(info: Json, kind: AccountType) -> bool:
    given, own = info.get("provider"), PROVIDERS[kind.currencies[0]]
    return given not in own and any(given in names for names in PROVIDERS.values())


def _refused_by_bugs(world: World, info: Json, kind: AccountType, faults: list[Fault]) -> None:
    """Find faults, by a planted bug, where there are none."""
    if info.get("pixKeyType") == "RANDOM" and world.has("pix-random-refused"):
        faults.append(("accountInfo.pixKeyType", "select", "is not known"))
    long = re.fullmatch(r"\+229[0-9]{9}", str(info.get("phoneNumber")))
    if "XOF" in kind.currencies and long and world.has("benin-eight-only"):
        faults.append(("accountInfo.phoneNumber", "tel", "must have eight digits"))
    ivorian = re.fullmatch(r"\+225[0-9]{10}", str(info.get("phoneNumber")))
    if "XOF" in kind.currencies and ivorian and world.has("ivory-coast-nine"):
        faults.append(("accountInfo.phoneNumber", "tel", "must have nine digits"))
    if "AED" in kind.currencies and not info.get("swiftCode"):
        _demand_swift(world, faults)
    last = info.get("bankName") == PHILIPPINE_BANKS[-1]
    if "PHP" in kind.currencies and last and world.has("newest-bank-refused"):
        faults.append(("accountInfo.bankName", "select", "is not known"))
    number = str(info.get("accountNumber"))
    if "ZAR" in kind.currencies and len(number) == 13 and world.has("long-rand-refused"):
        faults.append(("accountInfo.accountNumber", "text", "must have 9 to 12 digits"))


def _refused_by_more_bugs(world: World, info: Json, kind: AccountType, faults: list[Fault]) -> None:
    """Find faults, by a further planted bug, where there are none."""
    short = re.fullmatch("[0-9]{4}", str(info.get("accountNumber")))
    if "routingNumber" in kind.members and short and world.has("us-four-digits-refused"):
        faults.append(("accountInfo.accountNumber", "text", "must have 5 to 17 digits"))
    long = re.fullmatch("[0-9]{17}", str(info.get("accountNumber")))
    if "routingNumber" in kind.members and long and world.has("us-seventeen-digits-refused"):
        faults.append(("accountInfo.accountNumber", "text", "must have 4 to 16 digits"))
    mobile = info["accountType"] == "SLV_ACCOUNT" and info.get("accountNumber") is None
    if mobile and info.get("bankName") is None and world.has("slv-mobile-wants-bank-name"):
        faults.append(("accountInfo.bankName", "text", "is required"))
    unlabelled = "PHP" in kind.currencies and info.get("bankName") in PHILIPPINE_BANKS
    if unlabelled and world.has("philippine-bank-by-label"):
        faults.append(("accountInfo.bankName", "select", "is not known"))
    unnumbered = "CNY" in kind.currencies and info.get("accountNumber") is None
    if unnumbered and info.get("phoneNumber") and world.has("cny-wallet-needs-account-number"):
        faults.append(("accountInfo.accountNumber", "text", "is required"))
    nameless = "vpa" in kind.members and info.get("vpa") is not None and not info.get("bankName")
    if nameless and world.has("upi-needs-bank"):
        faults.append(("accountInfo.bankName", "text", "is required"))


def _demand_swift(world: World, faults: list[Fault]) -> None:
    if world.has("emirates-swift-demanded"):
        faults.append(("accountInfo.swiftCode", "text", "is required"))


def _iban(value: str) -> bool:
    turned = value[4:] + value[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def _weighed(value: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(value, weights, strict=True))


def _routing(value: str) -> bool:
    return bool(re.fullmatch(r"\d{9}", value)) and _weighed(value, (3, 7, 1) * 3) % 10 == 0


def _clabe(value: str) -> bool:
    total = sum(
        int(digit) * weight % 10 for digit, weight in zip(value[:17], (3, 7, 1) * 6, strict=False)
    )
    return (10 - total % 10) % 10 == int(value[17])


# By country and bank of an IBAN the code of the bank, as far as this service knows it.
BANK_CODES = {"DE37040044": "COBADEFFXXX", "FR20041": "PSSTFRPPXXX"}


def derived_code(iban: str) -> str | None:
    """Return the SWIFT code of the bank of an IBAN, where it is known."""
    bank = f"{iban[:2]}{iban[4:]}"
    return next((code for stem, code in BANK_CODES.items() if bank.startswith(stem)), None)


CHECKS = {"iban": _iban, "routingNumber": _routing, "clabeNumber": _clabe}


def beneficiary_faults(
    world: World, person: Any, code: str, path: str, faults: list[Fault], *, by_business: bool
) -> None:
    """Find what a beneficiary of a currency does not tell; `by_business` is about the sender."""
    if not isinstance(person, dict):
        faults.append((path, "text", "is required"))
        return
    nested = person.get("businessInfo")
    told = {**(nested if isinstance(nested, dict) else {}), **person}
    kind = told.get("beneficiaryType")
    _misread(world, person, told, code)
    for name, rule in PERSON.items():
        free = name == "birthDate" and _is_free_date(world, told.get(name))
        free = free or (name == "beneficiaryType" and _is_free_type(world, told.get(name)))
        if told.get(name) is not None and not free:
            rule(told[name], f"{path}.{name}", faults)
    _refuse_papers(world, told, code, path, faults)
    needs = ["beneficiaryType"]
    if kind == "BUSINESS":
        needs += _business_needs(world, code, by_business=by_business)
    else:
        needs.append("fullName")
        if code in INDIVIDUAL_ADDRESS and not _is_homeless(world, code, told):
            needs.append("address")
        needs += _more_needs(world, code)
    faults += [
        (f"{path}.{name}", "text", "is required") for name in needs if told.get(name) is None
    ]
    address = told.get("address")
    if "address" in needs and isinstance(address, dict):
        faults += [
            (f"{path}.address.{name}", "text", "is required")
            for name in SHORT_ADDRESS
            if not address.get(name)
        ]


def _refuse_papers(world: World, told: Json, code: str, path: str, faults: list[Fault]) -> None:
    """Find a fault, by a planted bug, in the type of a beneficiary's document."""
    if told.get("documentType") == "PP" and world.has("passport-refused"):
        faults.append((f"{path}.documentType", "select", "is not known"))
    company = code == "COP" and told.get("documentType") == "NIT"
    if company and world.has("colombian-nit-refused"):
        faults.append((f"{path}.documentType", "select", "is not known"))
    foreign = code == "COP" and told.get("documentType") == "PP"
    if foreign and world.has("cop-passport-refused"):
        faults.append((f"{path}.documentType", "select", "is not known"))
    rare = code == "COP" and told.get("documentType") in {"TI", "PP"}
    if rare and world.has("colombian-papers-unknown"):
        faults.append((f"{path}.documentType", "select", "is not known"))


def _is_homeless(world: World, code: str, told: Json) -> bool:
    """Tell whether a planted bug asks no address of an individual who tells none."""
    if told.get("address"):
        return False
    if code == "AED" and world.has("emirates-individual-address"):
        return True
    return code == "EUR" and world.has("euro-address-optional")


def _more_needs(world: World, code: str) -> list[str]:
    """Return what a planted bug demands of an individual besides."""
    if code == "PHP" and world.has("philippine-address-demanded"):
        return ["address"]
    if code == "BRL" and world.has("brazilian-birth-date-demanded"):
        return ["birthDate"]
    return []


def _misread(world: World, person: Json, told: Json, code: str) -> None:
    """Take, by a planted bug, something else for what a beneficiary tells."""
    inner = told.get("taxId") is not None and person.get("taxId") is None
    if inner and world.has("nested-tax-id-unseen"):
        del told["taxId"]
    nested = told.get("legalName") is not None and person.get("legalName") is None
    if nested and code == "USD" and world.has("nested-legal-name-unseen"):
        del told["legalName"]
    if nested and world.has("nested-legal-name-unread"):
        del told["legalName"]
    named = code == "EUR" and told.get("beneficiaryType") == "BUSINESS" and told.get("fullName")
    if named and not told.get("legalName") and world.has("euro-full-name-for-legal"):
        told["legalName"] = told["fullName"]


def _is_free_type(world: World, value: Any) -> bool:
    """Tell whether a planted bug lets a text pass for the type of a beneficiary."""
    strange = isinstance(value, str) and value not in {"INDIVIDUAL", "BUSINESS"}
    return strange and world.has("beneficiary-type-any")


def _is_free_date(world: World, value: Any) -> bool:
    """Tell whether a planted bug lets a text pass for a date."""
    strange = isinstance(value, str) and not re.fullmatch(r"\d{4}-\d\d-\d\d", value)
    return strange and bool(value) and world.has("beneficiary-date-free")


def _business_needs(world: World, code: str, *, by_business: bool) -> list[str]:
    needs = [] if code == "USD" and world.has("dollar-legal-name-optional") else ["legalName"]
    homeless = (code == "MXN" and world.has("mexican-business-address")) or (
        code == "ILS" and world.has("israeli-business-address")
    )
    if code in ADDRESSED and not homeless:
        needs.append("address")
    if by_business and code == "ILS" and world.has("israeli-registration-forgotten"):
        by_business = False
    if code in {"BWP", "MWK"} and world.has("southern-businesses-unchecked"):
        return needs
    free = code == "EUR" and world.has("euro-registration-optional")
    if (code in REGISTERED and not free) or (by_business and code in SENDER_REGISTERED):
        needs.append("registrationNumber")
    untaxed = code == "XOF" and world.has("cfa-business-without-tax-id")
    if code in TAXED and not untaxed and not world.has("african-tax-id"):
        needs.append("taxId")
    if code == "EUR" and world.has("tax-id-for-europe"):
        needs.append("taxId")
    return needs
