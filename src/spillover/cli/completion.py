"""Completion scripts for bash, zsh and fish, made from the parsers: what `--help` lists is what is completed."""

from __future__ import annotations

import argparse

from spillover.base.data import dataclass
from spillover.cli.commands import COMMANDS, parser_for
from spillover.profiles import NAMES
from spillover.select import KEEPS

#: Commands whose words are refs, and those whose words are a program and its arguments.
WITH_REF = ("read", "grep", "outline", "diff", "show", "path", "pin", "unpin", "rm", "verify")
WITH_PROGRAM = ("run", "mcp")
#: Options whose value is a folder or a file.
WITH_PATH = ("--store", "--servers", "--token-file")
#: Options whose value is one of some words, which the parser leaves to the configuration to check.
WORDS = {"--keep": tuple(KEEPS), "--profile": NAMES}
#: What lists the refs of this project, the newest first.
REFS = "spill list --quiet 2>/dev/null"


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a command."""

    names: tuple[str, ...]
    about: str
    takes_value: bool
    choices: tuple[str, ...] = ()


def options_of(name: str | None) -> list[Option]:
    """Return the options of a command; None: of the filter."""
    actions = parser_for(name)._actions  # noqa: SLF001  argparse has no other way to list them
    return [
        Option(
            tuple(action.option_strings),
            action.help or "",
            action.nargs != 0,
            tuple(action.choices or WORDS.get(action.option_strings[-1], ())),
        )
        for action in actions
        if action.option_strings and action.help != argparse.SUPPRESS
    ]


def words_of(name: str) -> tuple[str, ...]:
    """Return the words that a command takes first, where they are from a list."""
    if name == "help":
        return tuple(COMMANDS)
    actions = (action for action in parser_for(name)._actions if not action.option_strings and action.choices)  # noqa: SLF001
    return tuple(word for action in actions for word in action.choices or ())


def write_bash() -> str:
    cases = []
    for name in COMMANDS:
        options = options_of(name)
        flags = " ".join(flag for option in options for flag in option.names)
        valued = " | ".join(flag for option in options if option.takes_value for flag in option.names)
        lines = [f"    {name})", f'      options="{flags}"']
        lines += [f'      words="{" ".join(words_of(name))}"'] * bool(words_of(name))
        lines += [f'      words="last $({REFS})"'] * (name in WITH_REF)
        lines += ["      program=1"] * (name in WITH_PROGRAM)
        lines += [f'      valued="{valued}"', *_bash_values(options), "      ;;"]
        cases += lines
    filter_options = options_of(None)
    top = " ".join(flag for option in filter_options for flag in option.names)
    top_valued = " | ".join(flag for option in filter_options if option.takes_value for flag in option.names)
    paths = " | ".join(WITH_PATH)
    return "\n".join(
        [
            '# bash completion for spill; load it with: eval "$(spill completion bash)"',
            "_spill() {",
            '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"',
            '  local options="" words="" valued="" values="" program="" at',
            "  COMPREPLY=()",
            "  if ((COMP_CWORD == 1)); then",
            f'    COMPREPLY=($(compgen -W "{" ".join(COMMANDS)} {top}" -- "$current"))',
            "    return",
            "  fi",
            '  case "${COMP_WORDS[1]}" in',
            *cases,
            "    -*)",
            f'      options="{top}"',
            f'      valued="{top_valued}"',
            *_bash_values(filter_options),
            "      ;;",
            "  esac",
            '  if [[ -n "$program" ]]; then',
            "    for ((at = 2; at < COMP_CWORD; at++)); do",
            '      if [[ "${COMP_WORDS[at]}" == -- ]]; then',
            '        if ((at == COMP_CWORD - 1)); then COMPREPLY=($(compgen -c -- "$current")); else',
            '          COMPREPLY=($(compgen -f -- "$current")); fi',
            "        return",
            "      fi",
            "    done",
            "  fi",
            f'  case "$previous" in {paths})',
            '    COMPREPLY=($(compgen -f -- "$current"))',
            "    return",
            "    ;;",
            "  esac",
            '  if [[ " ${valued//|/ } " == *" $previous "* ]]; then',
            '    COMPREPLY=($(compgen -W "$values" -- "$current"))',
            "    return",
            "  fi",
            '  if [[ "$current" == -* ]]; then words="$options"; fi',
            '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            "complete -o default -F _spill spill",
            "",
        ]
    )


def _bash_values(options: list[Option]) -> list[str]:
    """Return the lines that say what may stand behind an option."""
    known = [(" | ".join(option.names), " ".join(option.choices)) for option in options if option.choices]
    return [f'      case "$previous" in {names}) values="{words}" ;; esac' for names, words in known]


def write_zsh() -> str:
    cases = []
    for name in COMMANDS:
        specs = [_zsh_option(option) for option in options_of(name)]
        if name in WITH_REF:
            specs.append("'*:ref:_spill_refs'")
        elif name in WITH_PROGRAM:
            specs.append("'*::command:_normal'")
        elif words_of(name):
            specs.append(f"'1:word:({' '.join(words_of(name))})'")
        cases += [f"    {name})", "      _arguments -s \\", *(f"        {spec} \\" for spec in specs[:-1])]
        cases += [f"        {specs[-1]}", "      ;;"]
    top = [_zsh_option(option) for option in options_of(None)]
    described = [f"    '{name}:{_zsh_text(COMMANDS[name][0])}'" for name in COMMANDS]
    return "\n".join(
        [
            "#compdef spill",
            '# zsh completion for spill; load it with: eval "$(spill completion zsh)"',
            "_spill_refs() {",
            f"  compadd -- last $({REFS})",
            "}",
            "_spill() {",
            "  local -a commands",
            "  commands=(",
            *described,
            "  )",
            "  if [[ $words[2] == -* ]]; then",  # without a command it is a filter, and has options too
            "    _arguments -s \\",
            *(f"      {spec} \\" for spec in top[:-1]),
            f"      {top[-1]}",
            "    return",
            "  fi",
            "  if ((CURRENT == 2)); then",
            "    _describe command commands",
            "    return",
            "  fi",
            "  local command=$words[2]",
            "  shift words",
            "  ((CURRENT--))",
            "  case $command in",
            *cases,
            "  esac",
            "}",
            "compdef _spill spill",
            "",
        ]
    )


def _zsh_option(option: Option) -> str:
    value = ""
    if option.takes_value:
        kind = f"({' '.join(option.choices)})" if option.choices else "_files" if option.names[-1] in WITH_PATH else " "
        value = f":value:{kind}"
    names = "'{" + ",".join(option.names) + "}'" if len(option.names) > 1 else option.names[0]
    return (
        f"'{names}[{_zsh_text(option.about)}]{value}'"
        if len(option.names) == 1
        else f"{names[1:-1]}'[{_zsh_text(option.about)}]{value}'"
    )


def _zsh_text(text: str) -> str:
    for char in "[]:":
        text = text.replace(char, "\\" + char)
    return text.replace("'", "'\\''")


def write_fish() -> str:
    lines = [
        "# fish completion for spill; load it with: spill completion fish | source",
        "complete -c spill -f",
    ]
    for name, (about, _, _) in COMMANDS.items():
        lines.append(f"complete -c spill -n __fish_use_subcommand -a {name} -d {_fish_text(about)}")
    lines += [_fish_option(option, "__fish_use_subcommand") for option in options_of(None)]
    for name in COMMANDS:
        when = f"'__fish_seen_subcommand_from {name}'"
        lines += [_fish_option(option, when) for option in options_of(name)]
        if name in WITH_REF:
            lines.append(f"complete -c spill -n {when} -a 'last ({REFS})'")
        elif name in WITH_PROGRAM:
            lines.append(f"complete -c spill -n {when} -a '(__fish_complete_subcommand --fcs-skip=2)'")
        elif words_of(name):
            lines.append(f"complete -c spill -n {when} -a '{' '.join(words_of(name))}'")
    return "\n".join([*lines, ""])


def _fish_option(option: Option, when: str) -> str:
    names = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.names]
    value = ""
    if option.takes_value:
        value = " -r -F" if option.names[-1] in WITH_PATH else " -x"  # a file, or no file
        value += f" -a '{' '.join(option.choices)}'" if option.choices else ""
    return f"complete -c spill -n {when} {' '.join(names)}{value} -d {_fish_text(option.about)}"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS = {"bash": write_bash, "zsh": write_zsh, "fish": write_fish}
