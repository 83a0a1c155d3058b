"""Run the second implementation: `python -m conformance.proof.second --port 0`."""

import argparse
import json
import os
import secrets
import sys
import threading
import time

from conformance.proof.second.bugs import BUGS
from conformance.proof.second.persona import PERSONAS
from conformance.proof.second.service import Secrets, base_url, listening
from conformance.proof.second.wire import Server


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m conformance.proof.second")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--persona", choices=sorted(PERSONAS), default="strict")
    parser.add_argument("--bug", choices=sorted(BUGS), default="")
    parser.add_argument("--with-parent", action="store_true", help="end when the parent does")
    return parser.parse_args()


def _follow(server: Server, parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    server.shutdown()


def main() -> None:
    """Serve until the process is ended; print one JSON line with the URL when listening."""
    parent = os.getppid()
    options = _arguments()
    keys = Secrets(
        os.environ.get("PAYMENTS_API_TOKEN_ID") or f"second-{secrets.token_hex(4)}",
        os.environ.get("PAYMENTS_API_CLIENT_SECRET") or secrets.token_urlsafe(24),
        os.environ.get("PAYMENTS_WEBHOOK_SECRET") or secrets.token_urlsafe(24),
    )
    server = listening(options.port, keys, PERSONAS[options.persona], options.bug)
    if options.with_parent:
        threading.Thread(target=_follow, args=(server, parent), daemon=True).start()
    given = {
        "url": base_url(server),
        "PAYMENTS_API_TOKEN_ID": keys.token_id,
        "PAYMENTS_API_CLIENT_SECRET": keys.client_secret,
        "PAYMENTS_WEBHOOK_SECRET": keys.webhook_secret,
    }
    sys.stdout.write(json.dumps(given) + "\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
