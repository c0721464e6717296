"""Arguments, help and exit codes: what is right, what is wrong, and what each says."""

import os

import pytest
from msgspec.structs import replace

from spillover.cli import main, output
from spillover.cli.outputs import COMMANDS
from spillover.cli.parsing import FILTER, MODULES, build_parser, find_command, parse
from spillover.testing import HOSTILE_REFS


@pytest.fixture
def called(tmp_path, monkeypatch, capfd):
    """Call `spill` in this process: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = main(list(words))
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        assert "this is a bug in spill" not in err
        return code, out, err

    return call


@pytest.mark.parametrize("command", MODULES)
def test_the_help_of_every_command_has_examples_that_parse(called, command):
    code, out, err = called(command, "--help")
    assert (code, err) == (0, "")
    examples = find_command(command).examples
    assert examples
    for example in examples:
        assert f"  {example}\n" in out
        words = example.replace("'", "").partition("spill ")[2].split(")")[0].split(" |")[0].split()
        assert words[0] == command
        parse(words)


def test_the_help_of_the_filter_names_every_command(called):
    code, out, err = called("--help")
    assert (code, err) == (0, "")
    assert all(f"  {command} " in out and find_command(command).about in out for command in MODULES)
    assert all(f"  {example}\n" in out for example in find_command(FILTER).examples)


@pytest.mark.parametrize("command", [FILTER, *MODULES])
def test_every_option_says_what_it_does(command):
    assert all(action.help for action in build_parser(command)._actions)


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize("command", [FILTER, *MODULES])
def test_help_wraps_at_80_columns(called, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, err = called("help", *filter(None, [command]))
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert out == called(*filter(None, [command]), "--help")[1]


def test_the_version_is_an_option(called):
    code, out, err = called("--version")
    assert (code, err) == (0, "")
    assert out.startswith("spill ")


@pytest.mark.parametrize(
    ("written", "seconds"), [("90", 90), ("1.5", 1.5), ("90s", 90), ("1m", 60), ("2h", 7_200), ("0.5m", 30), ("0", 0)]
)
def test_a_timeout_may_have_a_unit(written, seconds):
    assert parse(["run", "--timeout", written, "--", "true"])[1].timeout == seconds


@pytest.mark.parametrize("columns", ["", "0", "20", "200", "many"])
def test_help_is_readable_however_wide_the_terminal_is(called, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert called("run", "--help")[0] == 0


WRONG = [
    # no such command
    (["lst"], "unknown command 'lst'. Did you mean `spill list`?"),
    (["red"], "Did you mean `spill read`?"),
    (["gerp"], "Did you mean `spill grep`?"),
    (["verfy"], "Did you mean `spill verify`?"),
    (["rnu"], "unknown command 'rnu'. Did you mean `spill run`?"),
    (["search"], "Did you mean `spill grep`?"),
    (["ls"], "Did you mean `spill list`?"),
    (["make"], "To run a program: spill run -- make"),
    ([""], "unknown command"),
    (["läuft"], "unknown command"),
    (["run --"], "unknown command"),
    # no such option
    (["--nope"], "unknown option --nope"),
    (["run", "--nope", "true"], "unknown option --nope"),
    (["list", "--nope"], "unknown option --nope"),
    (["read", "x-1", "--nope"], "unknown option --nope"),
    (
        ["--tok", "500"],
        "unknown option --tok. Did you mean --tokens?",
    ),  # no abbreviation: what it stands for may change
    (["config", "--store", "x"], "unknown option --store"),
    (["run", "--tokns", "5", "true"], "unknown option --tokns. Did you mean --tokens? See `spill help run`."),
    (["grep", "--invert", "a-1", "x"], "unknown option --invert. Did you mean --invert-match?"),
    (
        ["init", "claudecode"],
        "'claudecode' is not a host; use claude-code, opencode, codex, gemini, copilot, cline, pi, shell, mcp-json. Did you mean claude-code?",
    ),
    (["init", "cursor"], "shell, mcp-json. For cursor: `spill init mcp-json ~/.cursor/mcp.json`."),
    (["init", "claude-code", "extra"], "'extra' is not expected here: FILE is only for mcp-json."),
    (["init", "--all", "extra"], "'extra' is not a host"),
    (["help", "gerp"], "unknown command 'gerp'. Did you mean `spill help grep`?"),
    (["completion", "ksh"], "use bash, zsh, fish, tcsh, powershell"),
    # too few, too many
    (["run"], "missing COMMAND, e.g. `spill run -- make -j8`."),
    (["run", "--"], "missing COMMAND, e.g. `spill run -- make -j8`."),
    (["completion"], "name a shell: bash, zsh, fish, tcsh or powershell. See `spill help completion`."),
    (["read"], "missing REF, e.g. `spill read last 1:50`. See `spill help read`."),
    (["diff"], "missing REF, e.g. `spill diff last`."),
    (["rm"], "missing REF, e.g. `spill rm bash-7f3a9c2e41d05b86`."),
    (["show"], "missing REF, e.g. `spill show last`."),
    (["show", "last"], "Nothing has been run yet"),
    (["read", "last:cargo"], "Nothing has been run yet"),
    (["gc", "--compress-after", "soon"], "--compress-after 'soon': expected a whole number of seconds, or a time"),
    (["pin"], "missing REF, e.g. `spill pin last`."),
    (["unpin"], "missing REF, e.g. `spill unpin last`."),
    (["grep"], "missing REF and PATTERN. See `spill help grep`."),
    (["grep", "bash-000000000000"], "a REF and a PATTERN are needed"),
    (["show", "a", "b"], "unexpected argument 'b'"),
    (["list", "a"], "unexpected argument 'a'"),
    (["--tokens"], "--tokens needs a value"),
    # wrong values
    (["--tokens", "x"], "'x' is not a whole number"),
    (["--tokens", "-5"], "'-5' is not a whole number"),
    (["--tokens", "1.5"], "'1.5' is not a whole number"),
    (["--tokens", "٣٣٣"], "is not a whole number"),
    (["--tokens", ""], "'' is not a whole number"),
    (["--tokens", "5"], "leaves no room for the notice"),
    (["--lines", "1"], "leaves no room for the notice"),
    (["--bytes", "9"], "leaves no room for the notice"),
    (["--keep", "middle"], "is not valid"),
    (["--tokenizer", "nonsense"], "nonsense"),
    (["--profile", "klaude", "read", "last"], "read is a command, and stands before its options: `spill read …`"),
    (["list", "read"], "unexpected argument 'read'"),
    (["run", "--timeout", "x", "true"], "--timeout: 'x' is not a time; use e.g. 90, 90s, 5m, 2h or 7d"),
    (["run", "--timeout", "-1", "true"], "--timeout"),
    (["run", "--timeout", "nan", "true"], "is not a time"),
    (["grep", "a-1", "x", "-C", "-1"], "-C"),
    # refs that name nothing
    (["read", "bash-000000000000"], "No output is stored under"),
    (["show", "bash"], "No output is stored under"),
    (["read", "../../etc/passwd"], "is not a ref"),
    (["show", "/etc/passwd"], "is not a ref"),
    (["pin", "bash-7f3a9c2e41d0.txt"], "No output is stored under bash-7f3a9c2e41d0"),
    (["verify", "a b"], "is not a ref"),
    (["grep", "a\nb", "x"], r"Neither 'a\nb' nor 'x' names an output of this project."),
    (["read", "x" * 10_000], "is not a ref"),
]


@pytest.mark.parametrize(
    ("words", "why"), WRONG, ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else ""
)
def test_wrong_use_is_exit_2_with_a_reason_and_never_a_traceback(called, words, why):
    code, out, err = called(*words)
    assert (code, out) == (output.EXIT_USAGE, "")
    assert why in err
    assert len(err) < 2_000


@pytest.mark.parametrize(
    "command", [["read"], ["grep", "x"], ["show"], ["pin"], ["verify"]], ids=lambda words: words[0]
)
def test_a_hostile_ref_is_no_ref(called, command):
    for hostile in filter(lambda each: isinstance(each, str), HOSTILE_REFS):
        code, out, err = called(command[0], "--", hostile, *command[1:])
        assert (code, out) == (output.EXIT_USAGE, "")
        assert len(err) < 500


def test_a_number_may_have_separators():
    for text in ("4000", "4,000", "4_000"):
        assert parse(["--tokens", text])[1].tokens == 4_000


@pytest.mark.parametrize(
    "words", [["a-1", "-50:"], ["-50:", "a-1"], ["a-1", "--json", "-50:"], ["--json", "a-1", "-50:"]]
)
def test_the_last_lines_can_be_asked_for_wherever_the_range_stands(words):
    if words[0] == "-50:":
        with pytest.raises(SystemExit):
            parse(["read", *words])
        return
    arguments = parse(["read", *words])[1]
    assert (arguments.ref, arguments.range.strip(), arguments.json) == ("a-1", "-50:", "--json" in words)


def test_what_is_our_own_fault_is_said_to_be_so(monkeypatch, capfd):
    def broken(_):
        raise RuntimeError("oops")

    monkeypatch.setitem(COMMANDS, "list", replace(COMMANDS["list"], run=broken))
    assert main(["list"]) == output.EXIT_BUG
    err = capfd.readouterr().err
    assert err.startswith("spill: this is a bug in spill: RuntimeError: oops\n")
    assert "Traceback" not in err
    monkeypatch.setenv("SPILLOVER_DEBUG", "1")
    assert main(["list"]) == output.EXIT_BUG
    err = capfd.readouterr().err
    assert "Traceback" in err
    assert "RuntimeError: oops" in err


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (KeyboardInterrupt(), output.EXIT_INTERRUPTED),
        (OSError(28, "No space left on device"), output.EXIT_UNWRITTEN),
    ],
)
def test_what_is_nobodys_fault_has_its_own_code(monkeypatch, capfd, raised, code):
    def ended(_):
        raise raised

    monkeypatch.setitem(COMMANDS, "list", replace(COMMANDS["list"], run=ended))
    assert main(["list"]) == code
    assert "bug" not in capfd.readouterr().err


def test_no_two_exit_codes_are_the_same_and_none_is_a_shells_own():
    codes = [value for name, value in vars(output).items() if name.startswith("EXIT_")]
    assert len(codes) == len(set(codes))
    assert not {124, 126, 127} & set(codes)


def test_where_nobody_reads_complaints_they_are_not_made(spill):
    said = spill("nonsense", stdin=None, preexec_fn=lambda: os.close(2))
    assert (said.returncode, said.stdout, said.stderr) == (2, "", "")
