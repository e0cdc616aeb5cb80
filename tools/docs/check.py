"""Reads the site as it was made: usage: check.py SITE. Every link leads to a file, and to an id of it; no page loads anything from
elsewhere. Prints what it counted, and each link that is wrong."""
import html.parser
import os
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.ids, self.links, self.loads = set(), [], []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        if has.get("id"):
            self.ids.add(has["id"])
        if tag == "a" and has.get("href"):
            self.links.append(has["href"])
        if tag in ("img", "script", "iframe") and has.get("src"):
            self.loads.append(has["src"])
        if tag == "link" and has.get("rel") in ("stylesheet", "icon", "preconnect", "preload") and has.get("href"):
            self.loads.append(has["href"])


def main(site):
    pages = {}
    for folder, _, files in os.walk(site):
        for name in files:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                pages[os.path.normpath(path)] = Page(path)
    wrong, links = [], 0
    for path, page in sorted(pages.items()):
        if os.path.basename(path) == "404.html":
            continue  # its addresses begin at the root of a server
        for link in page.links + page.loads:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    wrong.append(f"{path}: loads {link}")
                continue
            links += 1
            target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path))) if parts.path else path
            if os.path.isdir(target):
                target = os.path.join(target, "index.html")
            anchor = urllib.parse.unquote(parts.fragment)
            if not os.path.exists(target):
                wrong.append(f"{path}: {link} leads nowhere")
            elif anchor and target in pages and anchor not in pages[target].ids and not anchor.startswith("__"):
                wrong.append(f"{path}: {link} has no such place")
    print("\n".join(wrong + [f"{len(pages)} pages, {links} links, {len(wrong)} wrong"]))
    return 1 if wrong or len(pages) < 50 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
