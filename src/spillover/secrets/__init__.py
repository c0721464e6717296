"""Secrets: their formats, and the tests that distinguish them from words, placeholders and code.

`commands` replaces them in command lines, `outputs` covers them in the outputs of tools. Anything may stand in front of
a secret, a digit and `_` included; a letter may not, if the format begins like the end of a word (`task-`, `EURASIA`).
No pattern reaches over a line end, and none backtracks.
"""

from __future__ import annotations

import re

from msgspec import Struct

from spillover.patterns import compile_own

#: Before a format that begins like the end of a word.
APART = "(?<![A-Za-z])"
#: A repetition without an upper bound that is known, and what stands before or behind without being part of it.
_OPEN = re.compile(r"\{(\d+),\d*\}")
_LOOK = re.compile(r"\(\?<?![^)]*\)")


class Format(Struct, frozen=True):
    """The format of a kind of secret: patterns of the value, and of the text before and after it."""

    kind: str  # "": from the name before the value
    value: str
    words: tuple[
        str, ...
    ] = ()  # in lower case; one is in every such secret. Without words, commands are not searched for it
    before: str = ""
    after: str = ""
    hint: str = ""  # a pattern for Hyperscan that begins where this one does and ends soon

    @property
    def pattern(self) -> str:
        """The pattern for `re`, with a group for each part."""
        return f"({self.before})({self.value})" + (f"({self.after})" if self.after else "")

    @property
    def hint_pattern(self) -> str:
        """The hint; by default, the format up to its first open repetition."""
        if self.hint:
            return self.hint
        whole = _LOOK.sub("", self.before + self.value)
        repetition = _OPEN.search(whole)
        return f"{whole[: repetition.start()]}{{{repetition[1]}}}" if repetition else whole


