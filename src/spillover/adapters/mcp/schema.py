"""A value cut so that it is still of its JSON Schema. Pure: values in, values out.

What can be cut: strings without a pattern, lists down to `minItems`, keys that are not required. `always_cut` says of a
schema, before there is any value, whether that makes every value small; where not, nobody should promise the schema.
"""

from __future__ import annotations

from itertools import pairwise

from spillover.adapters.mcp.message import written
from spillover.select.ends import most
from spillover.wrap.data import choose_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: A value that cannot be cut at all is small enough up to this many characters, or entries.
SMALL = {"maxLength": 200, "minLength": 200, "minItems": 8}
#: Formats whose values are short by themselves.
SHORT_FORMATS = frozenset({"date", "date-time", "time", "duration", "uuid", "ipv4", "ipv6", "hostname", "email"})
#: What we cannot keep while we cut.
BEYOND = frozenset({
    "not", "if", "dependentSchemas", "dependentRequired", "dependencies", "contains", "minProperties", "allOf",
    "propertyNames", "$dynamicRef", "$recursiveRef", "unevaluatedItems",
})  # fmt: skip
#: How many entries of a list or an object are tried, most first; and the characters a string should have for that.
ENTRIES = (30_000, 10_000, 3_000, 1_000, 300, 100, 50, 30, 20, 10, 7, 5, 3, 2, 1, 0)
ENOUGH = 80
#: Deeper than this a value is not cut, and where no schema asks for it not shown.
DEEP = 60
MORE = "…"
#: In fewer characters, a string keeps its beginning.
TEXT_CHARS = 400
#: The schema of what is never cut.
WHOLE: dict[str, Any] = {"const": None, "not": {}}


def always_cut(schema: Any, root: Any = None, path: tuple[str, ...] = ()) -> bool:
    """Return whether every value of this schema can be cut to a small one that is of it, too."""
    root = schema if root is None else root
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    if BEYOND & schema.keys() or schema.keys() >= {"anyOf", "oneOf"}:
        return False
    if "const" in schema or "enum" in schema:
        return True
    if "$ref" in schema:
        to = schema["$ref"]
        return to not in path and always_cut(_resolved(schema, root), root, (*path, to))
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches is not None:
        # Of one schema and no other: only types tell for certain.
        types = [_resolved(branch, root).get("type") for branch in branches if isinstance(branch, dict)]
        apart = all(isinstance(kind, str) for kind in types) and len(set(types)) == len(branches)
        plain = not {"properties", "items", "required"} & schema.keys()
        return plain and ("oneOf" not in schema or apart) and all(always_cut(each, root, path) for each in branches)
    return _string_cut(schema) and _list_cut(schema, root, path) and _object_cut(schema, root, path)


def _string_cut(schema: dict[str, Any]) -> bool:
    if schema.get("minLength", 0) > SMALL["minLength"]:
        return False
    short = schema.get("maxLength", SMALL["maxLength"] + 1) <= SMALL["maxLength"]
    return short or ("pattern" not in schema and schema.get("format", "date") in SHORT_FORMATS)


def _list_cut(schema: dict[str, Any], root: Any, path: tuple[str, ...]) -> bool:
    least = schema.get("minItems", 0)
    if least > SMALL["minItems"]:
        return False
    first = schema.get("prefixItems", [])[:least]
    return all(always_cut(each, root, path) for each in first) and (
        least <= len(first) or always_cut(schema.get("items", True), root, path)
    )


def _object_cut(schema: dict[str, Any], root: Any, path: tuple[str, ...]) -> bool:
    return all(always_cut(_of_key(schema, key), root, path) for key in schema.get("required", ()))


def cut(value: Any, schema: Any, fill: Callable[[str], float]) -> Any:
    """Return the most of a value that fits and is of its schema; None where there is none."""

    def full(entries: int, chars: int) -> float:
        return fill(written(Cutter(schema, entries, chars).cut(value)))

    for more, entries in pairwise(ENTRIES):
        if full(entries, ENOUGH) <= 1:
            entries += most(more - entries - 1, lambda plus, entries=entries: full(entries + plus, ENOUGH))  # type: ignore[misc]  # noqa: PLW2901
            chars = max(most(1 << 20, lambda chars, entries=entries: full(entries, chars)), ENOUGH)  # type: ignore[misc]
            return _with_texts(value, schema, entries, chars, fill) or Cutter(schema, entries, chars).cut(value)
    return Cutter(schema, 0, 0).cut(value) if full(0, 0) <= 1 else None


def can_tell() -> bool:
    """Return whether somebody is installed who can tell whether a value is of a schema (extra: mcp)."""
    from importlib.util import find_spec  # only for what was cut

    return find_spec("jsonschema") is not None


