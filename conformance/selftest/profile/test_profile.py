"""The profile: which files are refused, and what is published about profiles."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.contract.data import FIXTURES
from conformance.contract.vocabulary import TRIGGERS
from conformance.profile import model as module
from conformance.profile.bindings.external_accounts import PROVIDERS
from conformance.profile.loading import read_profile
from conformance.profile.model import Environment, Profile
from conformance.profile.part import ProfileError
from conformance.run import load_profile
from conformance.verdict.decisions import ResourceMissing

Write = Callable[..., Path]

SCHEMA = Path(module.__file__).with_name("profile.schema.json")
SHIPPED = sorted((FIXTURES / "profiles").glob("*.yaml"))
TEMPLATE = FIXTURES / "profiles" / "template.yaml"
CONTENT = {
    **yaml.load(
        (FIXTURES / "profiles" / "reference.yaml").read_text(encoding="utf-8"),
        Loader=yaml.CSafeLoader,
    ),
    "variables": {"tenant": "t"},
    "tls": {"certificate_authority": None},
}
WORDS = st.text(max_size=8) | st.sampled_from(["http", "url", "key", "name", "a.pem", "{quoteId}"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.just("{" * 99),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=5,
)
NAME = {"implementation": {"name": "acme"}}


def trigger(name: str, **call: Any) -> dict[str, Any]:
    """Return a profile that causes a trigger by one request, with these members."""
    return {**NAME, "triggers": {name: {"http": {"url": "{origin}", **call}}}}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a profile and returns its path; a text is written as it is."""

    def write(content: Any) -> Path:
        path = tmp_path / "acme.yaml"
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    return write


def load_error(path: Path) -> str:
    """Return the message about a profile that cannot be loaded."""
    with pytest.raises(ProfileError) as error:
        read_profile(path)
    return str(error.value)


