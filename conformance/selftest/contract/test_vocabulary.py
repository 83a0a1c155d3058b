"""The vocabularies of triggers and features: what is refused, and what the shipped ones are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.contract.areas import areas
from conformance.contract.data import SPEC
from conformance.contract.vocabulary import (
    FEATURES,
    REQUESTS,
    SECRETS,
    TRIGGERS,
    Trigger,
    VocabularyError,
    features,
    read_features,
    read_triggers,
    triggers,
)
from conformance.profile.features import Features
from conformance.profile.model import Profile
from conformance.run import load_profile

TRIGGER = {
    "name": "card.issue",
    "meaning": "A card is\n  issued.",
    "example": {"command": ["./issue"]},
}
FEATURE = {"name": "sca", "meaning": "Payments are authorized."}


def written(folder: Path, content: object) -> Path:
    """Return a file with this content."""
    path = folder / "words.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


class TestReading:
    """An entry becomes a value, or an error that names the place."""

    def test_a_trigger_has_all_its_members(self, tmp_path: Path) -> None:
        """Its meaning on one line, its area from where it stands."""
        more = {"parameters": ["cardId"], "results": ["a", "b"], "secrets": ["b"], "request": True}

        read = read_triggers(written(tmp_path, {"cards": [{**TRIGGER, **more}]}))

        assert read == {
            "card.issue": Trigger(
                name="card.issue",
                area="cards",
                meaning="A card is issued.",
                example={"command": ["./issue"]},
                parameters=("cardId",),
                results=("a", "b"),
                secrets=("b",),
                request=True,
            )
        }

    def test_most_members_may_be_left_out(self, tmp_path: Path) -> None:
        """A cause may have no parameter and tell nothing."""
        (read,) = read_triggers(written(tmp_path, {"cards": [TRIGGER]})).values()

        assert (read.parameters, read.results, read.secrets, read.request) == ((), (), (), False)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            pytest.param([TRIGGER], "a mapping from areas to triggers", id="no areas"),
            pytest.param(
                {"card": []}, "there is no area 'card'; the nearest is 'cards'", id="area"
            ),
            pytest.param({"cards": {}}, "cards: expected a list of entries", id="no list"),
            pytest.param({"cards": ["card.issue"]}, "a mapping with a name", id="no mapping"),
            pytest.param({"cards": [TRIGGER, TRIGGER]}, "there are two triggers card", id="twice"),
        ],
    )
    def test_a_wrong_list_is_refused(self, tmp_path: Path, content: object, message: str) -> None:
        """The message names the file and what to change."""
        with pytest.raises(VocabularyError, match=rf"^words\.yaml: .*{message}"):
            read_triggers(written(tmp_path, content))

    @pytest.mark.parametrize(
        ("members", "message"),
        [
            ({"name": "issue"}, "issue: a name looks like"),
            ({"parameter": ["cardId"]}, "unknown key 'parameter'; the nearest is 'parameters'"),
            ({"example": None}, "example is a mapping as in a profile"),
            ({"meaning": "it is issued"}, "meaning is one sentence or more"),
            ({"request": "yes"}, "request is true or false"),
            ({"parameters": "cardId"}, "parameters is a list of names"),
            ({"parameters": ["card-id"]}, "parameters is a list of names"),
            ({"results": ["cardId", "cardId"]}, "results has a name twice"),
            ({"secrets": ["token"]}, "the secret 'token' is none of its results"),
        ],
    )
    def test_a_wrong_trigger_is_refused(
        self, tmp_path: Path, members: dict[str, Any], message: str
    ) -> None:
        """The message names the trigger too."""
        with pytest.raises(VocabularyError, match=message):
            read_triggers(written(tmp_path, {"cards": [{**TRIGGER, **members}]}))

    def test_a_key_that_is_missing_is_named(self, tmp_path: Path) -> None:
        """With the trigger."""
        with pytest.raises(VocabularyError, match=r"card\.issue: the key 'example' is missing"):
            read_triggers(
                written(tmp_path, {"cards": [{key: TRIGGER[key] for key in ("name", "meaning")}]})
            )

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ({"sca": {}}, "expected a list of entries"),
            (["sca"], "expected a mapping with a name"),
            ([FEATURE, FEATURE], "there are two features sca"),
            ([{**FEATURE, "name": "Sca"}], "Sca: a name looks like"),
            ([{"name": "sca"}], "sca: the key 'meaning' is missing"),
        ],
    )
    def test_wrong_features_are_refused(
        self, tmp_path: Path, content: object, message: str
    ) -> None:
        """As triggers are."""
        with pytest.raises(VocabularyError, match=message):
            read_features(written(tmp_path, content))


class TestShipped:
    """The vocabularies of the suite."""

    def test_no_entry_is_lost(self) -> None:
        """YAML keeps the last of two keys alone, and an area must not stand there twice."""
        for name, read in (("triggers", triggers()), ("features", features())):
            text = (SPEC / f"{name}.yaml").read_text(encoding="utf-8")

            assert text.count("- name: ") == len(read)

    def test_areas_come_in_their_order(self) -> None:
        """So that the table reads like the report."""
        named = list(dict.fromkeys(trigger.area for trigger in triggers().values()))

        assert named == [name for name in areas() if name in named]

    def test_the_suite_sees_what_stands_there(self) -> None:
        """Parameters, requests, secrets and features by their names."""
        assert TRIGGERS["quote.expire"] == ("quoteId", "expiresAt")
        assert "card.issue" in REQUESTS
        assert "quote.expire" not in REQUESTS
        assert SECRETS == {"agent.connect": ("token",)}
        assert {"regulated", "sca"} < FEATURES

    @pytest.mark.parametrize("name", TRIGGERS)
    def test_an_example_is_a_mapping(self, name: str) -> None:
        """A profile takes it, and it returns nothing but results."""
        profile = {"implementation": {"name": ""}, "triggers": {name: triggers()[name].example}}

        mapped = Profile.model_validate(profile).triggers[name]

        assert mapped.http is None or set(mapped.http.returns) <= set(triggers()[name].results)

    def test_the_reference_returns_results_alone(self) -> None:
        """All of those that a trigger may tell."""
        returned = {
            name: set(mapping.http.returns)
            for name, mapping in load_profile("reference").triggers.items()
            if mapping.http is not None
        }

        assert {name: names for name, names in returned.items() if names} == {
            name: set(trigger.results) for name, trigger in triggers().items() if trigger.results
        }

    def test_features_of_profiles_are_the_vocabulary(self) -> None:
        """What a requirement needs can be declared, and what can be declared has a name."""
        declarable = set(Features.model_fields) - {"platform"} | {"regulated", "unregulated"}

        assert declarable == FEATURES
        assert all(isinstance(Features().declares(feature), bool) for feature in FEATURES)
