"""Redact secrets in a command line: find them by their format or by the name before them, and replace each by its kind.

Every pattern runs only if one of its keywords is in the text, so most commands are scanned once
and nothing is imported for them. Only the value is replaced; the name beside it stays, so that a person can still read
what was run.
"""

from __future__ import annotations

from spillover.base.linear import compile_own
from spillover.secrets.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: The longest command line that a record keeps and a list shows.
COMMAND_CHARS = 1_000
MARK = b"[redacted: "

# A value after a name: in quotes (possibly unterminated), or up to the end of the word.
_QUOTED = r"""\\?"[^"]*(?:"|\Z)|\$?'[^']*(?:'|\Z)"""
_BARE = r"""[^\s"'`;&|<>()]+"""
_VALUE = rf"""({_QUOTED}|{_BARE})"""
_NO_OPTION = rf"""({_QUOTED}|[^\s"'`;&|<>()\-][^\s"'`;&|<>()]*)"""  # after a space, where another option may follow
# Names that are followed by a secret, or what such names end with.
_NAMES = (
    "password|passwd|passphrase|passwort|secret|token|credentials?|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key"
    "|account[-_]?key|auth[-_]?key|signing[-_]?key|encryption[-_]?key|master[-_]?key|[a-z0-9]_pwd|storepass|keypass"
)
_HEADERS = (
    r"(?:x-[a-z0-9-]*|api-|auth-|access-|private-|secret-|job-|deploy-|subscription-)"
    r"(?:token|key|secret|password|auth|signature|session)|apikey"
)
_REST = r"[^|;&\n]*?"  # the rest of one command of a line, up to an option behind its last pipe
_ALL_NAMES = ("pass", "secret", "token", "credential", "key", "_pwd")

