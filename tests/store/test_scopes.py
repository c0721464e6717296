"""Scopes: their syntax, the default scope, and a store as one scope sees it."""

import hashlib
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.api import Clipper
from spillover.errors import ConfigError, RefError, StoreError, UsageError
from spillover.store import WrappedStore
from spillover.store import scopes as module
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore
from spillover.store.named import NamedStore
from spillover.store.record import EVERY, MAX_FOLDER_BYTES, check_scope, covers, mint
from spillover.store.scopes import ScopedStore, default_scope, folder_scope
from spillover.testing import FailingStore, StoreContract, content, put


@pytest.fixture(autouse=True)
def _not_found_yet(monkeypatch):
    monkeypatch.setattr(module, "_default", None)


@pytest.mark.parametrize(
    ("own", "other", "sees"),
    [
        ("acme", "acme", True),
        ("acme", "acme/web", True),
        ("acme", "acme/web/s1", True),
        ("acme/web", "acme", False),
        ("acme", "acme2", False),
        ("acme", "acme2/web", False),
        ("acme/web", "acme/website", False),
        ("/home/me", "/home/me", True),
        ("/home/me", "/home/me/web", False),
        ("/", "/home/me", False),
        ("/home/me/web", "/home/me", False),
        ("home", "/home", False),
        ("acme", None, False),
        ("acme", "", False),
        ("", "acme", False),
        ("", "", False),
        ("Acme", "acme", False),
        (EVERY, "acme", True),
        (EVERY, None, True),
        ("acme", EVERY, False),
    ],
)
def test_a_name_sees_itself_and_below_and_a_folder_only_itself(own, other, sees):
    assert covers(own, other) is sees


SEGMENTS = st.text(st.sampled_from("ab*/ ."), max_size=6)


@given(SEGMENTS, SEGMENTS)
def test_no_scope_sees_another_by_a_part_of_its_name(own, other):
    try:
        check_scope(own)
        check_scope(other)
    except UsageError:
        return
    if EVERY in (own, other):
        return
    same_or_below = own.split("/") == other.split("/")[: len(own.split("/"))] if own[0] != "/" else own == other
    assert covers(own, other) is same_or_below


@pytest.mark.parametrize(
    "text",
    ["a", "acme/web/s1", "été", "日本", "a b", "a.b@c-d_e", "/", "/home/me", "/home/me/a b", "/home/ me", "x" * 512, "/" + "x" * 4_095],
)  # fmt: skip
def test_what_can_be_a_scope(text):
    assert check_scope(text) == text
    assert Clipper(scope=text).settings.scope == text


@pytest.mark.parametrize(
    "text",
    ["", "/a/", "a/", "a//b", "//", "//a", ".", "..", "a/../b", "/a/..", "a/./b", "a\n", "\0", "a\x1b[31m", "a\u202eb", "\ud800", " a", "a /b",
     "a/*", "*/a", "x" * 513, "é" * 257, "/" + "x" * 4_096, 5, b"a", ("a",)],
)  # fmt: skip
def test_a_wrong_scope_fails_when_the_object_is_made(text):
    with pytest.raises(UsageError, match="scope="):
        Clipper(scope=text)


# ── the default scope


def repository(path):
    (path / ".git").mkdir(parents=True)
    return path


def test_it_is_the_root_of_the_repository_or_else_the_folder(tmp_path):
    root = repository(tmp_path / "repo")
    below = root / "src" / "deep"
    below.mkdir(parents=True)
    alone = tmp_path / "alone" / "deep"
    alone.mkdir(parents=True)
    assert folder_scope(root) == folder_scope(below) == str(root)
    assert folder_scope(alone) == str(alone)


def test_a_work_tree_a_link_and_a_nested_repository_are_told_apart(tmp_path):
    root = repository(tmp_path / "repo")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../repo/.git/worktrees/tree\n")
    nested = repository(root / "vendor" / "nested")
    (tmp_path / "link").symlink_to(root)
    assert folder_scope(tree) == str(tree)
    assert folder_scope(nested) == str(nested)
    assert folder_scope(tmp_path / "link") == str(root)


def test_a_repository_in_home_is_the_project_of_home_alone(tmp_path, monkeypatch):
    home = repository(tmp_path / "me")
    monkeypatch.setenv("HOME", str(home))
    (home / "notes").mkdir()
    assert folder_scope(home) == str(home)
    assert folder_scope(home / "notes") == str(home / "notes"), "or the dotfiles would make one project of everything"
    repository(tmp_path)
    assert folder_scope(home / "notes") == str(home / "notes"), "and nothing above home counts either"


