#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Writes completions for bash, zsh and fish from each program's own description of its command line.

usage: completions.py FOLDER PROGRAM...
In FOLDER it writes bash/NAME, zsh/_NAME and fish/NAME.fish for each program. Programs that read their line by
command_line.hpp describe it on request (--describe-options). For a Python script the argparse parser is read, else the
help.
"""

import argparse
import dataclasses
import os
import re
import runpy
import shlex
import subprocess
import sys

SPDX = "# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB\n"


@dataclasses.dataclass
class Option:
    names: list
    takes_value: bool
    words: list  # allowed values; none: anything
    help: str


@dataclasses.dataclass
class Command:
    """A program or a subcommand."""

    name: str
    help: str = ""
    options: list = dataclasses.field(default_factory=list)
    words: list = dataclasses.field(default_factory=list)  # allowed arguments without a dash
    arguments: int = 0  # number of these before subcommands
    below: list = dataclasses.field(default_factory=list)  # subcommands
    runs: bool = False  # the arguments are a command line of their own

    def names(self, takes_value=None):
        """Returns the names of its options, of all, or of those with or without a value."""
        return [name for option in self.options if takes_value in (None, option.takes_value) for name in option.names]


# Descriptions by programs ---------------------------------------------------------------------------------------------


def words_of(kind):
    """Returns the words in 'TEXT:{a,b}', one of which a value must be."""
    found = re.search(r"\{([^{}]*)\}", kind)
    return found[1].split(",") if found else []


def read_description(name, text):
    """Reads the lines that command_line.cpp describes."""
    program = Command(name)
    commands = {"": program}
    for line in text.splitlines():
        what, command, *fields = line.split("\t")
        if what == "command":
            commands[command] = Command(command, fields[0])
            program.below.append(commands[command])
        elif what == "option":
            names = re.sub(r"\{[^{}]*\}", "", fields[0]).split(",")  # --no-x{false}
            commands[command].options.append(Option(names, bool(fields[1]), words_of(fields[1]), fields[2]))
        else:
            commands[command].words += words_of(fields[1])
            commands[command].arguments += 1
    return program


class Asked(Exception):
    """Carries a script's parser instead of its parsed arguments."""


def tell_parser(parser, *_arguments, **_keywords):
    raise Asked(parser)


def read_parser(name, parser):
    command = Command(name)
    for action in parser._actions:  # pylint: disable=protected-access # argparse has no other list of them
        text = (action.help or "") % {**vars(action), "prog": parser.prog}
        if isinstance(action, argparse._SubParsersAction):  # pylint: disable=protected-access
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            command.below = [read_parser(key, below) for key, below in action.choices.items()]
            for below in command.below:
                below.help = helps.get(below.name, "")
        elif action.option_strings:
            takes = action.nargs != 0
            words = [str(choice) for choice in action.choices or []]
            command.options.append(Option(list(action.option_strings), takes, words, text))
        else:
            command.words += [str(choice) for choice in action.choices or []]
    return command


def read_script(path):
    sys.argv = [path]
    sys.path.insert(0, os.path.dirname(path))  # for modules that scripts share
    parse_known_args = argparse.ArgumentParser.parse_known_args
    argparse.ArgumentParser.parse_known_args = tell_parser
    try:
        runpy.run_path(path, run_name="__main__")
    except Asked as asked:
        return read_parser(os.path.basename(path), asked.args[0])
    finally:
        argparse.ArgumentParser.parse_known_args = parse_known_args
        sys.path.pop(0)
    raise SystemExit(f"{path} does not read its command line by argparse")


def read_help(name, text):
    """Reads '  -d, --device=NAME  what it is', and in the usage the program that it runs: 'PROGRAM [ARGUMENT...]'."""
    command = Command(name, runs="PROGRAM [ARGUMENT...]" in text)
    for short, long, value, meaning in re.findall(r"^ +(-\w), (--[\w-]+)(=\w+)? +(.*)$", text, re.MULTILINE):
        command.options.append(Option([short, long], bool(value), [], meaning))
    return command