#: (keywords in lower case, the kind, the pattern with three groups: text to keep, the value, more text to keep). Where there are
#: several patterns, the first ones name a program and its command: the last one is looked for behind them, in the same command.
_RULES: tuple[tuple[tuple[str, ...], str, str | tuple[str, ...]], ...] = (
    (("private key",), "private key", r"()(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}-----|\Z))"),
    # Headers. Without quotes the value is one word, or two where the first is a scheme.
    (("authorization",), "authorization", r"""(?i)(["'](?:proxy-)?authorization\s*:\s*)([^\s"'][^"']*)"""),
    (("authorization",), "authorization", r"""(?i)(\b(?:proxy-)?authorization\s*[:=]\s*)([a-z]+\s+[^\s"':\-][^\s"':]*)(\s|\Z)"""),
    (("authorization",), "authorization", r"""(?i)(\b(?:proxy-)?authorization\s*[:=]\s*)((?:bearer|basic|token|digest|negotiate|apikey|key)\s+[^\s"']+|[^\s"']+)"""),
    (("bearer",), "bearer token", r"(?i)(\bbearer\s+)([a-z0-9._~+/=-]{8,})"),
    (("cookie",), "cookie", r"""(?i)(["'](?:set-)?cookie\s*:\s*)([^\s"'][^"']*)"""),
    (("cookie",), "cookie", r"""(?i)(\b(?:set-)?cookie:\s*)([^\s"';]+(?:;\s*[^\s"';=]+=[^\s"';]*)*)"""),
    (("key", "token", "secret", "password", "auth", "signature", "session"), "header", rf"""(?i)(["'](?:{_HEADERS})\s*:\s*)([^\s"'][^"']*)"""),
    (("key", "token", "secret", "password", "auth", "signature", "session"), "header", rf"""(?i)(\b(?:{_HEADERS}):\s*)([^\s"']+)"""),
    (("://",), "password", r"""(\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"'<>]*:)([^\s/"'<>]+)(@)"""),
    # Under a name: "name": "value", name=value, name = "value", --name value.
    (_ALL_NAMES, "", rf"""(?i)((?:{_NAMES})\\?["']\s*:\s*)(\\?"[^"]*(?:"|\Z)|'[^']*(?:'|\Z))"""),
    (_ALL_NAMES, "", rf"""(?i)((?:{_NAMES}|[a-z0-9]_pass|\bpass)(?:=|:=))({_QUOTED}|[^\s"'`;&|<>,]+)"""),
    (_ALL_NAMES, "", rf"""(?i)((?:{_NAMES})\s*(?:=|:)\s*)("[^"\s]+"|'[^'\s]+')"""),
    (_ALL_NAMES, "", rf"""(?i)((?:^|[\s"'(\[,])--?(?:[a-z0-9]+[-_])*(?:{_NAMES})\s+){_NO_OPTION}"""),
    (("pwd=",), "password", r"""(?i)([;&?"']\s*pwd=)([^\s"'`;&]+)"""),
    (("accountkey=", "sharedaccesskey=", "sig="), "key", r"""(?i)(\b(?:accountkey|sharedaccesskey|[?&]sig|&amp;sig)=)([^\s"'`;&]+)"""),
    # As particular programs take them.
    (("curl", "http", "wget", "xh "), "password", r"""(\s(?:-u|--user|--proxy-user|-U|--auth|-a)[ =]?\s*["']?[^\s:"'/]+:)([^\s"']+)"""),
    (("mysql", "mariadb"), "password", (r"\b(?:mysql|mariadb)", rf"""(\s-p){_VALUE}""")),
    (("sshpass",), "password", rf"""(\bsshpass\s+-p\s*){_VALUE}"""),
    (("redis-cli",), "password", (r"\bredis-cli\b", rf"""(\s(?:-a|--pass)\s+){_VALUE}""")),
    (("login",), "password", (r"\b(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|oc)\b", r"\blogin\b", rf"""(\s-p[ =]?\s*){_VALUE}""")),
    (("vault login",), "token", rf"""(\bvault login\s+){_NO_OPTION}"""),
    (("zip",), "password", (r"\b(?:un)?zip\b", rf"""(\s-P\s*){_VALUE}""")),
    (("7z",), "password", (r"\b7z[ar]?\b", rf"""(\s-p){_VALUE}""")),
    (("pass:",), "password", r"""(\s-(?:pass|passin|passout)\s+["']?pass:)([^\s"']+)"""),
    (("ldap",), "password", (r"\bldap[a-z]", rf"""(\s-w\s*){_VALUE}""")),
    (("sqlcmd", "bcp"), "password", (r"\b(?:sqlcmd|bcp)\b", rf"""(\s-P\s*){_VALUE}""")),
    (("smb", "rpcclient"), "password", (r"\b(?:smb[a-z]|rpcclient\b)", r"""(\s-U\s*["']?[^\s%"']+%)([^\s"']+)""")),
    (("htpasswd",), "password", rf"""(\bhtpasswd\s+-(?=[a-zA-Z]*b)[a-zA-Z]++\s++\S++\s++\S++\s++){_VALUE}"""),
    (("set ",), "", rf"""(?i)(\bset\s+(?:-\S+\s+)+\S*(?:{_NAMES})\s+){_NO_OPTION}"""),  # fish
    (("config",), "", rf"""(?i)(\bconfig(?:ure)?\s+(?:set\s+|-\S+\s+)*\S*(?:{_NAMES})\s+){_NO_OPTION}"""),
    (("sudo",), "password", rf"""(\becho\s+(?:-n\s+)?){_VALUE}(\s*\|\s*sudo\b{_REST}\s-S)"""),
    (("-stdin",), "password", rf"""(\b(?:echo|printf)\s+(?:-n\s+|%s\s+)?){_VALUE}(\s*\|{_REST}--(?:password|token)-stdin)"""),
    *((words, kind, pattern) for words, kind, pattern, _ in FORMATS),
)  # fmt: skip
_made: dict[int, Any] = {}
_ROUNDS = 50
#: The kinds that a mark can name.
_KINDS = frozenset(
    {kind.encode() for _, kind, _ in _RULES if kind} | {b"password", b"token", b"secret", b"key", b"credential"}
)
_LONGEST_MARK = len(MARK) + max(map(len, _KINDS)) + 1

