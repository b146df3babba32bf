# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Finds the commands that a page tells its reader to type.

Markdown: fenced blocks of the language sh. Manual pages: what stands between .EX and .EE. Programs and scripts: comment
lines that begin with "$ "; there, "ninja" is of the place "machine". Before a block, a comment of the page (<!-- ... --> or
.\\" ...) may say:

    shown: WHY          the block is not run
    where: PLACE        it is run there, not in a build tree: guest (a virtual machine with the kernel module), machine
                        (a bare Debian on which ./demo.sh has been typed: what the page installs and builds there)
    first: COMMAND      what the reader has done before: it runs in front of the block, and may be repeated
    prints: REGEX       what the block's output must have, somewhere; may be repeated
"""

import dataclasses
import re

PLACES = ("tree", "guest", "machine")
DIRECTIVE = re.compile(r"^(shown|where|first|prints): +(.*\S)$")


class PageError(Exception):
    """Error for a page that is not written as it must be; the text names the place."""


@dataclasses.dataclass
class Block:
    """Commands that belong together, run by one shell."""

    page: str
    line: int
    lines: list
    shown: str = ""
    where: str = "tree"
    first: list = dataclasses.field(default_factory=list)
    prints: list = dataclasses.field(default_factory=list)

    def direct(self, word, value):
        if word in ("first", "prints"):
            getattr(self, word).append(value)
            return
        if word == "where" and value not in PLACES:
            raise PageError(f"{self.page}:{self.line}: no such place: {value}")
        setattr(self, word, value)

    def joined(self):
        """Returns the lines, joining those that end in a backslash with the next."""
        return "\n".join(self.lines).replace("\\\n", "").split("\n")

    def commands(self):
        """Returns one string per logical line, without comments, for lists that people read."""
        for line in self.joined():
            text = re.sub(r"(^|\s)#\s.*$", "", line)
            if text.strip():
                yield " ".join(text.split())


@dataclasses.dataclass
class Passage:
    """A block of a page that is not to be typed: it must not look like commands."""

    line: int
    lines: list


def block_of(page, line, lines, directives):
    block = Block(page, line, lines)
    for word, value in directives:
        block.direct(word, value)
    return block


class Reader:
    """Collects blocks, each with the directives before it."""

    def __init__(self, page):
        self.page, self.blocks, self.passages, self.directives = page, [], [], []

    def directive(self, text, line):
        found = DIRECTIVE.match(text.strip())
        if found:
            self.directives.append(found.groups())
        elif re.match(r"^(shown|where|first|prints)\b", text.strip()):
            raise PageError(f"{self.page}:{line}: a directive that says nothing: {text.strip()}")

    def add(self, line, lines):
        self.blocks.append(block_of(self.page, line, lines, self.directives))
        self.directives = []

    def text(self, line):
        if self.directives:
            raise PageError(f"{self.page}:{line}: a directive without a block behind it")


def read_markdown(page, lines):
    reader = Reader(page)
    index = 0
    while index < len(lines):
        line = lines[index]
        fence = re.match(r"^```(\S*)", line)
        if re.match(r"^[\s>]+(```|~~~)|^~~~|^<pre", line):
            raise PageError(f"{page}:{index + 1}: a block that is not seen: write it as ``` in the first column")
        comment = re.match(r"^<!--(.*)-->$", line)
        if fence:
            end = next((i for i in range(index + 1, len(lines)) if lines[i] == "```"), None)
            if end is None:
                raise PageError(f"{page}:{index + 1}: a block without an end")
            if fence.group(1) == "sh":
                reader.add(index + 2, lines[index + 1 : end])
            else:
                reader.passages.append(Passage(index + 2, lines[index + 1 : end]))
            index = end
        elif comment:
            reader.directive(comment.group(1), index + 1)
        elif line.startswith("    ") and (index == 0 or not lines[index - 1].strip()):
            end = index
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            reader.passages.append(Passage(index + 1, [text[4:] for text in lines[index:end]]))
            index = end - 1
        elif line.strip():
            reader.text(index + 1)
        index += 1
    return reader


def unroff(line):
    """Returns a line of a manual page as the reader sees it."""
    line = re.sub(r"\\f[A-Z]", "", line)
    for escape, character in ((r"\-", "-"), (r"\(aq", "'"), (r"\(dq", '"'), (r"\&", ""), (r"\e", "\\"), ("\\\\", "\\")):
        line = line.replace(escape, character)
    return line


def read_manual(page, lines):
    reader = Reader(page)
    index = 0
    while index < len(lines):
        line = lines[index]
        if line in (".EX", ".nf"):
            end = lines.index(".EE" if line == ".EX" else ".fi", index)
            body = [unroff(text) for text in lines[index + 1 : end]]
            if line == ".EX":
                reader.add(index + 2, body)
            else:
                reader.passages.append(Passage(index + 2, body))
            index = end
        elif line.startswith('.\\"'):
            reader.directive(line[3:], index + 1)
        elif line.strip() not in ("", ".PP", ".RS", ".RE"):
            reader.text(index + 1)
        index += 1
    return reader


def read_source(page, lines):
    reader = Reader(page)
    for number, line in enumerate(lines, 1):
        found = re.match(r"^\s*(?:\*|//|#)?\s*\$ (.*)$", line)
        if found and found.group(1).endswith("\\"):
            raise PageError(f"{page}:{number}: a command in a comment is one line")
        if found:
            if found.group(1).startswith("ninja "):
                reader.directives.append(("where", "machine"))
            reader.add(number, [found.group(1)])
    return reader


# Words that commands may begin with
PREFIXES = ("$", "sudo", "env", "time", "timeout", "nice", "-E", "-n")


def looks_typed(text, programs):
    """Returns true if a line begins as commands do: with a program, or with variables and a program."""
    words = text.split()
    while words and (re.match(r"^[A-Z_]+=|^\d+$", words[0]) or words[0] in PREFIXES):
        words.pop(0)
    return len(words) > 1 and (words[0] in programs or re.match(r"^(\./|build/|tests/\S*\.(sh|py)$)", words[0]) is not None)


def read_page(path, page, programs=()):
    """Returns the blocks of a page. Commands outside of a block to be typed are an error."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    if path.endswith(".md"):
        reader = read_markdown(page, lines)
    elif re.search(r"\.[1-8]$", path):
        reader = read_manual(page, lines)
    else:
        reader = read_source(page, lines)
    for block in reader.blocks:
        for text in [] if block.shown else block.lines:
            if re.search(r"\|\| *(true|:)( |$)|^set \+e|^! ", text):
                raise PageError(f"{page}:{block.line}: a command whose failure nobody would see: {text.strip()}")
    for passage in reader.passages:
        for offset, text in enumerate(passage.lines):
            if looks_typed(text, programs):
                raise PageError(f"{page}:{passage.line + offset}: a command outside of a block to be typed: {text.strip()}")
    return reader.blocks
