"""A line of shell: what `bash -c` does with it, and what its filters drop besides."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.notice.wording import before_filters
from spillover.run.line import MAX_PIPES, find_pipes, is_interactive, rewrite, run_line
from spillover.shell import MAX_LINE_CHARS
from spillover.testing import FailingStore

#: Each does something that a careless rewrite would change. `spill sh` prints, writes, leaves and returns what bash does.
CRUEL = [
    "seq 500 | tail -3",
    "seq 500 | head -3",
    "seq 500 | grep 99 | head -2",
    "seq 500 | sed -n '5,7p'",
    "seq 500 | wc -l",
    "(seq 50; exit 4) | tail -2; echo $? ${PIPESTATUS[@]}",
    "false | tail -1; echo ${PIPESTATUS[@]}",
    "set -o pipefail; (seq 9; exit 5) | tail -1",
    "set -e; false | tail -1; echo on",
    "set -eo pipefail; (seq 9; exit 5) | tail -1; echo never",
    "set -u; seq 9 | tail -1; echo $nothing",
    "seq 9 | tail -n 2 | tr 1-9 a-i | rev; exit 7",
    "! seq 9 | grep 10; echo $?",
    "! false | tail -1; echo $?",
    "seq 9 | grep 10 || echo none",
    "seq 9 | grep 10 && echo some; echo $?",
    "exit 3 | tail -1; echo $?",
    "kill -9 $BASHPID | tail -1; echo $?",
    "yes | head -2; echo ${PIPESTATUS[0]}",
    "(echo 1; sleep 0.3; echo 2; touch never) | head -1; ls",
    "echo 'it''s | tail -1' \"| head\"; seq 3 | tail -1",
    'seq 20 | grep "1$(echo 2)"',
    "n=4; seq 20 | tail -$n",
    "f() { seq 5; return 6; }; f | tail -1; echo ${PIPESTATUS[0]}",
    "x=1; { x=2; seq 3; } | tail -1; echo $x",
    "x=1; seq 3 | while read n; do x=$n; done; echo $x; seq 2 | tail -1",
    "cd / && pwd | tail -1; pwd",
    "export A='b c'; env | grep ^A= | head -1",
    "seq 9 | tail -2 > file; cat file",
    "seq 9 > file | tail -1; cat file | wc -l",
    "seq 9 | tee file | tail -1; wc -l < file",
    "seq 9 | tail -1 >&2",
    "ls /nonexistent | tail -1",
    "ls /nonexistent 2>&1 | tail -1",
    "ls /nonexistent |& tail -1",
    "no-such-program | tail -1; echo ${PIPESTATUS[0]}",
    "cat <<EOF | tail -1\na\nb\nEOF\nseq 3 | head -1",
    "cat <<'EOF' > file\n$x | tail\nEOF\ncat file; seq 4 | tail -1",
    "seq 3 | tail -1 &\nwait; echo done",
    "sleep 0.01 & seq 3 | tail -1; wait; jobs",
    "(seq 3 | tail -1) & wait $!; echo $?",
    "for i in 1 2; do seq $i | tail -1; done | tail -1",
    "if seq 3 | grep -q 2; then seq 3 | tail -1; fi",
    "seq 3 | tail -1 | cat -A; seq 3 | nl | tail -1",
    "printf 'a\\0b\\nc' | tail -1; seq 2 | tail -1",
    "python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256))*9)' | head -c 700",
    "LC_ALL=C env | grep -c LC_CTYPE",
    "env | grep -E '^(LC_CTYPE|SHLVL|_)=' | sort | head -3 | grep -v ^_",
    "seq 3 | xargs -n1 echo | tail -1",
    "readlink /proc/self/fd/0 | grep -c pipe; seq 2 | readlink /proc/self/fd/0 | wc -l",
    "seq 3 | tail -x; echo $?",
    "seq 3 | grep '('; echo $?",
    "eval 'seq 3 | tail -1'; bash -c 'seq 4 | tail -1; exit 9'",
    "read x; echo got $x; seq 3 | tail -1",
    "echo unclosed '| tail -1",
    "seq 3 | | tail",
    "seq 3 | tail -1 # a comment | head",
    "seq 3 |\n\n tail -1",
    "seq 200000 | grep 1 | head -1; echo ${PIPESTATUS[@]}",
    "exec 3>&1; seq 3 | tail -1 >&3",
    "umask 077; touch file; ls -l file | cut -c1-10 | tail -1",
    "seq 3 | tail -1; exec seq 2",
    "[[ a == a ]] | tail -1; ((1)) | tail -1; echo $?",
    "echo \"a'b\" 'c\"d' $'e\\tf' \"$(echo \"nested 'q'\" | tail -1)\" | tail -1",
    "cat <<'A' | head -1 | tr a-z A-Z\none $x `date`\ntwo\nA\necho after",
    "cat <<-A <<B | tail -1\n\ttab\n\tA\nb\nB\nseq 5 | tail -2",
    "(cd /tmp && (exit 5) | tail -1; echo ${PIPESTATUS[*]}); pwd | grep -c .",
    '{ echo out; echo err >&2; } |& tail -1; echo "$?" ',
    "{ echo out; echo err >&2; } 2>&1 >/dev/null | tail -1",
    "diff <(seq 5 | tail -2) <(seq 6 | tail -2) | head -1; echo ${PIPESTATUS[0]}",
    "set -o pipefail; (seq 3; exit 3) | tail -1 | cat; echo $?",
    "set -euo pipefail; seq 3 | grep -q 2 && seq 4 | tail -1; (exit 9) | tail -1; echo no",
    "seq 3 | tail -1 ; exit 3",
    "(exit 4) | tail -1 || exit 3",
    "TIMEFORMAT=; time seq 3 | tail -1",
    "! seq 3 | grep -q 9; echo $?; ! seq 3 | tail -1; echo $?",
    "f() { local x=$1; seq $x | tail -1; return $x; }; f 7; echo $?",
    "tail() { echo mine; }; seq 3 | tail -1",
    "alias ll='seq 9'; ll | tail -1; echo $?",
    "shopt -s expand_aliases\nalias ll='seq 9'\nll | tail -1",
    "tail -1 <<< $'a\\nb'; grep -c x <<< xyz; seq 4 | tail -1 <<< here",
    "printf '\\377\\376 x\\n\\303\\n' | tail -2; printf '\\200\\n'",
    "printf 'a\\r\\nb\\r\\n'; seq 3 | tail -1",
    "printf 'a\\r\\nb\\r\\nc\\r\\n' | tail -2",
    "printf '\\033[31mred\\033[0m\\n\\a\\b\\f\\v' ; seq 2 | tail -1",
    "printf '10%%\\r50%%\\r100%%\\n'",
    "printf 'a\\0b\\n'",
    "yes | head -3; echo ${PIPESTATUS[@]}",
    "seq 1000000 | head -1; echo ${PIPESTATUS[@]}",
    "yes | grep -q y; echo ${PIPESTATUS[@]}",
    "seq 100 | tee f | tail -1; wc -l < f; seq 5 | tee -a f | tail -1 | tee g; cat g",
    "mkdir -p x/y && cd x && cd y && ls -la .. | grep -c y; basename $PWD",
    "trap 'echo bye' EXIT; seq 3 | tail -1",
    "trap 'echo got; exit 6' TERM; kill -TERM $$; seq 3 | tail -1",
    "case $(seq 3 | tail -1) in 3) echo three | tail -1;; *) echo no;; esac",
    'while read l; do echo "$l"; done < <(seq 5 | tail -2) | tail -1',
    "for i in 1 2 3; do (exit $i) | tail -1; echo ${PIPESTATUS[0]}; done",
    'select_=1; a=(1 2 3); echo "${a[@]}" | tail -1; echo ${#a[@]} $((2|4)) | tail -1',
    '[[ "a|b" =~ a\\|b ]] && echo "m | tail -1" | tail -1',
    'echo a | tail -1 | (read x; echo "[$x]"; exit 5); echo $?',
    "exec 2>&1; ls /none | tail -1; echo $?",
    "exec 5< <(seq 9); tail -1 <&5",
    "seq 9 | tail -1 2>err >out; cat out err",
    "seq 9 2>/dev/null | tail -2 | sort -r | uniq -c | awk '{print $2}'",
    "seq 3 | tail -1 || true | false; echo $?; seq 3 | tail -1 |& cat",
    "echo $'multi\\nline' | grep -n line; if seq 3 | tail -1; then echo y; fi | tail -1",
    "false; seq 3 | tail -1; echo $? $_",
    'sh -c "seq 3 | grep 2 | head -1" ; (((1+1))) ; echo $?',
    'function g { grep "$@"; }; seq 3 | g 2 | tail -1',
    "seq 3 | \\tail -1; seq 3 | command tail -1; seq 3 | /usr/bin/tail -1",
    'T=tail; seq 3 | $T -1; seq 3 | "ta"il -1',
    "seq 3|tail -1;seq 3|head -1&&seq 3|grep 2",
    "seq 3 | tail -1\\\n0 ; seq 12 \\\n | tail -1",
    'python3 - <<\'P\' | tail -1\nimport sys\nprint("a"); sys.stderr.write("e\\n"); sys.exit(7)\nP\necho ${PIPESTATUS[@]}',
    'cat <<< "$(seq 3 | tail -1)" | wc -c; seq 3 | wc -l < /dev/null',
    "seq 5 | sed -n '2p;4p' ; seq 5 | sed -n 2,3p | tail -1; seq 5 | sed 2d | head -1",
    "seq 30 | grep -A1 -m1 5; seq 30 | grep -c 1; seq 30 | grep -o 1 | wc -l; seq 3 | grep -L x",
    "echo " + "a" * 15_000 + " | tail -c 20",
    "echo " + "a " * 12_000 + " | wc -w",
    "",
    "   ",
    "# nothing",
]


@pytest.fixture
def clipper():
    return Clipper(Limits(tokens=20_000, bytes=None, lines=None), store=MemoryStore(), hints="cli", scope="test")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to run in, made anew on each call."""

    def make(name):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        return folder

    return make