#: A part of an API key that is random has at least so many characters.
RANDOM_CHARS = 8
#: Values that are not secrets although they follow such a name: placeholders, and paths by how they begin.
_NOTHING = frozenset(
    {"", "none", "null", "true", "false", "nil", "undefined", "yes", "no", "x", "xxx", "...", "***", "-"}
)
_ROOTS = ("home", "etc", "tmp", "var", "run", "usr", "opt", "root", "mnt", "srv", "dev", "proc", "work", "users", "app", "data", "workspace", "private", "secrets")  # fmt: skip
_NO_VALUE = ("=", "<", "{{", "@", "%", "~/", "./", "../", "os.environ", "process.env", "env.", "env:", "file:")
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def redact(text: str) -> str:
    """Replace each secret in the text by `[redacted: kind]`; a text without any is returned as it is.

    Replacing one secret can expose another, so the rules are applied until nothing changes, usually twice. Each round
    leaves less text between the marks, so this ends.
    """
    small = text.lower()
    rules = [number for number, (words, _, _) in enumerate(_RULES) if any(word in small for word in words)]
    if not rules:
        return text
    data, before = text.encode("utf-8", "surrogatepass"), b""
    for _ in range(_ROUNDS):
        if data == before:
            break
        before = data
        for number in rules:
            data = _change_between_marks(data, _rule(number))
    return data.decode("utf-8", "surrogatepass")


def shorten_command(text: str) -> str:
    """Return a command as it is stored and shown: redacted, and at most COMMAND_CHARS long."""
    whole = len(text) < COMMAND_CHARS
    shown = redact(text if whole else _shorten(text))
    return shown if len(shown) <= COMMAND_CHARS else _shorten(shown)


def _shorten(text: str) -> str:
    """Shorten at a space, so that no secret is cut into something unrecognisable and no mark is cut in two."""
    if text.endswith("…") and len(text) <= COMMAND_CHARS:
        return text
    head = text[: COMMAND_CHARS - 1]
    at = max(head.rfind(" "), head.rfind("\n"), head.rfind("\t"))
    head = head[: max(at, 0)]
    opened = head.rfind(MARK.decode())
    if opened >= 0 and "]" not in head[opened:]:
        head = head[:opened]
    return head + "…"


