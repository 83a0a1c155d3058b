"""The command that asks a target what can be asked, and writes a profile."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from conformance.cli.checkup import arrivals, draft
from conformance.cli.checkup.exploration import Explorer
from conformance.cli.checkup.learned import Learned, question
from conformance.cli.checkup.nearby import proposal
from conformance.cli.terminal import styled
from conformance.exchange.folder import RunFolder
from conformance.profile.loading import read_profile
from conformance.profile.model import Profile
from conformance.profile.part import ProfileError
from conformance.profile.triggers import DOCUMENTED_TRIGGERS
from conformance.profile.yaml_file import read_yaml
from conformance.run import Connection
from conformance.sut.errors import TargetError
from conformance.sut.target import Target
from conformance.text.legible import legible
from conformance.verdict.decisions import Unmet
from conformance.webhooks.listener import ListenerError

_STATE_SECONDS = 3.0
USAGE_ERROR = 4

# Where the service verifies customers, that is a way to an approved one.
_TRIED = {"platform": "unregulated", "direct_onboarding": True, "hosted_onboarding": True}


def init(
    base_url: Annotated[str, typer.Argument(help="the base URL of the target")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="the profile to write; one that exists is kept")
    ] = Path("profile.yaml"),
    *,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="it is a sandbox: customers and quotes may be created")
    ] = False,
    seconds: Annotated[float, typer.Option(min=0, help="how long the target is asked")] = 300.0,
    run_seed: Annotated[int, typer.Option(help="seed of all data that is sent")] = 1,
) -> None:
    """Ask a target what can be asked, and write a profile; propose changes to one that exists."""
    try:
        known = _read(output)
        target = _target(base_url, _asking(known, sandbox=sandbox))
        learned = draft.news(_learn(target, seconds, run_seed), known or {})
    except (ListenerError, ProfileError, TargetError, Unmet) as error:
        typer.echo(legible(str(error), 2000), err=True)
        raise typer.Exit(USAGE_ERROR) from error
    if known is not None:
        _propose(output, known, learned)
        return
    name = legible(urlsplit(base_url).hostname or "my implementation")
    text = draft.render(name, learned, sandbox=sandbox)
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise typer.BadParameter(f"{output}: {error.strerror}") from error
    typer.echo(f"{output} is written. Next: payments-conformance doctor")


def _target(base_url: str, profile: Profile) -> Target:
    """Return the target, which answers as the interface does.

    Raises:
        TargetError: it does not; the message proposes a base URL nearby that does.
    """
    try:
        target = Target.resolve(base_url, profile, os.environ)
        target.check()
    except TargetError as error:
        raise TargetError(f"{error}{proposal(base_url, profile, error)}") from error
    return target


def _read(path: Path) -> dict[str, Any] | None:
    """Return the content of a profile, None where there is none; what is not valid is told."""
    if not path.exists():
        return None
    read_profile(path)
    content: dict[str, Any] = read_yaml(path)
    return content


def _asking(known: dict[str, Any] | None, *, sandbox: bool) -> Profile:
    """Return the profile that a target is asked with: what is known already leads further."""
    content: dict[str, Any] = {"implementation": {"name": "target"}, **(known or {})}
    if sandbox:
        content["environment"] = "sandbox"
    features = content.get("features") or {}
    resources = content.get("resources") or {}
    triggers = {**DOCUMENTED_TRIGGERS, **(content.get("triggers") or {})}
    return Profile.model_validate(
        {
            **content,
            # How they are signed is found out, and proves nothing here.
            "features": {
                **_TRIED,
                **features,
                "webhooks": _expects_webhooks(content),
                "webhook_signatures": False,
            },
            # Whatever else is offered shows too.
            "resources": {**resources, "account_types": None},
            "triggers": {name: one for name, one in triggers.items() if one is not None},
            "timing": {**(content.get("timing") or {}), "state": _STATE_SECONDS},
        }
    )


def _expects_webhooks(content: Mapping[str, Any]) -> bool:
    """Return whether a profile says where webhooks go, or that they come."""
    registered = "webhook.register" in (content.get("triggers") or {})
    said = bool((content.get("features") or {}).get("webhooks"))
    return registered or said or bool(content.get("webhooks"))


def _learn(target: Target, seconds: float, seed: int) -> Iterator[Learned]:
    """Yield what the target shows, and print it as it comes."""
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="payments-conformance-") as folder:
        run_folder = RunFolder.claim(Path(folder) / "run")
        connection = Connection.open(target, seed=seed, folder=run_folder)
        heard = connection.client.listener

        def bounded(*what: Any) -> None:
            heard(*what)
            if time.monotonic() > until:
                raise TimeoutError("the time is over (--seconds)")

        connection.client.listener = bounded
        try:
            # Another moment, other data: what an earlier call created is not met again.
            explorer = Explorer(connection.platform(f"init {time.time()}", explores=True))
            looks = (*explorer.looks(), ("webhooks", lambda: _webhooks(connection)))
            for subject, look in looks:
                if time.monotonic() > until:
                    typer.echo(f"{subject}: not looked at, the time is over (--seconds)")
                    continue
                for one in _guarded(subject, look):
                    mark = "?" if one.is_question else "·"
                    shown = connection.redactor.text(one.shown)
                    value = "" if one.is_question else f" = {draft.flow(one.value)}"
                    line = legible(f"{mark} {'.'.join(one.key)}{value}: {shown}", 400)
                    styled(line, "yellow" if one.is_question else None)
                    yield Learned(one.key, shown, one.value, one.is_question)
            typer.echo(f"bindings: not tried: {', '.join(draft.NOT_TRIED)} (see the guide)")
        finally:
            connection.tear_down()
            connection.close()
            run_folder.release()


def _webhooks(connection: Connection) -> Iterator[Learned]:
    profile = connection.target.profile
    if not profile.features.webhooks:
        yield question(
            "features.webhooks",
            "do they come? Say how the target learns a URL (triggers.webhook.register), or where "
            "to listen for it (webhooks.listen, webhooks.public_url); run init again, and it "
            "listens",
        )
        return
    connection.inbox.wait(lambda _: True, profile.timing.event)
    deliveries = connection.inbox.all(lambda _: True)
    yield from arrivals.told_by(deliveries, connection.webhook_url)
    form = profile.webhooks.signature
    variable = form.key if form is not None and form.symmetric else arrivals.SECRET
    yield from arrivals.signature(deliveries, variable, os.environ)


def _guarded(subject: str, look: Callable[[], Iterator[Learned]]) -> Iterator[Learned]:
    try:
        yield from look()
    except Exception as error:  # noqa: BLE001 - whatever a target sends, the rest is asked
        kind = "" if isinstance(error, Unmet | TimeoutError) else f"{type(error).__name__}: "
        typer.echo(legible(f"{subject}: could not be looked at: {kind}{error}", 400))


def _propose(path: Path, known: dict[str, Any], learned: list[Learned]) -> None:
    lines = draft.proposed(path.name, known, learned)
    for line in lines:
        typer.echo(legible(line, 1000))
    if not lines:
        typer.echo(f"{path} says what the target shows; nothing is proposed")
