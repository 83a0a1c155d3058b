"""The conformance classes: what stands in the list, and what belongs to each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.contract.catalogue import Level, Needs, Requirement, Source, catalogue
from conformance.contract.classes import ClassError, Classes, classes
from conformance.contract.vocabulary import FEATURES

CLASS = {"name": "cards", "title": "Cards", "text": "There are cards.", "features": ["cards"]}


def write_classes(folder: Path, content: Any) -> Path:
    """Write a list of classes and return its path."""
    path = folder / "classes.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def requirement(identifier: str, area: str, *features: str) -> Requirement:
    """Return a requirement of an area that needs these features."""
    source = Source("Endpoints", (1,))
    return Requirement(
        identifier, Level.MUST, "It holds.", source, (), area, Needs(features=features)
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param({"cards": {}}, "expected a list of classes", id="no list"),
        pytest.param(["cards"], "expected a mapping with a name", id="no mapping"),
        pytest.param([{**CLASS, "name": "Cards!"}], "a name looks like", id="name"),
        pytest.param([{**CLASS, "feature": []}], "unknown key 'feature'; .*'features'", id="key"),
        pytest.param([{**CLASS, "title": ""}], "cards: title is a text", id="empty title"),
        pytest.param([{**CLASS, "features": "cards"}], "features is a list", id="no list of names"),
        pytest.param([{**CLASS, "options": ["card"]}], "'card' in options; .*'cards'", id="option"),
        pytest.param([{**CLASS, "areas": ["quote"]}], "'quote' in areas; .*'quotes'", id="area"),
        pytest.param([{**CLASS, "prefixes": ["QUE"]}], "'QUE' in prefixes", id="prefix"),
        pytest.param([{**CLASS, "features": []}], "nothing belongs to it", id="empty"),
        pytest.param([CLASS, CLASS], "two classes cards", id="name twice"),
        pytest.param(
            [{**CLASS, "prefixes": ["FUZ"]}, {**CLASS, "name": "fuzz", "prefixes": ["FUZ"]}],
            "fuzz and cards both have the prefix FUZ",
            id="prefix twice",
        ),
    ],
)
def test_a_wrong_list_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    """ClassError is raised for what is no class, and names file, class, key and nearest word."""
    with pytest.raises(ClassError, match=rf"^classes\.yaml: .*{message}"):
        Classes.load(write_classes(tmp_path, content))


def test_every_testable_requirement_belongs_to_a_class() -> None:
    """A requirement that belongs to no class could be broken by what conforms to every class."""
    strays = [
        each.id
        for each in catalogue().values()
        if each.untestable is None and not classes().of(each)
    ]

    assert strays == []


def test_every_feature_stands_in_a_class() -> None:
    """A feature of no class would be part of no claim."""
    named = {name for one in classes().values() for name in (*one.features, *one.options)}

    assert named == FEATURES


@pytest.mark.parametrize(
    ("each", "expected"),
    [
        (requirement("QUO-001", "quotes"), ("core",)),
        (requirement("QUO-001", "quotes", "realtime_funding"), ("core",)),
        (requirement("QUO-001", "quotes", "sca", "realtime_funding"), ("strong_authentication",)),
        (requirement("EVT-001", "webhooks", "webhooks", "cards"), ("cards", "webhooks")),
        (requirement("FUZ-001", "protocol", "sca"), ("robustness",)),
        (requirement("VER-001", "verification"), ("onboarding",)),
    ],
    ids=["area", "option", "feature beside an option", "two features", "prefix", "other area"],
)
def test_membership(each: Requirement, expected: tuple[str, ...]) -> None:
    """Area, features, options and prefix say which classes a requirement belongs to."""
    assert classes().of(each) == expected


def test_claim() -> None:
    """A class is claimed by one of its features; what else it lacks is named."""
    onboarding = classes()["onboarding"]

    assert not onboarding.is_claimed({"contact_verification"}.__contains__)
    assert onboarding.is_claimed({"hosted_onboarding"}.__contains__)
    assert onboarding.lacks({"hosted_onboarding"}.__contains__) == (
        "direct_onboarding",
        "contact_verification",
    )
    assert classes()["core"].is_claimed(set[str]().__contains__)


def test_an_unknown_class_is_told() -> None:
    """A class that there is not is named, with the nearest."""
    with pytest.raises(ClassError, match=r"no conformance class 'card'; the nearest is 'cards'"):
        classes().require("card")