def _change_between_marks(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Apply a rule to the text between the marks, which are left as they are."""
    parts, at, start = [], 0, -1
    while (start := data.find(MARK, start + 1)) >= 0:
        end = data.find(b"]", start, start + _LONGEST_MARK)
        if end < 0 or data[start + len(MARK) : end] not in _KINDS:  # not one of ours
            continue
        parts += [change(data[at:start]), data[start : end + 1]]
        at = end + 1
        start = end
    return b"".join([*parts, change(data[at:])])


def _rule(number: int) -> Callable[[bytes], bytes]:
    if number not in _made:
        patterns = _RULES[number][2]
        _made[number] = [compile_own(each) for each in ([patterns] if isinstance(patterns, str) else patterns)]
    (*programs, pattern), kind = _made[number], _RULES[number][1]

    def replaced(found: Any) -> bytes:
        before, value = found.group(1), found.group(2)
        after: bytes = found.group(3) if found.re.groups > 2 else b""
        opening, closing = _quotes(value)
        inner = value[len(opening) : len(value) - len(closing)]
        if not opening and not kind:
            inner, rest = cut_at_bracket(inner)
            closing = rest + closing
        follows = found.string[found.end(2) : found.end(2) + 1]
        if (not opening and not kind and is_code(inner, follows)) or _ordinary(
            inner, before, kind, literal=opening in (b"'", b"$'")
        ):
            whole: bytes = found.group()
            return whole
        name = kind or name_kind(before)
        covered: bytes = before + opening + MARK + name.encode() + b"]" + closing + after
        return covered

    def change(data: bytes) -> bytes:
        if not data:
            return data
        if programs:
            return _change_in_commands(data, programs, pattern, replaced)
        changed: bytes = pattern.sub(replaced, data)
        return changed

    return change


def _change_in_commands(data: bytes, programs: list[Any], pattern: Any, replaced: Callable[[Any], bytes]) -> bytes:
    """Replace what a pattern finds behind words that name a program, up to where the next command of the line begins."""
    parts: list[bytes] = []
    copied = at = 0
    while at < len(data) and (named := programs[0].search(data, at)):
        end = next((place for place in range(named.end(), len(data)) if data[place] in b"|;&\n"), len(data))
        for word in programs[1:]:
            named = named and word.search(data, named.end(), end)
        place = named.end() if named else end
        while place < end and (found := pattern.search(data, place)) and found.start() < end:
            parts += (data[copied : found.start()], replaced(found))
            copied = place = max(found.end(), place + 1)
        at = max(end, copied) + 1
    return b"".join([*parts, data[copied:]])


def _quotes(value: bytes) -> tuple[bytes, bytes]:
    for opening in (b'\\"', b'"', b"'", b"$'"):
        if value.startswith(opening):
            end = opening.lstrip(b"$")
            closing = end if value.endswith(end) and len(value) >= len(opening) + len(end) else b""
            return opening, closing
    return b"", b""


def _ordinary(value: bytes, before: bytes, kind: str, *, literal: bool) -> bool:
    """Return whether a value is not a secret: a variable, a file, a placeholder, a number of tokens."""
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
    if not is_plausible(kind, value):
        return True
    return text.startswith("/") and text[1:].partition("/")[0].lower() in _ROOTS


def name_kind(before: bytes) -> str:
    """Return what the last name in a text calls the value behind it."""
    small = before.lower()
    at = {word: small.rfind(word.encode()) for word in ("pass", "token", "secret", "key", "credential", "pwd")}
    last = max(at, key=lambda word: at[word])
    return "password" if last in ("pass", "pwd") else last


def is_variable(name: str) -> bool:
    """Return whether a shell would expand this name. In doubt it counts as a secret."""
    name = name.strip("{}")
    small = name.lower()
    known = any(word in small for word in ("pass", "token", "secret", "key", "pw", "auth"))
    return set(name.encode("latin-1")) <= _WORD and (name.isupper() or name.isdigit() or known)


def is_plausible(kind: str, value: bytes) -> bool:
    """Return whether a value that has the format of a kind can be one: `sk-` and a name with dashes is none."""
    if kind == "api key":
        return any(len(part) >= RANDOM_CHARS and not is_words(part) for part in compile_own("[-_]").split(value))
    return kind != "jwt" or b"." in value


def is_words(value: bytes) -> bool:
    """Return whether a value reads as words and numbers: identifiers, dates, versions, paths."""
    parts = [part for part in compile_own("[-_./:@+=]").split(value) if part]
    return all(
        part.isdigit() or (part.isalpha() and (part.islower() or part.isupper() or part.istitle())) for part in parts
    )


def is_code(value: bytes, after: bytes) -> bool:
    """Return whether a value without quotes calls something or takes a part of it: `get_token(`, `os.environ[`, `args[1]`."""
    name = compile_own(r"[A-Za-z_][\w.]*+[(\[]").match(value)
    if name is None:
        return False
    rest = value[max(value.rfind(b")"), value.rfind(b"]")) + 1 :]
    is_closed = len(rest) < len(value) and cut_at_bracket(value + b")")[0] == value
    return name.end() == len(value) or after in (b",", b'"', b"'") or (is_closed and rest[:1] in (b"", b"."))


def cut_at_bracket(value: bytes) -> tuple[bytes, bytes]:
    """Return a value up to the bracket that closes what it stands in, and the rest: `f(password=hunter2)`."""
    opened = 0
    if not any(byte in value for byte in b")]}"):
        return value, b""
    for at in [match.start() for match in compile_own("[][(){}]").finditer(value)]:
        byte = value[at]
        opened += (byte in b"([{") - (byte in b")]}")
        if opened < 0 and not value[at + 1 : at + 2].isalnum():
            return value[:at], value[at:]
        opened = max(opened, 0)
    return value, b""
