"""Secrets by their formats: one table, for command lines (secrets/commands.py) and for what tools print (secrets/outputs.py).

Each row: keywords in lower case, one of which is in every such secret; the kind; the pattern, with three groups: text
to keep, the value, more text to keep; and for Hyperscan a pattern that begins where the first one does and ends soon: the
first pattern is matched at that place and at no other. A row without keywords is not tried on command lines.

In front of a secret may stand anything, a digit and `_` too. A letter may not, where the format begins like the end of
a word (`task-`, `EURASIA`). No row reaches over a line end, and none gives back what it has taken.
"""

from __future__ import annotations

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

#: Names that stand before a secret in what programs print and in the files they read.
NAMES = (
    r"(?:passw(?:or)?d|passphrase|pwd|passwort|secret|token|api[-_.]?key|access[-_.]?key|secret[-_.]?key|private[-_.]?key"
    r"|account[-_.]?key|auth[-_.]?key|signing[-_.]?key|encryption[-_.]?key|master[-_.]?key|client[-_.]?secret|credentials?)"
)
_BETWEEN = r"""["']?[ \t]{0,4}(?:=>|:=|[:=])"""
#: (kind, pattern, hint) for text only: a value beside a name, which secrets/outputs.py looks at more closely.
BESIDE_NAMES: tuple[tuple[str, str, str], ...] = (
    ("", rf"""((?i:{NAMES}){_BETWEEN}[ \t]{{0,4}})(["'][^ \t\r\n\f\v"'\\\x1b]{{6,}}|[^ \t\r\n\f\v"'`,;&|<>\\\x1b]{{6,}})""", rf"(?i){NAMES}{_BETWEEN}"),
    ("password", r"""(://[^\s/:@"'<>]{0,128}:)([^ \t\r\n\f\v/"'<>@]{3,256})(@)""", r"://[^\s/:@]{0,128}:[^\s/@]{3,256}@"),
    ("authorization", r"""((?i:authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:bearer|basic|token|digest|negotiate|apikey))[ \t]{1,4})([^ \t\r\n\f\v"'\\,\x1b]{8,})""", r"(?i)authorization[\"']?[ \t]{0,4}[:=]"),
    ("bearer token", r"""((?i:bearer)[ \t]{1,4})([A-Za-z0-9._~+/=-]{16,})""", r"(?i)bearer[ \t]{1,4}[A-Za-z0-9._~+/=-]{16}"),
    ("key", r"""((?i:accountkey|sharedaccesskey|[?&]sig|&amp;sig)=)([^ \t\r\n\f\v"'`;&<>]{16,})""", r"(?i)(?:accountkey|sharedaccesskey|[?&]sig|&amp;sig)=[^\s;&]{16}"),
    ("aws secret", r"""((?i:aws.{0,20}?secret).{0,20}?["'=: \t]{1,5})([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])""", r"(?i)aws.{0,20}secret"),
)  # fmt: skip
#: How a private key begins and ends.
KEY_BEGINS = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_ENDS = b"-----END "
#: In every beginning.
KEY_WORDS = b"PRIVATE KEY"
