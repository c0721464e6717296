"""What to say when a framework cannot be imported: it is not installed, or it is too old."""

from __future__ import annotations

from spillover.errors import MissingExtraError

#: The extra, which is named like the adapter → the package, and the oldest version that the tests pass with.
OLDEST = {
    "langchain": ("langchain", "1.2"),
    "openai-agents": ("openai-agents", "0.23"),
    "pydantic-ai": ("pydantic-ai-slim", "2.62"),
}


def missing(extra: str) -> MissingExtraError:
    """Return the error to raise: which version is needed and which is installed, or how to install it."""
    from importlib.metadata import PackageNotFoundError, version

    package, oldest = OLDEST[extra]
    try:
        installed = version(package)
    except PackageNotFoundError:
        return MissingExtraError(f"this adapter needs the extra: pip install 'spillover[{extra}]'")
    if _numbers(installed) < _numbers(oldest):
        return MissingExtraError(f"this adapter needs {package} {oldest} or newer, {installed} is installed")
    return MissingExtraError(
        f"this adapter needs the extra: pip install 'spillover[{extra}]' ({package} {installed} is there, and cannot be used)"
    )


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, as far as they are numbers."""
    out: list[int] = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        out.append(int(digits))
    return tuple(out)
