"""ScopedStore: meets the store contract for one scope and shows nothing of any other."""

import hashlib

import pytest

from spillover.errors import RefError, StoreError
from spillover.store import WrappedStore
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore
from spillover.store.named import NamedStore
from spillover.store.record import EVERY, mint
from spillover.store.scopes import ScopedStore
from spillover.testing import FailingStore, StoreContract, content, put

NOT_HERE = dict.fromkeys(
    (  # these need several scopes, and this is the view of one
        "test_the_same_output_of_two_scopes_belongs_to_both_each_with_its_own_call",
        "test_an_output_that_nobody_had_belongs_to_who_stores_it",
        "test_scopes_that_store_the_same_output_at_once_all_have_it",
    )
)


class OneScope(StoreContract):
    """The contract, in a store that also holds outputs of another scope."""

    locals().update(NOT_HERE)

    def inner(self, tmp_path):
        raise NotImplementedError

    @pytest.fixture
    def store(self, tmp_path):
        inner = self.inner(tmp_path)
        for data in (b"", b"one", b"two", b"same", b"somebody else's"):
            put(inner, data, scope="acme/other")
            put(inner, data, "grep", scope=None)
        return ScopedStore(inner, "acme/web")


class TestInMemory(OneScope):
    def inner(self, tmp_path):
        return MemoryStore()


class TestInAFolder(OneScope):
    def inner(self, tmp_path):
        return DirStore(tmp_path / "store")


class TestUnderNames(OneScope):
    test_where_it_is_its_bytes_are = None  # a NamedStore knows the path only after publishing

    def inner(self, tmp_path):
        return NamedStore(tmp_path / "named", names=lambda record: f"out_{record.sha256[:20]}", shape=r"out_\w+")


@pytest.fixture(params=["memory", "folder", "named"])
def inner(request, tmp_path):
    if request.param == "named":
        return NamedStore(tmp_path / "named", names=lambda record: f"out_{record.sha256[:20]}", shape=r"out_\w+")
    return MemoryStore() if request.param == "memory" else DirStore(tmp_path / "store")


def test_not_there_and_not_yours_are_the_same_words(inner):
    ref = put(inner, b"theirs", scope="/theirs", command="curl").ref
    absent = mint("bash", "f" * 64)
    mine = ScopedStore(inner, "/mine")
    for ask in (mine.get, mine.open, mine.open_record, mine.delete, mine.pin):
        said = []
        for each in (ref, absent, ref[:9], ref.rpartition("-")[2][:6]):
            with pytest.raises(RefError) as caught:
                ask(each)
            said.append(str(caught.value).replace(each, "REF"))
        assert len(set(said)) == 1
        assert "in this project" in said[0]
        assert "--all-scopes" in said[0]
    assert content(ScopedStore(inner, "/theirs"), ref) == b"theirs"


def test_a_prefix_is_looked_up_only_in_the_same_scope(inner):
    theirs, mine = put(inner, b"theirs", scope="/theirs"), put(inner, b"mine", scope="/mine")
    assert ScopedStore(inner, "/mine").get("bash").ref == mine.ref
    assert ScopedStore(inner, "/theirs").get("bash").ref == theirs.ref


def test_a_path_tells_nothing_about_what_is_not_ours(inner):
    mine = ScopedStore(inner, "/mine")
    theirs = put(inner, b"theirs", scope="/theirs")
    never = mint("bash", "1" * 64)
    before, there = mine.where(never), mine.where(theirs.ref)
    assert (there and there.replace(theirs.ref, "REF")) == (before and before.replace(never, "REF"))


def test_a_compressed_output_of_another_scope_has_the_path_of_a_plain_one(tmp_path):
    pytest.importorskip("backports.zstd", reason="compressing needs the extra zstd")
    inner = DirStore(tmp_path / "store")
    ref = put(inner, b"line\n" * 10_000, scope="/theirs").ref
    before = ScopedStore(inner, "/mine").where(ref)
    assert inner.compress().outputs == 1
    assert inner.where(ref) is None
    assert ScopedStore(inner, "/mine").where(ref) == before


def test_reading_by_a_whole_ref_does_not_list_the_store(inner, monkeypatch):
    ref = put(inner, b"mine", scope="/mine").ref
    monkeypatch.setattr(type(inner), "list", None)
    assert content(ScopedStore(inner, "/mine"), ref) == b"mine"


def test_a_damaged_record_belongs_to_nobody_and_a_damaged_store_is_reported(tmp_path):
    inner = DirStore(tmp_path / "store")
    ref = put(inner, b"mine", scope="/mine").ref
    (tmp_path / "store" / f"{ref}.json").write_text("{}")
    with pytest.raises(RefError, match="No output is stored under"):
        ScopedStore(inner, "/mine").get(ref)
    with pytest.raises(StoreError, match="damaged"):
        ScopedStore(inner, EVERY).get(ref)
    (tmp_path / "store" / ".spillover").unlink()
    with pytest.raises(StoreError, match="not ours"):
        ScopedStore(inner, "/mine").get(ref)


@pytest.mark.parametrize("scope", ["*", "a//b", "\x1b", 5, ["x"]])
def test_a_record_whose_scope_was_tampered_with_is_nobodys(tmp_path, scope):
    import json

    inner = DirStore(tmp_path / "store")
    ref = put(inner, b"mine", scope="/mine").ref
    path = tmp_path / "store" / f"{ref}.json"
    for change in ({"scope": scope}, {"others": [[scope, 1.0, None, None]]}, {"others": 5}, {"others": [["/mine"]]}):
        facts = {**json.loads(path.read_text()), **change}
        del facts["check"]
        text = json.dumps(facts)[:-1]
        digest = hashlib.sha256(text.encode()).hexdigest()  # otherwise the hash alone would reveal the change
        path.write_text(f'{text}, "check": "{digest}"}}\n')
        for own in ("/mine", "/other", "a"):
            with pytest.raises(RefError):
                ScopedStore(inner, own).get(ref)
        assert list(ScopedStore(inner, EVERY).list()) == []


def test_a_store_that_forgets_whose_it_is_does_not_claim_to_have_kept_it():
    class Forgetful(FailingStore):
        def writer(self):
            writer = self.inner.writer()
            publish = writer.publish

            class Writer:
                write, fileno, blob, abandon = writer.write, writer.fileno, writer.blob, writer.abandon

                def publish(self, record):
                    from msgspec.structs import replace

                    return publish(replace(record, scope=None))

            return Writer()

    from spillover import Clipper, Limits

    clip = Clipper(Limits(lines=10), store=Forgetful(MemoryStore())).clip("line\n" * 1_000)
    assert clip.outcome == "lost"
    assert "whose output this is" in clip.reason


def test_a_command_is_stored_without_its_secrets(inner):
    writer = ScopedStore(inner, "/mine").writer()
    writer.write(b"x")
    from spillover.testing import record_of

    writer.publish(record_of(b"x", command="curl -H 'Authorization: Bearer abcdefgh' https://a"))
    (record,) = inner.list()
    assert record.command == "curl -H 'Authorization: [redacted: authorization]' https://a"


class Careless(WrappedStore):
    """A store that claims to show one scope, and shows every one."""

    scope = "acme"


def test_a_store_that_shows_more_than_its_scope_is_not_believed():
    store = Careless(MemoryStore())
    ref = put(store, b"theirs", scope="other").ref
    mine = ScopedStore(store, "acme")
    for ask in (mine.get, mine.open, mine.open_record, mine.delete, mine.pin):
        with pytest.raises(RefError, match="in scope acme"):
            ask(ref)
    assert (list(mine.list()), mine.newest()[0]) == ([], [])
