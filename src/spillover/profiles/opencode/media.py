"""What the Read tool does not show as text: images and PDFs, which are attached, and other bytes, which are refused."""

from __future__ import annotations

import os

#: How many bytes of a file are inspected.
SAMPLE = 4_096
#: The most that is attached; models refuse more.
MEDIA_BYTES = 20 << 20
#: Above this share of control bytes a file is not text.
CONTROL_SHARE = 0.3
ENDINGS = (
    *(".zip", ".tar", ".gz", ".7z", ".jar", ".war", ".class", ".pyc", ".pyo", ".wasm"),
    *(".exe", ".dll", ".so", ".obj", ".o", ".a", ".lib", ".bin", ".dat"),
    *(".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods", ".odp"),
)
#: How files begin that a model can look at. Names prove nothing: a picture may be called .bin, a note .png.
BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
_CONTROL = bytes([*range(9), *range(14, 32)])


def media_type(sample: bytes) -> str | None:
    """Return the media type of a file that can be attached; None for any other."""
    if sample[:4] == b"RIFF" and sample[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for start, mime in BEGINNINGS if sample.startswith(start)), None)


def is_binary(path: str, sample: bytes) -> bool:
    """Return whether a file is binary, by its ending, a NUL byte, or too many control bytes."""
    if os.path.splitext(path)[1].lower() in ENDINGS or b"\0" in sample:
        return True
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    return bool(sample) and controls / len(sample) > CONTROL_SHARE
