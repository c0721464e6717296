"""Which pipelines end in filters, and the line with what goes into them kept."""

import pytest

from spillover.run.line import MAX_PIPES, find_pipes, rewrite
from spillover.shell import MAX_LINE_CHARS


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
