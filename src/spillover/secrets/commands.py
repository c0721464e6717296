"""Secrets in a command line: found by their formats, or by the name before them, and replaced by their kind.

A pattern runs only if one of its words is in the text, so most commands are scanned once and compile nothing. Only the
value is replaced; the name beside it stays, so that a person can still read what ran.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from msgspec import Struct

from spillover.patterns import compile_own
from spillover.secrets import FORMATS, cut_at_bracket, is_code, is_plausible, is_variable, name_kind

#: Characters of a command line in a record and a list; more make records larger.
COMMAND_CHARS = 1_000
MARK = b"[redacted: "

# A value after a name: in quotes (possibly unterminated), or up to the end of the word.
_QUOTED = r"""\\?"[^"]*(?:"|\Z)|\$?'[^']*(?:'|\Z)"""
_BARE = r"""[^\s"'`;&|<>()]+"""
_VALUE = rf"""({_QUOTED}|{_BARE})"""
_NO_OPTION = rf"""({_QUOTED}|[^\s"'`;&|<>()\-][^\s"'`;&|<>()]*)"""  # after a space, where another option may follow
# Names that are followed by a secret, or what such names end with.
_NAMES = (
    "password|passwd|passphrase|passwort|secret|token|credentials?|api[-_]?key|access[-_]?key|secret[-_]?key"
    "|private[-_]?key|account[-_]?key|auth[-_]?key|signing[-_]?key|encryption[-_]?key|master[-_]?key|[a-z0-9]_pwd"
    "|storepass|keypass"
)
_HEADERS = (
    r"(?:x-[a-z0-9-]*|api-|auth-|access-|private-|secret-|job-|deploy-|subscription-)"
    r"(?:token|key|secret|password|auth|signature|session)|apikey"
)
_REST = r"[^|;&\n]*?"  # the rest of one command of a line, up to an option behind its last pipe
_NAME_WORDS = ("pass", "secret", "token", "credential", "key", "_pwd")
_HEADER_WORDS = ("key", "token", "secret", "password", "auth", "signature", "session")
_KEY_WORDS = ("accountkey=", "sharedaccesskey=", "sig=")


class Rule(Struct, frozen=True):
    """A pattern with three groups (text before, the value, text after), and the words without which it cannot match."""

    words: tuple[str, ...]  # in lower case; one of them is in every text that the pattern matches
    kind: str  # "": from the name before the value
    pattern: str
    programs: tuple[str, ...] = ()  # patterns that stand before it in the same command, one after the other


_RULES = (
    Rule(
        ("private key",),
        "private key",
        r"()(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}-----|\Z))",
    ),
    # Headers. Without quotes the value is one word, or two where the first is a scheme.
    Rule(("authorization",), "authorization", r"""(?i)(["'](?:proxy-)?authorization\s*:\s*)([^\s"'][^"']*)"""),
    Rule(
        ("authorization",),
        "authorization",
        r"""(?i)(\b(?:proxy-)?authorization\s*[:=]\s*)([a-z]+\s+[^\s"':\-][^\s"':]*)(\s|\Z)""",
    ),
    Rule(
        ("authorization",),
        "authorization",
        r"""(?i)(\b(?:proxy-)?authorization\s*[:=]\s*)"""
        r"""((?:bearer|basic|token|digest|negotiate|apikey|key)\s+[^\s"']+|[^\s"']+)""",
    ),
    Rule(("bearer",), "bearer token", r"(?i)(\bbearer\s+)([a-z0-9._~+/=-]{8,})"),
    Rule(("cookie",), "cookie", r"""(?i)(["'](?:set-)?cookie\s*:\s*)([^\s"'][^"']*)"""),
    Rule(("cookie",), "cookie", r"""(?i)(\b(?:set-)?cookie:\s*)([^\s"';]+(?:;\s*[^\s"';=]+=[^\s"';]*)*)"""),
    Rule(_HEADER_WORDS, "header", rf"""(?i)(["'](?:{_HEADERS})\s*:\s*)([^\s"'][^"']*)"""),
    Rule(_HEADER_WORDS, "header", rf"""(?i)(\b(?:{_HEADERS}):\s*)([^\s"']+)"""),
    Rule(("://",), "password", r"""(\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"'<>]*:)([^\s/"'<>]+)(@)"""),
    # Under a name: "name": "value", name=value, name = "value", --name value.
    Rule(_NAME_WORDS, "", rf"""(?i)((?:{_NAMES})\\?["']\s*:\s*)(\\?"[^"]*(?:"|\Z)|'[^']*(?:'|\Z))"""),
    Rule(_NAME_WORDS, "", rf"""(?i)((?:{_NAMES}|[a-z0-9]_pass|\bpass)(?:=|:=))({_QUOTED}|[^\s"'`;&|<>,]+)"""),
    Rule(_NAME_WORDS, "", rf"""(?i)((?:{_NAMES})\s*(?:=|:)\s*)("[^"\s]+"|'[^'\s]+')"""),
    Rule(_NAME_WORDS, "", rf"""(?i)((?:^|[\s"'(\[,])--?(?:[a-z0-9]+[-_])*(?:{_NAMES})\s+){_NO_OPTION}"""),
    Rule(("pwd=",), "password", r"""(?i)([;&?"']\s*pwd=)([^\s"'`;&]+)"""),
    Rule(_KEY_WORDS, "key", r"""(?i)(\b(?:accountkey|sharedaccesskey|[?&]sig|&amp;sig)=)([^\s"'`;&]+)"""),
    # As particular programs take them.
    Rule(
        ("curl", "http", "wget", "xh "),
        "password",
        r"""(\s(?:-u|--user|--proxy-user|-U|--auth|-a)[ =]?\s*["']?[^\s:"'/]+:)([^\s"']+)""",
    ),
    Rule(("mysql", "mariadb"), "password", rf"""(\s-p){_VALUE}""", (r"\b(?:mysql|mariadb)",)),
    Rule(("sshpass",), "password", rf"""(\bsshpass\s+-p\s*){_VALUE}"""),
    Rule(("redis-cli",), "password", rf"""(\s(?:-a|--pass)\s+){_VALUE}""", (r"\bredis-cli\b",)),
    Rule(
        ("login",),
        "password",
        rf"""(\s-p[ =]?\s*){_VALUE}""",
        (r"\b(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|oc)\b", r"\blogin\b"),
    ),
    Rule(("vault login",), "token", rf"""(\bvault login\s+){_NO_OPTION}"""),
    Rule(("zip",), "password", rf"""(\s-P\s*){_VALUE}""", (r"\b(?:un)?zip\b",)),
    Rule(("7z",), "password", rf"""(\s-p){_VALUE}""", (r"\b7z[ar]?\b",)),
    Rule(("pass:",), "password", r"""(\s-(?:pass|passin|passout)\s+["']?pass:)([^\s"']+)"""),
    Rule(("ldap",), "password", rf"""(\s-w\s*){_VALUE}""", (r"\bldap[a-z]",)),
    Rule(("sqlcmd", "bcp"), "password", rf"""(\s-P\s*){_VALUE}""", (r"\b(?:sqlcmd|bcp)\b",)),
    Rule(("smb", "rpcclient"), "password", r"""(\s-U\s*["']?[^\s%"']+%)([^\s"']+)""", (r"\b(?:smb[a-z]|rpcclient\b)",)),
    Rule(("htpasswd",), "password", rf"""(\bhtpasswd\s+-(?=[a-zA-Z]*b)[a-zA-Z]++\s++\S++\s++\S++\s++){_VALUE}"""),
    Rule(("set ",), "", rf"""(?i)(\bset\s+(?:-\S+\s+)+\S*(?:{_NAMES})\s+){_NO_OPTION}"""),  # fish
    Rule(("config",), "", rf"""(?i)(\bconfig(?:ure)?\s+(?:set\s+|-\S+\s+)*\S*(?:{_NAMES})\s+){_NO_OPTION}"""),
    Rule(("sudo",), "password", rf"""(\becho\s+(?:-n\s+)?){_VALUE}(\s*\|\s*sudo\b{_REST}\s-S)"""),
    Rule(
        ("-stdin",),
        "password",
        rf"""(\b(?:echo|printf)\s+(?:-n\s+|%s\s+)?){_VALUE}(\s*\|{_REST}--(?:password|token)-stdin)""",
    ),
    *(Rule(row.words, row.kind, row.pattern) for row in FORMATS),
)
#: Rounds of applying all rules; two are usual, and more only take longer.
_MAX_ROUNDS = 50
#: The kinds that a mark can name.
_KINDS = frozenset(
    {rule.kind.encode() for rule in _RULES if rule.kind} | {b"password", b"token", b"secret", b"key", b"credential"}
)
_LONGEST_MARK = len(MARK) + max(map(len, _KINDS)) + 1

#: Values that are not secrets although they follow such a name: placeholders, and paths by how they begin.
_NOTHING = frozenset(
    {"", "none", "null", "true", "false", "nil", "undefined", "yes", "no", "x", "xxx", "...", "***", "-"}
)
_ROOTS = frozenset({
    "home", "etc", "tmp", "var", "run", "usr", "opt", "root", "mnt", "srv", "dev", "proc", "work", "users", "app",
    "data", "workspace", "private", "secrets",
})  # fmt: skip
_NO_VALUE = ("=", "<", "{{", "@", "%", "~/", "./", "../", "os.environ", "process.env", "env.", "env:", "file:")


def redact(text: str) -> str:
    """Replace each secret in the text by `[redacted: kind]`.

    Replacing one secret can expose another, so the rules are applied until nothing changes, usually twice. Each round
    leaves less text between the marks, so this ends.
    """
    small = text.lower()
    rules = [number for number, rule in enumerate(_RULES) if any(word in small for word in rule.words)]
    if not rules:
        return text
    data = text.encode("utf-8", "surrogatepass")
    for _ in range(_MAX_ROUNDS):
        before = data
        for number in rules:
            data = _change_between_marks(data, _rule(number))
        if data == before:
            break
    return data.decode("utf-8", "surrogatepass")


def shorten_command(text: str) -> str:
    """Return a command for storing and showing: redacted, and at most COMMAND_CHARS long."""
    redacted = redact(text if len(text) < COMMAND_CHARS else _shorten(text))
    return redacted if len(redacted) <= COMMAND_CHARS else _shorten(redacted)


def _shorten(text: str) -> str:
    """Shorten at a space, so that no secret is cut into something unrecognisable and no mark is cut in two."""
    if text.endswith("…") and len(text) <= COMMAND_CHARS:
        return text
    head = text[: COMMAND_CHARS - 1]
    at = max(head.rfind(" "), head.rfind("\n"), head.rfind("\t"))
    head = head[: max(at, 0)]
    mark = head.rfind(MARK.decode())
    if mark >= 0 and "]" not in head[mark:]:
        head = head[:mark]
    return head + "…"


def _change_between_marks(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Apply a rule to the text between marks."""
    parts = []
    at = 0
    start = -1
    while (start := data.find(MARK, start + 1)) >= 0:
        end = data.find(b"]", start, start + _LONGEST_MARK)
        if end < 0 or data[start + len(MARK) : end] not in _KINDS:  # not one of ours
            continue
        parts += [change(data[at:start]), data[start : end + 1]]
        at = end + 1
        start = end
    return b"".join([*parts, change(data[at:])])


@cache
def _rule(number: int) -> Callable[[bytes], bytes]:
    """Return a rule as a function that replaces the secrets in a text."""
    kind = _RULES[number].kind
    programs = [compile_own(program) for program in _RULES[number].programs]
    pattern = compile_own(_RULES[number].pattern)

    def replace(match: re.Match[bytes]) -> bytes:
        before = match.group(1)
        value = match.group(2)
        after = match.group(3) if match.re.groups > 2 else b""
        opening, closing = _quotes(value)
        inner = value[len(opening) : len(value) - len(closing)]
        if not opening and not kind:
            inner, rest = cut_at_bracket(inner)
            if is_code(inner, match.string[match.end(2) : match.end(2) + 1]):
                return match.group()
            closing = rest + closing
        if _is_ordinary(inner, before, kind, literal=opening in (b"'", b"$'")):
            return match.group()
        name = kind or name_kind(before)
        return before + opening + MARK + name.encode() + b"]" + closing + after

    def change(data: bytes) -> bytes:
        return _change_in_commands(data, programs, pattern, replace) if programs else pattern.sub(replace, data)

    return change


def _change_in_commands(
    data: bytes,
    programs: list[re.Pattern[bytes]],
    pattern: re.Pattern[bytes],
    replace: Callable[[re.Match[bytes]], bytes],
) -> bytes:
    """Replace the matches of a pattern behind the words of a program, up to the next command of the line."""
    parts: list[bytes] = []
    copied = at = 0
    while at < len(data) and (program := programs[0].search(data, at)):
        end = next((place for place in range(program.end(), len(data)) if data[place] in b"|;&\n"), len(data))
        last: re.Match[bytes] | None = program
        for word in programs[1:]:
            last = last and word.search(data, last.end(), end)
        place = last.end() if last else end
        while place < end and (match := pattern.search(data, place)) and match.start() < end:
            parts += (data[copied : match.start()], replace(match))
            copied = place = max(match.end(), place + 1)
        at = max(end, copied) + 1
    return b"".join([*parts, data[copied:]])


def _quotes(value: bytes) -> tuple[bytes, bytes]:
    for opening in (b'\\"', b'"', b"'", b"$'"):
        if value.startswith(opening):
            end = opening.lstrip(b"$")
            closing = end if value.endswith(end) and len(value) >= len(opening) + len(end) else b""
            return opening, closing
    return b"", b""


def _is_ordinary(value: bytes, before: bytes, kind: str, *, literal: bool) -> bool:
    """Return whether a value is no secret: a variable, a file, a placeholder, a number of tokens."""
    text = value.decode("latin-1")
    if kind == "authorization":
        text = text.split()[-1] if text.split() else ""  # after the scheme
    small = text.lower()
    if small in _NOTHING or text.startswith(_NO_VALUE) or not text.strip("*."):
        return True
    if text.startswith("$") and not literal:
        return text in ("$", "$$") or text.startswith("$(") or is_variable(text[1:])
    if small.isdigit() and len(small) < 7:  # a number of tokens or passed tests, or a numeric user and group
        name = before.lower()
        return b"token" in name or name.startswith(b"pass=") or before.rstrip(b":")[-1:].isdigit()
    return not is_plausible(kind, value) or (text.startswith("/") and text[1:].partition("/")[0].lower() in _ROOTS)
