"""Webhooks: signed, delivered beside the requests, and delivered again until they are taken."""

import base64
import hashlib
import hmac
import http.client
import json
import logging
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from conformance.proof.second.wire import dressed
from conformance.proof.second.world import World, now

HEADER = "X-Second-Signature"
PAUSES = (0.4, 0.8, 1.6, 3.2, 6.4)

log = logging.getLogger(__name__)


class Hooks:
    """Delivers the events of a world to the endpoint of the platform, `url`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._pool = ThreadPoolExecutor(16, "hooks")
        self.url = ""
        self._last = (0, "")
        world.emit = self.emit

    def emit(self, event: str, data: dict[str, Any]) -> None:
        """Deliver an event about a resource, as the resource is now."""
        world = self._world
        envelope = {
            "id": self._new_id(),
            "type": event,
            "timestamp": now(),
            "data": data,
        }
        if event.startswith("INTERNAL_ACCOUNT.") and world.has("account-events-epoch-timestamp"):
            envelope["timestamp"] = int(time.time())
        if not self.url:
            return
        body = json.dumps(dressed(world, envelope)).encode()
        for _ in range(world.persona.deliveries):
            self._later(random.uniform(0, world.persona.delivery_jitter), body)  # noqa: S311

    def _new_id(self) -> str:
        """Return a fresh id, or by a planted bug the one that this second has."""
        second, last = self._last
        fresh = self._world.new_id("Webhook")
        if int(time.time()) == second and self._world.has("webhook-id-of-second"):
            return last
        self._last = (int(time.time()), fresh)
        return fresh

    def _later(self, seconds: float, body: bytes) -> None:
        url = self.url
        if seconds:
            self._world.later(seconds, lambda: self._again(url, body, 0))
        else:
            self._again(url, body, 0)

    def _deliver(self, url: str, body: bytes, attempt: int) -> None:
        if self._send(url, body) or attempt >= len(PAUSES):
            return
        self._world.later(PAUSES[attempt], lambda: self._again(url, body, attempt + 1))

    def _again(self, url: str, body: bytes, attempt: int) -> None:
        self._pool.submit(self._deliver, url, body, attempt)

    def _send(self, url: str, body: bytes) -> bool:
        target = urlsplit(url)
        headers = {"Content-Type": "application/json", HEADER: self._signature(body)}
        connection = http.client.HTTPConnection(target.hostname or "", target.port or 80, timeout=5)
        try:
            connection.request("POST", target.path or "/", body, headers)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException) as error:
            log.debug("webhook was not taken: %s", error)
            return False
        finally:
            connection.close()

    def _signature(self, body: bytes) -> str:
        moment = str(int(time.time()))
        signed = moment.encode() + b"." + (b"" if self._world.has("body-unsigned") else body)
        secret = self._world.webhook_secret.encode()
        if self._world.persona.hook_key == "base64":
            secret = base64.urlsafe_b64decode(secret + b"=" * (-len(secret) % 4))
        return f"t={moment},h={hmac.new(secret, signed, hashlib.sha512).hexdigest()}"