FORMATS = (
    Format("aws key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}", ("akia", "asia", "abia", "acca"), APART),
    Format("github token", r"gh[pousr]_[A-Za-z0-9]{10,}", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    Format("github token", r"github_pat_\w{10,}", ("github_pat_",)),
    Format("gitlab token", r"gl(?:pat|dt|rt|cbt)-[\w.-]{10,}", ("glpat-", "gldt-", "glrt-", "glcbt-")),
    Format("api key", r"sk-[\w-]{16,}", ("sk-",), APART),
    Format("api key", r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}", ("sk_", "rk_")),
    Format("slack token", r"xox[abeoprs]-[A-Za-z0-9-]{8,}", ("xox",)),
    Format("slack token", r"xapp-[A-Za-z0-9-]{8,}", ("xapp-",), APART),
    Format(
        "webhook",
        r"[A-Za-z0-9/_-]+",
        ("hooks.slack.com", "/api/webhooks/"),
        r"hooks\.slack\.com/(?:services|workflows)/|/api/webhooks/",
        hint=r"hooks\.slack\.com/(?:services|workflows)/[A-Z]|/api/webhooks/[0-9]",
    ),
    Format("jwt", r"eyJ[\w-]{8,}+(?:\.[\w-]{4,}+(?:\.[\w-]*+)*+)?", ("eyj",)),
    Format("npm token", r"npm_[A-Za-z0-9]{20,}", ("npm_",)),
    Format("google key", r"AIza[\w-]{20,}", ("aiza",), APART),
    Format("google key", r"ya29\.[\w-]{10,}", ("ya29.",), APART),
    Format("google secret", r"GOCSPX-[\w-]{20,}", ("gocspx-",)),
    Format("hugging face token", r"hf_[A-Za-z0-9]{20,}", ("hf_",)),
    Format("vault token", r"hv[sb]\.[\w-]{10,}", ("hvs.", "hvb.")),
    Format("digitalocean token", r"do[opr]_v1_[a-f0-9]{16,}", ("dop_v1_", "doo_v1_", "dor_v1_")),
    Format("pypi token", r"pypi-[\w-]{32,}", ("pypi-",)),
    Format("sendgrid key", r"SG\.[\w-]{10,128}\.[\w-]{10,}", ("sg.",), APART),
    Format("shopify token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{16,}", ("shp",)),
    Format("tailscale key", r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{8,}", ("tskey-",)),
    Format("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", ("age-secret-key-",)),
    Format("telegram token", r"\d{6,12}:[\w-]{30,}", ("bot",), "/bot"),
    Format("telegram token", r"\d{8,10}:AA[\w-]{33}", hint=r"\d{8,10}:AA[\w-]{33}"),
    Format("doppler token", r"dp\.(?:pt|st|ct|sa)\.[\w.-]{16,}", ("dp.",), APART),
    Format("token", r"[\w-]{20,250}", ("://",), "://", "@", hint=r"://[\w-]{20,250}@"),
    Format("twilio key", r"SK[0-9a-f]{32}", (), APART),
    Format("mailgun key", r"key-[0-9a-f]{32}", ("key-",), APART),
    Format("mailchimp key", r"[0-9a-f]{32}-us\d{1,2}"),
    Format("databricks token", r"dapi[0-9a-f]{32}(?:-\d+)?", ("dapi",), hint=r"dapi[0-9a-f]{32}"),
    Format("linear key", r"lin_api_[A-Za-z0-9]{20,}", ("lin_api_",)),
    Format("notion token", r"ntn_[A-Za-z0-9]{40,}", ("ntn_",), APART),
    Format("notion token", r"secret_[A-Za-z0-9]{43}(?!\w)", ("secret_",), APART),
    Format("figma token", r"figd_[\w-]{20,}", ("figd_",)),
    Format("postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", ("pmak-",)),
    Format("grafana token", r"glsa_[A-Za-z0-9]{20,128}_[0-9a-f]{8}", ("glsa_",), APART),
    Format("grafana token", r"glc_[A-Za-z0-9+/=]{32,}", ("glc_",), APART),
    Format("atlassian token", r"AT[AC]TT3[\w=-]{40,}", ("atatt3", "atctt3")),
    Format("terraform token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}", (".atlasv1.",)),
    Format("square token", r"sq0[a-z]{3}-[\w-]{20,}", ("sq0",), APART),
    Format("square token", r"EAAA[\w-]{56,128}(?![\w-])", ("eaaa",), "(?<![A-Za-z0-9+/])"),
    Format("new relic key", r"NR(?:AK|JS|AA)-[A-Za-z0-9]{19,}", ("nrak-", "nrjs-", "nraa-")),
    Format("sentry token", r"sntry[su]_[\w+/=-]{40,}", ("sntrys_", "sntryu_")),
    Format("rubygems key", r"rubygems_[0-9a-f]{40,}", ("rubygems_",)),
    Format("pulumi token", r"pul-[0-9a-f]{40}", ("pul-",), APART),
    Format("docker token", r"dckr_pat_[\w-]{20,}", ("dckr_pat_",)),
    Format("crates.io token", r"cio[A-Za-z0-9]{32}(?!\w)", (), APART),
    Format(
        "discord token",
        r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![A-Za-z0-9])",
        (),
        APART,
        hint=r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27}",
    ),
)

