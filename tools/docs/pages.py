"""Puts the pages of the site together, for MkDocs: usage: pages.py TOP XML OUT

OUT/pages gets the tree's Markdown at the same paths, so that the links among the pages stay as they are, and beside it
  - include/coordkit/X.h.md      a page of the reference for each public header (reference.py)
  - examples/NAME/FILE.md        the programs that the pages quote, and every other file of the tree that a page links to
  - index.md, overview.md        docs/start/home.md, and the README of the tree
OUT/mkdocs.yml is tools/docs/mkdocs.yml with the generated parts of the navigation in it. What differs between Markdown here and
there is changed on the way: the marks of sources and of what holds in the tree alone, lists, and links to files that are no pages.
"""
import os
import re
import shutil
import sys

from reference import Reference, Writer, prose

FENCE = re.compile(r"^\s*(```|~~~)")
CLAIM = re.compile(r"^TEST_P\(\w+, ((?:(?:(?:INV|FLT|REG)_)?[A-Z]\d+_)*)(\w+)\)")
ITEM = re.compile(r"^(\s*)(?:[-*]|\d+\.) ")
LANGUAGE = {".h": "cpp", ".cc": "cpp", ".cmake": "cmake", ".yaml": "yaml", ".json": "json", ".sh": "bash", ".py": "python"}


def anchored(match):  # a rule, an invariant or a fault can be linked to by its id
    mark, bold, name = match.groups()
    return f'{mark}<span id="{name.lower().replace("_", "-")}"></span>{bold}{name}'


