"""What an object store answers when something is wrong, and what to do about it. Pure: texts in, texts out."""

from __future__ import annotations

import re

_SUMMARY_CHARS = 240
NOT_ALLOWED = "these credentials may not do this; docs/fleet.md has the policy it takes"
#: (what the answer says, what to do about it); the first that is found counts.
REMEDIES = (
    ("NoSuchBucket", "the bucket does not exist; create it, or name another in the store's URL"),
    ("The specified bucket does not exist", "the bucket does not exist; create it, or name another in the store's URL"),
    ("ContainerNotFound", "the container does not exist; create it, or name another in the store's URL"),
    ("InvalidBucketName", "that is not the name of a bucket; use s3://BUCKET/PREFIX"),
    ("RequestTimeTooSkewed", "the clock of this machine is wrong; set it (e.g. by NTP)"),
    ("RequestExpired", "the clock of this machine is wrong, or the credentials have expired"),
    ("SignatureDoesNotMatch", "the secret key does not belong to the access key; see AWS_SECRET_ACCESS_KEY"),
    ("InvalidAccessKeyId", "the access key is unknown there; see AWS_ACCESS_KEY_ID"),
    ("BadDigest", "what arrived differs from what was sent"),
    ("XAmzContentSHA256Mismatch", "what arrived differs from what was sent"),
    ("ExpiredToken", "the credentials have expired; get new ones"),
    ("169.254.169.254", "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role"),
    ("metadata.google.internal", "no credentials were found; set GOOGLE_APPLICATION_CREDENTIALS"),
    ("AccessDenied", NOT_ALLOWED),
    ("403 Forbidden", NOT_ALLOWED),
    ("401 Unauthorized", "the credentials are wrong"),
    ("PermanentRedirect", "the bucket is in another region; set AWS_REGION"),
    ("AuthorizationHeaderMalformed", "the bucket is in another region; set AWS_REGION"),
    ("builder error", "the endpoint is http://, which is refused unless AWS_ALLOW_HTTP=true is set"),
    ("error sending request", "the endpoint does not answer; see AWS_ENDPOINT_URL and the network"),
    ("404 Not Found", "the endpoint answers 404 Not Found: it is not an object store, or the URL is wrong; see AWS_ENDPOINT_URL"),
    ("503 ", "the store is overloaded or away; it was tried again"),
    ("429 ", "too many requests; it was tried again"),
    ("500 ", "the store has failed; it was tried again"),
)  # fmt: skip
#: By these a 404 is about the bucket and not about an object. With their tags: a key may hold any words.
NO_BUCKET = (
    "<Code>NoSuchBucket</Code>",
    "<Message>The specified bucket does not exist",
    "<Code>ContainerNotFound</Code>",
)


def remedy(text: str) -> str:
    """Return what to do about an answer; "" where nothing is known of it."""
    for sign, words in REMEDIES:
        if sign in text:
            return words
    return ""


def describe(error: BaseException, doing: str) -> str:
    """Return what to do about an error, or what it says; where a right is missing, with the operation that needs it."""
    said = remedy(str(error))
    return f"{said} (denied: {doing})" if said == NOT_ALLOWED else said or summary(error)


def lacks_bucket(text: str) -> bool:
    """Return whether an answer says that there is no such bucket."""
    return any(sign in text for sign in NO_BUCKET)


def summary(error: BaseException) -> str:
    """Return the first line of what a library says, without its debugging output."""
    line = str(error).split("\n\nDebug source", 1)[0]
    line = re.sub(r"<[^<>]{0,200}>", " ", line)
    line = " ".join(line.split())
    return line if len(line) <= _SUMMARY_CHARS else line[: _SUMMARY_CHARS - 1] + "…"
