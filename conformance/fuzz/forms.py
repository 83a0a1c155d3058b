"""Multipart forms: how generated parts are sent, and forms that careless code does not survive."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from conformance.exchange.forms import File

BOUNDARY = "payments-conformance-5d83c1b6"
FORM = f"multipart/form-data; boundary={BOUNDARY}"
"""The content type of every form that is sent whole."""

_END = f"--{BOUNDARY}--\r\n".encode()
_ESCAPES = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})
_LONG = 20_000
_MANY = 200


def is_form(content_type: str) -> bool:
    """Return whether a content type is that of a form."""
    return content_type.startswith("multipart/form-data")


def files_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the parts of a form that are files."""
    return frozenset(
        name for name, part in schema.get("properties", {}).items() if "contentMediaType" in part
    )


def encoded(parts: Mapping[str, Any], files: Collection[str]) -> bytes:
    """Return the bytes of a form.

    Args:
        parts: texts and files; any other value is sent as JSON, and each entry of a list by itself.
        files: the parts that are sent as files whatever they are.
    """
    return b"".join(_all_parts(parts, files)) + _END


def hostile(parts: Mapping[str, Any]) -> Iterator[tuple[str, str, bytes]]:
    """Yield what is hostile, a content type and bytes: a whole form, spoiled in one place."""
    whole = encoded(parts, ())
    yield from _spoiled(whole)
    for name in parts:
        others = {other: part for other, part in parts.items() if other != name}
        for what, part in _hostile_parts(name):
            yield f"{what} as {name}", FORM, b"".join(_all_parts(others, ())) + part + _END
        yield f"{name} twice", FORM, b"".join(_all_parts({name: parts[name]}, ())) + whole


def _all_parts(parts: Mapping[str, Any], files: Collection[str]) -> Iterator[bytes]:
    for name, value in parts.items():
        for item in value if isinstance(value, list) else [value]:
            yield _part(name, item, is_file=name in files)


def _part(name: str, value: Any, *, is_file: bool) -> bytes:
    quoted = name.translate(_ESCAPES)
    if isinstance(value, File):
        return _raw_part(
            f'form-data; name="{quoted}"; filename="{value.name}"'.encode(),
            value.content,
            value.media_type.encode(),
        )
    text = value if isinstance(value, str | bytes) else json.dumps(value, ensure_ascii=False)
    content = text.encode() if isinstance(text, str) else text
    if is_file:
        disposition = f'form-data; name="{quoted}"; filename="generated.pdf"'
        return _raw_part(disposition.encode(), content, b"application/pdf")
    return _raw_part(f'form-data; name="{quoted}"'.encode(), content)


def _raw_part(disposition: bytes, content: bytes, media_type: bytes = b"") -> bytes:
    head = b"--" + BOUNDARY.encode() + b"\r\nContent-Disposition: " + disposition + b"\r\n"
    if media_type:
        head += b"Content-Type: " + media_type + b"\r\n"
    return head + b"\r\n" + content + b"\r\n"


def _spoiled(whole: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Yield a form whose frame is broken."""
    yield "no form at all", FORM, b""
    yield "a form without a part", FORM, _END
    yield "a form that ends in a file", FORM, whole[: -len(_END) - 40]
    yield "a form that ends in a header", FORM, whole[: whole.index(b"\r\n\r\n") - 5]
    yield "a form without an end", FORM, whole[: -len(_END)]
    yield "line feeds alone", FORM, whole.replace(b"\r\n", b"\n")
    yield "text around the form", FORM, b"before\r\n" + whole + b"after"
    yield "another boundary", FORM.replace("5d83", "0000"), whole
    yield "no boundary", "multipart/form-data", whole
    yield "an empty boundary", "multipart/form-data; boundary=", whole
    yield "a quote in the boundary", 'multipart/form-data; boundary="', whole
    yield "a long boundary", f"multipart/form-data; boundary={'b' * _LONG}", whole
    yield "an unknown charset", f"{FORM}; charset=no-such", whole
    yield "a form of many parts", FORM, _raw_part(b'form-data; name="x"', b"") * _MANY + whole


def _hostile_parts(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield a part of a name, spoiled in its head or its content."""
    named = b'form-data; name="' + name.encode() + b'"'
    as_file = named + b"; filename="
    pdf = b"application/pdf"
    yield "a part without disposition", _raw_part(named, b"x").replace(b"Content-Disposition", b"X")
    yield "a disposition without name", _raw_part(b"form-data", b"x")
    yield "an unended name", _raw_part(named[:-1], b"x")
    yield "a head without colon", _raw_part(named + b"\r\nfold", b"x")
    yield "a long head", _raw_part(named + b"\r\nX-Long: " + b"x" * _LONG, b"x")
    yield "many heads", _raw_part(named + b"\r\nX: x" * _MANY, b"x")
    yield "an unknown encoding", _raw_part(named + b"\r\nContent-Transfer-Encoding: none", b"x")
    yield "base64 that is none", _raw_part(named + b"\r\nContent-Transfer-Encoding: base64", b"x=")
    yield "a nested form", _raw_part(named, b"--x\r\n", b"multipart/mixed; boundary=x")
    yield "an unknown charset", _raw_part(named, b"x", b"text/plain; charset=no-such")
    yield "bytes that are no text", _raw_part(named, b"\xff\xfe\x80")
    yield "a null character", _raw_part(named, b"\x00")
    yield "a long text", _raw_part(named, b"9" * _LONG)
    yield "half a character", _raw_part(named, b"\xed\xa0\x80")
    yield "nothing", _raw_part(named, b"")
    yield "an empty file", _raw_part(as_file + b'"x.pdf"', b"", pdf)
    yield "a file without a name", _raw_part(as_file + b'""', b"%PDF-1.4", pdf)
    yield "a null in a file name", _raw_part(as_file + b'"x\x00.pdf"', b"%PDF-1.4", pdf)
    yield "a path as file name", _raw_part(as_file + b'"../../../x.pdf"', b"%PDF-1.4", pdf)
    yield "bytes as file name", _raw_part(as_file + b'"\xff\xfe"', b"%PDF-1.4", pdf)
    yield "a broken file name", _raw_part(named + b"; filename*=no-such''%zz", b"%PDF-1.4", pdf)
    yield "a media type that is none", _raw_part(as_file + b'"x.pdf"', b"%PDF-1.4", b"\xff;;=")
