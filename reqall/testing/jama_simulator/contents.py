"""The bytes of attachments: small files of the right kind, made up from the record alone."""

import struct
import zlib

from reqall.testing.jama_simulator.records import Record

_WIDTH, _HEIGHT = 96, 48


def content_of(attachment: Record) -> bytes:
    """Return the file of an attachment: its text under `content`, else a picture, a page or a line."""
    if (text := attachment.get("content")) is not None:
        return str(text).encode()
    name = str(attachment.get("fileName", ""))
    if attachment.get("mimeType") == "image/png":
        return _png(zlib.crc32(name.encode()))
    if attachment.get("mimeType") == "application/pdf":
        return _pdf(name)
    return f"Content of {name}\n".encode()


def _png(seed: int) -> bytes:
    """Draw a curve in one colour on white; the seed chooses both."""
    colour = bytes(seed >> shift & 0x7F for shift in (0, 8, 16))
    level, rows = _HEIGHT // 2, [bytearray(b"\xff" * 3 * _WIDTH) for _ in range(_HEIGHT)]
    for column in range(_WIDTH):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        level = min(_HEIGHT - 1, max(0, level + (seed >> 16) % 5 - 2))
        rows[level][3 * column : 3 * column + 3] = colour
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _pdf(title: str) -> bytes:
    """Write a page that says its title; the table of offsets is exact, as readers want it."""
    text = title.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    drawing = f"BT /F1 18 Tf 40 100 Td ({text}) Tj ET".encode("latin-1", "replace")
    bodies = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>\nstream\n%s\nendstream" % (len(drawing), drawing),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    result, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(result))
        result += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(result)
    return result + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer
