"""Shell lines as the commands they run."""

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.profiles.t15 import warning_for
from spillover.shell import KEYWORDS, PLAIN_CHARS, Command, base_name, is_retrieval, parse, parse_substitutions, read

#: The line, and its pipelines: the words of each command.
LINES = [
    ("", []),
    ("ls", [["ls"]]),
    ("ls -l 'a b' | sort -u; true && false", [["ls -l a b", "sort -u"], ["true"], ["false"]]),
    ("A=1 sudo -u me ls", [["ls"]]),
    ("if true; then ls; else pwd; fi", [["true"], ["ls"], ["pwd"]]),
    ("ls # pwd", [["ls"]]),
    ("ls \\\n -l", [["ls -l"]]),
    ("cat < in.txt", [["cat in.txt"]]),
    ("bash -c 'ls; pwd' | cat", [["ls", "cat"], ["pwd", "cat"]]),
    ("ls | bash -c 'sort; cat'", [["ls", "("], ["sort"], ["cat"]]),
    ("bash -c \"bash -c 'bash -c ls'\"", [["ls"]]),
    ("npx -y tsc -p .", [["tsc -p ."]]),
    ("timeout -s KILL 5 ls /", [["ls /"]]),
    ("python3 -m mypy src", [["mypy src"]]),
    ("python3 -c 'import x' -m mypy", [["python3 -c import x -m mypy"]]),
    ("sudo", [["sudo"]]),
    ("cat > f <<EOF\nls\nEOF", [["cat"]]),
    ("cat <<EOF | sort\nls\nEOF", [["cat", "sort"]]),
    ("f() { ls; }; f", [["f"]]),
    ("x=$(ls)", []),
    ("(ls; pwd) | sort", [["ls", "sort"], ["pwd", "sort"]]),
    ("for a in b; do ls $a; done", [["ls $a"]]),
    ("ls a\\ b $'c' \"d\\\"e\" f'g'h", [['ls a b c d"e fgh']]),
    # bash's own precedence: what a grammar takes for one pipeline of a list.
    ("a && b 2>&1 | tail -5", [["a"], ["b", "tail -5"]]),
    ("a; b && c 2>&1 | tail -5 || d", [["a"], ["b"], ["c", "tail -5"], ["d"]]),
    ("cat <<EOF && ls | wc > f\nx\nEOF\npwd", [["cat"], ["ls", "wc"], ["pwd"]]),
    ("if a; then b\nelif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
    ("case x in a) ls;; b|c) pwd;; esac", [["ls"], ["pwd"]]),
    ("while read x; do echo; done < f | sort", [["read x", "sort"], ["echo", "sort"]]),
    ("! a | b & c", [["a", "b"], ["c"]]),
]


@pytest.mark.parametrize(("line", "pipelines"), LINES)
def test_a_line_is_read_as_its_pipelines(line, pipelines):
    assert [[command.text for command in each] for each in parse(line)] == pipelines


@pytest.mark.parametrize(
    ("line", "silent"),
    [
        ("ls > f", [True]),
        ("ls >> f", [True]),
        ("ls &> f", [True]),
        ("ls 2> f", [False]),
        ("ls 2>&1", [False]),
        ("ls >&2", [False]),
        ("ls > /dev/stderr", [False]),
        ("ls | cat > f", [False, True]),
        ("ls > f 2>&1 | cat", [True, False]),
        ("bash -c ls > f", [True]),
        ("a && b > f", [False, True]),
        ("(a; b) > f", [True, True]),
    ],
)
def test_what_goes_into_a_file_is_known(line, silent):
    assert [command.silent for each in parse(line) for command in each] == silent


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("gcc-12", "gcc"),
        ("python3.11", "python"),
        ("clang++-17", "clang++"),
        ("tsc.cmd", "tsc"),
        ("7", "7"),
        ("g++", "g++"),
    ],
)
def test_a_version_is_no_part_of_a_name(program, name):
    assert base_name(program) == name


