#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Checks the names of data members in C++: private ones end with _, public ones do not.

usage: members.py FILE...
It checks itself first, on classes with such names. Exit code: 0; 1 if a name is wrong, which is told.
"""
import pathlib
import re
import sys

IGNORED = re.compile(r"""//[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:\\\n|[^\n])* | \[\[.*?\]\] |
                         R"(?P<raw>\w*)\(.*?\)(?P=raw)" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+' |
                         \b(?:alignas|__attribute__)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)""",
                     re.DOTALL | re.MULTILINE | re.VERBOSE)
DIGITS = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")
TOKEN = re.compile(r"\w+|::|\S")
OPENING, CLOSING = "({[", ")}]"
CLASSES = {"class": "private", "struct": "public", "union": "public"}
NO_DATA = {"using", "typedef", "friend", "static_assert", "enum", "template", "operator", "virtual", "explicit",
           "constexpr", "extern", *CLASSES}


def tokens_of(text):
    """Words and punctuation, each with its line. Comments, attributes and what is in quotes are left out."""
    text = IGNORED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), DIGITS.sub("_", text))
    line = 1
    for number, part in enumerate(text.split("\n")):
        for match in TOKEN.finditer(part):
            yield match[0], line + number


def without_angles(statement):
    """It without the arguments of templates."""
    kept, depth = [], 0
    for place, (word, line) in enumerate(statement):
        if word == "<" and place and re.match(r"\w", statement[place - 1][0]):
            depth += 1
        elif word == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append((word, line))
    return kept


def members_in(statement):
    """The names that a statement in a class declares, if these are data that change."""
    words = without_angles(statement)
    if not words or words[0][0] in NO_DATA or any(word in ("constexpr", "operator") for word, _ in words):
        return
    name, skipping = None, False
    for word, line in words + [(",", 0)]:
        if word == "(" and not skipping:
            return  # a function
        if word == ",":
            if name:
                yield name
            name, skipping = None, False
        elif word in ("=", ":", "["):
            skipping = True
        elif not skipping and re.match(r"[A-Za-z_]", word):
            name = (word, line)


class Reader:
    """Goes through a file; scopes are [name of the class, access], the name None where it is no class."""

    def __init__(self, text):
        self.tokens = list(tokens_of(text))
        self.at = 0
        self.found = []

    def skip_braces(self):
        """To behind what closes the bracket that was just read."""
        depth = 1
        while depth and self.at < len(self.tokens):
            word = self.tokens[self.at][0]
            depth += (word in OPENING) - (word in CLOSING)
            self.at += 1

    def peek(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def class_of(self, statement):
        """[name, access] if the statement begins a class, [None, ""] if a namespace, None if something else."""
        words = [word for word, _ in without_angles(statement)]
        if "namespace" in words or words == ["extern"]:
            return [None, ""]
        key = next((word for word in words if word in CLASSES), None)
        if not key or "(" in words or "=" in words or "enum" in words:
            return None
        rest = [word for word in words[words.index(key) + 1:] if word != "final"]
        name = rest[:rest.index(":")] if ":" in rest else rest
        return [name[-1] if name else "", CLASSES[key]]

    def read(self, scope):
        """Up to the end of the scope."""
        statement = []
        while self.at < len(self.tokens):
            word, line = self.tokens[self.at]
            self.at += 1
            if word == "}":
                return
            if word == ";":
                if scope[0] is not None:
                    self.found += [(scope[0], scope[1], *member) for member in members_in(statement)]
                statement = []
            elif word == ":" and len(statement) == 1 and statement[0][0] in ("public", "protected", "private"):
                scope[1] = statement[0][0]
                statement = []
            elif word == "(":
                statement.append((word, line))
                self.skip_braces()
                statement.append((")", line))
            elif word != "{":
                statement.append((word, line))
            elif (inner := self.class_of(statement)) is not None:
                self.read(inner)
                statement = []
            else:
                self.skip_braces()
                words = [word for word, _ in statement]
                initializes = self.peek() in (";", ",", "=", "[") or ("=" in words and "operator" not in words)
                if scope[0] is None or not initializes:
                    statement = []  # a function, an enumeration


def wrong_names(text):
    """(line, message) of each."""
    reader = Reader(text)
    reader.read([None, ""])
    for name, access, member, line in reader.found:
        if access == "private" and not member.endswith("_"):
            yield line, f"{name}: the private data member {member} does not end with _"
        if access == "public" and member.endswith("_"):
            yield line, f"{name}: the public data member {member} ends with _"


CONTROL = """
namespace one { enum class Kind : char { a, b }; template <typename T, int N> class A final : private B<T> {
    int x_ = 3, wrong1; std::function<void(int)> wrong2 = [](int wrong) { return wrong; };
    struct In { std::array<char, N> bytes{}; std::map<int, int> wrong3_; } in_;
    enum { p, q }; static constexpr int limit = 1; void f(int); int g() const { int local; return local; }
public:
    A(int a) : x_{a} { if (a) { } } int right = 1'000; int wrong4_[2] = {1, 2}; unsigned wrong5_ : 3, no = A{}.b_;
protected: int either; int either_;
private: [[nodiscard]] bool h(); alignas(64) std::atomic<std::uint64_t> wrong6{0}; // int comment;
    friend class C; using D = int; bool operator==(const A &) const = default; std::unique_ptr<A> next_;
}; }
"""


def main():
    found = sorted(re.search(r"wrong\d", message)[0] for _, message in wrong_names(CONTROL))
    if found != [f"wrong{number}" for number in range(1, 7)]:
        print(f"members.py is wrong itself: it has found {found}")
        return 1
    bad = False
    for path in sys.argv[1:]:
        for line, message in wrong_names(pathlib.Path(path).read_text()):
            print(f"{path}:{line}: {message}")
            bad = True
    return 1 if bad else 0


sys.exit(main())