def test_somebody_elses_repository_in_a_shared_folder_makes_no_project_of_ours(tmp_path, monkeypatch):
    shared = repository(tmp_path / "shared")
    mine = shared / "mine"
    mine.mkdir()
    real = os.lstat

    def theirs(path, **options):
        found = real(path, **options)
        if str(path).endswith(".git"):
            return os.stat_result((*found[:4], 54_321, *found[5:]))
        return found

    monkeypatch.setattr(os, "lstat", theirs)
    assert folder_scope(mine) == str(mine)


def test_a_folder_mounted_from_elsewhere_ends_the_way_up(tmp_path, monkeypatch):
    root = repository(tmp_path / "repo")
    below = root / "mounted" / "deep"
    below.mkdir(parents=True)
    real = os.lstat

    def other_device(path, **options):
        found = real(path, **options)
        return os.stat_result((*found[:2], 99, *found[3:])) if str(path) == str(root) else found

    monkeypatch.setattr(os, "lstat", other_device)
    assert folder_scope(below) == str(below)


def test_the_way_up_opens_nothing_and_is_bounded(tmp_path, monkeypatch):
    deep = tmp_path.joinpath(*["d"] * 300)
    deep.mkdir(parents=True)
    looked = []
    real = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path, **options: (looked.append(path), real(path, **options))[1])
    monkeypatch.setattr("builtins.open", None)
    monkeypatch.setattr(os, "open", None)
    assert folder_scope(deep) == str(deep)
    assert len(looked) < 4 * len(deep.parts) + 100  # plus the parts of the paths that are resolved


@pytest.mark.parametrize("name", ["new\nline", "esc\x1b[31m", "bidi\u202e", "100%", "caf\udce9"])
def test_any_folder_has_a_scope_that_can_be_written_and_shown(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    scope = folder_scope(folder)
    assert check_scope(scope).isprintable()
    assert folder_scope(scope) != scope, "a folder with a similar name is a different scope"


def test_a_path_that_is_too_long_is_known_by_its_hash():
    scopes = {module._as_text("/" + "x" * MAX_FOLDER_BYTES + end) for end in "ab"}
    assert len(scopes) == 2
    assert all(len(check_scope(scope)) < 100 for scope in scopes)


def test_it_is_found_once_so_that_a_process_that_moves_reads_its_own(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    before = default_scope()
    monkeypatch.chdir(tmp_path / "other")
    assert default_scope() == before == str(tmp_path)


def test_the_environment_variable_takes_precedence_and_its_errors_are_reported(monkeypatch):
    monkeypatch.setenv("SPILLOVER_SCOPE", "acme/web")
    assert default_scope() == "acme/web"
    for wrong in ("*", "a//b", "\x1b"):
        monkeypatch.setenv("SPILLOVER_SCOPE", wrong)
        with pytest.raises(ConfigError, match="SPILLOVER_SCOPE"):
            default_scope()
        clip = Clipper().clip("line\n" * 100_000)
        assert clip.outcome == "lost", "the tool call survives"
        assert "SPILLOVER_SCOPE" in clip.reason


CODE = """
import os, sys
os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])
from spillover import Clipper, Limits
clipper = Clipper(Limits(lines=10), store=__import__("spillover").DirStore(sys.argv[2]))
ref = clipper.clip("line\\n" * 1000).ref
assert clipper.read(ref, lines="1").text.startswith("1: line")
print(clipper.settings.outputs.get(ref).scope)
"""


def test_a_working_folder_that_is_gone_has_a_scope_too(tmp_path):
    root = repository(tmp_path / "repo")
    for folder, scope in ((root / "build", str(root)), (tmp_path / "alone", None)):
        folder.mkdir()
        ran = subprocess.run(
            [sys.executable, "-c", CODE, str(folder), str(tmp_path / "store")], capture_output=True, text=True, check=False, timeout=60
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.strip() == scope or scope is None


# ── speed


def test_a_clip_that_fits_never_looks_for_its_scope(monkeypatch):
    monkeypatch.setattr(module, "folder_scope", None)
    monkeypatch.setattr(module, "default_scope", None)
    assert Clipper().clip("small\n" * 100).outcome == "whole"
    assert Clipper().clip(["small é\n"] * 100).outcome == "whole"
    assert Clipper().run(["true"]).clip.outcome == "whole"


NOT_HERE = dict.fromkeys(
    (  # these need several scopes, and this is the view of one
        "test_the_same_output_of_two_scopes_belongs_to_both_each_with_its_own_call",
        "test_an_output_without_a_scope_belongs_to_the_first_scope_that_stores_it",
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
    test_the_path_of_an_output_holds_its_bytes = None  # a NamedStore knows the path only after publishing

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
