"""What goes into a line's filters, kept while the line runs, and how the programs before them ended."""

from __future__ import annotations

import os
import sys
import threading
import time
from _socket import socket
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from spillover import pipeline
from spillover.api import Clipper
from spillover.events import record_run
from spillover.notice.sentences import before_filters
from spillover.result import Clip
from spillover.settings.limits import Size
from spillover.settings.settings import Call
from spillover.shell.pipes import Pipe, rewrite
from spillover.source.intake import Intake

READ = 1 << 16
#: What we send ourselves once the line has ended.
END = b"end\n"
#: How long a filter's input is waited for once the line has ended.
LINGER = 1.0
#: A program that wrote to a filter which had had enough ends like this.
SIGPIPE_CODE = 128 + 13


class Kept(Struct, frozen=True):
    """What went into a pipeline's filters."""

    filters: str  # "| tail -20"
    exits: tuple[tuple[str, int], ...]  # of the programs before them, as far as they are known
    dropped: bool = False  # whether the filters hid some of it
    lines: int = 0
    ref: str | None = None
    reason: str | None = None  # why it could not be kept, or not all of it, or on this machine only
    here: bool = False  # on this machine only

    def note(self, exit_code: int) -> str:
        """Return the line that tells of it; nothing where there is nothing to tell that the line's own exit code does not."""
        failed = [(program, code) for program, code in self.exits if code not in (0, SIGPIPE_CODE)]
        if not self.dropped and all(code == exit_code for _, code in failed):
            return ""
        told = failed or list(self.exits[-1:])
        hidden = {"lines": self.lines, "ref": self.ref, "reason": self.reason, "here": self.here}
        return before_filters(self.filters, told, hidden if self.dropped else None)