class TestLoading:
    """The message about a mistake has its place and what was probably meant."""

    def test_a_name_is_enough(self, write: Write) -> None:
        """By default the environment is production and no feature is declared."""
        loaded = read_profile(write(NAME))

        assert loaded.environment is Environment.PRODUCTION
        assert not loaded.features.webhooks
        assert loaded.credentials.token_id == "PAYMENTS_API_TOKEN_ID"

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            pytest.param(
                {**NAME, "feature": {}},
                "feature: unknown key; the nearest valid one is 'features'",
                id="top level",
            ),
            pytest.param(
                {**NAME, "features": {"webhook": True}},
                "features.webhook: unknown key; the nearest valid one is 'webhooks'",
                id="nested",
            ),
            pytest.param(
                {**NAME, "resources": {"corridors": [{"sendin": "USD"}]}},
                "resources.corridors.0.sendin: unknown key; the nearest valid one is 'sending'",
                id="in a list",
            ),
            pytest.param(
                {**NAME, "triggers": {"quote.expire": {"htpp": {}}}},
                "triggers.quote.expire.htpp: unknown key; the nearest valid one is 'http'",
                id="in a mapping",
            ),
            pytest.param(
                {**NAME, "triggers": {"quote.expire": {"http": {"uri": "x"}}}},
                "triggers.quote.expire.http.uri: unknown key; the nearest valid one is 'url'",
                id="below an optional part",
            ),
            pytest.param({**NAME, "zzz": 1}, "zzz: unknown key", id="unlike any"),
            pytest.param({}, "implementation: this key is required", id="missing"),
            pytest.param(
                {**NAME, "timing": {"request": 0}},
                "timing.request: Input should be greater than 0, got 0",
                id="out of range",
            ),
            pytest.param(
                {**NAME, "environment": "staging"},
                "environment: Input should be 'sandbox' or 'production', got 'staging'",
                id="unknown environment",
            ),
            pytest.param(
                {**NAME, "triggers": {"quote.expired": {"wait": {"until": "expiresAt"}}}},
                "triggers: unknown trigger 'quote.expired'; the nearest is 'quote.expire'",
                id="unknown trigger",
            ),
            pytest.param(
                {**NAME, "bindings": {"stablecoin_refusals": {"STABLECOIN_NOT_FUND": "mint"}}},
                "bindings.stablecoin_refusals: unknown error code 'STABLECOIN_NOT_FUND'; the "
                "nearest is 'STABLECOIN_NOT_FOUND'",
                id="unknown error code",
            ),
            pytest.param(
                {**NAME, "triggers": {"sca.login": {"command": ["x"]}}},
                "triggers: sca.login is a request whose answer is looked at: it is mapped by http",
                id="a request by another way",
            ),
            pytest.param(
                {**NAME, "triggers": {"zzz": {"command": ["x"]}}},
                "triggers: unknown trigger 'zzz'; known are sca.enroll, sca.login, ",
                id="trigger unlike any",
            ),
            pytest.param(
                {**NAME, "triggers": {"quote.expire": {"command": ["x"], "http": {"url": "x"}}}},
                "triggers.quote.expire: a trigger has exactly one of http, command, magic, wait; "
                "got http, command",
                id="two kinds in one trigger",
            ),
            pytest.param(
                {**NAME, "triggers": {"quote.expire": {}}},
                "magic, wait; got none",
                id="no kind in a trigger",
            ),
            pytest.param(
                {**NAME, "bindings": {"providers": "M-PESA"}},
                "bindings.providers: Input should be a valid dictionary, got 'M-PESA'",
                id="text as mapping",
            ),
            pytest.param(
                {**NAME, "implementation": {"name": "x" * 10_000, "version": ["y"] * 10_000}},
                "implementation.version: Input should be a valid string, got ['y', ",
                id="long list as text",
            ),
            pytest.param(
                {**NAME, "triggers": {"rate.stale": {"http": {"url": "{origin}/{quotId}"}}}},
                "triggers.rate.stale.http.url: unknown name {quotId}; the nearest is {quoteId}",
                id="unknown name in a URL",
            ),
            pytest.param(
                {
                    **NAME,
                    "variables": {"tenant": "t"},
                    "triggers": {
                        "rate.stale": {
                            "http": {"url": "{origin}", "json": {"a": [{"b": "{tenat}"}]}}
                        }
                    },
                },
                "triggers.rate.stale.http.json.a.0.b: unknown name {tenat}; the nearest is {tenant",
                id="unknown name in a body",
            ),
            pytest.param(
                {**NAME, "triggers": {"rate.stale": {"command": ["x", "--id={zzz}"]}}},
                "triggers.rate.stale.command.1: unknown name {zzz}; known are origin, base_url, ",
                id="unknown name in a command",
            ),
            pytest.param(
                {**NAME, "triggers": {"rate.stale": {"command": ["x", "{customerId}"]}}},
                "triggers.rate.stale.command.1: unknown name {customerId}",
                id="parameter of another trigger",
            ),
            pytest.param(
                {
                    **NAME,
                    "variables": {"one": "{two}", "two": "2"},
                    "triggers": {"rate.stale": {"command": ["x", "{one}"]}},
                },
                "triggers.rate.stale.command.1: {two} stands in another variable, where",
                id="variable in a variable",
            ),
            pytest.param(
                {
                    **NAME,
                    "variables": {"origin": "https://ops.example"},
                    "triggers": {"rate.stale": {"http": {"url": "{origin}/x"}}},
                },
                "triggers.rate.stale.http.url: {origin} has a meaning of its own here; give "
                "variables.origin another name",
                id="variable in the place of the origin",
            ),
            pytest.param(
                {
                    **NAME,
                    "variables": {"quoteId": "Quote:1"},
                    "triggers": {"rate.stale": {"command": ["x", "{quoteId}"]}},
                },
                "triggers.rate.stale.command.1: {quoteId} has a meaning of its own here",
                id="variable in the place of a parameter",
            ),
            pytest.param(
                {**NAME, "triggers": {"rate.stale": {"http": {"url": "https://{quoteId}.x/"}}}},
                "triggers.rate.stale.http.url: {quoteId} would choose the host, and comes from the",
                id="host chosen by the target",
            ),
            pytest.param(
                {**NAME, "triggers": {"rate.stale": {"http": {"url": "{origin}{quoteId}"}}}},
                "triggers.rate.stale.http.url: {quoteId} would choose the host",
                id="host completed by the target",
            ),
            pytest.param(
                {**NAME, "triggers": {"rate.stale": {"http": {"url": "ops/{quoteId}"}}}},
                "triggers.rate.stale.http.url: ",
                id="no URL",
            ),
            pytest.param(
                {**NAME, "triggers": {"rate.stale": {"command": ["./{quoteId}"]}}},
                "triggers.rate.stale.command.0: {quoteId} would choose the program",
                id="program chosen by the target",
            ),
            pytest.param(
                trigger("agent.initiate", returns={"transacionId": "id"}),
                "triggers.agent.initiate.http.returns.transacionId: unknown result, which no later "
                "request uses either; the nearest is 'transactionId'",
                id="unknown result",
            ),
            pytest.param(
                trigger("rate.stale", returns={"quoteId": "id"}),
                "triggers.rate.stale.http.returns.quoteId: {quoteId} has a meaning already",
                id="result in the place of a parameter",
            ),
            pytest.param(
                trigger("rate.stale", ok=[20]),
                "triggers.rate.stale.http.ok: expected statuses of HTTP, from 100 to 599, got 20",
                id="no status",
            ),
            pytest.param(
                trigger("card.issue", ok=[200], returns={"cardId": "id"}),
                "triggers.card.issue.http.ok: the answer to the request card.issue is looked at",
                id="success of a request",
            ),
            pytest.param(
                trigger("hosted_flow.complete", url="{kycUrl}.x/"),
                "triggers.hosted_flow.complete.http.url: {kycUrl} would choose the host",
                id="host that goes on after a URL",
            ),
            pytest.param(
                trigger("hosted_flow.complete", origins=["verify.example"]),
                "triggers.hosted_flow.complete.http.origins: expected for example https://verify",
                id="no origin",
            ),
            pytest.param(
                {**NAME, "triggers": {"rate.stale": {"http": [{"url": "{origin}"}, {"uri": "x"}]}}},
                "triggers.rate.stale.http.1.uri: unknown key; the nearest valid one is 'url'",
                id="in a list of requests",
            ),
            pytest.param(
                {
                    **NAME,
                    "triggers": {
                        "rate.stale": {
                            "http": [
                                {"url": "{origin}/{payout}"},
                                {"url": "{origin}", "returns": {"payout": "id"}},
                            ]
                        }
                    },
                },
                "triggers.rate.stale.http.0.url: unknown name {payout}",
                id="result of a later request",
            ),
            pytest.param(
                {**NAME, "triggers": {"rate.stale": {"command": ["x"], "scope": "all"}}},
                "triggers.rate.stale: scope: all needs back, which ends what happens to all",
                id="no end of what happens to all",
            ),
            pytest.param(
                {**NAME, "triggers": {"payout.hold": {"magic": {}, "scope": "next"}}},
                "triggers.payout.hold: a magic value happens to what is created with it",
                id="scope of a magic value",
            ),
            pytest.param(
                {**trigger("rate.stale", url="{origin}/{key}"), "secrets": {"key": "ADMIN_KEY"}},
                "triggers.rate.stale.http.url: {key} is a secret, which stands in the headers of",
                id="secret in a URL",
            ),
            pytest.param(
                {**NAME, "secrets": {"key": "hunter-2!"}},
                "secrets.key: expected the name of an environment variable, never its value",
                id="value of a secret",
            ),
            pytest.param(
                {**NAME, "secrets": {"amount": "ADMIN_KEY"}},
                "secrets.amount: has a meaning already; give it another name",
                id="secret with the name of a parameter",
            ),
            pytest.param(
                trigger("rate.stale", headers={"X Key": "1"}),
                "triggers.rate.stale.http.headers: expected the name of a header, got 'X Key'",
                id="no header",
            ),
            pytest.param(
                {**NAME, "setup": [{"magic": {}}]},
                "setup.0.magic: unknown key",
                id="kind that is no step",
            ),
            pytest.param(
                {**NAME, "setup": [{"http": {"url": "{origin}", "returns": {"amount": "id"}}}]},
                "setup.0: triggers have a parameter amount; return it under another name",
                id="result of setup with the name of a parameter",
            ),
        ],
    )
    def test_a_mistake_is_told(self, write: Write, content: Any, message: str) -> None:
        """The message has the file, the path of the key, and what is wrong."""
        path = write(content)

        message_text = load_error(path)

        assert message_text.startswith(f"profile {path} is not valid:\n  line ")
        assert message in message_text

    def test_a_mistake_is_told_with_its_line_and_column(self, tmp_path: Path) -> None:
        """Line and column are those of the key, or of the entry of a list."""
        path = tmp_path / "profile.yaml"
        path.write_text(
            "implementation: {name: x}\n"
            "timing:\n"
            "  pol: 1\n"
            "triggers:\n"
            "  rate.stale:\n"
            "    http:\n"
            '      url: "{origin}/{quotId}"\n'
            "resources:\n"
            "  corridors:\n"
            "    - {sending: USD}\n",
            encoding="utf-8",
        )

        places = [line.split(": ")[:2] for line in load_error(path).splitlines()[1:]]

        assert places == [
            ["  line 10, column 7", "resources.corridors.0.receiving"],
            ["  line 10, column 7", "resources.corridors.0.account"],
            ["  line 3, column 3", "timing.pol"],
        ]

    def test_all_mistakes_are_told_at_once(self, write: Write) -> None:
        """Three mistakes are told in one line each."""
        message_text = load_error(
            write({"implementation": {}, "timing": {"poll": -1}, "budge": {}})
        )

        assert len(message_text.splitlines()) == 4

    def test_no_more_mistakes_are_told_than_are_read(self, write: Write) -> None:
        """The message lists 50 mistakes and counts the others."""
        message_text = load_error(write({**NAME, **{f"key{number}": 1 for number in range(1000)}}))

        assert message_text.endswith("\n  and 950 more")

    def test_a_secret_in_the_place_of_a_name_is_not_shown(self, write: Write) -> None:
        """A value in the place of the name of a variable does not stand in the message."""
        message_text = load_error(
            write({**NAME, "credentials": {"client_secret": "hunter2-hunter2"}})
        )

        assert (
            "credentials.client_secret: expected the name of an environment variable"
            in message_text
        )
        assert "hunter2" not in message_text

    def test_a_missing_file_is_told(self, tmp_path: Path) -> None:
        """The message has the name of the missing file."""
        assert load_error(tmp_path / "absent.yaml").endswith(
            "absent.yaml: No such file or directory"
        )

    @settings(
        max_examples=60,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(st.data())
    def test_any_value_in_any_place_is_taken_or_told(
        self, write: Write, data: st.DataObject
    ) -> None:
        """A profile with any value in any place loads or raises ProfileError."""
        content = copy.deepcopy(CONTENT)
        node: Any = content
        while True:
            key = data.draw(st.sampled_from([*node]) if isinstance(node, dict) else st.just(0))
            if not isinstance(node[key], dict | list) or not node[key] or data.draw(st.booleans()):
                break
            node = node[key]
        if isinstance(node, dict) and data.draw(st.booleans()):
            node[data.draw(WORDS)] = data.draw(VALUES)
        else:
            node[key] = data.draw(VALUES)

        with contextlib.suppress(ProfileError):
            read_profile(write(json.dumps(content)))

    def test_all_unknown_names_are_told_at_once(self, write: Write) -> None:
        """Four unknown names in braces are told in one line each."""
        command = {"command": ["x", "{a}", "{b}"]}
        message_text = load_error(
            write({**NAME, "triggers": {"rate.stale": command, "sca.lock": command}})
        )

        assert len(message_text.splitlines()) == 5

    @pytest.mark.parametrize(
        "command",
        [
            ["x", '{"a": 1}', "{}", "{a b}"],
            ["sh", "-c", "echo ${HOME} | awk '{print}'; exit {code}"],
            ["x", "${HOME}/release"],
        ],
    )
    def test_other_braces_are_left_as_they_are(self, write: Write, command: list[str]) -> None:
        """Braces of JSON, of a shell and of awk stay as they are."""
        loaded = read_profile(write({**NAME, "triggers": {"rate.stale": {"command": command}}}))

        assert loaded.triggers["rate.stale"].command == command

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a: 1\nb: 2\na: 3", "has the key 'a' twice: in line 1 and in line 3"),
            ("x:\n  a: 1\n  a: 1", "has the key 'a' twice: in line 2 and in line 3"),
            ("x: [{a: 1,\n a: 2}]", "has the key 'a' twice: in line 1 and in line 2"),
            ("a: 1\n'a': 2", "has the key 'a' twice"),
            (
                "7: 8",
                "has a key that is no text in line 1: YAML reads '7' as int; put it in quotes",
            ),
            ("x:\n  NO: 8", "has a key that is no text in line 2: YAML reads 'NO' as bool"),
            ("null: 8", "has a key that is no text in line 1"),
            ("? [a]\n: 8", "has a key that is no text in line 1"),
            ("x: 2024-01-01", "in line 1: YAML reads '2024-01-01' as timestamp; put it in quotes"),
            ("x: .nan", "in line 1: YAML reads '.nan' as float"),
            ("x: 1.0e+999", "in line 1: YAML reads '1.0e+999' as float"),
            ("x: " + "1" * 5000, "in line 1: YAML reads '1111"),
            ("x: !!int y", "in line 1: YAML reads 'y' as int"),
            ("x: !!binary aGk=", "in line 1: YAML reads 'aGk=' as binary"),
            ("x: !!set {a, b}", "has what JSON does not know in line 1: set"),
            ("x: !!python/name:os.system y", "has a value that JSON does not know in line 1"),
            ("x: &x [*x]", "has in line 1 what holds itself"),
            ("x: &x {a: {<<: *x}}", "has in line 1 what holds itself"),
            ("[" * 101 + "]" * 101, "is nested deeper than 100 levels in line 1"),
            ("[" * 200_000, "is nested deeper than 100 levels in line 1"),
            ("x: [" + "1," * 300_000 + "]", "holds more than 100000 values"),
            ("a: 1\n---\nb: 1", "is not valid YAML: "),
            ("<<: 1", "is not valid YAML: "),
            ("a: !!map [x]", "is not valid YAML: "),
            ("a: \x07", "is not valid YAML: "),
            ("a: [", "is not valid YAML: "),
            ("", "expected a mapping, got NoneType"),
            ("- a\n", "expected a mapping, got list"),
        ],
        ids=lambda given: repr(given[:24]),
    )
    def test_a_file_of_something_else_is_told(self, write: Write, text: str, message: str) -> None:
        """The message says what YAML read and, where it is known, in which line."""
        assert message in load_error(write(text))

    def test_what_aliases_stand_for_is_bounded(self, write: Write) -> None:
        """Aliases count as the values that they stand for, before memory is full."""
        lines = [f"a0: &a0 [{', '.join('x' * 10)}]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]

        assert "holds more than 100000 values, counted to line 5" in load_error(
            write("\n".join(lines))
        )

    def test_what_aliases_nest_is_bounded(self, write: Write) -> None:
        """Levels count through aliases, up to 100."""
        lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 300)]

        assert "is nested deeper than 100 levels in line 100" in load_error(write("\n".join(lines)))

    def test_a_key_that_is_merged_in_may_be_given_again(self, write: Write) -> None:
        """A key beside ``<<`` replaces the merged one."""
        loaded = read_profile(
            write(
                "implementation: {name: acme}\n"
                "bindings:\n"
                "  customer: &base {region: DE, kind: &kind {a: 1}}\n"
                "  business: {<<: *base, region: US}\n"
                "  owner: {<<: [*base, *kind], kind: 2}\n"
            )
        )

        assert loaded.bindings.business == {"region": "US", "kind": {"a": 1}}
        assert loaded.bindings.owner == {"region": "DE", "kind": 2, "a": 1}

    def test_a_file_without_end_is_told(self, tmp_path: Path) -> None:
        """A file longer than a mebibyte is refused without being read to its end."""
        path = tmp_path / "acme.yaml"
        with path.open("wb") as file:
            file.truncate(100 * 1024 * 1024)
        started = time.monotonic()

        assert load_error(path) == f"profile {path} is longer than 1048576 bytes"
        assert time.monotonic() - started < 1

    def test_what_is_no_file_is_told(self, tmp_path: Path) -> None:
        """A folder, a pipe and a device are refused without being read."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)

        for path in (tmp_path, pipe, Path("/dev/zero")):
            assert load_error(path) == f"profile {path} is no regular file"

    def test_a_file_that_is_no_text_is_told(self, tmp_path: Path) -> None:
        """A file that is not UTF-8 is refused."""
        path = tmp_path / "acme.yaml"
        path.write_bytes(b"name: \xff")

        assert load_error(path) == f"profile {path} is not UTF-8 text"


class TestDocumentedTriggers:
    """A trigger that the specification itself offers need not be mapped."""

    def test_it_is_mapped_by_itself(self, write: Write) -> None:
        """``deposit.arrive``, which the sandbox offers, is mapped by default."""
        assert "deposit.arrive" in read_profile(write(NAME)).triggers

    def test_the_profile_may_map_it_otherwise(self, write: Write) -> None:
        """A mapping of the profile replaces the default one."""
        content = {**NAME, "triggers": {"deposit.arrive": {"command": ["pay"]}}}

        assert read_profile(write(content)).triggers["deposit.arrive"].command == ["pay"]

    def test_null_takes_it_out(self, write: Write) -> None:
        """Null removes the default mapping, also after a way through JSON."""
        loaded = read_profile(write({**NAME, "triggers": {"deposit.arrive": None}}))
        reloaded = Profile.model_validate(loaded.to_json())

        assert loaded.triggers == {}
        assert reloaded.triggers == {}


class TestByName:
    """Where a run looks for its profile."""

    def test_a_shipped_one_is_found_by_its_name(self) -> None:
        """A shipped profile is found by the name of its file without the ending."""
        assert load_profile("reference").implementation.name == "payments-conformance reference"

    def test_without_a_name_nothing_is_known(self) -> None:
        """Without a profile the environment is production."""
        assert load_profile(None).environment is Environment.PRODUCTION

    def test_an_unknown_name_is_refused(self) -> None:
        """The message lists the shipped profiles."""
        shipped = "reference, second, template"
        with pytest.raises(ProfileError, match=rf"profile acme: no such file.*{shipped}"):
            load_profile("acme")


class TestPublished:
    """The JSON Schema, the template and the profile of the reference."""

    def test_the_schema_is_the_one_of_the_model(self) -> None:
        """The schema in the repository is the one that the model generates."""
        assert json.loads(SCHEMA.read_text(encoding="utf-8")) == Profile.model_json_schema(), (
            f"{SCHEMA.name} is out of date; run payments-conformance generate"
        )

    @pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.stem))
    def test_a_shipped_profile_is_valid(self, path: Path) -> None:
        """The model and the JSON Schema take each shipped profile."""
        content = yaml.safe_load(path.read_text(encoding="utf-8"))

        read_profile(path)
        jsonschema_rs.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(content)

    @pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.stem))
    def test_a_profile_survives_the_way_to_a_worker(self, path: Path) -> None:
        """A profile that is written as JSON is read as the same, and says no more than it did."""
        loaded = read_profile(path)
        handed_on = Profile.model_validate(json.loads(json.dumps(loaded.to_json())))

        assert handed_on == loaded
        assert handed_on.to_json() == loaded.to_json()
        assert handed_on.bindings.model_fields_set == loaded.bindings.model_fields_set

    def test_the_template_has_every_key(self) -> None:
        """Each key has its default, except for name, environment and triggers."""
        content = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))
        default = Profile.model_validate({"implementation": {"name": ""}})
        defaults = default.model_dump(mode="json", by_alias=True)

        assert set(leaves(content)) == set(leaves(defaults))
        assert (
            read_profile(TEMPLATE).model_copy(
                update={
                    "implementation": default.implementation,
                    "environment": default.environment,
                    "triggers": {},
                }
            )
            == default
        )

    def test_every_key_of_the_template_has_a_comment(self) -> None:
        """The line before each key of the first two levels is a comment."""
        lines = TEMPLATE.read_text(encoding="utf-8").splitlines()

        uncommented = [
            line
            for above, line in pairwise(lines)
            if re.match(r"(  )?\w+:", line) and not above.strip().startswith("#")
        ]

        assert uncommented == []

    def test_the_examples_of_the_template_are_all_triggers(self) -> None:
        """Without comment marks the examples map every trigger, by all four kinds."""
        lines = TEMPLATE.read_text(encoding="utf-8").splitlines()
        example = re.compile(r"  # (?=  |[a-z_]+\.[a-z_]+:)")
        text = "\n".join(example.sub("  ", line) for line in lines)

        loaded = Profile.model_validate(yaml.safe_load(text))

        assert set(loaded.triggers) == set(TRIGGERS)
        kinds = {kind for t in loaded.triggers.values() for kind in t.model_fields_set}
        assert kinds == {"http", "command", "magic", "wait"}

    def test_the_reference_maps_every_trigger(self) -> None:
        """The profile of the reference leaves no trigger unmapped."""
        unmapped = set(TRIGGERS) - set(load_profile("reference").triggers)

        assert unmapped == set()


def leaves(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of each key below which are no others."""
    if isinstance(content, dict) and content:
        for name, member in content.items():
            yield from leaves(member, (*path, name))
    else:
        yield path


