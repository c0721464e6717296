"""The verbs of a Clipper, sync and async, from many threads and many processes at once."""

import asyncio
import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore, aclip, clip, verify
from spillover.errors import UsageError
from spillover.testing import byte_by_byte, content

LONG = "".join(f"line {number}\n" for number in range(3_000))
LIMITS = Limits(bytes=2_000)


@pytest.fixture
def store(tmp_path):
    return DirStore(tmp_path / "a store")


@pytest.fixture
def clipper(store):
    return Clipper(LIMITS, store=store)


def a_file(folder):
    path = folder / "a log"
    path.write_text(LONG)
    return path


SOURCES = {
    "str": lambda _: LONG,
    "bytes": lambda _: LONG.encode(),
    "path": a_file,
    "iterable": lambda _: LONG.splitlines(keepends=True),
    "byte by byte": lambda _: byte_by_byte(LONG.encode()),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_clip(clipper, store, kind, tmp_path):
    out = clipper.clip(SOURCES[kind](tmp_path))
    assert out == clipper.clip(LONG)
    assert (out.outcome, out.total.lines, out.path) == ("stored", 3_000, store.where(out.ref))
    assert content(store, out.ref) == LONG.encode()


def test_a_file_is_read_from_where_it_stands(clipper, tmp_path):
    with a_file(tmp_path).open("rb") as file:
        file.readline()
        assert clipper.clip(file).total.lines == 2_999


def test_the_tool_and_the_call_are_in_the_record(clipper, store):
    out = clipper.clip(LONG, tool="Bash(make)", call_id="toolu_7")
    record = store.get(out.ref)
    assert out.ref.startswith("bash_make-")
    assert (record.tool, record.call_id) == ("Bash(make)", "toolu_7")


def test_a_source_that_fails_half_way_leaves_nothing_behind(clipper, store, tmp_path):
    def source():
        yield LONG
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        clipper.clip(source())
    assert list(store.list()) == []
    assert not any((tmp_path / "a store" / ".tmp").iterdir())


def test_a_clipper_is_varied_by_copying(clipper):
    tail = clipper.but(keep="tail")
    assert tail.clip(LONG).ranges[-1][1] == 3_000
    assert len(tail.clip(LONG).ranges) == 1
    assert clipper.settings.keep == "auto"


# The functions beside it.


def test_clip_takes_the_store_of_the_environment(tmp_path, monkeypatch):
    for name in ("one", "two"):
        monkeypatch.setenv("SPILLOVER_STORE", str(tmp_path / name))
        assert clip("x\n" * 10_000).path.startswith(str(tmp_path / name))


def test_clip_takes_limits_and_choices(store):
    out = clip(LONG, Limits(lines=20), keep="tail", store=store)
    assert out.text.count("\n") <= 20
    assert out.text.endswith("line 2999\n")
    assert clip("short", Limits(lines=20)).outcome == "whole"


async def test_aclip_is_clip_for_async_code(store):
    assert await aclip(LONG, LIMITS, store=store) == clip(LONG, LIMITS, store=store)
    assert (await aclip("short")).text == "short"


async def test_an_async_iterable_gives_the_same_clip(clipper):
    async def pieces():
        for at in range(0, len(LONG), 777):
            await asyncio.sleep(0)
            yield LONG[at : at + 777]

    assert await clipper.aclip(pieces()) == clipper.clip(LONG)


async def test_an_async_source_that_fails_or_is_cancelled_leaves_nothing_behind(clipper, store, tmp_path):
    written = asyncio.Event()

    async def pieces(*, fail):
        yield LONG
        written.set()
        if fail:
            raise RuntimeError("half way")
        await asyncio.sleep(60)

    with pytest.raises(RuntimeError, match="half way"):
        await clipper.aclip(pieces(fail=True))
    written.clear()
    task = asyncio.create_task(clipper.aclip(pieces(fail=False)))
    await written.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(store.list()) == []
    assert not any((tmp_path / "a store" / ".tmp").iterdir())


def test_clip_says_what_an_async_iterable_needs(clipper):
    async def pieces():
        yield ""  # pragma: no cover

    with pytest.raises(UsageError, match="await aclip"):
        clipper.clip(pieces())


# Many at once.


@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_two_hundred_clips_at_once_are_each_what_they_would_be_alone(kind, store):
    clipper = Clipper(LIMITS, store=store if kind == "folder" else MemoryStore())
    outputs = [f"output {number % 50}\n" * (1_000 + number % 50) for number in range(200)]  # each four times
    with ThreadPoolExecutor(20) as pool:
        clips = list(pool.map(clipper.clip, outputs))
    for output, out in zip(outputs, clips, strict=True):
        assert out.outcome == "stored"
        assert content(clipper.settings.store, out.ref) == output.encode()
    assert len(list(clipper.settings.store.list())) == 50


def test_twenty_processes_may_store_the_same_and_other_outputs(store):
    code = """
import sys
from spillover import clip, DirStore, Limits
for number in ("same", sys.argv[2]):
    print(clip(f"{number}\\n" * 5000, Limits(bytes=2000), store=DirStore(sys.argv[1])).ref)
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code, store.root, str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(20)
    ]
    refs = [process.communicate()[0].split() for process in started]
    assert [process.returncode for process in started] == [0] * 20
    assert len({same for same, _ in refs}) == 1
    assert len({other for _, other in refs}) == 20
    records = list(store.list())
    assert len(records) == 21
    assert [verify(store, record.ref) for record in records] == [None] * 21
    assert content(store, refs[7][1]) == b"7\n" * 5000


# Commands from async code.


async def test_arun_is_run_for_async_code(clipper, store):
    ran = await clipper.arun(["sh", "-c", "seq 5000; exit 7"], call_id="c")
    assert (ran.exit_code, ran.clip.outcome, store.get(ran.clip.ref).call_id) == (7, "stored", "c")


async def test_the_loop_goes_on_while_commands_run(clipper):
    """Each waits for a file the other one makes, so neither could end alone."""
    folder = os.path.dirname(clipper.settings.store.root)

    def script(mine, other):
        return f"cd '{folder}'; : > {mine}; until [ -e {other} ]; do sleep 0.01; done; echo {mine}"

    ran = await asyncio.gather(*(clipper.arun(["sh", "-c", script(*pair)]) for pair in (("a", "b"), ("b", "a"))))
    assert [each.clip.text for each in ran] == ["a\n", "b\n"]


async def test_wrong_use_comes_out_of_await(clipper):
    with pytest.raises(UsageError, match="list of words"):
        await clipper.arun("make -j8")


async def test_cancelling_ends_the_command_with_its_children(clipper, tmp_path):
    alive, said = tmp_path / "alive", asyncio.Event()
    os.mkfifo(alive)
    gone = asyncio.create_task(asyncio.to_thread(alive.read_bytes))  # until nobody holds it open any more
    script = f"exec 9>'{alive}'; trap 'exit 3' TERM; echo said; sleep 60 & echo up >&9; wait"
    loop = asyncio.get_running_loop()
    tell = {"on_progress": lambda _: loop.call_soon_threadsafe(said.set)}
    task = asyncio.create_task(clipper.arun(["sh", "-c", script], **tell))
    await said.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gone == b"up\n"


#: It tidies for a while when it is asked to end, and says that it did.
TIDIES = "exec 9>'{0}/alive'; trap 'sleep 0.5; echo tidied >&9; exit 3' TERM; echo up >&9; echo said; sleep 60 & wait"


@pytest.fixture
def tidied(tmp_path):
    """Waits for the end of a command of TIDIES, and gives what it wrote on its way."""
    os.mkfifo(tmp_path / "alive")
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit((tmp_path / "alive").read_bytes).result


async def test_cancelled_again_and_again_it_is_not_left_before_the_command_has_ended(clipper, tmp_path, tidied):
    """The second cancellation interrupted the wait for the command, which ran on."""
    loop, said = asyncio.get_running_loop(), asyncio.Event()
    tell = {"on_progress": lambda _: loop.call_soon_threadsafe(said.set)}
    task = asyncio.create_task(clipper.arun(["sh", "-c", TIDIES.format(tmp_path)], **tell))
    await said.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.05)
        assert not task.done(), "the command is still tidying"
    with pytest.raises(asyncio.CancelledError):
        await task
    assert b"tidied" in tidied()


@pytest.mark.parametrize("how", ["run ends", "loop is closed"])
def test_a_loop_that_ends_takes_the_command_with_it(clipper, tmp_path, tidied, how):
    """`asyncio.run` cancels every task there is, and a closed loop throws away what still waits in it."""

    async def begin():
        loop, said = asyncio.get_running_loop(), asyncio.Event()
        tell = {"on_progress": lambda _: loop.call_soon_threadsafe(said.set)}
        started.append(asyncio.create_task(clipper.arun(["sh", "-c", TIDIES.format(tmp_path)], **tell)))
        await said.wait()

    started = []
    if how == "run ends":
        asyncio.run(begin())
    else:
        loop = asyncio.new_event_loop()
        loop.run_until_complete(begin())
        loop.close()
        coroutine = started.pop().get_coro()
        coroutine.close()
    assert b"tidied" in tidied()


async def test_cancelled_before_a_thread_is_free_the_command_never_starts(clipper, tmp_path):
    loop = asyncio.get_running_loop()
    free = threading.Event()
    loop.set_default_executor(ThreadPoolExecutor(1))
    busy = loop.run_in_executor(None, free.wait)
    task = asyncio.create_task(clipper.arun(["touch", tmp_path / "ran"]))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.sleep(0.05)
    free.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    await busy
    assert not (tmp_path / "ran").exists()


async def test_without_a_descriptor_to_tell_it_by_it_can_be_cancelled_all_the_same(
    clipper, tmp_path, tidied, monkeypatch
):
    real, awaiting = os.pipe, threading.get_ident()

    def no_more():
        if threading.get_ident() == awaiting:
            raise OSError(errno.EMFILE, "Too many open files")
        return real()

    monkeypatch.setattr(os, "pipe", no_more)
    loop, said = asyncio.get_running_loop(), asyncio.Event()
    tell = {"on_progress": lambda _: loop.call_soon_threadsafe(said.set)}
    task = asyncio.create_task(clipper.arun(["sh", "-c", TIDIES.format(tmp_path)], **tell))
    await said.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert b"tidied" in tidied()


async def test_a_time_limit_around_it_ends_the_command(clipper):
    loop, pids = asyncio.get_running_loop(), []

    def told(progress):
        pids.append(int(progress.last))
        loop.call_soon_threadsafe(limit.reschedule, loop.time())

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(None) as limit:
            await clipper.arun(["sh", "-c", "echo $$; exec sleep 60"], on_progress=told)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


async def test_no_descriptor_is_left_behind(clipper):
    await clipper.arun(["true"])  # whatever the loop keeps, it has now
    before = len(os.listdir("/dev/fd"))
    await clipper.arun(["seq", "5000"])
    task = asyncio.create_task(clipper.arun(["sleep", "60"]))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(os.listdir("/dev/fd")) <= before  # an earlier test may close one of its own meanwhile


def test_a_clipper_can_be_made_from_the_configuration(tmp_path, monkeypatch):
    (tmp_path / "spillover.toml").write_text('keep = "tail"\ntokens = 3000\n')
    monkeypatch.setenv("SPILLOVER_LINES", "50")
    clipper = Clipper.configured(cwd=str(tmp_path), tokens=4_000)
    assert (clipper.settings.keep, clipper.settings.limits.lines, clipper.settings.limits.tokens) == ("tail", 50, 4_000)
