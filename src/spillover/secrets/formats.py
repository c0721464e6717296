"""The formats of secrets, and what tells a secret from a word, a placeholder or code: for command lines and for outputs.

A row of FORMATS: keywords in lower case, one of which is in every such secret; the kind; the pattern, with three groups (text to
keep, the value, more text to keep); and a hint for Hyperscan, a pattern that begins where the first one does and ends soon: the
first one is matched only where the hint is found. A row without keywords is not tried on command lines.

Anything may stand in front of a secret, a digit and `_` included. A letter may not, if the format begins like the end of a word
(`task-`, `EURASIA`). No pattern reaches over a line end, and none backtracks.
"""

from spillover.patterns import compile_own

#: Before a format that begins like the end of a word.
_B = r"(?<![A-Za-z])"
_WORD = r"[A-Za-z0-9]"
_DASHED = r"[A-Za-z0-9_-]"

#: (keywords, kind, pattern, hint)
FORMATS: tuple[tuple[tuple[str, ...], str, str, str], ...] = (
    (("akia", "asia", "abia", "acca"), "aws key", rf"({_B})((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{12,}})", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12}"),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), "github token", r"()(gh[pousr]_[A-Za-z0-9]{10,}|github_pat_[A-Za-z0-9_]{10,})", r"(?:gh[pousr]|github_pat)_[A-Za-z0-9]{10}"),
    (("glpat-", "gldt-", "glrt-", "glcbt-"), "gitlab token", r"()(gl(?:pat|dt|rt|cbt)-[A-Za-z0-9_.-]{10,})", rf"gl(?:pat|dt|rt|cbt)-{_DASHED}{{10}}"),
    (("sk-",), "api key", rf"({_B})(sk-[A-Za-z0-9_-]{{16,}})", rf"sk-{_DASHED}{{16}}"),
    (("sk_", "rk_"), "api key", r"()([sr]k_(?:live|test)_[A-Za-z0-9]{10,})", rf"[sr]k_(?:live|test)_{_WORD}{{10}}"),
    (("xox", "xapp-"), "slack token", rf"()(xox[abeoprs]-[A-Za-z0-9-]{{8,}}|{_B}xapp-[A-Za-z0-9-]{{8,}})", r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{8}"),
    (("hooks.slack.com", "/api/webhooks/"), "webhook", r"(hooks\.slack\.com/(?:services|workflows)/|/api/webhooks/)([A-Za-z0-9/_-]+)", r"hooks\.slack\.com/(?:services|workflows)/[A-Z]|/api/webhooks/[0-9]"),
    (("eyj",), "jwt", r"()(eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+)*+)?)", r"eyJ[A-Za-z0-9_-]{8}"),
    (("npm_",), "npm token", r"()(npm_[A-Za-z0-9]{20,})", r"npm_[A-Za-z0-9]{20}"),
    (("aiza", "ya29."), "google key", rf"({_B})(AIza[A-Za-z0-9_-]{{20,}}|ya29\.[A-Za-z0-9_-]{{10,}})", rf"AIza{_DASHED}{{20}}|ya29\.{_DASHED}{{10}}"),
    (("gocspx-",), "google secret", r"()(GOCSPX-[A-Za-z0-9_-]{20,})", rf"GOCSPX-{_DASHED}{{20}}"),
    (("hf_",), "hugging face token", rf"({_B})(hf_[A-Za-z0-9]{{20,}})", r"hf_[A-Za-z0-9]{20}"),
    (("hvs.", "hvb."), "vault token", r"()(hv[sb]\.[A-Za-z0-9_-]{10,})", rf"hv[sb]\.{_DASHED}{{10}}"),
    (("dop_v1_", "doo_v1_", "dor_v1_"), "digitalocean token", r"()(do[opr]_v1_[a-f0-9]{16,})", r"do[opr]_v1_[a-f0-9]{16}"),
    (("pypi-",), "pypi token", r"()(pypi-[A-Za-z0-9_-]{32,})", rf"pypi-{_DASHED}{{32}}"),
    (("sg.",), "sendgrid key", rf"({_B})(SG\.[A-Za-z0-9_-]{{10,128}}\.[A-Za-z0-9_-]{{10,}})", rf"SG\.{_DASHED}{{10}}"),
    (("shp",), "shopify token", r"()(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{16,})", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{16}"),
    (("tskey-",), "tailscale key", r"()(tskey-[a-z]{2,12}-[A-Za-z0-9-]{8,})", r"tskey-[a-z]{2,12}-[A-Za-z0-9]"),
    (("age-secret-key-",), "age key", r"()(AGE-SECRET-KEY-1[A-Z0-9]{20,})", r"AGE-SECRET-KEY-1[A-Z0-9]{20}"),
    (("bot",), "telegram token", r"(/bot)(\d{6,12}:[A-Za-z0-9_-]{30,})", r"/bot\d{6,12}:"),
    ((), "telegram token", r"()(\d{8,10}:AA[A-Za-z0-9_-]{33})", rf"\d{{8,10}}:AA{_DASHED}{{33}}"),
    (("dp.",), "doppler token", rf"({_B})(dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9_.-]{{16,}})", rf"dp\.(?:pt|st|ct|sa)\.{_DASHED}{{16}}"),
    (("://",), "token", r"""(://)([A-Za-z0-9_-]{20,250})(@)""", rf"://{_DASHED}{{20,250}}@"),
    ((), "twilio key", rf"({_B})(SK[0-9a-f]{{32}})", r"SK[0-9a-f]{32}"),
    (("key-",), "mailgun key", rf"({_B})(key-[0-9a-f]{{32}})", r"key-[0-9a-f]{32}"),
    ((), "mailchimp key", r"()([0-9a-f]{32}-us\d{1,2})", r"[0-9a-f]{32}-us\d"),
    (("dapi",), "databricks token", r"()(dapi[0-9a-f]{32}(?:-\d+)?)", r"dapi[0-9a-f]{32}"),
    (("lin_api_",), "linear key", r"()(lin_api_[A-Za-z0-9]{20,})", r"lin_api_[A-Za-z0-9]{20}"),
    (("ntn_", "secret_"), "notion token", rf"({_B})(ntn_[A-Za-z0-9]{{40,}}|secret_[A-Za-z0-9]{{43}}(?![A-Za-z0-9_]))", r"ntn_[A-Za-z0-9]{40}|secret_[A-Za-z0-9]{43}"),
    (("figd_",), "figma token", r"()(figd_[A-Za-z0-9_-]{20,})", rf"figd_{_DASHED}{{20}}"),
    (("pmak-",), "postman key", r"()(PMAK-[0-9a-f]{24}-[0-9a-f]{34})", r"PMAK-[0-9a-f]{24}-"),
    (("glsa_", "glc_"), "grafana token", rf"({_B})(glsa_[A-Za-z0-9]{{20,128}}_[0-9a-f]{{8}}|glc_[A-Za-z0-9+/=]{{32,}})", r"(?:glsa|glc)_[A-Za-z0-9+/]{20}"),
    (("atatt3", "atctt3"), "atlassian token", r"()(AT[AC]TT3[A-Za-z0-9_=-]{40,})", r"AT[AC]TT3[A-Za-z0-9_=-]{40}"),
    ((".atlasv1.",), "terraform token", r"()([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,})", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40}"),
    (("sq0", "eaaa"), "square token", rf"({_B})(sq0[a-z]{{3}}-[A-Za-z0-9_-]{{20,}}|(?<![0-9+/])EAAA[A-Za-z0-9_-]{{56,128}}(?![A-Za-z0-9_-]))", rf"sq0[a-z]{{3}}-{_DASHED}{{20}}|EAAA{_DASHED}{{56}}"),
    (("nrak-", "nrjs-", "nraa-"), "new relic key", r"()(NR(?:AK|JS|AA)-[A-Za-z0-9]{19,})", r"NR(?:AK|JS|AA)-[A-Za-z0-9]{19}"),
    (("sntrys_", "sntryu_"), "sentry token", r"()(sntry[su]_[A-Za-z0-9+/=_-]{40,})", r"sntry[su]_[A-Za-z0-9+/=_-]{40}"),
    (("rubygems_",), "rubygems key", r"()(rubygems_[0-9a-f]{40,})", r"rubygems_[0-9a-f]{40}"),
    (("pul-",), "pulumi token", rf"({_B})(pul-[0-9a-f]{{40}})", r"pul-[0-9a-f]{40}"),
    (("dckr_pat_",), "docker token", r"()(dckr_pat_[A-Za-z0-9_-]{20,})", rf"dckr_pat_{_DASHED}{{20}}"),
    ((), "crates.io token", rf"({_B})(cio[A-Za-z0-9]{{32}}(?![A-Za-z0-9_]))", r"cio[A-Za-z0-9]{32}"),
    ((), "discord token", rf"({_B})([MNO][A-Za-z0-9_-]{{23,27}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,38}}(?![A-Za-z0-9]))", rf"[MNO]{_DASHED}{{23,27}}\.{_DASHED}{{6}}\.{_DASHED}{{27}}"),
)  # fmt: skip

#: Names in front of a secret in what programs print and in the files they read.
NAMES = (
    r"(?:passw(?:or)?d|passphrase|pwd|passwort|secret|token|api[-_.]?key|access[-_.]?key|secret[-_.]?key|private[-_.]?key"
    r"|account[-_.]?key|auth[-_.]?key|signing[-_.]?key|encryption[-_.]?key|master[-_.]?key|client[-_.]?secret|credentials?)"
)
_BETWEEN = r"""["']?[ \t]{0,4}(?:=>|:=|[:=])"""
#: (kind, pattern, hint) of a value beside a name, for outputs only: `outputs.find` looks at the value more closely.
BESIDE_NAMES: tuple[tuple[str, str, str], ...] = (
    ("", rf"""((?i:{NAMES}){_BETWEEN}[ \t]{{0,4}})(["'][^ \t\r\n\f\v"'\\\x1b]{{6,}}|[^ \t\r\n\f\v"'`,;&|<>\\\x1b]{{6,}})""", rf"(?i){NAMES}{_BETWEEN}"),
    ("password", r"""(://[^\s/:@"'<>]{0,128}:)([^ \t\r\n\f\v/"'<>@]{3,256})(@)""", r"://[^\s/:@]{0,128}:[^\s/@]{3,256}@"),
    ("authorization", r"""((?i:authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:bearer|basic|token|digest|negotiate|apikey))[ \t]{1,4})([^ \t\r\n\f\v"'\\,\x1b]{8,})""", r"(?i)authorization[\"']?[ \t]{0,4}[:=]"),
    ("bearer token", r"""((?i:bearer)[ \t]{1,4})([A-Za-z0-9._~+/=-]{16,})""", r"(?i)bearer[ \t]{1,4}[A-Za-z0-9._~+/=-]{16}"),
    ("key", r"""((?i:accountkey|sharedaccesskey|[?&]sig|&amp;sig)=)([^ \t\r\n\f\v"'`;&<>]{16,})""", r"(?i)(?:accountkey|sharedaccesskey|[?&]sig|&amp;sig)=[^\s;&]{16}"),
    ("aws secret", r"""((?i:aws.{0,20}?secret).{0,20}?["'=: \t]{1,5})([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])""", r"(?i)aws.{0,20}secret"),
)  # fmt: skip
#: The beginning and the end of a private key, and what is in every beginning.
KEY_BEGINS = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_ENDS = b"-----END "
KEY_WORDS = b"PRIVATE KEY"

#: The random part of an API key has at least so many characters.
MIN_RANDOM_CHARS = 8
_SHELL_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def name_kind(before: bytes) -> str:
    """Return the kind of secret that the last name in a text announces."""
    small = before.lower()
    at = {word: small.rfind(word.encode()) for word in ("pass", "token", "secret", "key", "credential", "pwd")}
    last = max(at, key=lambda word: at[word])
    return "password" if last in ("pass", "pwd") else last


def is_plausible(kind: str, value: bytes) -> bool:
    """Return whether a value in the format of a kind can be one: `sk-` and words with dashes cannot."""
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
    """Return whether a shell would expand this name. In doubt it is a secret."""
    name = name.strip("{}")
    small = name.lower()
    known = any(word in small for word in ("pass", "token", "secret", "key", "pw", "auth"))
    return set(name.encode("latin-1")) <= _SHELL_NAME and (name.isupper() or name.isdigit() or known)


def is_code(value: bytes, after: bytes) -> bool:
    """Return whether a value without quotes is a call or a subscript: `get_token(`, `os.environ[`, `args[1]`."""
    name = compile_own(r"[A-Za-z_][\w.]*+[(\[]").match(value)
    if name is None:
        return False
    rest = value[max(value.rfind(b")"), value.rfind(b"]")) + 1 :]
    is_closed = len(rest) < len(value) and cut_at_bracket(value + b")")[0] == value
    return name.end() == len(value) or after in (b",", b'"', b"'") or (is_closed and rest[:1] in (b"", b"."))


def cut_at_bracket(value: bytes) -> tuple[bytes, bytes]:
    """Split a value before the bracket that closes what it stands in: `f(password=hunter2)`."""
    opened = 0
    for match in compile_own("[][(){}]").finditer(value) if any(byte in value for byte in b")]}") else ():
        opened += 1 if match[0] in b"([{" else -1
        if opened < 0 and not value[match.end() : match.end() + 1].isalnum():
            return value[: match.start()], value[match.start() :]
        opened = max(opened, 0)
    return value, b""
