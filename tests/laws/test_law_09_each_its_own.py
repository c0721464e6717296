"""Law 9, scopes: on every store and for every operation, only an output's own scope and those above it can read it.

For any other scope the output does not exist: the answer is, word for word, the one for an unknown ref.
"""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import Clipper, DirStore, Limits, MemoryStore, RefError
from spillover.testing import FailingStore, put
from support import Joined, NamedStore, Scoped, covers, mint, resolve
from support import called_tool as called
from support import offered_tools as offered

TEXT = "".join(f"line {number} of the secret\n" for number in range(1, 1_001))
COMMAND = "curl https://a.b"
NEVER = mint("bash", "5" * 64)


class Plain:
    """A third-party store that keeps what it is given and knows nothing about scopes."""

    def __init__(self):
        self.kept, self.inner = {}, MemoryStore()

    def writer(self):
        writer, kept = self.inner.writer(), self.kept
        publish = writer.publish

        class Writer:
            write, fileno, blob, abandon = writer.write, writer.fileno, writer.blob, writer.abandon

            def publish(self, record):
                data = writer.blob().read(0, 1 << 30)
                record = publish(record)
                kept[record.ref] = record, data
                return record

        return Writer()

    def get(self, ref):
        return self.kept[resolve(ref, iter(self.kept))][0]

    def open(self, ref):
        self.get(ref)
        return self.inner.open(ref)

    def list(self):
        return iter(sorted((record for record, _ in self.kept.values()), key=lambda record: -record.created))

    def delete(self, ref):
        del self.kept[resolve(ref, iter(self.kept))]

    def pin(self, ref, pinned=True):
        self.inner.pin(self.get(ref).ref, pinned)

    def where(self, ref):
        return None


STORES = {
    "memory": lambda folder: MemoryStore(),
    "folder": lambda folder: DirStore(folder / "store"),
    "named": lambda folder: NamedStore(folder / "named", lambda record: f"out_{record.sha256[:20]}", r"out_\w+"),
    "joined": lambda folder: Joined(
        (DirStore(folder / "joined"), NamedStore(folder / "x", lambda record: f"out_{record.sha256[:20]}", r"out_\w+"))
    ),
    "wrapped": lambda folder: FailingStore(DirStore(folder / "store"), on="write", after_bytes=1 << 40),
    "somebody else's": lambda folder: Plain(),
}


def by_tool(name):
    def ask(clipper, ref):
        tool = {tool.__name__: tool for tool in clipper.tools()}[name]
        return tool(ref, "secret") if name == "grep_output" else tool(ref)

    return ask


def by_mcp(name):
    def ask(clipper, ref):
        arguments = {"ref": ref} | ({"pattern": "secret"} if name == "grep_output" else {})
        result = asyncio.run(called(offered(clipper)[name], arguments, clipper))
        return result["content"][0]["text"]

    return ask


def by_dispatch(clipper, ref):
    return clipper.dispatch("read_output", {"ref": ref}).text


def by_store(name):
    def ask(clipper, ref):
        answer = getattr(clipper.settings.outputs, name)(ref)
        if name in ("open", "open_record"):
            blob = answer[1] if name == "open_record" else answer
            try:
                return str(blob.read(0, 99))
            finally:
                blob.close()
        return repr(answer)

    return ask


def by_verify(clipper, ref):
    from spillover import verify

    return str(verify(clipper.settings.outputs, ref))


#: Every operation that takes a ref. Those that change something come last.
WAYS = {
    "read": lambda clipper, ref: clipper.read(ref).text,
    "read bytes": lambda clipper, ref: clipper.read(ref, bytes="1:99").text,
    "grep": lambda clipper, ref: clipper.grep(ref, "secret").text,
    "outline": lambda clipper, ref: clipper.outline(ref).text,
    **{f"tool {name}": by_tool(name) for name in ("read_output", "grep_output", "outline_output")},
    **{f"mcp {name}": by_mcp(name) for name in ("read_output", "grep_output", "outline_output")},
    "dispatch": by_dispatch,
    **{f"store {name}": by_store(name) for name in ("get", "open", "open_record", "pin")},
    "verify": by_verify,
    "store delete": by_store("delete"),
}


def answer(way, clipper, ref):
    """Return the answer with the ref removed."""
    try:
        return WAYS[way](clipper, ref).replace(ref, "REF")
    except RefError as error:
        return f"RefError {error}".replace(ref, "REF")


