"""Lines that talk to a person, and lines that only look like it."""

import pytest

from spillover.shell.talk import talks_to_a_person


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
def test_it_does(line):
    assert talks_to_a_person(line)


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
def test_it_does_not(line):
    assert not talks_to_a_person(line)
