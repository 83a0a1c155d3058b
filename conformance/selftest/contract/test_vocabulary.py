"""The vocabularies of triggers and features: what is refused, and what the shipped ones hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.contract.areas import areas
from conformance.contract.data import SPEC
from conformance.contract.document import document
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
from conformance.profile.names import returned_by
from conformance.run import load_profile

TRIGGER = {
    "name": "card.issue",
    "meaning": "A card is\n  issued.",
    "example": {"command": ["./issue"]},
}
FEATURE = {"name": "sca", "meaning": "Payments are authorized."}


def write_words(folder: Path, content: object) -> Path:
    """Write this content to a file and return its path."""
    path = folder / "words.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


class TestReading:
    """An entry of a file becomes a value, or an error that names the file."""

    def test_a_trigger_has_all_its_members(self, tmp_path: Path) -> None:
        """The meaning has no line breaks, and the area is the key that the trigger stands under."""
        more = {"parameters": ["cardId"], "results": ["a", "b"], "secrets": ["b"], "request": True}

        loaded = read_triggers(write_words(tmp_path, {"cards": [{**TRIGGER, **more}]}))

        assert loaded == {
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
        """A trigger without optional members has no parameters, results or secrets."""
        (loaded,) = read_triggers(write_words(tmp_path, {"cards": [TRIGGER]})).values()

        assert (loaded.parameters, loaded.results, loaded.secrets, loaded.request) == (
            (),
            (),
            (),
            False,
        )

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
            read_triggers(write_words(tmp_path, content))

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
        """The message says what is wrong with the member."""
        with pytest.raises(VocabularyError, match=message):
            read_triggers(write_words(tmp_path, {"cards": [{**TRIGGER, **members}]}))

    def test_a_key_that_is_missing_is_named(self, tmp_path: Path) -> None:
        """The message names the trigger and the missing key."""
        with pytest.raises(VocabularyError, match=r"card\.issue: the key 'example' is missing"):
            read_triggers(
                write_words(
                    tmp_path, {"cards": [{key: TRIGGER[key] for key in ("name", "meaning")}]}
                )
            )

    def test_the_operations_of_features_are_in_the_document(self) -> None:
        """Each operation of a feature is in the OpenAPI document, and is of no other feature."""
        operations = [name for feature in features().values() for name in feature.operations]

        assert set(operations) <= document().operations.keys()
        assert len(operations) == len(set(operations))

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
        """A wrong list of features raises VocabularyError with what is wrong."""
        with pytest.raises(VocabularyError, match=message):
            read_features(write_words(tmp_path, content))


class TestShipped:
    """The vocabularies that the suite ships."""

    def test_no_entry_is_lost(self) -> None:
        """As many entries are loaded as stand in the file; YAML hides keys that stand twice."""
        for name, loaded in (("triggers", triggers()), ("features", features())):
            text = (SPEC / f"{name}.yaml").read_text(encoding="utf-8")

            assert text.count("- name: ") == len(loaded)

    def test_areas_come_in_their_order(self) -> None:
        """Triggers stand in the order of ``spec/areas.yaml``, as in the report."""
        names = list(dict.fromkeys(trigger.area for trigger in triggers().values()))

        assert names == [name for name in areas() if name in names]

    def test_the_suite_sees_what_stands_there(self) -> None:
        """The constants hold parameters, requests, secrets and features of the files."""
        assert TRIGGERS["quote.expire"] == ("quoteId", "expiresAt")
        assert "card.issue" in REQUESTS
        assert "quote.expire" not in REQUESTS
        assert SECRETS == {"agent.connect": ("token",)}
        assert {"regulated", "sca"} < FEATURES

    @pytest.mark.parametrize("name", TRIGGERS)
    def test_an_example_is_a_mapping(self, name: str) -> None:
        """A profile takes the example of each trigger, which returns only known results."""
        profile = {"implementation": {"name": ""}, "triggers": {name: triggers()[name].example}}

        mapped = Profile.model_validate(profile).triggers[name]

        assert set(returned_by(mapped)) <= set(triggers()[name].results)

    def test_the_reference_returns_results_alone(self) -> None:
        """The profile of the reference returns all results of each trigger, and nothing else."""
        returned = {
            name: set(returned_by(mapping))
            for name, mapping in load_profile("reference").triggers.items()
        }

        assert {name: names for name, names in returned.items() if names} == {
            name: set(trigger.results) for name, trigger in triggers().items() if trigger.results
        }

    def test_features_of_profiles_are_the_vocabulary(self) -> None:
        """A profile can declare exactly the features of the vocabulary."""
        declarable = set(Features.model_fields) - {"platform"} | {"regulated", "unregulated"}

        assert declarable == FEATURES
        assert all(isinstance(Features().declares(feature), bool) for feature in FEATURES)
