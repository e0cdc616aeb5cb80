"""The pages of the API reference: one for each public header, from Doxygen's XML and the comments of the header itself.

Doxygen knows the declarations and where the comment of each is ("lines 3 to 5", comments.py). The text is read from the header,
as it is there: paragraphs, indented code, items that begin with a dash, and labels such as "Threads:".
"""
import os
import re
import xml.etree.ElementTree as xml

PLACE = re.compile(r"lines (\d+) to (\d+)")
LABEL = re.compile(r"^(Threads|Lifetime|Errors|Failure|Example|Examples|Order|Cost|Units|Locks): ")


def flat(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip() if element is not None else ""


def as_written(code):  # Doxygen has its own spaces: std::vector< Entry > &
    code = re.sub(r"(?<=[\w>])< (?=\S)", "<", code)
    code = re.sub(r"(?<=[\w>*&)\]]) >", ">", code)
    return re.sub(r"(?<=[\w>]) (&&?|\*)(?=[\w,)>]|$| )", r"\1 ", code).replace("& ,", "&,").replace("& )", "&)").replace("  ", " ").rstrip()


class Symbol:
    """A type, a function, a field: what one declaration declares."""

    def __init__(self, kind, name, scope, element, text_of):
        self.kind, self.name, self.scope = kind, name, scope
        place = element.find("location")
        self.header = place.get("declfile") or place.get("file") if place is not None else ""
        self.line = int(place.get("declline") or place.get("line")) if place is not None else 0
        self.end = max(self.line, int(place.get("bodyend") or 0)) if place is not None else 0
        if place is not None and place.get("bodyfile") != self.header:
            self.end = self.line
        self.places = [(int(a), int(b)) for a, b in PLACE.findall(flat(element.find("detaileddescription"))) if int(a)]
        self.self_evident = not self.places and "lines 0 to 0" in flat(element.find("detaileddescription"))
        self.text = [line for place in self.places if place[0] > 1 for line in text_of(self.header, *place) + [""]]
        self.begin = min([self.line] + [a for a, _ in self.places if a > 1])
        self.end = max([self.end] + [b for _, b in self.places])
        self.members = []
        self.signature = as_written(signature(kind, name, element))
        self.initializer = as_written(flat(element.find("initializer")).lstrip("= ")) if kind == "variable" else ""
        self.type = as_written(flat(element.find("type")))

    @property
    def path(self):  # Session::acquire
        return f"{self.scope}::{self.name}" if self.scope else self.name

    @property
    def anchor(self):
        return re.sub(r"[^\w~.-]+", "-", self.path.replace("::", ".")).strip("-")


def signature(kind, name, element):
    head = ""
    parameters = element.find("templateparamlist")
    if parameters is not None:
        each = [" ".join(filter(None, (flat(p.find("type")), flat(p.find("declname"))))) +
                (" = " + flat(p.find("defval")) if p.find("defval") is not None else "") for p in parameters.findall("param")]
        head = f"template <{', '.join(each)}>\n"
    if element.find("requiresclause") is not None:
        head += f"requires {flat(element.find('requiresclause'))}\n"
    if kind in ("class", "struct", "union"):
        bases = [f"{b.get('prot')} {flat(b)}" for b in element.findall("basecompoundref") if b.get("prot") == "public"]
        return f"{head}{kind} {name}" + (" : " + ", ".join(bases) if bases else "")
    type_of = flat(element.find("type"))
    if kind == "typedef":
        return f"{head}using {name} = {type_of};"
    if kind == "variable":
        value = element.find("initializer")
        value = re.sub(r"\s+", " ", "".join(value.itertext())).strip() if value is not None else ""
        value = " " + value if value.startswith("=") else value
        return f"{'static ' if element.get('static') == 'yes' else ''}{type_of} {name}{flat(element.find('argsstring'))}{value};"
    if kind == "define":
        arguments = [flat(p.find("defname")) for p in element.findall("param")]
        return f"#define {name}" + (f"({', '.join(arguments)})" if arguments else "")
    words = ["friend"] if kind == "friend" else []
    words += [w for w in ("static", "explicit") if element.get(w) == "yes"]
    if element.get("virt") in ("virtual", "pure-virtual"):
        words.append("virtual")
    arguments = flat(element.find("argsstring")).replace("=0", " = 0").replace("=default", " = default").replace("=delete", " = delete")
    type_of = re.sub(r"^friend ", "", type_of)
    return head + " ".join(words + ([type_of] if type_of else []) + [name + arguments]) + ";"


class Reference:
    def __init__(self, top, folder_of_xml):
        self.top = top
        self.lines = {}
        self.headers = {}  # coordkit/locks/mutex.h -> its symbols of the outermost level, in their order
        self.symbols = {}  # Session::acquire -> [Symbol]
        root = os.path.join(top, "include")
        for folder, _, files in os.walk(root):
            for file in files:
                if file.endswith(".h"):
                    path = os.path.relpath(os.path.join(folder, file), root)
                    with open(os.path.join(folder, file), encoding="utf-8") as header:
                        self.lines[path] = header.read().split("\n")
                    self.headers[path] = []
        types = {}
        loose = {}
        for file in sorted(os.listdir(folder_of_xml)):
            if re.match(r"(class|struct|union|namespace)", file):
                self.read(os.path.join(folder_of_xml, file), types, loose)
            elif file.endswith("_8h.xml"):
                self.read(os.path.join(folder_of_xml, file), types, loose)
        for path, symbol in types.items():
            symbol.members.sort(key=lambda each: each.line)
            outer = types.get(path.rpartition("::")[0])
            if outer:
                outer.members.append(symbol)
                outer.members.sort(key=lambda each: each.line)
            elif symbol.header in self.headers:
                self.headers[symbol.header].append(symbol)
        for symbol in loose.values():
            if symbol.header in self.headers:
                self.headers[symbol.header].append(symbol)
        for path in self.headers:
            self.headers[path].sort(key=lambda each: each.line)
            for symbol in self.headers[path]:
                self.note(symbol)

    def note(self, symbol):
        self.symbols.setdefault(symbol.path, []).append(symbol)
        for member in symbol.members:
            self.note(member)

    def text_of(self, header, first, last):
        out = []
        for line in self.lines[header][first - 1:last]:
            text = line[line.index("//") + 2:] if "//" in line else ""
            if not line.lstrip().startswith("//"):
                text = re.split(r"(?<!:)//", line, 1)[-1] if line.count("//") == 1 else line[line.rindex(" // ") + 3:] if " // " in line else text
            out.append(text[1:] if text.startswith(" ") else text)
        return out

    def read(self, path, types, loose):
        for compound in xml.parse(path).getroot().findall("compounddef"):
            kind = compound.get("kind")
            if compound.get("prot") == "private":
                continue
            full = flat(compound.find("compoundname"))
            inside = re.sub(r"^coordkit(::|$)", "", full) if kind != "file" else ""
            owner = None
            if kind in ("class", "struct", "union"):
                scope, _, name = inside.rpartition("::")
                owner = Symbol(kind, name, scope, compound, self.text_of)
                if "<" in name or full == inside:
                    continue  # a specialisation, or a type of somebody else's namespace
                types[inside] = owner
            for section in compound.findall("sectiondef"):
                for element in section.findall("memberdef"):
                    if element.get("prot") == "private" and element.get("kind") != "friend":
                        continue
                    if kind == "file" and element.get("kind") != "define":
                        continue  # it is in its namespace's file, too
                    self.add(element, inside, owner, loose)

    def add(self, element, scope, owner, loose):
        kind, name = element.get("kind"), flat(element.find("name"))
        if kind == "friend" and flat(element.find("type")).split(" ")[0] in ("class", "struct"):
            return
        if kind == "define" and name.startswith("COORDKIT_") and not name.startswith("COORDKIT_VERSION"):
            return
        symbol = Symbol(kind, name, scope, element, self.text_of)
        if kind == "enum":
            symbol.signature = f"enum class {name}" if element.get("strong") == "yes" else f"enum {name}"
            for value in element.findall("enumvalue"):
                text = [line for a, b in PLACE.findall(flat(value.find("detaileddescription"))) for line in
                        self.text_of(symbol.header, int(a), int(b))]
                symbol.members.append((flat(value.find("name")), flat(value.find("initializer")), text))
            symbol.values, symbol.members = symbol.members, []
        if symbol.name == "" or symbol.header not in self.headers:
            return
        if owner is not None:
            owner.members.append(symbol)
        else:
            loose[element.get("id")] = symbol


# A header's comment as Markdown. links(text) makes links of what a run of plain prose names.
def prose(lines, links):
    out, paragraph, code = [], [], []

    def close():
        if code:
            while code and not code[-1]:
                code.pop()
            out.extend(["```cpp"] + code + ["```", ""])
            code.clear()
        if paragraph:
            text = " ".join(paragraph)
            label = LABEL.match(text)
            if label:
                text = f"**{label.group(1)}:** " + links(text[label.end():])
            else:
                text = links(text)
            out.extend([text, ""])
            paragraph.clear()

    item = False
    for line in lines:
        line = line.rstrip()
        if line.startswith("- "):
            if paragraph or code:
                close()
            while item and out and not out[-1]:
                out.pop()
            paragraph.append(line)
            close()
            item = True
        elif item and line.startswith("  ") and not line.startswith("   "):
            while out and not out[-1]:
                out.pop()
            out[-1] += " " + links(line.strip())
            out.append("")
        elif line.startswith("  ") and not paragraph:
            code.append(line[2:].removeprefix(" "))
        elif code and not line:
            code.append("")
        else:
            item = False
            if code or not line or LABEL.match(line):
                close()
            if line:
                paragraph.append(line.strip())
    close()
    return out


def cell(lines, links):
    return links(" ".join(line.strip() for line in lines if line.strip())).replace("|", "\\|")


def runs(members):
    """Members that share a comment, or overload each other: they are shown together."""
    groups = []
    for symbol in members:
        last = groups[-1][-1] if groups else None
        both = last is not None and symbol.kind in ("function", "friend") and last.kind in ("function", "friend")
        if both and symbol.places and symbol.places == last.places:
            groups[-1].append(symbol)
        elif both and not symbol.places and symbol.begin <= last.end + 1 and symbol.self_evident == last.self_evident:
            groups[-1].append(symbol)
        elif both and symbol.name == last.name and len(groups[-1]) == 1 and not last.places:
            groups[-1].append(symbol)
        else:
            groups.append([symbol])
    return groups


class Writer:
    def __init__(self, links):
        self.links = links
        self.out = []
        self.anchors = set()

    def heading(self, level, symbols, title):
        first = symbols[0].anchor
        while first in self.anchors:  # an overload
            first += "-"
        more = [anchor for anchor in dict.fromkeys(s.anchor for s in symbols) if anchor != first and anchor not in self.anchors]
        self.anchors |= {first, *more}
        self.out += [f"{'#' * level} {title} {{#{first}}}", ""]
        if more:
            self.out += ["".join(f'<span id="{anchor}"></span>' for anchor in more), ""]

    def code(self, lines):
        self.out += ["```cpp"] + [wrapped for line in lines for wrapped in line.split("\n")] + ["```", ""]

    def top(self, symbols):
        for group in runs(symbols):
            self.any(group, 2)

    def any(self, group, level):
        first = group[0]
        if first.kind in ("class", "struct", "union"):
            self.heading(level, group, f"{first.kind} {first.path}" if level > 2 else f"{first.kind} {first.name}")
            self.code([first.signature])
            self.out += prose(first.text, self.links)
            self.type_members(first, level + 1)
        elif first.kind == "enum":
            self.heading(level, group, f"enum {first.path if level > 2 else first.name}")
            self.code([first.signature])
            self.out += prose(first.text, self.links)
            self.out += ["| value | meaning |", "|---|---|"]
            self.out += [f"| `{name}{' ' + initial if initial else ''}` | {cell(text, self.links)} |" for name, initial, text in first.values]
            self.out += [""]
        else:
            names = dict.fromkeys(s.name + ("()" if s.kind in ("function", "friend") else "") for s in group)
            title = ", ".join(f"`{name}`" for name in names)
            self.heading(level, group, title)
            self.code([s.signature for s in group])
            for at, symbol in enumerate(group):
                if at == 0 or symbol.places != group[at - 1].places:
                    self.out += prose(symbol.text, self.links)

    def type_members(self, owner, level):
        plain = [m for m in owner.members if m.kind == "variable"]
        quiet = [m for m in owner.members if m.self_evident]
        others = [m for m in owner.members if m not in plain and m not in quiet]
        if plain:
            self.out += ["| field | default | meaning |", "|---|---|---|"]
            for field in plain:
                default = f"`{field.initializer.replace('std::chrono::', '')}`".replace("|", "\\|") if field.initializer and field.initializer != "{}" else ""
                kind = f"`{field.type}`".replace("|", "\\|")
                self.out.append(f'| <span id="{field.anchor}"></span>`{field.name}`<br>{kind} | {default} | {cell(field.text, self.links)} |')
            self.out += [""]
        for group in runs(others):
            self.any(group, level)
        if quiet:
            self.code([m.signature for m in quiet])
