"""The index of the site's search: usage: search.py SITE. The list of changes and that of all names have a word of everything, so
they are left out. Beside the index it writes search_index.js, for a site that is opened without a server (offline.js)."""
import json
import os
import sys

folder = os.path.join(sys.argv[1], "search")
with open(os.path.join(folder, "search_index.json"), encoding="utf-8") as file:
    index = json.load(file)
index["docs"] = [each for each in index["docs"] if not each["location"].startswith(("CHANGELOG.html", "reference/names.html"))]
text = json.dumps(index, separators=(",", ":"))
with open(os.path.join(folder, "search_index.json"), "w", encoding="utf-8") as file:
    file.write(text)
with open(os.path.join(folder, "search_index.js"), "w", encoding="utf-8") as file:
    file.write("const __index = " + text + ";\n")
print(f"{len(index['docs'])} sections in the search, {len(text) // 1024} KiB")
