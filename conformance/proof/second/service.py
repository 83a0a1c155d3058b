"""The service put together: the world, its routes, its webhooks, and the server in front."""

import re
from dataclasses import dataclass

from conformance.proof.second import (
    backstage,
    cards,
    configuration,
    contacts,
    customers,
    execution,
    externals,
    internals,
    lookups,
    ownership,
    quotes,
    sca,
    stablecoins,
    transactions,
    transfers,
    verification,
    wallets,
)
from conformance.proof.second.call import Route
from conformance.proof.second.hooks import Hooks
from conformance.proof.second.persona import Persona
from conformance.proof.second.wire import VERSION, Routes, Server
from conformance.proof.second.world import World

AREAS = (
    cards,
    configuration,
    contacts,
    customers,
    execution,
    externals,
    internals,
    lookups,
    ownership,
    quotes,
    sca,
    stablecoins,
    transactions,
    transfers,
    verification,
    wallets,
)


@dataclass(frozen=True)
class Secrets:
    """The credentials of the platform, and the secret that signs its webhooks."""

    token_id: str
    client_secret: str
    webhook_secret: str


def routes(persona: Persona) -> list[Route]:
    """Return the routes of the interface, but for those that a persona does not have."""
    absent = re.compile(persona.lacks)
    table = [route for area in AREAS for route in area.ROUTES]
    return [(method, path, handler) for method, path, handler in table if not absent.search(path)]


def listening(port: int, secrets: Secrets, persona: Persona, bug: str = "") -> Server:
    """Return a server that listens on a loopback port (0: a free one), with a world of its own.

    Raises:
        OSError: where the port is not free.
    """
    world = World(
        persona,
        bug,
        token_id=secrets.token_id,
        client_secret=secrets.client_secret,
        webhook_secret=secrets.webhook_secret,
    )
    begin(world)
    hooks = Hooks(world)
    server = Server(
        ("127.0.0.1", port), world, Routes(routes(persona)), Routes(backstage.routes(hooks))
    )
    world.origin = f"http://127.0.0.1:{server.server_address[1]}"
    return server


def begin(world: World) -> None:
    """Bring a world to its beginning: nothing but the platform, its settings and its accounts."""
    with world.lock:
        world.forget()
        world.config |= {"feeConfigs": [], "cardTokenization2faConfig": None}
        for code in internals.PLATFORM_CURRENCIES:
            kind = "INTERNAL_CRYPTO" if code == "USDC" else "INTERNAL_FIAT"
            internals.open_account(world, None, kind, code)


def base_url(server: Server) -> str:
    """Return the base URL of a server, which ends in the version segment."""
    return f"{server.world.origin}{VERSION}"
