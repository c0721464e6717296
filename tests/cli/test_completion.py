"""Completion: each shell that is here loads the script, and completes what `--help` lists."""

import shutil
import subprocess

import pytest

from spillover.cli.parsing import MODULES, SHELLS, build_parser

BASH = """
spill() { [[ "$*" == "list --quiet" ]] && printf 'make-7f3a9c2e41d05b86\\nseq-0123456789abcdef\\n'; }
eval "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_shtab_spill
printf '%s\\n' "${COMPREPLY[@]:-}"
"""


@pytest.fixture
def complete(spill):
    """What bash proposes for the last of these words."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    script = spill("completion", "bash").stdout

    def propose(*words):
        given = ["bash", "-c", BASH, "bash", script, *words]
        ran = subprocess.run(given, capture_output=True, text=True, check=False, timeout=30)
        assert ran.stderr == ""
        return ran.stdout.split()

    return propose


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        (["gr"], ["grep"]),
        (["--tok"], ["--tokens", "--tokenizer"]),
        (["run", "--tim"], ["--timeout"]),
        (["read", "ma"], ["make-7f3a9c2e41d05b86"]),
        (["read", ""], ["last", "make-7f3a9c2e41d05b86", "seq-0123456789abcdef"]),
        (["grep", "FAILED", "la"], ["last"]),
        (["rm", "last", "se"], ["seq-0123456789abcdef"]),
        (["init", "c"], ["claude-code", "codex", "copilot", "cline"]),
        (["help", "com"], ["completion"]),
        (["completion", ""], [*SHELLS]),
        (["run", "--tokens", ""], []),
        (["run", "--keep", "t"], ["tail"]),
        (["--lines", "5", "--profile", ""], ["opencode", "t15", "klaude", "daycare", "vtcode"]),
        (["stats", "--by", "d"], ["day"]),
    ],
    ids=" ".join,
)
def test_bash_completes(complete, words, proposed):
    assert complete("spill", *words) == proposed


def test_bash_knows_every_option_of_every_command(complete):
    for command in MODULES:
        flags = {flag for action in build_parser(command)._actions for flag in action.option_strings}
        assert set(complete("spill", command, "-")) == flags


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_the_script(spill, shell):
    said = spill("completion", shell)
    assert (said.returncode, said.stderr) == (0, "")
    assert all(command in said.stdout for command in MODULES)
    if shell != "powershell" and shutil.which(shell):
        ran = subprocess.run([shell, "-n"], input=said.stdout, capture_output=True, text=True, check=False, timeout=30)
        assert (ran.returncode, ran.stderr) == (0, "")
