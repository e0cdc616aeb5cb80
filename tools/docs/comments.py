"""Doxygen's filter for the headers: their plain comments become comments that Doxygen reads, line by line.

usage: comments.py HEADER, prints the header with as many lines as it has

A header of this tree has plain comments: a paragraph at its top, a comment right above a declaration, or one behind it that
is continued below at the same column. Doxygen is given their place alone, "lines 3 to 5". reference.py reads the text there, so
that nothing in a comment is taken for markup.
"""
import re
import sys

TYPE = re.compile(r"^\s*(?:template\b.*)?(?:class|struct|enum|union)\b[^;]*\{$")
# What is deleted, defaulted, compared, moved or destroyed needs no sentence.
# A specialisation of a template of somebody else's, such as std::hash, is no part of the reference.
FOREIGN = re.compile(r"^(?:template <.*> *)?struct (?:std|fmt|absl|boost::asio)::\w")
SPEAKS_FOR_ITSELF = re.compile(r"^\s.*(?:=\s*(?:delete|default);|\boperator(?:==|<=>|=)\(.*[;{}]|\s~\w+\(.*\).*[;{}])$")


def comment_at(line):
    """Where the comment behind code begins, or None: a // that is in no string."""
    quote = None
    at = 0
    while at < len(line):
        c = line[at]
        if quote:
            if c == "\\":
                at += 1
            elif c == quote:
                quote = None
        elif c == '"' or c == "'" and not (at and line[at - 1].isalnum()):
            quote = c
        elif line.startswith("//", at):
            return at
        at += 1
    return None


def as_block(opening, first, last):
    """As many lines as the comment has: lines first to last of the header, counted from 1."""
    return [f"{opening} lines {first} to {last} */"] + [""] * (last - first)


def filtered(lines):
    out = []
    at = 0
    foreign = False
    while at < len(lines):
        line = lines[at]
        if FOREIGN.match(line) or line.startswith("template <") and FOREIGN.match((lines + [""])[at + 1]):
            foreign = True
        if foreign:
            foreign = not line.endswith("};")
            out.append("")
            at += 1
            continue
        begin = comment_at(line)
        if begin is None or "IWYU pragma" in line or "NOLINT" in line:
            out.append(line + " /*!< lines 0 to 0 */" if begin is None and SPEAKS_FOR_ITSELF.match(line) and not line.endswith("{") else line)
            at += 1
            continue
        code = line[:begin].rstrip()
        end = at + 1
        while end < len(lines) and lines[end].startswith("//", begin) and not lines[end][:begin].strip():
            end += 1
        following = lines[end].strip() if end < len(lines) else ""
        if code and TYPE.match(code):
            out += [as_block("/*!", at + 1, end)[0] + " " + code] + [""] * (end - at - 1)
        elif code and code[-1] == "{":
            out += lines[at:end]
        elif code:
            block = as_block("/*!<", at + 1, end)
            out += [code + " " + block[0]] + block[1:]
        elif not out:
            out += ["/*! \\file"] + as_block("", at + 1, end)
            if following == "#pragma once":
                end += 1  # it made room for the line that is \\file
        elif not following or following[0] in "}#" or following in ("public:", "protected:", "private:"):
            out += lines[at:end]  # about what is around it, or about the next part
        else:
            out += as_block(" " * begin + "/*!", at + 1, end)
        at = end
    return out


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        print("\n".join(filtered(header.read().split("\n"))), end="")
