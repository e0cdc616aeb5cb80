"""Doxygen's filter for the headers: their plain comments become comments that Doxygen reads, line by line.

usage: comments.py HEADER, prints the header with as many lines as it has

A header of this tree has plain comments: a paragraph at its top, a comment right above a declaration, or one behind it that
is continued below at the same column. Doxygen is given their place alone, "lines 3 to 5". reference.py reads the text there, so
that nothing in a comment is taken for markup.
"""
import os
import re
import sys

TYPE = re.compile(r"^\s*(?:template\b.*)?(?:class|struct|enum|union)\b[^;]*\{$")
# What is deleted, defaulted, compared, moved, destroyed, printed or hashed needs no sentence.
SPEAKS_FOR_ITSELF = re.compile(
    r"^\s*[\w~].*(?:=\s*(?:delete|default);|\boperator(?:==|<=>|=|<<)\(.*[;{}]|\s~\w+\(.*\).*[;{}])$"
    r"|^\s*friend .*\bAbsl(?:Stringify|HashValue)\(|^\s+(?:explicit )?(\w+)\((?:const )?\1 ?&&?[^)]*\)[^;]*;$")
# A comment that says so is about every declaration down to the next empty line or comment.
SHARED = re.compile(r"\b(?:Each|All|Both|Any) of these\b|\bThese\b|^\s*// (?:As those of|The same)\b")
FUNCTION = re.compile(r"^\s+[\w:<>,&* \[\]]*?\b(\w+)\(.*[,;{}]$")
FIELD = re.compile(r"^\s+[\w:<>,&* ]+ \w+(?: = .*|\{.*\})?;$")
# A specialisation of a template of somebody else's, such as std::hash, is no part of the reference.
FOREIGN = re.compile(r"^(?:template <.*> *)?struct (?:std|fmt|absl|boost::asio)::\w")
# Nor is a declaration that names nothing of its own: a test of a suite, a macro of its framework, a static_assert, the friend
# of a class, a deduction guide.
NAMELESS = {
    "}": re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\("),
    ";": re.compile(r"^\s*(?:static_assert\(|friend (?:class|struct) \w+;|(?:INSTANTIATE|GTEST)_\w+\(|(\w+)\(.*\) -> \1<.*>;)"),
}
TEMPLATE = re.compile(r"^\s*template <[^;{]*>$")


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


def end_of_nameless(lines, at):
    """The line behind the declaration at this line, if it names nothing of its own; otherwise `at`."""
    begin = at + 1 if TEMPLATE.match(lines[at]) and at + 1 < len(lines) else at
    for last, opening in NAMELESS.items():
        if opening.match(lines[begin]):
            end = begin
            while end < len(lines) and not (lines[end] == "}" if last == "}" else last in lines[end][:comment_at(lines[end])]):
                end += 1
            return min(end + 1, len(lines))
    return at


def words_of(name):  # SharedMutex as shared_mutex
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def filtered(lines, header=""):
    """`header`: shared_mutex, of a header of that name. The paragraph at the top describes the type of that name, too."""
    out = []
    at = 0
    top = shared = above = described = None
    foreign = False
    while at < len(lines):
        line = lines[at]
        behind = end_of_nameless(lines, at)
        if behind > at:
            out += [""] * (behind - at)
            at = behind
            continue
        if FOREIGN.match(line) or line.startswith("template <") and FOREIGN.match((lines + [""])[at + 1]):
            foreign = True
        if foreign:
            foreign = not line.endswith("};")
            out.append("")
            at += 1
            continue
        begin = comment_at(line)
        if begin is None or "IWYU pragma" in line or "NOLINT" in line:
            if not line:
                shared = above = None
            function = FUNCTION.match(line) if begin is None else None
            named = function.group(1) if function else ""
            own = re.match(r"^(?:class|struct) (\w+)(?: final)?(?: : .*)?\s*\{", line)
            if own and top and words_of(own.group(1)) == header and not lines[at - 1].startswith(("//", "template")):
                line = f"/*! lines 1 to {top} */ {line}"
            elif named and lines[at - 1].lstrip().startswith("//"):
                above = (named, *described)  # the asynchronous form may follow
            elif shared and (named or FIELD.match(line)):
                line = f"/*! lines {shared[0]} to {shared[1]} */ {line}"
            elif above and named == above[0] + "_async":
                line = f"/*! lines {above[1]} to {above[2]} */ {line}"
            elif begin is None and SPEAKS_FOR_ITSELF.match(line):
                line = "/*! lines 0 to 0 */ " + line if line.endswith("{") else line + " /*!< lines 0 to 0 */"
            out.append(line)
            at += 1
            continue
        code = line[:begin].rstrip()
        end = at + 1
        while end < len(lines) and lines[end].startswith("//", begin) and not lines[end][:begin].strip():
            end += 1
        following = lines[end].strip() if end < len(lines) else ""
        if code and TYPE.match(code):
            out += [as_block("/*!", at + 1, end)[0] + " " + code] + [""] * (end - at - 1)
        elif code and (code[-1] == "{" or code.strip() == "}"):
            out += lines[at:end]
        elif code:
            block = as_block("/*!<", at + 1, end)
            out += [code + " " + block[0]] + block[1:]
        elif not out:
            top = end
            out += ["/*! \\file"] + as_block("", at + 1, end)
            if following == "#pragma once":
                end += 1  # it made room for the line that is \\file
        elif not following or following[0] in "}#" or following in ("public:", "protected:", "private:") or end_of_nameless(lines, end) > end:
            out += lines[at:end]  # about what is around it, or about the next part
        else:
            out += as_block(" " * begin + "/*!", at + 1, end)
            described = (at + 1, end)
            shared = described if SHARED.search(line) else None
        at = end
    return out


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        name = os.path.basename(sys.argv[1]).removesuffix(".h")
        print("\n".join(filtered(header.read().split("\n"), name)), end="")
