"""What is seen through in a line, and what is not."""

import pytest

from spillover.since.shape import STRETCH, keys

SAYS_THE_SAME = """
2024-01-02T03:04:05.678Z start      | 2025-11-12T13:24:35.1Z start
2024-01-02 03:04:05,678 INFO start  | 2025-11-12 13:24:35,001 INFO start
Jan  2 03:04:05 host sshd: bye      | Nov 12 13:24:35 host sshd: bye
ok  pkg/a 0.012s                    | ok pkg/a 1.5s
12 passed in 0.52s                  | 12 passed in 1.04s
took 12 seconds                     | took 3 seconds
Time elapsed: 0.036 s               | Time elapsed: 1.2 s
Total time:  02:10 min              | Total time:  03:11 min
Tue Nov 17 10:00:00 UTC 2026 up      | Wed Dec  2 11:00:01 UTC 2026 up
built in 1m30s                      | built in 45s
Downloaded 1.2 MB                   | Downloaded 340 MB
<object at 0x7ffee1>                | <object at 0x12abc>
commit 3f2a9bc done                 | commit 0a1b2c3 done
550e8400-e29b-41d4-a716-446655440000| 123e4567-e89b-12d3-a456-426614174000
/tmp/tmpabcdefg/a.txt missing       | /tmp/tmp.zzzxxyQ/a.txt missing
/tmp/pytest-of-me/pytest-12/x.log   | /tmp/pytest-of-me/pytest-9/x.log
[ 45%] PASSED                       | [  5%] PASSED
[3/10] Compiling a                  | [10/10] Compiling a
sshd[123]: hi                       | sshd[12]: hi
worker 3 done, pid 812              | worker 11 done, pid 9
listening on localhost:8080         | listening on localhost:9090
http://127.0.0.1:8080/x             | http://127.0.0.1:9091/x
bound to port 54321                 | bound to port 8080
#12 DONE 0.1s                       | #7 DONE 2.0s
[gw3] PASSED a                      | [gw0] PASSED a
"""
OTHER_NUMBERS = """
14 failed                           | 13 failed
exit code 1                         | exit code 0
a.py:12:34: error                   | a.py:13:35: error
foo-1.2.3.jar                       | foo-1.2.4.jar
expected 5, got 6                   | expected 5, got 7
coverage 81%                        | coverage 79%
"""
SAYS_ANOTHER_THING = """
test_12 FAILED                      | test_13 FAILED
a b                                 | b a
FAILED test_a                       | PASSED test_a
12                                  | twelve
tests/tmp_a.py                      | tests/tmp_b.py
"""


def pairs(table):
    return [tuple(side.strip() for side in line.split("|")) for line in table.strip().splitlines()]


def compare(one, other):
    said, worded = keys(f"{one}\n{other}\n".encode())
    return bool(said[0] == said[1]), bool(worded[0] == worded[1])


@pytest.mark.parametrize(("one", "other"), pairs(SAYS_THE_SAME))
def test_what_differs_from_run_to_run_is_seen_through(one, other):
    assert compare(one, other) == (True, True)


@pytest.mark.parametrize(("one", "other"), pairs(OTHER_NUMBERS))
def test_other_numbers_say_something(one, other):
    assert compare(one, other) == (False, True)


@pytest.mark.parametrize(("one", "other"), pairs(SAYS_ANOTHER_THING))
def test_other_words_are_another_line(one, other):
    assert compare(one, other) == (False, False)


def test_a_blank_line_has_the_key_0_and_padding_makes_no_difference():
    said, worded = keys(b"\n \t\na  b\na b \n")
    assert said[:2].tolist() == worded[:2].tolist() == [0, 0]
    assert said[2] == said[3] != 0


def test_a_key_does_not_depend_on_what_stands_around_the_line():
    lines = [
        side for table in (SAYS_THE_SAME, OTHER_NUMBERS, SAYS_ANOTHER_THING) for pair in pairs(table) for side in pair
    ]
    lines += ["12", "seconds to go", "pid", "99 things", "/tmp/", "x", "[", "3/10]"]
    alone = [tuple(int(key[0]) for key in keys(f"{line}\n".encode())) for line in lines]
    together = keys("".join(f"{line}\n" for line in lines).encode())
    assert list(zip(*(each.tolist() for each in together), strict=True)) == alone


def test_a_line_longer_than_a_stretch_has_one_key():
    long = b"x1 " * STRETCH
    said, _ = keys(long + b"\nshort\n" + long + b"y\n" + long + b"\n")
    assert len(said) == 4
    assert said[0] == said[3] != said[2]