#: Names in front of a secret in what programs print and in the files they read.
NAMES = (
    r"(?:passw(?:or)?d|passphrase|pwd|passwort|secret|token|api[-_.]?key|access[-_.]?key|secret[-_.]?key"
    r"|private[-_.]?key|account[-_.]?key|auth[-_.]?key|signing[-_.]?key|encryption[-_.]?key|master[-_.]?key"
    r"|client[-_.]?secret|credentials?)"
)
_BETWEEN = r"""["']?[ \t]{0,4}(?:=>|:=|[:=])"""
#: Values beside a name, for outputs only, where the value is judged more closely.
BESIDE_NAMES = (
    Format(
        "",
        r"""["'][^ \t\r\n\f\v"'\\\x1b]{6,}|[^ \t\r\n\f\v"'`,;&|<>\\\x1b]{6,}""",
        before=rf"(?i:{NAMES}){_BETWEEN}[ \t]{{0,4}}",
        hint=rf"(?i){NAMES}{_BETWEEN}",
    ),
    Format(
        "password",
        r"""[^ \t\r\n\f\v/"'<>@]{3,256}""",
        before=r"""://[^\s/:@"'<>]{0,128}:""",
        after="@",
        hint=r"://[^\s/:@]{0,128}:[^\s/@]{3,256}@",
    ),
    Format(
        "authorization",
        r"""[^ \t\r\n\f\v"'\\,\x1b]{8,}""",
        before=r"""(?i:authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?"""
        r"""(?:bearer|basic|token|digest|negotiate|apikey))[ \t]{1,4}""",
        hint=r"(?i)authorization[\"']?[ \t]{0,4}[:=]",
    ),
    Format(
        "bearer token",
        r"[A-Za-z0-9._~+/=-]{16,}",
        before=r"(?i:bearer)[ \t]{1,4}",
        hint=r"(?i)bearer[ \t]{1,4}[A-Za-z0-9._~+/=-]{16}",
    ),
    Format(
        "key",
        r"""[^ \t\r\n\f\v"'`;&<>]{16,}""",
        before=r"(?i:accountkey|sharedaccesskey|[?&]sig|&amp;sig)=",
        hint=r"(?i)(?:accountkey|sharedaccesskey|[?&]sig|&amp;sig)=[^\s;&]{16}",
    ),
    Format(
        "aws secret",
        r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
        before=r"""(?i:aws.{0,20}?secret).{0,20}?["'=: \t]{1,5}""",
        hint=r"(?i)aws.{0,20}secret",
    ),
)
#: The beginning and the end of a private key.
KEY_BEGINS = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_ENDS = b"-----END "
#: What begins any block that ends like a key: a certificate, a public key.
BLOCK_BEGINS = b"-----BEGIN "

#: The length of the random part of an API key; with more, short keys are missed.
MIN_RANDOM_CHARS = 8
_SHELL_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def name_kind(before: bytes) -> str:
    """Return the kind of secret that the last name in a text announces."""
    small = before.lower()
    at = {word: small.rfind(word.encode()) for word in ("pass", "token", "secret", "key", "credential", "pwd")}
    last = max(at, key=lambda word: at[word])
    return "password" if last in ("pass", "pwd") else last


def is_plausible(kind: str, value: bytes) -> bool:
    """Return whether a value in the format of a kind can be a secret: `sk-` and words with dashes cannot."""
    if kind == "api key":
        return any(len(part) >= MIN_RANDOM_CHARS and not is_words(part) for part in compile_own("[-_]").split(value))
    return kind != "jwt" or b"." in value


def is_words(value: bytes) -> bool:
    """Return whether a value consists of words and numbers: an identifier, a date, a version, a path."""
    parts = [part for part in compile_own("[-_./:@+=]").split(value) if part]
    return all(
        part.isdigit() or (part.isalpha() and (part.islower() or part.isupper() or part.istitle())) for part in parts
    )


def is_variable(name: str) -> bool:
    """Return whether a shell would expand a name; False in doubt, since it may be a secret."""
    name = name.strip("{}")
    small = name.lower()
    is_secret = any(word in small for word in ("pass", "token", "secret", "key", "pw", "auth"))
    return set(name.encode("latin-1")) <= _SHELL_NAME and (name.isupper() or name.isdigit() or is_secret)


def is_code(value: bytes, after: bytes) -> bool:
    """Return whether a value without quotes is a call or a subscript: `get_token(`, `os.environ[`, `args[1]`."""
    name = compile_own(r"[A-Za-z_][\w.]*+[(\[]").match(value)
    if name is None:
        return False
    rest = value[max(value.rfind(b")"), value.rfind(b"]")) + 1 :]
    is_closed = len(rest) < len(value) and cut_at_bracket(value + b")")[0] == value
    return name.end() == len(value) or after in (b",", b'"', b"'") or (is_closed and rest[:1] in (b"", b"."))


def cut_at_bracket(value: bytes) -> tuple[bytes, bytes]:
    """Split a value before the bracket that closes one in front of it: `f(password=hunter2)`."""
    depth = 0
    for match in compile_own("[][(){}]").finditer(value) if any(byte in value for byte in b")]}") else ():
        depth += 1 if match[0] in b"([{" else -1
        if depth < 0 and not value[match.end() : match.end() + 1].isalnum():
            return value[: match.start()], value[match.start() :]
        depth = max(depth, 0)
    return value, b""
