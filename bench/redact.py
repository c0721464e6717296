"""Redaction, measured: misses on generated secrets, false positives on a corpus, speed against the scan and against a pipe.

python bench/redact.py                    40 kinds in 200 contexts each, and the speed
python bench/redact.py --corpus FOLDER    also what is found in real outputs (*.zst of JSON lines); no secret is printed
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import string
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spillover import Clipper, Limits, MemoryStore
from spillover.secrets.outputs import PIECE_BYTES, cover, find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Literal

LOWER, UPPER, DIGITS, HEX = string.ascii_lowercase, string.ascii_uppercase, string.digits, "0123456789abcdef"
WORD = LOWER + UPPER + DIGITS
RUNS = 5
DASHED = WORD + "_-"


def some(dice: random.Random, alphabet: str, count: int) -> str:
    return "".join(dice.choices(alphabet, k=count))


def mixed(dice: random.Random, alphabet: str, count: int) -> str:
    """Return as many characters, with at least two digits and a letter, as real keys have."""
    while True:
        made = some(dice, alphabet, count)
        if sum(char.isdigit() for char in made) > 1 and any(char.isalpha() for char in made):
            return made


def jwt(dice: random.Random) -> str:
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": some(dice, DIGITS, 10), "name": some(dice, LOWER, 8)}]
    head = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*head, some(dice, DASHED, 43)])


def pem(dice: random.Random, name: str) -> str:
    lines = [some(dice, WORD + "+/", 64) for _ in range(dice.randint(3, 26))]
    return "\n".join([f"-----BEGIN {name}-----", *lines, f"-----END {name}-----"])


#: kind → (before the secret, the secret, behind it): only the secret has to go
KINDS: dict[str, Callable[[random.Random], tuple[str, str, str]]] = {
    "aws access key": lambda d: ("", d.choice(["AKIA", "ASIA"]) + some(d, UPPER + DIGITS, 16), ""),
    "aws secret key": lambda d: ("aws_secret_access_key = ", mixed(d, WORD + "/+", 40), ""),
    "github classic": lambda d: ("", "ghp_" + mixed(d, WORD, 36), ""),
    "github oauth": lambda d: ("", "gho_" + mixed(d, WORD, 36), ""),
    "github app": lambda d: ("", d.choice(["ghu_", "ghs_", "ghr_"]) + mixed(d, WORD, 36), ""),
    "github fine-grained": lambda d: ("", "github_pat_" + mixed(d, WORD, 22) + "_" + mixed(d, WORD, 59), ""),
    "gitlab": lambda d: ("", "glpat-" + mixed(d, DASHED, 20), ""),
    "openai": lambda d: ("", "sk-proj-" + mixed(d, DASHED, 48), ""),
    "anthropic": lambda d: ("", "sk-ant-api03-" + mixed(d, DASHED, 93), ""),
    "stripe": lambda d: ("", d.choice(["sk_live_", "rk_live_", "sk_test_"]) + mixed(d, WORD, 24), ""),
    "slack bot": lambda d: ("", f"xoxb-{some(d, DIGITS, 12)}-{some(d, DIGITS, 12)}-{mixed(d, WORD, 24)}", ""),
    "slack webhook": lambda d: ("https://hooks.slack.com/services/", f"T{some(d, UPPER, 8)}/B{some(d, UPPER, 8)}/{mixed(d, WORD, 24)}", ""),
    "jwt": lambda d: ("", jwt(d), ""),
    "npm": lambda d: ("", "npm_" + mixed(d, WORD, 36), ""),
    "google api": lambda d: ("", "AIza" + mixed(d, DASHED, 35), ""),
    "google oauth": lambda d: ("", "ya29." + mixed(d, DASHED, 120), ""),
    "hugging face": lambda d: ("", "hf_" + mixed(d, WORD, 34), ""),
    "vault": lambda d: ("", "hvs." + mixed(d, DASHED, 90), ""),
    "digitalocean": lambda d: ("", "dop_v1_" + some(d, HEX, 64), ""),
    "pypi": lambda d: ("", "pypi-AgEIcHlwaS5vcmc" + mixed(d, DASHED, 120), ""),
    "sendgrid": lambda d: ("", f"SG.{mixed(d, DASHED, 22)}.{mixed(d, DASHED, 43)}", ""),
    "shopify": lambda d: ("", "shpat_" + some(d, HEX, 32), ""),
    "tailscale": lambda d: ("", f"tskey-auth-{mixed(d, WORD, 12)}-{mixed(d, WORD, 32)}", ""),
    "age": lambda d: ("", "AGE-SECRET-KEY-1" + some(d, UPPER + DIGITS, 58), ""),
    "telegram": lambda d: ("", f"{some(d, '123456789', 10)}:AA{mixed(d, DASHED, 33)}", ""),
    "twilio": lambda d: ("", "SK" + some(d, HEX, 32), ""),
    "mailchimp": lambda d: ("", some(d, HEX, 32) + f"-us{d.randint(1, 20)}", ""),
    "databricks": lambda d: ("", "dapi" + some(d, HEX, 32), ""),
    "grafana": lambda d: ("", f"glsa_{mixed(d, WORD, 32)}_{some(d, HEX, 8)}", ""),
    "atlassian": lambda d: ("", "ATATT3xFfGF0" + mixed(d, DASHED + "=", 120), ""),
    "terraform": lambda d: ("", f"{mixed(d, WORD, 14)}.atlasv1.{mixed(d, DASHED, 67)}", ""),
    "discord": lambda d: ("", f"M{mixed(d, DASHED[:-1], 25)}.{mixed(d, WORD, 6)}.{mixed(d, WORD, 38)}", ""),
    "rsa key": lambda d: ("", pem(d, "RSA PRIVATE KEY"), ""),
    "openssh key": lambda d: ("", pem(d, "OPENSSH PRIVATE KEY"), ""),
    "postgres url": lambda d: ("postgres://app:", mixed(d, WORD, d.randint(8, 24)), "@db.internal:5432/app"),
    "redis url": lambda d: ("redis://:", mixed(d, WORD, 20), "@cache:6379/0"),
    "azure storage": lambda d: ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", mixed(d, WORD + "+/", 86) + "==", ";EndpointSuffix=core.windows.net"),
    "password=": lambda d: (d.choice(["password=", "DB_PASSWORD=", "passwd: ", '"password": "', "PGPASSWORD='"]), mixed(d, WORD + "!#%", d.randint(8, 20)), ""),
    "api_key=": lambda d: (d.choice(["api_key=", "API_KEY: ", '"apiKey": "', "client_secret = "]), mixed(d, WORD, 32), ""),
    "authorization": lambda d: (d.choice(["Authorization: Bearer ", "authorization: Basic ", '"Authorization": "token ']), mixed(d, WORD, 40), ""),
}  # fmt: skip
#: How a secret stands in what a tool prints.
CONTEXTS = (
    "{}", "{}\n", "export X={}\n", "  - {}\n", "\t{}\t", "key {} end", "'{}'", '"{}"', "({})", "[{}]", "<{}>", "{}, more", "{}; more", "# {}",
    "2026-01-02T03:04:05Z INFO using {} for the request\n", '{{"level": "info", "msg": "{}"}}\n', "+{}\n", "-    value: {}\n", "env: {} \\\n",
    "curl -H 'X-Key: {}' https://a.b/c\n", "\x1b[31m{}\x1b[0m\n", "| name | {} |\n", "http://a.b/?k={}&x=1", "Error: bad credentials {}.\n", "line\r\n{}\r\n",
)  # fmt: skip


def cases(kind: str, count: int, seed: str = "redact") -> Iterator[tuple[bytes, bytes]]:
    """Yield (text, the secret in it): each kind in contexts with other text around it."""
    dice = random.Random(f"{seed}:{kind}")
    for number in range(count):
        before, secret, behind = KINDS[kind](dice)
        context = CONTEXTS[number % len(CONTEXTS)]
        filler = "".join(
            f"{dice.choice(('step', 'INFO', 'ok', 'at'))} {dice.randint(0, 9999)} done\n"
            for _ in range(dice.randint(0, 40))
        )
        yield (filler + context.format(before + secret + behind) + "\n" + filler).encode(), secret.encode()


def missed(text: bytes, secret: bytes) -> bool:
    """Return whether a part of a secret that is worth having can still be read."""
    out, _ = cover(text)
    if secret.startswith(b"-----BEGIN"):
        return any(line in out for line in secret.split(b"\n")[1:-1])
    return any(secret[at : at + 8] in out for at in range(max(1, len(secret) - 7)) if at >= 12 or len(secret) < 24)


def count_misses(contexts: int) -> dict[str, int]:
    table = {}
    for kind in KINDS:
        table[kind] = sum(missed(text, secret) for text, secret in cases(kind, contexts))
    return table


def speed(size: int = 64 << 20) -> dict[str, float]:
    """Return MB for each second of CPU, the best of some runs: of redaction alone, and of clipping with and without it."""
    line = b"2026-01-02 03:04:05,678 INFO  worker-%d module.sub: handled request %d in %d ms, status=200 bytes=%d\n"
    data = b"".join(line % (n % 16, n, n % 900, n * 37 % 10**6) for n in range(size // 95))

    def alone() -> None:
        for at in range(0, len(data), PIECE_BYTES):
            find(data[at : at + PIECE_BYTES])

    ways: dict[str, Callable[[], Any]] = {"redaction alone": alone}
    words: tuple[Literal["off", "shown", "stored"], ...] = ("off", "shown", "stored")
    for redact in words:
        clipper = Clipper(Limits(tokens=4_000), store=MemoryStore(), redact=redact)
        ways[f"clip, redact={redact}"] = partial(clipper.clip, data)
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(RUNS):  # in turns, so that what else runs here slows all of them
        for name, way in ways.items():
            begin = time.process_time()
            way()
            taken[name].append(time.process_time() - begin)
    return {name: len(data) / 1e6 / min(seconds) for name, seconds in taken.items()}


def texts(folder: str) -> Iterator[tuple[str, bytes]]:
    """Yield the outputs of a corpus."""
    from spillover.store.frames import load_zstd

    for path in sorted(Path(folder).glob("*.zst")):
        for line in load_zstd().decompress(path.read_bytes()).split(b"\n"):
            stack: list[Any] = [json.loads(line)] if line.strip() else []
            while stack:
                value = stack.pop()
                if isinstance(value, str) and len(value) > 200:
                    yield path.name, value.encode("utf-8", "surrogatepass")
                elif isinstance(value, (dict, list)):
                    stack += list(value.values() if isinstance(value, dict) else value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", help="a folder of *.zst with JSON lines")
    parser.add_argument("--contexts", type=int, default=200)
    given = parser.parse_args()
    misses = count_misses(given.contexts)
    whole = len(KINDS) * given.contexts
    print(
        f"{len(KINDS)} kinds in {given.contexts} contexts: {sum(misses.values())} of {whole} missed ({100 * sum(misses.values()) / whole:.2f} %)"
    )
    for kind, count in misses.items():
        if count:
            print(f"  {kind:<24} {count}")
    rates = speed()
    for name, rate in rates.items():
        more = f" ({rates['clip, redact=off'] / rate - 1:+.0%} time)" if name.endswith(("shown", "stored")) else ""
        print(f"{name:<24} {rate:6.0f} MB per second of CPU{more}")
    if given.corpus:
        size = count = 0
        for _, text in texts(given.corpus):
            size += len(text)
            count += len(find(text))
        print(f"corpus: {count} marks in {size / 1e6:.1f} MB, {count / (size / 1e6):.3f} per MB")


if __name__ == "__main__":
    main()