def output_of(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout if done.returncode == 0 else ""


def describe(path):
    name = os.path.basename(path)
    with open(path, "rb") as file:
        if file.read(2) == b"#!":
            return read_script(path)
    description = output_of(path, "--describe-options")
    program = read_description(name, description) if description else read_help(name, output_of(path, "--help"))
    if not program.options:
        raise SystemExit(f"{path} neither describes its options nor has a help with some")
    return program


# bash -----------------------------------------------------------------------------------------------------------------

BASH = """{spdx}
{function}() {{
	local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command='' options='' words='' i
	# bash takes = for a word of its own.
	if [[ $current == = ]]; then current=''; elif [[ $previous == = ]]; then previous=${{COMP_WORDS[COMP_CWORD - 2]}}; fi
	for ((i = 1; i <= COMP_CWORD; i++)); do
		case ${{COMP_WORDS[i]}} in
{scan}		esac
	done
	case "$command $previous" in
{values}	*)
		case $command in
{commands}		esac
		[[ $current != -* ]] || words=$options
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o bashdefault -o default -F {function} {name}
"""

# The rest of the line is another program's; bash-completion, if installed, completes that.
BASH_RUNS = """\
		*)
			if declare -F _comp_command_offset >/dev/null; then
				_comp_command_offset "$i"
			elif declare -F _command_offset >/dev/null; then
				_command_offset "$i"
			elif ((i == COMP_CWORD)); then
				mapfile -t COMPREPLY < <(compgen -c -- "$current")
			fi
			return
			;;
"""


def bash_scan(program):
    """Returns patterns of words before the current one, which tell the place of the subcommand."""
    takes = program.names(takes_value=True)
    lines = ""
    if takes:
        lines += f"\t\t{'|'.join(takes)}) [[ ${{COMP_WORDS[++i]}} != = ]] || ((++i)) ;;\n"
    lines += "\t\t-*) ;;\n"
    if program.below:
        names = "|".join(below.name for below in program.below)
        lines += f"\t\t{names}) ((i == COMP_CWORD)) || command=${{COMP_WORDS[i]}}; break ;;\n"
    return lines + (BASH_RUNS if program.runs else "")


def bash_values(commands):
    lines = ""
    for command in commands:
        place = command.name if command is not commands[0] else ""
        for option in command.options:
            if option.takes_value:
                patterns = "|".join(f"'{place} {name}'" for name in option.names)
                lines += f"\t{patterns}) words={shlex.quote(' '.join(option.words))} ;;\n"
    return lines


def bash(program):
    commands = [program, *program.below]
    lines = ""
    for command in commands:
        place = command.name if command is not program else "''"
        words = [*(below.name for below in command.below), *command.words]
        lines += f"\t\t{place}) options='{' '.join(command.names())}' words={shlex.quote(' '.join(words))} ;;\n"
    return BASH.format(spdx=SPDX, function="_" + re.sub(r"\W", "_", program.name), name=program.name,
                       scan=bash_scan(program), values=bash_values(commands), commands=lines)


# zsh ------------------------------------------------------------------------------------------------------------------


def zsh_quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_bracketed(text):
    return re.sub(r"([\\\[\]])", r"\\\1", text)


def zsh_words(words):
    return "(" + " ".join(re.sub(r"([\\ ():])", r"\\\1", word) for word in words) + ")" if words else "_files"


def zsh_options(command):
    for option in command.options:
        for name in option.names:
            value = ""
            if option.takes_value:
                name += "=" if name.startswith("--") else "+"
                value = f":value:{zsh_words(option.words)}"
            yield zsh_quoted(f"*{name}[{zsh_bracketed(option.help)}]{value}")


def zsh_arguments(command, *more):
    return " \\\n\t".join(("_arguments -C", *zsh_options(command), *more))


def zsh(program):
    text = f"#compdef {program.name}\n{SPDX}\nlocal curcontext=$curcontext state line\n"
    if program.runs:
        return text + zsh_arguments(program, "'(-)1:program:_command_names -e'", "'*::argument:_normal'") + "\n"
    if not program.below:
        return text + zsh_arguments(program, zsh_quoted("*:argument:" + zsh_words(program.words))) + "\n"
    names = " ".join(f'{below.name}\\:{shlex.quote(below.help.replace(":", " -"))}' for below in program.below)
    front = [f"'{place}:argument:_files'" for place in range(1, program.arguments + 1)]
    place = program.arguments + 1
    text += zsh_arguments(program, *front, zsh_quoted(f"{place}:command:(({names}))"), "'*::argument:->below'") + "\n"
    text += "[[ $state == below ]] || return\n"
    if program.arguments:
        text += f"shift {program.arguments} words\n(( CURRENT -= {program.arguments} ))\n"
    text += "case $words[1] in\n"
    for below in program.below:
        text += f"{below.name})\n\t" + zsh_arguments(below, zsh_quoted("*:argument:" + zsh_words(below.words)))
        text += "\n\t;;\n"
    return text + "esac\n"


# fish -----------------------------------------------------------------------------------------------------------------


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_options(command, front):
    for option in command.options:
        names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
        value = "" if not option.takes_value else " -r"
        if option.words:
            value = f" -x -a {fish_quoted(' '.join(option.words))}"
        yield f"{front} {names}{value} -d {fish_quoted(option.help)}\n"


def fish(program):
    front = f"complete -c {program.name}"
    text = SPDX
    if program.runs:
        takes = " ".join(program.names(takes_value=True))
        text += f"{front} -x -a {fish_quoted(f'(__fish_complete_subcommand -- {takes})')}\n"
    if not program.below:
        return text + "".join(fish_options(program, front))
    names = " ".join(below.name for below in program.below)
    first = f"{front} -n 'not __fish_seen_subcommand_from {names}'"
    for below in program.below:
        text += f"{first} -f -a {below.name} -d {fish_quoted(below.help)}\n"
    text += "".join(fish_options(program, first))
    for below in program.below:
        text += "".join(fish_options(below, f"{front} -n '__fish_seen_subcommand_from {below.name}'"))
    return text


SHELLS = {"bash/{}": bash, "zsh/_{}": zsh, "fish/{}.fish": fish}


def main():
    sys.dont_write_bytecode = True
    folder, *paths = sys.argv[1:]
    for path in paths:
        program = describe(path)
        for form, write in SHELLS.items():
            target = os.path.join(folder, form.format(program.name))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as file:
                file.write(write(program))


if __name__ == "__main__":
    main()