class TestNone:
    """A binding that may be absent takes null."""

    @pytest.mark.parametrize(
        "name",
        [
            "config_currency",
            "foreign_business",
            "list_next",
            "ownership_wrong_signature",
            "platform_fee_override",
            "stablecoin_external_mint",
            "terms_version",
            "uma_address",
            "wallet_privacy",
        ],
    )
    def test_it_is_not_exercised(self, write: Write, name: str) -> None:
        """The profile is valid, and whatever asks for the binding is told that there is none."""
        profile = read_profile(write({**NAME, "bindings": {name: None}}))

        with pytest.raises(ResourceMissing, match=rf"bindings\.{name} of the profile is null"):
            profile.bindings.require(name)

    def test_a_binding_that_is_there_is_returned(self, write: Write) -> None:
        """A value, be it empty, is one."""
        profile = read_profile(write({**NAME, "bindings": {"platform_fee_override": {}}}))

        assert profile.bindings.require("platform_fee_override") == {}
        assert profile.bindings.require("list_next") == "nextCursor"


class TestProviders:
    """Operators of mobile money are told by currency."""

    def test_a_currency_that_is_left_out_keeps_the_usual_ones(self, write: Write) -> None:
        """Only the currencies that are named change, and an empty list says that there are none."""
        named = {"KES": ["SAFARICOM"], "XOF": []}
        profile = read_profile(write({**NAME, "bindings": {"providers": named}}))

        assert profile.bindings.providers == {**PROVIDERS_OF_ALL, **named}


PROVIDERS_OF_ALL = {currency: [*names] for currency, names in PROVIDERS.items()}
