"""Run `spill run` with each system call of its store, its user's folders and its command failing in turn. Needs strace."""

import errno
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from store_session import wrong_with

COMMAND = ["sh", "-c", "seq 1 30000; exit 5"]
PRINTED = b"".join(b"%d\n" % number for number in range(1, 30_001))
SPILL = [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())"]
REASONS = ("ENOSPC", "EIO", "EDQUOT", "EINTR", "EACCES", "ENOENT", "EMFILE")
#: What can go wrong with a command's pipes and processes, by the call. A signal may interrupt the others at any time.
RUNNING = {
    "pipe2": ("EMFILE", "ENFILE"),
    "vfork": ("EAGAIN", "ENOMEM"),
    "fork": ("EAGAIN", "ENOMEM"),
    "clone": ("EAGAIN", "ENOMEM"),
    "clone3": ("EAGAIN", "ENOMEM"),
    "pidfd_open": ("EMFILE", "ENFILE", "ENOSYS", "EPERM"),
    "fcntl": ("EPERM", "EBUSY"),
    "ioctl": ("ENOTTY", "EINVAL"),
    "read": ("EINTR",),
    "write": ("EINTR", "EPIPE"),
    "poll": ("EINTR",),
    "wait4": ("EINTR",),
}
#: Calls that name neither a file nor a pipe.
BARE = ("pipe2", "vfork", "fork", "clone", "clone3", "pidfd_open", "poll", "wait4")
#: The calls that fail from then on when a disk is full.
LASTING = ("write", "pwrite64", "rename", "renameat", "renameat2", "linkat", "link")
SLOW_SECONDS = 120
#: As a shell exits when it cannot start a command.
NOT_STARTED = 126
_CALL = re.compile(rb"(\w+)\(")
#: A pipe that is not one of ours to the outside.
_PIPE = re.compile(rb"\w+\((?:[3-9]|\d\d+)<pipe:")


def syscall_faults(seconds, seed, *, every=None):
    """Run for a time, or once for every `every`-th call. All figures except `runs`, `calls` and `missed` must be 0.

    Without strace there are no runs, and `why` says so. A run is `missed` if a call other than the intended one failed.
    """
    figures = dict.fromkeys(
        ("runs", "calls", "missed", "raised", "hung", "torn", "unsaid", "wrong", "exit_code", "uncounted"), 0
    )
    if why := unavailable():
        sys.stderr.write(f"syscall_faults: skipped, {why}\n")
        return figures | {"why": why, "examples": []}
    examples, dice, until = [], random.Random(f"{seed}"), time.monotonic() + seconds
    calls = touching()
    figures["calls"] = len(calls)
    turn = 0
    while turn < len(calls) if every else time.monotonic() < until:
        name, ordinal, reasons = calls[turn] if every else dice.choice(calls)
        reason = dice.choice(reasons)
        # A call that is interrupted every time, for ever, ends in no program.
        lasting = reasons is REASONS and name in LASTING and dice.random() < 0.5 and reason != "EINTR"
        found = one(f"inject={name}:error={reason}:when={ordinal}{'+' * lasting}", name)
        if found is None:
            figures["missed"] += 1
        for kind, words in found or ():
            figures[kind] += 1
            examples.append((kind, name, ordinal, reason, lasting, words[-400:]))
        figures["runs"] += 1
        turn += every or 1
    return figures | {"examples": examples[:10]}


def unavailable():
    """Return why this cannot run here; "" if it can."""
    if not shutil.which("strace"):
        return "there is no strace on this machine"
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.decode()[-200:].strip()}"


def traced(folder, options, timeout=SLOW_SECONDS):
    """Run the command under strace; return the completed process and the trace."""
    root, trace = os.path.join(folder, "store"), os.path.join(folder, "trace")
    environ = {**os.environ, "HOME": folder, "XDG_STATE_HOME": folder, "PYTHONHASHSEED": "0"}
    environ = {name: value for name, value in environ.items() if not name.startswith("SPILLOVER_")}
    ended = subprocess.run(
        ["strace", "-y", "-s", "0", "-o", trace, *options, *SPILL, "run", "--store", root, "--", *COMMAND],
        capture_output=True,
        check=False,
        env=environ,
        cwd="/",
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )
    with open(trace, "rb") as file:
        return ended, root, file.read().splitlines()


def touching():
    """Return the calls of a run that can fail: the name, the number among calls of that name, and how it can fail."""
    for _ in range(2):  # in the first run, Python may still write bytecode files
        with tempfile.TemporaryDirectory() as folder:
            _, _, lines = traced(folder, [])
    seen, found, running = {}, [], False
    for line in lines:
        if called := _CALL.match(line):
            name = called[1].decode()
            seen[name] = seen.get(name, 0) + 1
            running = running or name == "pipe2"
            if reasons := ways_to_fail(name, line, folder, running=running):
                found.append((name, seen[name], reasons))
    return found


def ways_to_fail(name, line, folder, *, running=True):
    """Return the errors that a call in a trace can give; none if it is not for us to judge."""
    if folder.encode() in line:
        return () if name in ("execve", "fcntl", "ioctl") else REASONS
    if running and name in RUNNING and (name in BARE or _PIPE.match(line)):
        return RUNNING[name]
    return ()


def one(injection, name):
    """Run once with one fault and return what went wrong; None if the fault hit another call."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            ended, root, lines = traced(folder, ["-e", f"trace={name}", "-e", injection])
        except subprocess.TimeoutExpired:
            return [("hung", injection)]
        hit = [line for line in lines if b"(INJECTED)" in line]
        if not hit or not all(ways_to_fail(name, line, folder) for line in hit):
            return None
        said, found = ended.stdout.decode("utf-8", "replace"), []
        if b"Traceback" in ended.stderr:
            found.append(("raised", ended.stderr.decode("utf-8", "replace")))
        if ended.returncode == NOT_STARTED and name in BARE and ended.stderr.startswith(b"sh: "):
            return found + wrong_with(root, {})  # said as a shell does
        if ended.returncode != 5:
            found.append(("exit_code", f"{ended.returncode}: {ended.stderr.decode('utf-8', 'replace')}"))
        stored = {}
        if named := re.search(r"\bsh-[0-9a-f]{16}\b", said):
            stored[named[0]] = PRINTED
        elif "not kept" not in said:
            found.append(("unsaid", said[:300]))
        return found + wrong_with(root, stored)


assert all(hasattr(errno, reason) for reason in (*REASONS, *(one for several in RUNNING.values() for one in several)))
