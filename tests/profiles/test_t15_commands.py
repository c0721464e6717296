"""What is known of a command before it runs: tables a reviewer can check by eye."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import FLOODS, Flood, direction_for, warning_for

FLOODING = [
    "ls -R",
    "ls -R src",
    "find",
    "find .",
    "find src -type f",
    "ls -R /",
    "ls -lR /",
    "ls --recursive /usr",
    "ls -R ~",
    "find /",
    "find / -type f",
    "sudo find / 2>/dev/null",
    "sudo -u root env A=1 nice -n 5 find /",
    "timeout 5 find /",
    "cd / && ls -R /",
    "echo hi; find /",
    "true || find /",
    "if true; then find /; fi",
    "echo a\nfind /\n",
    "find / \\\n -type f",
    'bash -c "ls -R /"',
    "find / | head -n 100000",
    "find / | head -n -5",
    "find / | tail -n +2",
    "find / | sort | cat",
    "find / >&2",
    'grep -r "" .',
    "grep -r '' src",
    "grep -rn TODO /",
    "rg ''",
    "cat /dev/urandom",
    "cat < /dev/zero",
    "xxd /dev/sda",
    "yes",
    "yes | cat",
    "journalctl",
    "journalctl -u nginx",
    "journalctl -n 5 -f",
    "npm install --verbose",
    "npm ci --loglevel silly",
    "npm i --loglevel=verbose",
    "docker logs web",
    "kubectl logs pod/web",
    "git log -p",
    "tail -f app.log",
    "tree /",
    "du -a /",
    "find / 'unbalanced",
    "(find /; ls) | cat",
    "{ find /; ls; } 2>&1",
    'bash -lc "find /" | cat',
    "uv run find /",
    "git -C app log -p",
    "docker --context prod logs web",
    "for folder in a b; do ls -R $folder; done",
    "x=$(ls -R /)",
    "x=`ls -R /`",
    "export all=$(find /) other=1",
    "echo $(echo $(find /))",
    "cat <(ls -R /)",
    "(ls -R /)",
    "for f in $(find /); do echo $f; done",
    "bash -c 'x=$(ls -R /)'",
    "cd x && timeout 5 sh -c 'bash -c \"x=\\$(find /)\"'",
]
HARMLESS = [
    "",
    "   ",
    "#",
    "ls",
    "ls /",
    "find . -name x",
    "find / -name passwd",
    "find / -maxdepth 1",
    "find / > all.txt",
    "find / >> all.txt",
    "find / &> all.txt",
    "find / | head",
    "find / | head -20",
    "find / | head -n 20 | cat",
    "find / | wc -l",
    "find /|wc -l",
    "find / 2>&1 | grep -c x",
    "find / | grep needle",
    "find / | sed 20q",
    "find / | python count.py",
    "echo 'find /'",
    'echo "ls -R /"',
    "echo hi # find /",
    "# find /",
    "grep -r TODO src",
    "grep -rc '' /",
    "cat /dev/null",
    "cat README.md",
    "yes | apt install jq",
    "journalctl -n 50",
    "journalctl --since today",
    "npm install",
    "npm test --verbose",
    "docker logs --tail 50 web",
    "git log -p -3",
    "git log",
    "tail -n 5 app.log",
    'echo "unbalanced',
    "sudo",
    "| | |",
    "&&",
    "> ",
    "$(",
    'bash -c "find /" | head',
    'bash -c "find /" > all.txt',
    "bash -c 'x=$(find /)' > all.txt",
    "bash -c 'x=$(find / | wc -l)'",
]
#: What only a parser of bash can tell.
BY_THE_PARSER = [
    "cat > notes.txt <<EOF\nfind /\nEOF\n",
    "count() { find /; }",
    "echo $(find /) | wc -l",
    "x=$(find / | head -5)",
    "echo `find /` > all.txt",
    "count() { x=$(find /); }",
    "wc -l <(find /)",
    "diff <(ls -R a) <(ls -R b)",
    "(find /; ls) > all.txt",
    "(find /; ls) | head",
    "cat <<EOF | wc -l\nyes\nEOF",
]


@pytest.mark.parametrize("command", FLOODING)
def test_a_command_that_is_known_to_flood_is_warned_of(command):
    said = warning_for(command)
    assert said.startswith("`")
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize("command", HARMLESS)
def test_all_others_are_let_pass(command):
    assert warning_for(command) is None


@pytest.mark.parametrize("command", BY_THE_PARSER)
def test_what_is_only_written_down_or_counted_is_let_pass(command):
    assert warning_for(command) is None


@pytest.mark.parametrize("command", ['echo "$(find /)"', "done < <(find /)", 'if [ -n "$(ls -R /)" ]; then :; fi'])
def test_what_is_substituted_inside_quotes_is_warned_of_too(command):
    assert warning_for(command)


def test_a_script_in_a_here_document_is_warned_of():
    assert warning_for("bash <<'EOF'\ncd /\nfind /\nEOF").startswith("`find /` lists")


def test_the_sentence_names_the_command_and_the_way_out():
    assert warning_for("cd x && ls -R / 2>/dev/null") == (
        "`ls -R /` lists every file below a folder; narrow it down, or bound it, for example with `| head -n 200`."
    )


def test_a_long_command_is_not_said_in_full():
    assert len(warning_for("find / " + "-print " * 1_000)) < 250


def test_one_may_add_floods_of_ones_own():
    mine = (*FLOODS, Flood("tcpdump", lambda command: not command.has("-c"), "prints every packet"))
    assert "prints every packet" in warning_for("sudo tcpdump -i eth0", mine)
    assert warning_for("tcpdump -c 5", mine) is None
    assert warning_for("tcpdump") is None


DIRECTIONS = [
    ("tsc --noEmit", "head"),
    ("npx tsc", "head"),
    ("npx -y tsc -p .", "head"),
    ("cd app && cargo build 2>&1", "head"),
    ("/usr/bin/gcc -c x.c", "head"),
    ("CC=clang gcc x.c", "head"),
    ("go vet ./...", "head"),
    ("tsc | grep error", "head"),
    ("make && tsc", "head"),
    ("tsc && npm test", "tail"),
    ("cargo test", "tail"),
    ("cargo", "tail"),
    ("pytest -x", "tail"),
    ("journalctl -n 5000", "tail"),
    ("docker logs web", "tail"),
    ("./anything", "tail"),
    ('bash -lc "npx tsc"', "head"),
    ("bash -lc 'cd app && npx tsc --noEmit' | cat", "head"),
    ('sh -c "pytest -x"', "tail"),
    ("bash -l -c 'tsc'", "head"),
    ("bash build.sh", "tail"),
    ("python -m mypy src", "head"),
    ("python3.12 -u -W ignore -m mypy", "head"),
    ("python -m pytest", "tail"),
    ("python tsc.py", "tail"),
    ("uv run mypy src", "head"),
    ("uv run --with mypy python -m mypy src", "head"),
    ("uv --project app run pyright", "head"),
    ("uvx mypy", "head"),
    ("uv run pytest", "tail"),
    ("poetry run mypy .", "head"),
    ("npm exec tsc", "head"),
    ("npm exec -- tsc --noEmit", "head"),
    ("npm --prefix app exec tsc", "head"),
    ("npm exec -c 'tsc -p .'", "head"),
    ("npm test", "tail"),
    ("pnpm exec tsc", "head"),
    ("yarn tsc", "head"),
    ("yarn install", "tail"),
    ("gcc-12 -c x.c", "head"),
    ("clang++-17 x.cc", "head"),
    ("/opt/bin/aarch64-linux-gnu-gcc-12 x.c", "head"),
    ("gcc-ar x", "tail"),
    ("cargo +nightly build", "head"),
    ("cargo --color always build", "head"),
    ("go -C app vet ./...", "head"),
    ("sudo -u me env A=1 nice -n 5 timeout 60 tsc", "head"),
    ("docker exec -w /app web npx tsc", "head"),
    ("ssh -p 22 host 'cd app; tsc'", "head"),
    ("mvn compile", "head"),
    ("./mvnw -q clean compile", "head"),
    ("mvn -f app/pom.xml test-compile -pl core -am", "head"),
    ("mvn -T 4 -P fast compiler:compile -Dx=y", "head"),
    ("cd app && mvn compile 2>&1 | tee log", "head"),
    ("mvnd compile", "head"),
    ("mvn clean install", "tail"),
    ("mvn compile exec:java", "tail"),
    ("mvn compile && mvn test", "tail"),
    ("mvn", "tail"),
    ("gradlew compileJava", "head"),
    ("./gradlew :app:compileDebugKotlin --info", "head"),
    ("gradle -p app --console plain clean build -x test", "head"),
    ("./gradlew.bat assembleRelease", "head"),
    ("gradle build test", "tail"),
    ("gradle test --tests compileTest", "tail"),
    ("gradle", "tail"),
    ("", "tail"),
    ('"', "tail"),
]


@pytest.mark.parametrize(("command", "keep"), DIRECTIONS)
def test_compilers_begin_with_the_cause_and_everything_else_ends_with_it(command, keep):
    assert direction_for(command) == keep


@settings(max_examples=150)
@given(st.text(alphabet=" \t\n'\"\\|&;<>()$`#{}!-=/~*0aR\0é\ud800", max_size=60) | st.text(max_size=60))
def test_whatever_the_line_is_nothing_is_raised(line):
    assert direction_for(line) in ("head", "tail")
    warning_for(line)
    warning_for(f"find / {line}")