def clipper(store, scope):
    return Clipper(Limits(lines=20), store=store, hints="tools", scope=scope)


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    return STORES[request.param](tmp_path)


@pytest.fixture
def ref(store):
    run = clipper(store, "acme/web").run(["sh", "-c", f"cat # {COMMAND} # echo the secret"], tool="bash", input=TEXT)
    assert run.clip.outcome == "stored"
    return run.clip.ref


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scope", ["acme/web2", "acme/web/below", "other", "/acme/web", "/", None])
def test_from_another_scope_it_is_as_if_it_had_never_been(store, ref, way, scope):
    other = clipper(store, scope)
    never = answer(way, other, NEVER)
    assert "secret" not in never
    assert answer(way, other, ref) == never
    digits, none = ref.rpartition("-")[2], NEVER.rpartition("-")[2]
    for start, absent in ((ref[:9], NEVER[:9]), (digits[:7], none[:7]), ("bash", "fish")):
        assert answer(way, other, start) == answer(way, other, absent)
    assert clipper(store, "acme/web").read(ref).text.startswith("1: line 1 of the secret"), "and it is still there"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scope", ["acme/web", "acme", "*"])
def test_its_own_scope_and_those_above_have_it(store, ref, way, scope):
    said = answer(way, clipper(store, scope), ref)
    assert "RefError" not in said
    assert "No output" not in said


@pytest.mark.parametrize("words", ["last", "last:", "last:curl", "last:bash", "last:echo secret"])
def test_last_names_the_latest_output_of_the_same_scope(store, ref, words):
    other = clipper(store, "other")
    for way in ("read", "grep", "outline", "tool read_output", "mcp read_output"):
        assert answer(way, other, words).count("Nothing has been run yet") == 1
    mine = other.clip(TEXT + "mine", tool="make").ref
    assert clipper(store, "acme/web").read(words).ref == ref
    assert clipper(store, "acme").read("last:curl").ref == ref
    said = answer("tool read_output", other, words)
    assert ref not in said
    assert "curl" not in said.replace(repr(words.partition(":")[2]), "")
    assert mine in said or words in ("last", "last:")


def test_a_list_has_only_outputs_of_the_same_scope(store, ref):
    mine = clipper(store, "other").clip(TEXT + "mine", tool="make").ref
    for scope, refs in {"other": {mine}, "acme/web": {ref}, "acme": {ref}, "/x": set(), "*": {ref, mine}}.items():
        asked = clipper(store, scope)
        listed = {tool.__name__: tool for tool in asked.tools()}["list_outputs"]().splitlines()
        assert {row.split()[0] for row in listed[:-1]} == refs
        assert listed[-1] == f"[{len(refs)} of {len(refs)} stored output{'s' * (len(refs) != 1)}.]"
        assert {record.ref for record in asked.settings.outputs.list()} == refs


def test_the_clip_says_nothing_of_the_scope(store, tmp_path):
    texts = {clipper(store, scope).clip(TEXT).text for scope in ("acme/web", "other", "/home/me/project", None, "*")}
    assert len(texts) == 1, "law 6: the same bytes, the same text"


SCOPES = ["a", "a/b", "a/b/c", "ab", "/a", "/a/b", "b"]


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(["put", "delete", "pin"]), st.sampled_from(SCOPES), st.integers(0, 3)), max_size=14),
    st.sampled_from(["memory", "folder"]),
)  # fmt: skip
def test_whatever_was_stored_and_deleted_each_scope_sees_exactly_its_own(tmp_path_factory, steps, kind):
    store = STORES[kind](tmp_path_factory.mktemp("scopes"))
    model = {}  # which output → its scopes
    refs = {number: mint("bash", _sha256(b"%d" % number)) for number in range(4)}
    for verb, scope, number in steps:
        view, owned = Scoped(store, scope), model.setdefault(number, set())
        if verb == "put":
            put(view, b"%d" % number)
            owned.add(scope)
            continue
        try:
            view.delete(refs[number]) if verb == "delete" else view.pin(refs[number])
            allowed = True
        except RefError:
            allowed = False
        assert allowed is any(covers(scope, one) for one in owned)
        if verb == "delete":
            model[number] = {one for one in owned if not covers(scope, one)}
    for scope in SCOPES:
        expected = {refs[number] for number, owned in model.items() if any(covers(scope, one) for one in owned)}
        assert {record.ref for record in Scoped(store, scope).list()} == expected


def _sha256(data):
    import hashlib

    return hashlib.sha256(data).hexdigest()