def is_of(value: Any, schema: Any) -> bool:
    """Return whether a value satisfies a schema, where somebody is installed who can tell (extra: mcp)."""
    try:
        import jsonschema  # a tenth of a second; only for what was cut
    except ImportError:
        return True
    try:
        jsonschema.validate(value, schema)
    except (jsonschema.ValidationError, jsonschema.SchemaError):
        return False
    return True


def _with_texts(value: Any, schema: Any, entries: int, chars: int, fill: Callable[[str], float]) -> Any:
    """Return the value with its long strings chosen by what they are, instead of their beginnings; None where that does not fit."""
    for part in (1.0, 0.9, 0.75, 0.5):
        if chars * part < TEXT_CHARS:
            return None
        found = Cutter(schema, entries, int(chars * part), choose_text).cut(value)
        if fill(written(found)) <= 1:
            return found
    return None


class Cutter:
    """So many entries of each list and object, so many characters of each string; more where the schema wants more."""

    def __init__(self, root: Any, entries: int, chars: int, shorten: Callable[[str, int], str] | None = None) -> None:
        self.root, self.entries, self.chars, self.shorten = root, entries, chars, shorten

    def cut(self, value: Any) -> Any:
        return self._cut(value, self.root, 0)

    def _cut(self, value: Any, schema: Any, depth: int) -> Any:
        schema = self._for(value, schema)
        if "const" in schema or "enum" in schema or not isinstance(value, (str, list, dict)):
            return value
        if depth > DEEP:
            return value if schema else MORE
        if isinstance(value, str):
            return self._string(value, schema)
        if isinstance(value, list):
            return self._list(value, schema, depth)
        return self._object(value, schema, depth)

    def _string(self, value: str, schema: dict[str, Any]) -> str:
        room = max(self.chars, int(schema.get("minLength", 0)))
        if len(value) <= room or "pattern" in schema or "format" in schema:
            return value
        if self.shorten is not None and room == self.chars and int(schema.get("maxLength", room)) >= room:
            return self.shorten(value, room)
        return value[:room] + MORE * (int(schema.get("maxLength", room + 1)) > room)

    def _list(self, value: list[Any], schema: dict[str, Any], depth: int) -> list[Any]:
        kept = value[: max(self.entries, schema.get("minItems", 0))]
        if schema.get("uniqueItems"):  # two that are cut could become the same
            return kept
        first, rest = schema.get("prefixItems", []), schema.get("items", True)
        return [self._cut(item, first[at] if at < len(first) else rest, depth + 1) for at, item in enumerate(kept)]

    def _object(self, value: dict[str, Any], schema: dict[str, Any], depth: int) -> dict[str, Any]:
        required = frozenset(schema.get("required", ()))
        room = max(0, self.entries - len(required))
        kept = {}
        for key, item in value.items():
            if key not in required:
                if not room:
                    continue
                room -= 1
            kept[key] = self._cut(item, _of_key(schema, key), depth + 1)
        return kept

    def _for(self, value: Any, schema: Any) -> dict[str, Any]:
        """Return the part of a schema that speaks of this value."""
        found = _resolved(schema, self.root)
        for _ in range(DEEP):
            branches: list[Any] = found.get("anyOf") or found.get("oneOf") or []
            if not branches:
                return found
            named = [_resolved(branch, self.root) for branch in branches]
            found = next((branch for branch in named if _could_be(value, branch)), {})
        return WHOLE


_TYPES: dict[str, Any] = {
    "string": str,
    "array": list,
    "object": dict,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


def _could_be(value: Any, schema: dict[str, Any]) -> bool:
    """By its type, its keys, and the constants that tell one kind of object from another."""
    if "const" in schema:
        return bool(value == schema["const"])
    if "enum" in schema:
        return value in schema["enum"]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(
        value is None if kind == "null" else isinstance(value, _TYPES.get(kind, ())) for kind in kinds
    ):
        return False
    if not isinstance(value, dict):
        return True
    return value.keys() >= set(schema.get("required", ())) and all(
        value[key] == part["const"]
        for key, part in schema.get("properties", {}).items()
        if key in value and isinstance(part, dict) and "const" in part
    )


def _of_key(schema: dict[str, Any], key: str) -> Any:
    properties = schema.get("properties", {})
    if key in properties or not schema.get("patternProperties"):
        return properties.get(key, schema.get("additionalProperties", True))
    return WHOLE  # which of the patterns it is, is not ours to say


def _resolved(schema: Any, root: Any) -> dict[str, Any]:
    """Return the schema a reference names; what is no object asks for nothing."""
    for _ in range(DEEP):
        if not isinstance(schema, dict) or "$ref" not in schema:
            break
        found = root
        for step in str(schema["$ref"]).removeprefix("#").strip("/").split("/"):
            step = step.replace("~1", "/").replace("~0", "~")  # noqa: PLW2901  as JSON pointers are written
            found = found.get(step) if step and isinstance(found, dict) else found
        schema = found if str(schema["$ref"]).startswith("#") else WHOLE
    return schema if isinstance(schema, dict) else {}