class Keeper:
    """Listens while a line runs: the inputs of its filters come over a socket, the exit codes before them into a file."""

    def __init__(self, pipes: list[Pipe], clipper: Clipper, line: str, shell: str) -> None:
        self.pipes, self.line, self.shell = pipes, line, shell
        self.lock, self.closed = threading.Lock(), False
        self.calls = [clipper.call(pipe.stages[-1].program) for pipe in pipes]
        self.intakes: list[Intake | None] = [pipeline.open_intake(each) for each in self.calls]
        self.threads: list[threading.Thread] = []
        self.clips: list[tuple[Call, Clip, int | None]] = []
        self.folder = self._open_folder()
        self.link = self._listen() if self.folder else None

    def rewrite(self, line: str) -> str:
        """Return the line that is run: unchanged where nothing could be listened to, or where the shell would not read it."""
        if self.link is None:
            return line
        from shlex import quote

        keep = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "shell", "keep.py")
        python = f"{quote(sys.executable)} -I -S {quote(keep)} {self.folder}/link"
        told = f"2>/dev/null >>{self.folder}/told"
        changed = rewrite(
            line,
            self.pipes,
            lambda pipe: f"{python} {pipe}",
            lambda pipe, at: f"trap 'echo {pipe} {at} $? {told}' EXIT",
        )
        import subprocess  # loaded for the run anyway

        try:
            checked = subprocess.run(
                [self.shell, "-n", "-c", changed], stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
        except OSError:  # there is no such shell, which the run will say
            return line
        return line if checked.returncode else changed

    def settle(self, main: Intake) -> tuple[Kept, ...]:
        """Return what was kept of each pipe, once the line has ended; `main` is what it printed."""
        until = time.monotonic() + LINGER
        self._stop_listening(until)
        for thread in self.threads:
            thread.join(max(0.0, until - time.monotonic()))
        codes = self._codes()
        printed = None if main.overflowed else main.held
        out = []
        for number, (pipe, call) in enumerate(zip(self.pipes, self.calls, strict=True)):
            exits = tuple(
                (stage.program, code)
                for at, stage in enumerate(pipe.stages)
                if (code := codes.get((number, at))) is not None
            )
            intake = self.intakes[number]
            if intake is None or any(thread.name == str(number) and thread.is_alive() for thread in self.threads):
                out.append(Kept(pipe.filters, exits))  # it never ran, or runs on behind our back
                continue
            self.intakes[number] = None
            out.append(self._keep(intake, call, pipe, exits, printed))
        return tuple(out)

    def _keep(
        self, intake: Intake, call: Call, pipe: Pipe, exits: tuple[tuple[str, int], ...], printed: bytes | None
    ) -> Kept:
        intake.finish()
        if not intake.bytes or (not intake.overflowed and printed is not None and intake.held in printed):
            intake.abandon()
            return Kept(pipe.filters, exits)
        from spillover.kinds.cut import keep  # only what was hidden needs it

        call = replace(call, command=self.line)
        kept, total = keep(intake, call)
        ref, reason = kept.ref, kept.reason
        clip = Clip("", "stored" if ref else "lost", ref, kept.path, reason, _total=total, _shown=Size())
        self.clips.append((call, clip, dict(exits).get(pipe.stages[-1].program)))
        return Kept(pipe.filters, exits, dropped=True, lines=total.lines, ref=ref, reason=reason, here=kept.here)

    def note(self) -> None:
        """Note what was kept as runs of their own, the newest ones."""
        for call, clip, exit_code in self.clips:
            record_run(call, clip, b"", exit_code=exit_code)

    def close(self) -> None:
        """Leave nothing behind."""
        if self.link is not None:
            self.link.close()
        with self.lock:
            self.closed = True
            for intake in filter(None, self.intakes):
                intake.abandon()
        if self.folder:
            from shutil import rmtree

            rmtree(self.folder, ignore_errors=True)

    def _open_folder(self) -> str:
        """Return a folder of our own; none where its path would need quotes, or be too long for a socket."""
        from tempfile import mkdtemp

        try:
            folder = mkdtemp(prefix="spill-sh-")
        except OSError:  # there is no place for it: the line runs all the same
            return ""
        if (
            len(folder) < 90
            and folder.isascii()
            and folder.replace("/", "").replace("-", "").replace(".", "").replace("_", "").isalnum()
        ):
            return folder
        os.rmdir(folder)
        return ""

    def _listen(self) -> socket | None:
        import _socket  # the rest of socket is not needed

        link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            link.bind(f"{self.folder}/link")
            link.listen(len(self.pipes) + 1)
            self.accepting = threading.Thread(target=self._accept, args=(link,), name="spillover-sh", daemon=True)
            self.accepting.start()
        except (OSError, RuntimeError):
            link.close()
            return None
        return link

    def _accept(self, link: socket) -> None:
        waiting = set(range(len(self.pipes)))
        while waiting:
            try:
                fd, _ = link._accept()  # type: ignore[attr-defined]  # noqa: SLF001  as socket.accept does it
            except OSError:  # closed: the line has ended
                return
            digits = b""
            with suppress(OSError):
                while len(digits) < 8 and not digits.endswith(b"\n"):
                    digits += os.read(fd, 1) or b"\n"
            number = int(digits) if digits.strip().isdigit() else -1
            if number not in waiting:
                os.close(fd)
                if digits == END:
                    return
                continue
            waiting.discard(number)
            thread = threading.Thread(target=self._take, args=(fd, number), name=str(number), daemon=True)
            thread.start()
            self.threads.append(thread)

    def _stop_listening(self, until: float) -> None:
        """Let everybody in who has knocked by now, and nobody else."""
        if self.link is None:
            return
        import _socket

        last = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        with suppress(OSError):  # all have come, and nobody listens any more
            last.connect(f"{self.folder}/link")
            last.send(END)
        last.close()
        self.accepting.join(max(0.0, until - time.monotonic()))

    def _take(self, fd: int, number: int) -> None:
        intake = self.intakes[number]
        assert intake is not None
        try:
            with suppress(OSError):
                while data := os.read(fd, READ):
                    with self.lock:  # of a job that goes on in the background nothing is kept any more
                        if self.closed:
                            return
                        intake.write(data)
        finally:
            os.close(fd)

    def _codes(self) -> dict[tuple[int, int], int]:
        """Return the exit codes that the stages left, by pipe and stage."""
        try:
            with open(f"{self.folder}/told", encoding="ascii", errors="replace") as told:
                rows = [line.split() for line in told]
        except OSError:
            return {}
        good = [tuple(map(int, row)) for row in rows if len(row) == 3 and all(word.isdecimal() for word in row)]
        return {(pipe, at): code for pipe, at, code in good}