def test_words_before_a_verb_are_passed_over():
    assert Command("git", ("-C", "app", "log", "-p")).verbs == ["log", "-p"]
    assert Command("cargo", ("+nightly", "--quiet", "build")).verbs == ["build"]


@pytest.mark.parametrize(
    "part", ["a|", "<<a ", "${", "(", "$(", "`", "'", "if ", "a;", "{ ", "case x in ", "cat|", "sudo "]
)
def test_no_line_takes_long(part):
    """Of `a|`, ten thousand took tree-sitter seven seconds: such a line is read without it."""
    line = part * (20_000 // len(part))
    began = time.process_time()
    warning_for(f"find / | {line}")
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("line", "pipelines"),
    [
        ("echo $(find / | cat) | head -5", [["find /", "cat", "head -5"]]),
        ("cat <(ls) | wc", [["ls", "cat", "wc"]]),
        ("for x in $(a); do b `c`; done", [["a"], ["c"]]),
        ("x=$(a $(b)); f() { c $(d); }", [["a $(b)"], ["b"]]),
        ("bash -c 'a $(b)' | sort", [["b"]]),
        ("a $(b) > f", []),
    ],
)
def test_substitutions_are_read_with_what_their_output_goes_into(line, pipelines):
    assert [[command.text for command in each] for each in parse_substitutions(line)] == pipelines


def test_nothing_that_parses_is_loaded_for_those_who_did_not_ask():
    code = (
        "import sys; from spillover.cli import main\n"
        "try: main(['run', '--', 'true'])\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if 'tree_sitter' in name])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


WORDS = st.lists(
    st.sampled_from(sorted(KEYWORDS))
    | st.text(st.sampled_from(sorted(PLAIN_CHARS)), max_size=6)
    | st.sampled_from(
        ["make", "git", "-", "--", "-j8", "a=b", "=", "+x", "%1", ":", "12", "./run.sh", "@1.2", "test", "[", "!", "{"]
    ),
    max_size=5,
)


@given(WORDS.map(" ".join))
def test_a_plain_line_is_what_a_parser_reads(line):
    by_parser = [[stage.words for stage in each.stages] for each in read(f"{line}\n")]
    assert [[stage.words for stage in each.stages] for each in read(line)] == by_parser


def test_a_plain_line_loads_no_parser():
    program = "import sys\nfrom spillover.shell import parse\nparse('npm run build --if-present -w packages/a')\n"
    program += "assert 'tree_sitter' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    "line",
    [
        "spill read make-7f3a9c2e41d05b86 120:180",
        "spill grep last error",
        "spill grep last 'error|FAILED' -C 2 | head -5",
        "spill grep last error|FAILED",
        "cd app && spill outline last",
        "/usr/local/bin/spill read last",
        "bash -c spill read last",
        "bash -c 'spill read last; spill grep last x'",
        "spill run -- spill read last",
        "spill run --tokens 500 -- spill read last",
        "spill sh 'spill read last | tail -5'",
        "sh -c spill sh 'spill read last'",
    ],
)
def test_a_line_that_only_looks_at_what_is_stored_is_no_run(line):
    assert is_retrieval("bash", line)


@pytest.mark.parametrize(
    "line",
    [
        None, "", "make", "cd app", "make; spill read last", "spill read last\nmake", "make 2>&1 | spill", "spill run -- make", "spill sh 'make | tail'",
        "spill", "grep -r spill src", "echo spill read last", "python -m spillover_tests", "spill mcp -- server",
    ],
)  # fmt: skip
def test_a_line_that_runs_anything_else_is_one(line):
    assert not is_retrieval("bash", line)


@pytest.mark.parametrize("line", ["spill run -- " * 1_500 + "make", "(" * 9_000 + "make", "a && " * 4_000 + "b | tail"])
def test_no_line_is_nested_too_deeply(line):
    assert not is_retrieval("bash", line)
    assert parse_substitutions(line) == []


def test_the_tools_that_answer_a_model_are_no_runs():
    assert all(is_retrieval(name, None) for name in ("read_output", "mcp__spillover__grep_output", "list_outputs"))
    assert not is_retrieval("read_file", None)
