"""Completion: each shell that is here loads the script, and completes what `--help` lists."""

import shutil
import subprocess

import pytest

from spillover.cli.commands import COMMANDS
from spillover.cli.completion import SCRIPTS, options_of

BASH = """
set -u
spill() { [[ "$*" == "list --quiet" ]] && printf 'make-7f3a9c2e41d05b86\\nseq-0123456789abcdef\\n'; }
eval "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_spill
printf '%s\\n' "${COMPREPLY[@]:-}"
"""


def complete(*words):
    """What bash proposes for the last of these words."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    given = ["bash", "-c", BASH, "bash", SCRIPTS["bash"](), *words]
    ran = subprocess.run(given, capture_output=True, text=True, check=False, timeout=30)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.split()


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        (["spill", "gr"], ["grep"]),
        (["spill", "un"], ["unpin"]),
        (["spill", "--tok"], ["--tokens", "--tokenizer"]),
        (["spill", "run", "--tim"], ["--timeout"]),
        (["spill", "grep", "--inv"], ["--invert-match"]),
        (["spill", "read", "ma"], ["make-7f3a9c2e41d05b86"]),
        (["spill", "read", ""], ["last", "make-7f3a9c2e41d05b86", "seq-0123456789abcdef"]),
        (["spill", "grep", "FAILED", "la"], ["last"]),
        (["spill", "init", "c"], ["claude-code", "codex", "copilot", "cline"]),
        (["spill", "help", "com"], ["completion"]),
        (["spill", "completion", ""], ["bash", "zsh", "fish"]),
        (["spill", "run", "--", "true"], ["true"]),
        (["spill", "run", "--tokens", ""], []),
        (["spill", "run", "--keep", "t"], ["tail"]),
        (["spill", "--keep", "s"], ["signal"]),
        (["spill", "--lines", "5", "--profile", ""], ["opencode", "t15", "klaude", "daycare", "vtcode"]),
        (["spill", "stats", "--by", "d"], ["day"]),
        (["spill", "init", "--scope", ""], ["user", "project"]),
        (["spill", "nonsense", ""], []),
    ],
    ids=" ".join,
)
def test_bash_completes(words, proposed):
    found = complete(*words)
    assert set(proposed) <= set(found) if words[-2] == "--" else found == proposed


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_knows_every_option_of_every_command(command):
    flags = {flag for option in options_of(command) for flag in option.names}
    assert set(complete("spill", command, "-")) == flags


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_command_prints_the_script(spill, shell):
    said = spill("completion", shell)
    assert (said.returncode, said.stderr) == (0, "")
    assert all(command in said.stdout for command in COMMANDS)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_shell_itself_accepts_the_script(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed here")
    ran = subprocess.run([shell, "-n"], input=SCRIPTS[shell](), capture_output=True, text=True, check=False, timeout=30)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_zsh_and_fish_complete_the_values_and_the_options_of_the_filter_too():
    """`spill --k` proposed nothing in zsh, and `spill --keep` files in fish; both were tried in those shells."""
    zsh, fish = SCRIPTS["zsh"](), SCRIPTS["fish"]()
    assert "  if [[ $words[2] == -* ]]; then\n    _arguments -s" in zsh
    assert ":value:(auto signal head ends tail)'" in zsh
    assert "-l keep -x -a 'auto signal head ends tail'" in fish
    assert "-l store -r -F" in fish
    assert not [line for line in fish.splitlines() if " -r " in line and " -F" not in line]
