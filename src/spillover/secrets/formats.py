"""Secrets by their formats: one table, for command lines (secrets/commands.py) and for what tools print (secrets/outputs.py).

Each row: keywords in lower case, one of which is in every such secret; the kind; the pattern, with three groups: text
to keep, the value, more text to keep; and for Hyperscan a pattern that every secret of the row contains and that ends soon:
where it is found, the first pattern is tried. A row without keywords is not tried on command lines.
"""

from __future__ import annotations

_WORD = r"[A-Za-z0-9]"
_DASHED = r"[A-Za-z0-9_-]"

#: (keywords, kind, pattern, hint)
FORMATS: tuple[tuple[tuple[str, ...], str, str, str], ...] = (
    (("akia", "asia", "abia", "acca"), "aws key", r"()(\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,})", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12}"),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), "github token", r"()(\b(?:gh[pousr]_[A-Za-z0-9]{10,}|github_pat_[A-Za-z0-9_]{10,}))", r"\b(?:gh[pousr]|github_pat)_[A-Za-z0-9]{10}"),
    (("glpat-", "gldt-", "glrt-", "glcbt-"), "gitlab token", r"()(\bgl(?:pat|dt|rt|cbt)-[A-Za-z0-9_.-]{10,})", rf"\bgl(?:pat|dt|rt|cbt)-{_DASHED}{{10}}"),
    (("sk-", "sk_", "rk_"), "api key", r"()(\b(?:sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}))", rf"\b(?:sk-{_DASHED}{{16}}|[sr]k_(?:live|test)_{_WORD}{{10}})"),
    (("xox", "xapp-"), "slack token", r"()(\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{8,})", r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{8}"),
    (("hooks.slack.com", "/api/webhooks/"), "webhook", r"(hooks\.slack\.com/(?:services|workflows)/|/api/webhooks/)([A-Za-z0-9/_-]+)", r"hooks\.slack\.com/(?:services|workflows)/[A-Z]|/api/webhooks/[0-9]"),
    (("eyj",), "jwt", r"()(\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*)", r"\beyJ[A-Za-z0-9_-]{8}"),
    (("npm_",), "npm token", r"()(\bnpm_[A-Za-z0-9]{20,})", r"\bnpm_[A-Za-z0-9]{20}"),
    (("aiza", "ya29."), "google key", r"()(\bAIza[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_-]{10,})", rf"\bAIza{_DASHED}{{20}}|\bya29\.{_DASHED}{{10}}"),
    (("gocspx-",), "google secret", r"()(\bGOCSPX-[A-Za-z0-9_-]{20,})", rf"\bGOCSPX-{_DASHED}{{20}}"),
    (("hf_",), "hugging face token", r"()(\bhf_[A-Za-z0-9]{20,})", r"\bhf_[A-Za-z0-9]{20}"),
    (("hvs.", "hvb."), "vault token", r"()(\bhv[sb]\.[A-Za-z0-9_-]{10,})", rf"\bhv[sb]\.{_DASHED}{{10}}"),
    (("dop_v1_", "doo_v1_", "dor_v1_"), "digitalocean token", r"()(\bdo[opr]_v1_[a-f0-9]{16,})", r"\bdo[opr]_v1_[a-f0-9]{16}"),
    (("pypi-",), "pypi token", r"()(\bpypi-[A-Za-z0-9_-]{32,})", rf"\bpypi-{_DASHED}{{32}}"),
    (("sg.",), "sendgrid key", r"()(\bSG\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})", rf"\bSG\.{_DASHED}{{10}}"),
    (("shp",), "shopify token", r"()(\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{16,})", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{16}"),
    (("tskey-",), "tailscale key", r"()(\btskey-[a-z]+-[A-Za-z0-9-]{8,})", r"\btskey-[a-z]{2,12}-[A-Za-z0-9]"),
    (("age-secret-key-",), "age key", r"()(AGE-SECRET-KEY-1[A-Z0-9]{20,})", r"AGE-SECRET-KEY-1[A-Z0-9]{20}"),
    (("bot",), "telegram token", r"(/bot)(\d{6,12}:[A-Za-z0-9_-]{30,})", r"/bot\d{6,12}:"),
    ((), "telegram token", r"()(\b\d{8,10}:AA[A-Za-z0-9_-]{33})", rf"\b\d{{8,10}}:AA{_DASHED}{{33}}"),
    (("dp.",), "doppler token", r"()(\bdp\.(?:pt|st|ct|sa)\.[A-Za-z0-9_.-]{16,})", rf"\bdp\.(?:pt|st|ct|sa)\.{_DASHED}{{16}}"),
    (("://",), "token", r"""(\b[a-zA-Z][a-zA-Z0-9+.-]*://)([A-Za-z0-9_-]{20,})(@)""", rf"://{_DASHED}{{20,128}}@"),
    ((), "twilio key", r"()(\bSK[0-9a-f]{32})", r"\bSK[0-9a-f]{32}\b"),
    (("key-",), "mailgun key", r"()(\bkey-[0-9a-f]{32})", r"\bkey-[0-9a-f]{32}\b"),
    ((), "mailchimp key", r"()(\b[0-9a-f]{32}-us\d{1,2}\b)", r"\b[0-9a-f]{32}-us\d"),
    (("dapi",), "databricks token", r"()(\bdapi[0-9a-f]{32}(?:-\d+)?)", r"\bdapi[0-9a-f]{32}"),
    (("lin_api_",), "linear key", r"()(\blin_api_[A-Za-z0-9]{20,})", r"\blin_api_[A-Za-z0-9]{20}"),
    (("ntn_", "secret_"), "notion token", r"()(\bntn_[A-Za-z0-9]{40,}|\bsecret_[A-Za-z0-9]{43}\b)", r"\b(?:ntn_[A-Za-z0-9]{40}|secret_[A-Za-z0-9]{43})"),
    (("figd_",), "figma token", r"()(\bfigd_[A-Za-z0-9_-]{20,})", rf"\bfigd_{_DASHED}{{20}}"),
    (("pmak-",), "postman key", r"()(\bPMAK-[0-9a-f]{24}-[0-9a-f]{34})", r"\bPMAK-[0-9a-f]{24}-"),
    (("glsa_", "glc_"), "grafana token", r"()(\bglsa_[A-Za-z0-9]{20,}_[0-9a-f]{8}|\bglc_[A-Za-z0-9+/=]{32,})", r"\b(?:glsa|glc)_[A-Za-z0-9+/]{20}"),
    (("atatt3", "atctt3"), "atlassian token", r"()(\bAT[AC]TT3[A-Za-z0-9_=-]{40,})", r"\bAT[AC]TT3[A-Za-z0-9_=-]{40}"),
    ((".atlasv1.",), "terraform token", r"()(\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,})", r"\.atlasv1\.[A-Za-z0-9_=-]{40}"),
    (("sq0", "eaaa"), "square token", r"()(\bsq0[a-z]{3}-[A-Za-z0-9_-]{20,}|\bEAAA[A-Za-z0-9_-]{56,}\b)", rf"\b(?:sq0[a-z]{{3}}-{_DASHED}{{20}}|EAAA{_DASHED}{{56}})"),
    (("nrak-", "nrjs-", "nraa-"), "new relic key", r"()(\bNR(?:AK|JS|AA)-[A-Za-z0-9]{19,})", r"\bNR(?:AK|JS|AA)-[A-Za-z0-9]{19}"),
    (("sntrys_", "sntryu_"), "sentry token", r"()(\bsntry[su]_[A-Za-z0-9+/=_-]{40,})", r"\bsntry[su]_[A-Za-z0-9+/=_-]{40}"),
    (("rubygems_",), "rubygems key", r"()(\brubygems_[0-9a-f]{40,})", r"\brubygems_[0-9a-f]{40}"),
    (("pul-",), "pulumi token", r"()(\bpul-[0-9a-f]{40})", r"\bpul-[0-9a-f]{40}"),
    (("dckr_pat_",), "docker token", r"()(\bdckr_pat_[A-Za-z0-9_-]{20,})", rf"\bdckr_pat_{_DASHED}{{20}}"),
    ((), "crates.io token", r"()(\bcio[A-Za-z0-9]{32}\b)", r"\bcio[A-Za-z0-9]{32}\b"),
    ((), "discord token", r"()(\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}\b)", rf"\b[MNO]{_DASHED}{{23,27}}\.{_DASHED}{{6}}\.{_DASHED}{{27}}"),
)  # fmt: skip

#: Names that stand before a secret in what programs print and in the files they read.
NAMES = (
    r"(?:passw(?:or)?d|passphrase|pwd|passwort|secret|token|api[-_.]?key|apikey|access[-_.]?key|secret[-_.]?key|private[-_.]?key"
    r"|account[-_.]?key|auth[-_.]?key|signing[-_.]?key|encryption[-_.]?key|master[-_.]?key|client[-_.]?secret|credentials?)"
)
#: (kind, pattern, hint) for text only: a value beside a name, which secrets/outputs.py looks at more closely.
BESIDE_NAMES: tuple[tuple[str, str, str], ...] = (
    ("", rf"""(?i)(\b[A-Za-z0-9_.-]{{0,64}}{NAMES}\\?["']?\s{{0,4}}(?:=>|:=|[:=])\s{{0,4}})(\\?["'][^\s"'\\\x1b]{{6,}}|[^\s"'`,;&|<>(){{}}\[\]\\\x1b]{{6,}})""", rf"""(?i){NAMES}\\?["']?\s{{0,4}}(?:=>|[:=])"""),
    ("password", r"""(\b[a-zA-Z][a-zA-Z0-9+.-]{1,32}://[^\s/:@"'<>]{0,128}:)([^\s/"'<>@]{3,256})(@)""", r"://[^\s/:@]{0,128}:[^\s/@]{3,256}@"),
    ("authorization", r"""(?i)(\b(?:proxy-)?authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:bearer|basic|token|digest|negotiate|apikey)\s{1,4})([^\s"'\\,\x1b]{8,})""", r"(?i)authorization\\?[\"']?\s{0,4}[:=]"),
    ("bearer token", r"""(?i)(\bbearer\s{1,4})([A-Za-z0-9._~+/=-]{16,})""", r"(?i)\bbearer\s{1,4}[A-Za-z0-9._~+/=-]{16}"),
    ("key", r"""(?i)((?:\baccountkey|\bsharedaccesskey|[?&]sig|&amp;sig)=)([^\s"'`;&<>]{16,})""", r"(?i)(?:accountkey|sharedaccesskey|[?&]sig|&amp;sig)=[^\s;&]{16}"),
    ("aws secret", r"""(?i)(aws.{0,20}?secret.{0,20}?["'=:\s]{1,5})([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|\Z)""", r"(?i)aws.{0,20}secret"),
)  # fmt: skip
#: How a private key begins and ends.
KEY_BEGINS = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_ENDS = b"-----END "
#: In every beginning.
KEY_WORDS = b"PRIVATE KEY"
