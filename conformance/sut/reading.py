"""Reads responses of which neither the length nor the encoding can be trusted."""

from __future__ import annotations

import re
import zlib
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from conformance.verdict.decisions import Reason, TargetLost, Unmet

ACCEPT_ENCODING = "gzip, deflate"
"""What ``read_bounded`` can decode, as the value of the request's header."""

MAX_LAYERS = 4
_ZLIB, _RAW, _GZIP = zlib.MAX_WBITS, -zlib.MAX_WBITS, zlib.MAX_WBITS | 16
_FORMATS = {"gzip": (_GZIP,), "x-gzip": (_GZIP,), "deflate": (_ZLIB, _RAW)}
"""Deflate goes without the frame of zlib on some servers, against its definition."""


class ResponseTooLarge(TargetLost):
    """The target sent more than the suite is willing to read."""


class ResponseUnreadable(Unmet):
    """The target sent a body that is encoded in a way that the suite cannot decode."""

    reason = Reason.UNREADABLE


def retry_after(value: str, date: str = "") -> float | None:
    """Return for how many seconds a ``Retry-After`` header asks to wait; ``None`` if it is none.

    The header has a number of seconds, or the time until which to wait. Such a time is compared
    with ``date``, the ``Date`` header of the same answer, as the clock of the target may be slow or
    fast; without that, with the time here.
    """
    if re.fullmatch(r"[0-9]+", value):
        return float(value)
    moment = http_date(value)
    if moment is None:
        return None
    # A whole second is named, and what is waited for may come at the end of it.
    seconds = (moment - (http_date(date) or datetime.now(UTC))).total_seconds() + 1
    return max(0.0, seconds)


def http_date(header: str) -> datetime | None:
    """Return the time in a header of HTTP; ``None`` if it is none."""
    try:
        return parsedate_to_datetime(header[:40]).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def read_bounded(response: httpx.Response, max_bytes: int) -> bytes:
    """Return the decoded body of a response that is being streamed.

    Args:
        response: the response, none of whose body has been read.
        max_bytes: the largest size of the body, as it is sent and after each layer of its
            ``Content-Encoding``; nothing larger is ever in memory.

    Raises:
        ResponseTooLarge: the body is larger.
        ResponseUnreadable: the body is encoded in a way that the suite did not ask for, more than
            four times over, or it is damaged.
        httpx.HTTPError: the connection broke.
    """
    content = bytearray()
    for part in response.iter_raw():
        content += part
        if len(content) > max_bytes:
            raise ResponseTooLarge(f"the response is larger than {max_bytes} bytes")
    if not content:
        return b""
    decoded = bytes(content)
    for encoding in reversed(_encodings(response)):
        decoded = _decode(decoded, encoding, max_bytes)
    return decoded


def _encodings(response: httpx.Response) -> list[str]:
    """Return the encodings of a body in the order in which they were applied."""
    listed = response.headers.get("content-encoding", "").lower().split(",")
    encodings = [name for part in listed if (name := part.strip()) not in ("", "identity")]
    for name in encodings:
        if name not in _FORMATS:
            raise ResponseUnreadable(
                f"the response could not be read: its Content-Encoding has {name[:40]!r}; "
                f"asked for was {ACCEPT_ENCODING}"
            )
    if len(encodings) > MAX_LAYERS:
        raise ResponseUnreadable(
            f"the response could not be read: it is encoded {len(encodings)} times over, and at "
            f"most {MAX_LAYERS} times are taken apart"
        )
    return encodings


def _decode(content: bytes, encoding: str, max_bytes: int) -> bytes:
    for window in _FORMATS[encoding]:
        decompressor = zlib.decompressobj(window)
        try:
            decoded = decompressor.decompress(content, max_bytes + 1)
        except zlib.error:
            continue
        if len(decoded) > max_bytes:
            raise ResponseTooLarge(f"the response is larger than {max_bytes} bytes")
        if decompressor.eof and not decompressor.unused_data:
            return decoded
    raise ResponseUnreadable(
        f"the response could not be read: it is not whole and well-formed {encoding}"
    )