def files(folder):
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("line", CRUEL)
def test_it_is_what_bash_makes_of_it(clipper, here, line):
    folder = here("bash")
    plain = subprocess.run(["bash", "-c", line], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    expected = (plain.returncode, plain.stdout, plain.stderr, files(folder))
    folder = here("spill")
    ended = run_line(line, clipper)
    shown = {"stdout": b"", "stderr": b""}
    for stream, piece in ended.pieces or [(stream, text.encode()) for stream, text in ended.run.streams]:
        shown[stream] += piece
    assert (ended.run.exit_code, shown["stdout"], shown["stderr"], files(folder)) == expected


def test_what_a_filter_drops_is_kept_and_the_exit_code_behind_it_told(clipper):
    ended = run_line("(seq 12400; exit 1) 2>&1 | tail -2", clipper)
    assert (ended.run.exit_code, ended.run.clip.text) == (0, "12399\n12400\n")
    (kept,) = ended.inputs
    assert ended.notes == (f'[All 12,400 lines that went into "| tail -2" are kept: {kept.ref} · seq exited 1]',)
    assert clipper.read(kept.ref, lines="6000:6001").text.startswith("6000: 6000\n6001: 6001\n")
    assert "1 match" in clipper.grep(kept.ref, "^777$").text
    assert clipper.outline(kept.ref).text
    assert "\n2: 2\n" in clipper.read("last:seq", lines="2").text


@pytest.mark.parametrize(
    ("line", "notes"),
    [
        ("seq 3 | tail -5", ()),
        ("seq 3 | cat | tail -5; true", ()),
        ("(seq 3; exit 2) | tail -5", ('[seq exited 2, which "| tail -5" hides]',)),
        ("set -o pipefail; (seq 3; exit 2) | tail -5", ()),
        ("(exit 4) | (exit 5) | wc -l", ('[exit exited 4 · exit exited 5, which "| wc -l" hides]',)),
        ("false && seq 3 | tail -1", ()),
        ("seq 3", ()),
    ],
)
def test_nothing_is_said_where_there_is_nothing_to_say(clipper, line, notes):
    ended = run_line(line, clipper)
    assert ended.notes == notes
    assert list(clipper.settings.store.list()) == []


def test_several_pipelines_are_told_apart(clipper):
    ended = run_line("seq 100 | tail -1; seq 2>&1 | head -1; seq 300 | grep -c 7", clipper)
    assert [kept.lines for kept in ended.inputs] == [100, 2, 300]
    assert [note.rpartition(" · ")[2] for note in ended.notes] == ["seq exited 0]", "seq exited 1]", "seq exited 0]"]


@pytest.mark.parametrize("tokens", [150, 400, 2_000])
def test_what_it_prints_and_what_we_add_is_within_the_limits(tokens):
    clipper = Clipper(Limits(tokens=tokens, lines=40, bytes=3_000), store=MemoryStore(), scope="test")
    ended = run_line("; ".join(f"seq {1_000 + each} | grep -v {each}" for each in range(12)), clipper)
    text = ended.run.clip.text + "".join(f"{note}\n" for note in ended.notes)
    assert clipper.settings.count(text) <= tokens
    assert len(text.encode()) <= 3_000
    assert text.count("\n") <= 40


def test_a_full_disk_is_said_and_the_filter_prints_what_it_would_have():
    clipper = Clipper(Limits(tokens=500), store=FailingStore(MemoryStore()), scope="test")
    ended = run_line("seq 50000 | tail -1", clipper)
    assert ended.run.clip.text == "50000\n"
    assert re.fullmatch(r'\[50,000 lines before "\| tail -1" could not be kept: .+ · seq exited 0\]', ended.notes[0])


def test_a_job_left_in_the_background_is_not_waited_for(clipper, tmp_path):
    began = time.monotonic()
    ended = run_line(f"(sleep 30; seq 9) > {tmp_path}/x & echo $!; seq 9 | tail -1", clipper)
    pid = int(ended.run.clip.text.split()[0])
    try:
        assert Path(f"/proc/{pid}").exists() or not Path("/proc").exists()
        assert time.monotonic() - began < 25
    finally:
        os.kill(pid, 9)


#: Each leaves a process behind that says where it is.
LEAVING = {
    "in the background": "sleep 600 >/dev/null 2>&1 & echo $! > pid",
    "in a session of its own": "setsid sleep 600 >/dev/null 2>&1 & echo $! > pid",
    "from a subshell": "(sleep 600 & echo $! > pid); echo done",
    "disowned": "nohup sleep 600 >/dev/null 2>&1 & echo $! > pid; disown",
    "before a filter": "(sleep 600 >/dev/null 2>&1 & echo $! > pid; seq 5) | tail -1",
    "beside a filter": "sleep 600 >/dev/null 2>&1 & echo $! > pid; seq 5 | tail -1; exit 3",
    "by a shell that is killed": "sleep 600 & echo $! > pid; kill -9 $$",
}


@pytest.mark.parametrize("how", LEAVING)
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_the_children_that_bash_leaves_behind_are_left_behind(clipper, here, how):
    folder = here("bash")
    # A file, not a pipe: a child that has it open keeps nobody waiting.
    with open(folder / "out", "wb") as out:
        code = subprocess.run(
            ["bash", "-c", LEAVING[how]], stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False
        ).returncode
    expected = (code if code >= 0 else 128 - code, end_child(folder))
    folder = here("spill")
    ended = run_line(LEAVING[how], clipper)
    assert (ended.run.exit_code, end_child(folder)) == expected


def end_child(folder):
    """End the process that was left behind; whether it was still there."""
    pid = int((folder / "pid").read_text())
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        os.kill(pid, 9)
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def test_a_shell_that_is_not_known_runs_the_line_as_it_came(clipper, tmp_path):
    shell = tmp_path / "othersh"
    shell.write_text('#!/bin/sh\nprintf "%s\\n" "$2"\n')
    shell.chmod(0o755)
    ended = run_line("seq 9 | tail -1", clipper, shell=str(shell))
    assert (ended.run.clip.text, ended.notes) == ("seq 9 | tail -1\n", ())


def test_a_line_that_the_shell_would_not_read_any_more_runs_unchanged(clipper, tmp_path):
    shell = tmp_path / "bash"
    shell.write_text('#!/bin/sh\n[ "$1" = -n ] && exit 2\nexec bash "$@"\n')
    shell.chmod(0o755)
    ended = run_line("seq 9 | tail -1", clipper, shell=str(shell))
    assert (ended.run.clip.text, ended.notes) == ("9\n", ())


def test_without_a_folder_for_temporary_files_it_runs_as_it_came(clipper, monkeypatch):
    def refuse(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spillover.run.line.mkdtemp", refuse)
    ended = run_line("seq 9 | tail -1", clipper)
    assert (ended.run.clip.text, ended.notes) == ("9\n", ())


def test_nothing_is_left_behind(clipper, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_line("seq 999 | tail -1; exit 3", clipper)
    assert list(tmp_path.iterdir()) == []


def test_the_words_of_a_line_stay_short_and_on_one_line():
    said = before_filters("| grep '" + "x\n" * 500 + "'", [("p" * 500, 1)], {"lines": 1, "ref": "p-1", "reason": None})
    assert "\n" not in said
    assert len(said) < 250
    assert said.startswith("[The 1 line that went into ")


@pytest.mark.parametrize(
    "line",
    [
        "vi notes.txt",
        "cd app && git log | less",
        "sudo vim /etc/hosts",
        "python3",
        "python3.12 -q",
        "bash --norc -i",
        "read -p 'name? ' name; echo $name",
        "read -s -p 'password: ' word",
    ],
)
def test_a_line_that_ends_in_an_editor_a_pager_or_a_prompt_is_interactive(line):
    assert is_interactive(line)


@pytest.mark.parametrize(
    "line",
    [
        "make test",
        "python3 -m pytest",
        "python3 -c 'print(1)'",
        "python3 <<'END'\nprint(1)\nEND",
        "curl -s https://example.com | bash",
        "less notes.txt > copy",
        "less notes.txt | wc -l",
        "seq 3 | while read x; do echo $x; done",
        "read x",
        "sudo make install",
        "echo vi",
        "",
    ],
)
def test_a_line_that_only_looks_like_it_is_not_interactive(line):
    assert not is_interactive(line)


# ── which pipelines end in filters ──


def changed(line):
    return rewrite(line, find_pipes(line), lambda pipe: f"K{pipe}", lambda pipe, stage: f"T{pipe}{stage}")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("make | tail -20", "{ T00; make ; } | K0 tail -20"),
        ("make 2>&1 | tail -20; echo $?", "{ T00; make 2>&1 ; } | K0 tail -20; echo $?"),
        ("cd a && make 2>&1 | tail", "cd a && { T00; make 2>&1 ; } | K0 tail"),
        ("cd a && b | c 2>&1 | tail", "cd a && { T00; b ; } | { T01; c 2>&1 ; } | K0 tail"),
        ("(cd a; make 2>&1 | head -3)", "(cd a; { T00; make 2>&1 ; } | K0 head -3)"),
        ("{ a; b; } |& head", "{ T00; { a; b; } ; } |& K0 head"),
        ("a | tail -1 && b | wc -l", "{ T00; a ; } | K0 tail -1 && { T10; b ; } | K1 wc -l"),
        ("a | grep -v x | sort | head -5", "{ T00; a ; } | K0 grep -v x | sort | head -5"),
        ("a | LC_ALL=C grep -A 3 x", "{ T00; a ; } | LC_ALL=C K0 grep -A 3 x"),
        ("a | sed -n '5,10p'", "{ T00; a ; } | K0 sed -n '5,10p'"),
        ("a | sed -n -e 5p", "{ T00; a ; } | K0 sed -n -e 5p"),
        ("a | tail -5 2>/dev/null", "{ T00; a ; } | K0 tail -5 2>/dev/null"),
        ("2>&1 a | tail -3", "{ T00; 2>&1 a ; } | K0 tail -3"),
        ("a | \\\n  tail -3", "{ T00; a ; } | \\\n  K0 tail -3"),
        ("a &&\nb | tail -3 # c\nd", "a &&\n{ T00; b ; } | K0 tail -3 # c\nd"),
        ("for x in *; do f $x; done | tail -1", "{ T00; for x in *; do f $x; done ; } | K0 tail -1"),
        ("é | tail -1; ü | head -1", "{ T00; é ; } | K0 tail -1; { T10; ü ; } | K1 head -1"),
        # `time` and `!` speak of the whole pipeline.
        ("time make | tail -5", "time make | K0 tail -5"),
        ("! make | grep x", "! make | K0 grep x"),
    ],
)
def test_what_goes_into_the_filters_is_kept_and_nothing_else_of_the_line_changes(line, expected):
    assert changed(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "make", "make && make install", "a | b", "a | sort", "a | sed s/x/y/",
        "make | tail -5 > file", "make | tail -5 &>file", "a | tail -3 & wait", "(a | tail) > f", "a | grep x < f",
        "a | grep x file", "a | tail -5 file", "a | grep -q x", "a | grep -rn x", "a | grep -iq x", "a | tail -f", "a | sed -i s/x/y/",
        "cat f | head -5", "echo $x | grep y", "printf x | wc -c",
        "cat <<EOF | tail -1\nx\nEOF\n", "x=$(a | tail)", "if a | tail; then b; fi", "f() { a | tail; }; f",
        "while a | tail -1; do b; done", "tail() { cat; }; a | tail",
        "trap 'x' EXIT; a | tail", "set -x; a | tail", "set -euxo pipefail; a | tail", "alias t=tail; a | tail",
        "shopt -s lastpipe; a | tail", "echo $BASH_COMMAND; a | tail",
        "a | $X", 'a | "$X" -5', "a | 'tail' -5", "a | tail -5 |", "a | | tail", "echo 'unclosed | tail", "a | tail -5 )", "",
        "a" * MAX_LINE_CHARS + " | tail", "a\0 | tail",
    ],
)  # fmt: skip
def test_what_is_not_read_for_certain_stays_as_it_is(line):
    assert changed(line) == line


def test_each_program_before_the_filters_is_known_by_its_name():
    (pipe,) = find_pipes("(cd x && timeout 60 uv run python -m pytest -q; exit 3) 2>&1 | grep -E 'a|b' | tail -2")
    assert [program.name for program in pipe.programs] == ["pytest"]
    assert (pipe.first_filter, pipe.filters) == ("grep", "| grep -E 'a|b' | tail -2")


def test_there_is_an_end_to_the_pipelines_that_are_changed():
    assert len(find_pipes("a | tail; " * 50)) == MAX_PIPES
    assert find_pipes("(" * 5_000 + "a | tail" + ")" * 5_000) == []
