"""The pytest plugin: options, markers and hooks.

It stays out of the way of sessions that do not run the suite: nothing is started or imported
unless the arguments lead to ``conformance/scenarios`` or ``conformance/fuzz``.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conformance.platform.platform import Platform
    from conformance.session import Session
    from conformance.sut.sandbox import Sandbox

_PACKAGE = Path(__file__).parent
_SUITE = (_PACKAGE / "scenarios", _PACKAGE / "fuzz")
_OWN = (_PACKAGE / "selftest", _PACKAGE / "bench")

SESSION: pytest.StashKey[Session] = pytest.StashKey()

USUAL_EXAMPLES = 20
"""How many requests are made up for each operation of which nothing else is said."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the suite."""
    group = parser.getgroup(
        "payments-conformance",
        "payments conformance suite; --base-url=URL names the target, and without it that is the "
        "reference implementation",
    )
    group.addoption(
        "--profile",
        metavar="FILE",
        help="what cannot be known about the target: a YAML file, or the name of a shipped one",
    )
    group.addoption(
        "--run-seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of all data that the run sends (1)",
    )
    group.addoption(
        "--report-dir",
        type=Path,
        default=Path("reports/latest"),
        metavar="DIR",
        help="where report.json, report.html and the journal go (reports/latest)",
    )
    group.addoption(
        "--replay",
        type=Path,
        metavar="JOURNAL",
        help="judge a recorded run again, by its report folder or journal, and send nothing",
    )
    group.addoption(
        "--shard",
        metavar="i/n",
        help="runs the tests of one of n shards; `payments-conformance merge` makes one report of "
        "the report folders of all of them",
    )
    group.addoption(
        "--class",
        action="append",
        default=[],
        dest="classes",
        metavar="NAME",
        help="runs the tests of one conformance class, whose verdict decides the exit status; may "
        "be given several times",
    )
    group.addoption(
        "--require-exercised",
        type=int,
        default=0,
        metavar="PERCENT",
        help="how much of each class of --class, or of the whole, has to be decided (0)",
    )
    group.addoption(
        "--baseline",
        type=Path,
        metavar="FILE",
        help="known failures, which do not turn the run red: a YAML file of entries with id, "
        "reason and expires; an entry that passes or has expired does",
    )
    group.addoption(
        "--fuzz-examples",
        type=int,
        default=USUAL_EXAMPLES,
        metavar="N",
        help="random requests for each operation, valid and invalid, with up to ten times as many "
        f"at boundaries ({USUAL_EXAMPLES}); 0 leaves fuzzing out",
    )
    group.addoption(
        "--model-examples",
        type=int,
        default=4,
        metavar="N",
        help="walks through the model of payments, and programs of several clients (4)",
    )
    group.addoption(
        "--budget",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="how long further walks and programs follow, each kind of them (0)",
    )
    group.addoption(
        "--failing-cases",
        default=None,
        metavar="DIR",
        help="keeps the seeds of generated cases that failed, and tries them first the next time",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and make the suite's session where the arguments ask for the suite."""
    config.addinivalue_line(
        "markers",
        "requirement(*ids): the requirements of the catalogue that a test decides",
    )
    if not _wanted(config):
        return
    given = _given_base_url(config)
    # The reference starts up while the suite is read: either takes most of a second.
    replayed = config.getoption("replay") is not None
    sandbox = _start_reference() if given is None and not replayed and _sends(config) else None
    try:
        from conformance import session as suite  # noqa: PLC0415 - as above

        config.stash[SESSION] = session = suite.Session(config, given, sandbox)
    except BaseException:
        if sandbox is not None:
            sandbox.stop()
        raise
    config.pluginmanager.register(session, "payments-conformance-session")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the suite's own tests and benchmarks out, unless they are asked for by name."""
    own = collection_path
    if own in _OWN and not any(own in (p, *p.parents) for p in _argument_paths(config)):
        return True
    return None


def _wanted(config: pytest.Config) -> bool:
    """Return whether the arguments lead to the suite."""
    if getattr(config, "workerinput", None) is not None:
        return "payments_conformance" in config.workerinput  # type: ignore[attr-defined]
    whole = {_PACKAGE}
    if (_PACKAGE.parent / "pyproject.toml").is_file():
        whole.add(_PACKAGE.parent)
    return any(
        path in whole or any(room in (path, *path.parents) for room in _SUITE)
        for path in _argument_paths(config)
    )


def _given_base_url(config: pytest.Config) -> tuple[str, str] | None:
    """Return the base URL and the name of what gave it; ``None`` where nothing did."""
    # By now pytest-base-url may have put an empty text in the place of no URL at all.
    option = getattr(config.known_args_namespace, "base_url", None)
    if option is not None:
        return option, "--base-url"
    setting = config.getini("base_url") or os.environ.get("BASE_URL")
    return None if setting is None else (setting, "BASE_URL")


def _sends(config: pytest.Config) -> bool:
    """Return whether this process is the first of a run, and not of a look at what would run."""
    first = getattr(config, "workerinput", None) is None
    return first and not any(config.getoption(name) for name in ("collectonly", "help", "markers"))


def _start_reference() -> Sandbox:
    from conformance.sut.sandbox import Sandbox  # noqa: PLC0415 - other sessions need none

    return Sandbox()


def _argument_paths(config: pytest.Config) -> Iterator[Path]:
    for argument in config.args:
        name = argument.partition("::")[0].partition("[")[0]
        if config.option.pyargs and name.partition(".")[0] == _PACKAGE.name:
            yield _PACKAGE.joinpath(*name.split(".")[1:])
        yield (config.invocation_params.dir / name).resolve()


@pytest.fixture
def platform(request: pytest.FixtureRequest) -> Generator[Platform]:
    """The suite in the part of a platform; what the test moved is audited at its end."""
    from conformance.items import within_file  # noqa: PLC0415 - other sessions need none
    from conformance.platform.audit import audit  # noqa: PLC0415 - as above

    session = request.config.stash[SESSION]
    # The same wherever the suite is installed, so that the data are too.
    name = f"{request.path.name}{within_file(request.node)}"
    acting = session.connection.platform(name)
    yield acting
    session.audit(request.node, lambda: audit(acting))


@pytest.fixture
def check(request: pytest.FixtureRequest) -> Any:
    """Decides requirements by a block of assertions; the test goes on after a failure."""
    from conformance.session import RECORDER  # noqa: PLC0415 - as above

    return request.node.stash[RECORDER].check


@pytest.fixture
def seeds(request: pytest.FixtureRequest) -> Generator[list[int]]:
    """Seeds of generated data: first those with which the test failed before, then the run's.

    They are kept in the folder of ``--failing-cases`` until the test fails with none of them.
    """
    own = request.config.getoption("run_seed")
    folder = request.config.getoption("failing_cases")
    if folder is None:
        yield [own]
        return
    from conformance.fuzz.failing import keep_seeds, kept_seeds  # noqa: PLC0415 - as above
    from conformance.session import RECORDER  # noqa: PLC0415 - as above
    from conformance.verdict.decisions import Outcome  # noqa: PLC0415 - as above

    place = Path(folder) / f"{request.node.name}.json"
    kept = kept_seeds(place)
    every = list(dict.fromkeys([*kept, own]))
    yield every
    decisions = request.node.stash[RECORDER].decisions.values()
    failed = any(decision.outcome is Outcome.FAILED for decision in decisions)
    keep_seeds(place, every if failed else [])