class Site:
    def __init__(self, top, folder_of_xml, out):
        self.top, self.out = top, os.path.join(out, "pages")
        self.reference = Reference(top, folder_of_xml)
        self.short = {}  # mutex.h -> [coordkit/locks/mutex.h]
        for header in self.reference.headers:
            self.short.setdefault(os.path.basename(header), []).append(header)
        self.rules = set(re.findall(r"\*\*(S-\d+)\*\*", self.read("docs/semantics.md")))
        self.decisions = {name[:4]: name for name in sorted(os.listdir(os.path.join(top, "docs/decisions"))) if name[:4].isdigit()}
        self.wanted = []  # files of the tree that a page links to, and that have no page yet
        self.mentions = {}  # header -> the pages that speak of it
        self.titles = {}
        self.links = 0

    def read(self, path):
        with open(os.path.join(self.top, path), encoding="utf-8") as file:
            return file.read()

    def write(self, path, text):
        path = os.path.join(self.out, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    # Where the page of a file of the tree is.
    def page_of(self, path):
        if path in ("docs/start/home.md", "README.md"):
            return {"docs/start/home.md": "index.md", "README.md": "overview.md"}[path]
        if path.endswith((".md", ".svg", ".png")):
            return path
        if os.path.isdir(os.path.join(self.top, path)):
            inside = os.path.join(path, "README.md")
            return inside if os.path.exists(os.path.join(self.top, inside)) else os.path.join(path, "index.md")
        return path + ".md"

    def link_to(self, page, path, anchor=""):
        """From a page to the page of a file of the tree, as the former writes it."""
        target = self.page_of(path)
        if not path.startswith("include/coordkit/"):
            self.wanted.append(path)
        return os.path.relpath(target, os.path.dirname(page) or ".") + anchor

    # Links in prose: [text](target), and code that names a header or a symbol.
    def linked(self, source, page, line):
        folder = os.path.dirname(source)

        def target(match):
            text, path, anchor = match.group(1), match.group(2), match.group(3) or ""
            path = os.path.normpath(os.path.join(folder, path))
            if not os.path.exists(os.path.join(self.top, path)):
                raise SystemExit(f"{source}: {match.group(0)} leads nowhere")
            return f"]({self.link_to(page, path, anchor)})" if not text else f"[{text}]({self.link_to(page, path, anchor)})"

        line = re.sub(r"\]()\(([^)#:\s]+)(#[^)\s]*)?\)", target, line)

        def code(match):
            link, quoted, rule = match.groups()
            if rule and rule in self.rules:
                return f"[{rule}]({self.link_to(page, 'docs/semantics.md', '#' + rule.lower())})"
            return quoted and self.code(page, quoted) or match.group(0)  # what is a link already stays

        return re.sub(r"(\[[^\]]*\]\([^)]*\))|`([^`]+)`|(?<![\w*>/#-])(S-\d+)(?![\w*-])", code, line) if not line.startswith("#") else line

    def code(self, page, code):
        """A link for what stands between backticks, if it names a header or a symbol of one."""
        headers = re.fullmatch(r"(?:include/)?(coordkit/(?:\w+/)*)(?:\{([\w,/]+)\}|(\w+))\.h", code)
        if headers:
            names = [f"{headers.group(1)}{name}.h" for name in (headers.group(2) or headers.group(3)).split(",")]
            if not all(name in self.reference.headers for name in names):
                return None
            for name in names:
                self.mentions.setdefault(name, {})[page] = None
            return ", ".join(f"[`{name}`]({self.link_to(page, 'include/' + name)})" for name in names)
        found = self.symbol(re.sub(r"\(.*\)$", "", code.removeprefix("coordkit::")))
        return f"[`{code}`]({self.link_to(page, 'include/' + found.header, '#' + found.anchor)})" if found else None

    def symbol(self, path):
        if "::" not in path:
            return None
        found = self.reference.symbols.get(path) or []
        return found[0] if found and found[0].header in self.reference.headers else None

    # The prose of a header's comment, with its links.
    def comment(self, page, header, text):
        parts = re.split(r"(`[^`]*`)", text)
        for at, part in enumerate(parts):
            if part.startswith("`") and len(part) > 1:
                parts[at] = self.code(page, part[1:-1]) or part
                continue
            part = re.sub(r"([\\*_<>\[\]#|])", r"\\\1", part)
            part = re.sub(r"\b(S-\d+)\b", lambda m: f"[{m.group(1)}]({self.link_to(page, 'docs/semantics.md', '#' + m.group(1).lower())})"
                          if m.group(1) in self.rules else m.group(0), part)
            part = re.sub(r"\b(?:docs/)?decisions/(\d{4})\b", lambda m: f"[decision {m.group(1)}]({self.link_to(page, 'docs/decisions/' + self.decisions[m.group(1)])})"
                          if m.group(1) in self.decisions else m.group(0), part)
            part = re.sub(r"(?<!\]\()(?<![\[/\w])docs/((?:[\w-]+/)*[\w-]+\.md)\b", lambda m: f"[{m.group(0)}]({self.link_to(page, m.group(0))})"
                          if os.path.exists(os.path.join(self.top, m.group(0))) else m.group(0), part)
            part = re.sub(r"\bexamples/([\w\\]+)(/[\w.\\]*\w)?", lambda m: self.example(page, m), part)
            part = re.sub(r"(?<!\]\()(?<![\[/\w`])((?:coordkit/)?(?:\w+/)*[\w\\]+\.h)\b", lambda m: self.header_in_prose(page, header, m), part)
            part = re.sub(r"(?<![\w\\])((?:[\w\\]+::)+~?[\w\\]+)((?:\(\))?)", lambda m: self.symbol_in_prose(page, m), part)
            parts[at] = part
        return "".join(parts)

    def example(self, page, match):
        path = match.group(0).replace("\\", "")
        full = path if os.path.exists(os.path.join(self.top, path)) else ""
        if full and os.path.isdir(os.path.join(self.top, full)):
            full = os.path.join(full, "main.cc")
        return f"[{path}]({self.link_to(page, full)})" if full else match.group(0)

    def header_in_prose(self, page, header, match):
        name = match.group(1).replace("\\", "")
        near = os.path.join(os.path.dirname(header), name)
        short = self.short.get(name, [])
        full = name if name in self.reference.headers else "coordkit/" + name if "coordkit/" + name in self.reference.headers else \
            near if near in self.reference.headers else short[0] if len(short) == 1 else ""
        return f"[`{name}`]({self.link_to(page, 'include/' + full)})" if full and full != header else f"`{name}`"

    def symbol_in_prose(self, page, match):
        path = match.group(1).replace("\\", "")
        found = self.symbol(path)
        shown = path + match.group(2)
        return f"[`{shown}`]({self.link_to(page, 'include/' + found.header, '#' + found.anchor)})" if found else f"`{shown}`"

    # A page of the tree as MkDocs wants it.
    def markdown(self, source):
        page = self.page_of(source)
        out, fence, title, before, items = [], None, "", "", False
        for line in self.read(source).split("\n"):
            mark = FENCE.match(line)
            if fence:
                out.append(line)
                if mark and mark.group(1) == fence:
                    fence = None
                before = line
                continue
            if mark:
                fence = mark.group(1)
                if title and line.strip() != fence:
                    line += f' title="{title}"'
                title = ""
                out.append(line)
                continue
            quoted = re.fullmatch(r"<!-- source: (\S+) -->", line)
            if quoted:
                title = quoted.group(1)
                continue
            line = re.sub(r"\s*<!-- /?tree -->$|^<!-- /?tree -->\s*", "", line)
            item = ITEM.match(line)
            if item:
                if before.strip() and not items:
                    out.append("")
                items = True
                deep = len(item.group(1))
                line = "    " * ((deep + 2) // 3) + line.lstrip() if deep else line
            elif items and line.strip() and not line.startswith(" ") and not before.strip():
                items = False
            line = re.sub(r"^(- |\| )(\*\*|)((?:S|LT|T|INV|FLT|REG)[-_]?[A-Z]?\d+)(?=\*\*| \|)", anchored, line)
            out.append(self.linked(source, page, line))
            before = line
        text = "\n".join(out)
        if page == "index.md":  # in two columns where there is room
            heading, rest = text.split("\n", 1)
            text = f'---\nhide: [navigation, toc]\n---\n{heading}\n\n<div class="home" markdown="1">\n{rest}\n</div>\n'
        found = re.search(r"^# (.+)$", text, re.M)
        self.titles[page] = re.sub(r"[`*]", "", found.group(1)) if found else page
        self.write(page, text)

    def file(self, path):
        """A file of the tree that a page links to, as a page with its code; a folder, as the list of its files."""
        full = os.path.join(self.top, path)
        if path.endswith((".svg", ".png")):
            os.makedirs(os.path.dirname(os.path.join(self.out, path)), exist_ok=True)
            shutil.copy(full, os.path.join(self.out, path))
        elif path.endswith(".md"):
            self.markdown(path)
        elif os.path.isdir(full):
            page = self.page_of(path)
            if page.endswith("README.md"):
                self.wanted.append(page)
                return
            lines = [f"# {path}", ""]
            for name in sorted(os.listdir(full)):
                inside = os.path.join(path, name)
                if os.path.isdir(os.path.join(full, name)) and os.path.exists(os.path.join(full, name, "main.cc")):
                    lines.append(f"- [{name}]({self.link_to(page, inside + '/main.cc')}): {self.about(inside + '/main.cc')}")
                elif os.path.isfile(os.path.join(full, name)):
                    lines.append(f"- [{name}]({self.link_to(page, inside)})")
            self.write(page, "\n".join(lines) + "\n")
        else:
            language = LANGUAGE.get(os.path.splitext(path)[1], "text")
            beside = [name for name in sorted(os.listdir(os.path.dirname(full))) if path.startswith("examples/") and
                      name != os.path.basename(path) and os.path.isfile(os.path.join(os.path.dirname(full), name))]
            lines = [f"# {path}", ""]
            if beside:
                page = self.page_of(path)
                folder = os.path.dirname(path)
                lines += ["Beside it: " + ", ".join(f"[{name}]({self.link_to(page, folder + '/' + name)})" for name in beside) + ".", ""]
            self.write(path + ".md", "\n".join(lines) + f"\n````{language}\n{self.read(path)}\n````\n")

    def about(self, path):
        """The first sentence of a file's opening comment."""
        words = []
        for line in self.read(path).split("\n"):
            if not line.startswith("//") or line.strip() == "//":
                break
            words.append(line[2:].strip())
        sentence = re.split(r"(?<=[.:]) (?=[A-Z])", " ".join(words))[0].rstrip(":")
        return sentence if sentence.endswith(".") else sentence + "."

    def header(self, header):
        page = f"include/{header}.md"
        links = lambda text: self.comment(page, header, text)
        writer = Writer(links)
        writer.out = [f"# {header}", "", "```cpp", f"#include <{header}>", "```", ""]
        opening = []
        for line in self.reference.lines[header]:
            if not line.startswith("//"):
                break
            opening.append(line[3:])
        writer.out += prose(opening, links)
        more = [other for other in self.mentions.get(header, {}) if other != page]
        if more:
            pages = ", ".join(f"[{self.titles[other]}]({os.path.relpath(other, os.path.dirname(page))})" for other in sorted(more))
            writer.out += [f"**Pages about it:** {pages}.", ""]
        writer.top(self.reference.headers[header])
        claims = self.claims(header, links)
        writer.out += claims
        if not self.reference.headers[header] and not claims:
            code = [line for line in self.reference.lines[header] if line.startswith("#include")]
            writer.code(code)
            for name in re.findall(r'"(coordkit/[^"]+)"', "\n".join(code)):
                writer.out.append(f"- [{name}]({os.path.relpath('include/' + name + '.md', os.path.dirname(page))})")
        self.write(page, "\n".join(writer.out) + "\n")

    def claims(self, header, links):
        """The tests of a conformance suite as a table: each name as a sentence, and the comment above the test."""
        out, lines = [], self.reference.lines[header]
        for at, line in enumerate(lines):
            claim = CLAIM.match(line)
            if claim:
                first = at
                while lines[first - 1].startswith("// "):
                    first -= 1
                words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", claim.group(2)).lower()
                name = (claim.group(1) + claim.group(2)).replace("_", "\\_")
                about = links(" ".join(text[3:] for text in lines[first:at]))
                out.append(f"| {words.capitalize()} | {name} | {about} |")
        return ["## The claims", "", "| claim | test | about it |", "|---|---|---|"] + out + [""] if out else []

    def groups(self):
        """The headers by folder of include/coordkit, the top first."""
        found = {}
        for header in sorted(self.reference.headers, key=lambda h: (h.count("/"), h)):
            folder = os.path.dirname(header)
            found.setdefault(folder, []).append(header)
        return found

    def index_of_reference(self):
        out = ["# API reference", "",
               "Every public header and all that it declares. The text is that of the headers, so it is also what an editor shows. "
               "[All names](names.md) lists the symbols from A to Z.", ""]
        for folder, headers in self.groups().items():
            out += [f"## {folder}", "", "| header | about |", "|---|---|"]
            for header in headers:
                about = self.comment("reference/index.md", header, self.about("include/" + header)).replace("\n", " ")
                out.append(f"| [{header}](../include/{header}.md) | {about} |")
            out += [""]
        self.write("reference/index.md", "\n".join(out))
        out = ["# All names", ""]
        letter = ""
        names = sorted((s for all_of in self.reference.symbols.values() for s in all_of[:1] if s.kind != "define" and
                        not s.name.startswith("operator") and not s.name.startswith("~") and not s.self_evident),
                       key=lambda s: (s.name.lower(), s.path))
        for symbol in names:
            if symbol.name[0].upper() != letter:
                letter = symbol.name[0].upper()
                out += ["", f"## {letter}", ""]
            place = f" of {symbol.scope}" if symbol.scope else ""
            out.append(f"- [`{symbol.name}`](../include/{symbol.header}.md#{symbol.anchor}){place}, {symbol.header.removeprefix('coordkit/')}")
        self.write("reference/names.md", "\n".join(out) + "\n")

    def navigation(self, template):
        generated = {
            "@decisions": ["docs/decisions/README.md"] + ["docs/decisions/" + name for number, name in self.decisions.items() if number != "0000"],
            "@examples": [(name, f"examples/{name}/main.cc.md") for name in sorted(os.listdir(os.path.join(self.top, "examples")))
                          if os.path.exists(os.path.join(self.top, "examples", name, "main.cc"))],
        }
        for name, page in generated["@examples"]:
            self.wanted.append(page.removesuffix(".md"))
        out = []
        for line in template.split("\n"):
            place = re.fullmatch(r'( *)- "(@\w+)"', line)
            if not place:
                out.append(line)
                continue
            indent, what = place.groups()
            if what == "@headers":
                for folder, headers in self.groups().items():
                    out.append(f"{indent}- {folder}:")
                    out += [f"{indent}    - {os.path.basename(header)}: include/{header}.md" for header in headers]
            else:
                out += [f"{indent}- {each}" if isinstance(each, str) else f"{indent}- {each[0]}: {each[1]}" for each in generated[what]]
        return "\n".join(out)

    def make(self):
        shutil.rmtree(self.out, ignore_errors=True)
        template = self.read("tools/docs/mkdocs.yml")
        nav = self.navigation(template)
        self.wanted += ["README.md"]
        for folder, _, files in os.walk(os.path.join(self.top, "docs")):
            self.wanted += [os.path.relpath(os.path.join(folder, name), self.top) for name in sorted(files) if name.endswith(".md")]
        self.wanted += re.findall(r"^ *- (?:[^:]+: )?([A-Z]\w+\.md)$", nav, re.M)
        done = set()
        for rounds in range(2):  # what headers link to may be new
            while self.wanted:
                path = self.wanted.pop()
                if path not in done and not path.startswith("reference/"):
                    done.add(path)
                    self.file(path)
            if rounds == 0:
                for header in self.reference.headers:
                    self.header(header)
                self.index_of_reference()
        with open(os.path.join(os.path.dirname(self.out), "mkdocs.yml"), "w", encoding="utf-8") as file:
            file.write(nav)
        for name in ("site.css", "offline.js"):
            shutil.copy(os.path.join(self.top, "tools/docs", name), self.out)
        shutil.copytree(os.path.join(self.top, "tools/docs/theme"), os.path.join(os.path.dirname(self.out), "theme"), dirs_exist_ok=True)
        print(f"{len(self.reference.headers)} headers, {sum(len(each) for each in self.reference.symbols.values())} symbols")


if __name__ == "__main__":
    Site(*sys.argv[1:4]).make()
