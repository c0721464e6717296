"""Private names that the locks use: laws, peers, profiles, e2e, and the contract of the hosts.

The locks import from here and from public modules only, so that a module that moves changes this file and no lock.
"""

from msgspec.structs import replace

from spillover import Clipper, fallback, journal, pipeline
from spillover.cli import main as run_spill
from spillover.document import forgery as forged
from spillover.document.clean import clean, every_line, has_invisible
from spillover.document.clean import clean_and_count as look
from spillover.document.clean import show_controls as exact_view
from spillover.document.document import Section, notice_guard, visible, visible_text
from spillover.document.forgery import MARK as FORGERY_MARK
from spillover.hosts import AGENTS, hook
from spillover.kinds.ends import keep_ends as keeping
from spillover.kinds.selection import share_fairly as fair
from spillover.mcp import results
from spillover.mcp.message import messages
from spillover.mcp.relay import Relay
from spillover.mcp.relay import call_own_tool as called_tool
from spillover.mcp.relay import own_tools as offered_tools
from spillover.notice import form
from spillover.notice.form import OUTSIDE_BYTES as OUTSIDE
from spillover.profiles import _without_path as without_path
from spillover.profiles.t15 import FLOODS, Flood, direction_for, warning_for
from spillover.profiles.vtcode import PIECE_CHARS, by_chars, by_lines, by_words, is_code, tokens_for_lines
from spillover.profiles.vtcode import estimate_tokens as vtcode_tokens
from spillover.results.objects import to_json as as_json
from spillover.results.objects import to_json as write_json
from spillover.run.line import run_line
from spillover.secrets.outputs import _ROWS as SECRET_PATTERNS
from spillover.secrets.outputs import CoveredStreams
from spillover.secrets.outputs import cover as cover_secrets
from spillover.secrets.outputs import find as find_secrets
from spillover.secrets.outputs import mark as mark_secret
from spillover.settings.limits import DEFAULT_BYTES, DEFAULT_LINES, SMALLEST, count_lines
from spillover.settings.load import load as load_settings
from spillover.source.blob import MemoryBlob as Held
from spillover.source.blob import Meter
from spillover.source.intake import MAX_STORED_BYTES as STORED_BYTES_CAP
from spillover.source.intake import Intake
from spillover.stats import add_up
from spillover.store import named as named_store
from spillover.store.named import JoinedStores as Joined
from spillover.store.record import REF_DIGITS, REF_SHAPE, RunRecord, covers, mint, resolve
from spillover.store.scopes import ScopedStore as Scoped
from spillover.tokens import exact_counter


def NamedStore(folder, names, shape):  # noqa: N802  the locks call it as a class
    """A store whose outputs have names of another system's making."""
    return named_store.NamedStore(folder, names=names, shape=shape)


class CoveredStream:
    """One stream alone, whose pieces are joined."""

    def __init__(self):
        self.streams = CoveredStreams()

    @property
    def count(self):
        return self.streams.count

    def feed(self, data):
        return b"".join(piece for _, piece in self.streams.pieces(data, ""))

    def finish(self):
        return b"".join(piece for _, piece in self.streams.finish())


class AskedHost:
    """An agent's hook, asked without a process."""

    def __init__(self, host):
        self.host = host

    def reply(self, event, make_clipper):
        return hook.answer(self.host, event, make_clipper)


claude_code, opencode_host, codex, gemini, copilot, cline, pi = map(AskedHost, AGENTS)
CUTS = {host.title: host.cut_mark for host in AGENTS}


def HookCall(clipper):  # noqa: N802  the class, made as the hooks make it
    """Return a call of a hook, clipped as this Clipper does."""
    return hook.Clipping(clipper.call())


def finished(method, message, clipper):
    """Return the server's answer to a request as the proxy passes it on."""
    return results.bound_answer(method, message, clipper.call())


def with_tools(message, clipper):
    """Return the server's answer to `initialize` as the proxy passes it on."""
    return results.add_tools_capability(message, clipper.call())


def within(message, clipper):
    """Return a message of the server that is no answer as the proxy passes it on."""
    return results.bound_message(message, clipper.call())


def readable(line, clipper):
    """Return a line of the proxy as a model may read it."""
    return results.cover_line(line, clipper.settings)


def fits(text, clipper, raw_bytes=0):
    """Return whether nothing of a text has to be cut."""
    return pipeline.fits(text, clipper.call(), raw_bytes=raw_bytes)


def guard_of(clipper):
    """Return the function that marks text which imitates our notices."""
    return notice_guard(clipper.settings)


class ToolClipper(Clipper):
    """A Clipper whose calls have this tool and query, so that laws can draw both with the settings."""

    __slots__ = ("query", "tool")

    def __init__(self, limits=None, *, tool="", query="", **options):
        super().__init__(limits, **options)
        self.tool, self.query = tool, query

    def but(self, limits=None, *, budget=..., **options):
        chosen = self.budget if budget is ... else budget
        return type(self)(limits, budget=chosen, settings=self.settings, tool=self.tool, query=self.query, **options)

    def call(self, tool=None, *, query=None, **facts):
        return super().call(tool or self.tool, query=query or self.query, **facts)
