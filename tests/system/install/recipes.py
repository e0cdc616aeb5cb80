"""The recipes of packaging/ agree with the tree: version, libraries and their least versions, options, folders, and what they install.

recipes.py TREE. Needs none of the package managers: stand-ins for their functions note what the recipes say.
"""

import ast
import glob
import json
import os
import re
import sys
import types

tree = os.path.abspath(sys.argv[1])
faults = []


def text(path):
    with open(os.path.join(tree, path), encoding="utf-8") as file:
        return file.read()


def expect_equal(what, seen, wanted):
    if seen != wanted:
        faults.append(f"{what}: {seen!r}, and the tree says {wanted!r}")


def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)]


# What the tree says.
version = re.search(r'COORDKIT_VERSION_STRING "([0-9.]+)"', text("include/coordkit/version.h")).group(1)
needed = dict(re.findall(r'^coordkit_need_(?:package|header)\([^"\n]*(?:"" )?\b(\w+) ([0-9.]+) "', text("cmake/needed.cmake"), re.M))
if len(needed) < 7:
    faults.append(f"only {sorted(needed)} were read from cmake/needed.cmake")
links = {}  # of each folder: what it links
for path in glob.glob(os.path.join(tree, "src", "*", "CMakeLists.txt")) + glob.glob(os.path.join(tree, "verify", "*", "CMakeLists.txt")):
    for name, linked in re.findall(r"coordkit_library\((\w+) (?:ALONE [\w./ ]+ )?LINK ([^)]*)\)", text(path)):
        links[name] = linked.split()
products = re.findall(r"coordkit_product\((\w+) \w+ (\w+) FOLDERS ([\w ]+?)(?: ON ([\w ]+))?\)", text("cmake/products.cmake"))


def below(folder):
    found = {folder}
    for link in links[folder]:
        if link.startswith("coordkit_"):
            found |= below(link[len("coordkit_"):])
    return found


folders = {}  # of each product
library = {}  # its file
for name, file, roots, on in products:
    if name == "shared" or name in folders:
        continue
    taken = set().union(*(folders.get(product, set()) for product in (on or "").split()), set())
    folders[name] = set().union(*(below(root) for root in roots.split())) - taken
    if name in ("tls", "c"):  # on the shared library, or all in one; or on these
        folders[name] -= folders["static"] | folders["remote"] | folders["core"]
    library[name] = file
folders["coordkit"] = folders.pop("static")
library["coordkit"] = library.pop("static")

# vcpkg
port = json.loads(text("packaging/vcpkg/coordkit/vcpkg.json"))
names = {"Abseil": "abseil", "fmt": "fmt", "Boost": "boost-asio", "LMDB": "lmdb", "xxHash": "xxhash", "protozero": "protozero", "OpenSSL": "openssl"}
expect_equal("vcpkg.json, version", port["version"], version)
expect_equal("vcpkg.json, dependencies", sorted(each for each in port["dependencies"] if isinstance(each, str)),
             sorted(names.get(each, each) for each in needed))
options = set(re.findall(r"^(?:option|set)\((COORDKIT_\w+)", text("CMakeLists.txt"), re.M))
for option in re.findall(r"-D(COORDKIT_\w+)", text("packaging/vcpkg/coordkit/portfile.cmake")):
    if option not in options:
        faults.append(f"portfile.cmake sets {option}, which is no option")

# Conan
for module in ("conan", "conan.tools", "conan.tools.cmake", "conan.tools.files"):
    sys.modules[module] = types.ModuleType(module)


class Recorder:
    """Stands for whatever a recipe calls."""

    def __init__(self, *arguments, **named):
        self.cache_variables = {}

    def __getattr__(self, name):
        return Recorder()

    def __call__(self, *arguments, **named):
        return Recorder()


class Component:
    def __init__(self):
        self.libs, self.requires, self.system_libs, self.properties = [], [], [], {}

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        self[name] = Component()
        return self[name]


class ConanFile:
    recipe_folder = os.path.join(tree, "packaging", "conan")
    export_sources_folder = "exported"

    def __init__(self):
        self.required = {}
        self.cpp_info = types.SimpleNamespace(components=Components())

    def requires(self, reference, **traits):
        name, _, wanted = reference.partition("/")
        self.required[name] = wanted


copied = []
toolchains = []


class Toolchain(Recorder):
    def __init__(self, *arguments):
        super().__init__()
        toolchains.append(self)


sys.modules["conan"].ConanFile = ConanFile
for name in ("CMake", "CMakeDeps", "cmake_layout"):
    setattr(sys.modules["conan.tools.cmake"], name, Recorder)
sys.modules["conan.tools.cmake"].CMakeToolchain = Toolchain
sys.modules["conan.tools.files"].copy = lambda recipe, pattern, source, target: copied.append((pattern, os.path.normpath(source)))
sys.modules["conan.tools.files"].load = lambda recipe, path: open(path, encoding="utf-8").read()

scope = {"__name__": "conanfile"}
exec(compile(text("packaging/conan/conanfile.py"), "conanfile.py", "exec"), scope)
recipe = scope["CoordkitRecipe"]()
for step in (recipe.set_version, recipe.export_sources, recipe.requirements, recipe.layout, recipe.generate, recipe.build, recipe.package,
             recipe.package_info):
    step()
expect_equal("conanfile.py, version", recipe.version, version)
names = dict(names, Boost="boost")
expect_equal("conanfile.py, requirements", sorted(recipe.required), sorted(names.get(each, each) for each in needed))
for each, least in needed.items():
    wanted = re.match(r"\[>=([0-9.]+)", recipe.required.get(names.get(each, each), ""))
    if not wanted or numbers(wanted.group(1))[: len(numbers(least))] != numbers(least):
        faults.append(f"conanfile.py, {each}: {recipe.required.get(names.get(each, each))!r}, and the tree needs {least}")
for pattern, source in copied:
    if source != tree or not glob.glob(os.path.join(tree, pattern)):
        faults.append(f"conanfile.py exports {pattern}, which is not in the tree")
for name in ("CMakeLists.txt", "cmake/*", "include/*", "src/*", "verify/*"):
    if name not in [pattern for pattern, _ in copied]:
        faults.append(f"conanfile.py does not export {name}")
for variable in toolchains[0].cache_variables:
    if variable not in options:
        faults.append(f"conanfile.py sets {variable}, which is no option")
components = recipe.cpp_info.components
expect_equal("conanfile.py, components", {name: each.libs for name, each in components.items()}, {name: [file] for name, file in library.items()})
for name, component in components.items():
    expect_equal(f"conanfile.py, target of {name}", component.properties.get("cmake_target_name"), "coordkit::" + name)
    for require in component.requires:
        package = require.split("::")[0]
        if package not in recipe.required and package not in components:
            faults.append(f"conanfile.py, {name} requires {require}, which is not among the requirements")

# Bazel
build = text("packaging/bazel/BUILD.bazel")
module = text("packaging/bazel/MODULE.bazel")
targets = {}
modules = {}


def top_of(folder):
    return "src" if os.path.isdir(os.path.join(tree, "src", folder)) else "verify"


def bazel_glob(patterns):
    found = []
    for pattern in patterns:
        matches = [os.path.relpath(path, tree) for path in glob.glob(os.path.join(tree, pattern), recursive=True)]
        if not matches:
            faults.append(f"BUILD.bazel: nothing is {pattern}")
        found += matches
    return found


def note(**target):
    targets[target["name"]] = target


ast.parse(build)
exec(compile(build, "BUILD.bazel", "exec"),
     {"load": lambda *names: None, "package": lambda **settings: None, "glob": bazel_glob, "cc_library": note, "genrule": note})
exec(compile(module, "MODULE.bazel", "exec"),
     {"module": lambda **settings: modules.update({"coordkit": settings["version"]}),
      "bazel_dep": lambda name, version: modules.update({name: version})})
expect_equal("MODULE.bazel, version", modules.get("coordkit"), version)
for each, name in (("Abseil", "abseil-cpp"), ("fmt", "fmt")):
    if numbers(modules.get(name, "0")) < numbers(needed[each]):
        faults.append(f"MODULE.bazel has {name} {modules.get(name)}, and the tree needs {needed[each]}")
expect_equal("BUILD.bazel, libraries", sorted(set(targets) - {"headers", "inner_headers", "timeline_page"}), sorted(folders))
expect_equal("BUILD.bazel, public headers", sorted(targets["headers"]["hdrs"]), sorted(bazel_glob(["include/**/*.h"])))
for name, wanted in folders.items():
    sources = [source for source in targets[name]["srcs"] if not source.startswith(":")]
    expect_equal(f"BUILD.bazel, folders of {name}", sorted({source.split("/")[1] for source in sources}), sorted(wanted))
    expect_equal(f"BUILD.bazel, sources of {name}", sorted(sources), sorted(bazel_glob([f"{top_of(folder)}/{folder}/**/*.cc" for folder in wanted])))
    for label in targets[name]["deps"]:
        if label.startswith(":") and label[1:] not in targets:
            faults.append(f"BUILD.bazel: {name} needs {label}, which is not there")
        if label.startswith("@") and re.match(r"@([\w.-]+)", label).group(1) not in modules:
            faults.append(f"BUILD.bazel: {name} needs {label}, whose module MODULE.bazel does not name")
included = set()
for path in bazel_glob(["src/**/*.cc", "src/**/*.h", "verify/**/*.cc", "verify/**/*.h", "include/**/*.h"]):
    included |= set(re.findall(r'#include "absl/([\w/]+)/\w+\.h"', text(path)))
linked = {re.match(r"@abseil-cpp//absl/([\w/]+)", label).group(1) for target in targets.values() for label in target.get("deps", []) if "abseil" in label}
if included - linked:
    faults.append(f"BUILD.bazel links nothing of absl/{', absl/'.join(sorted(included - linked))}")
parts = re.findall(r"(k\w+)=\$\{page\}/([\w.]+)", text("verify/timeline/CMakeLists.txt"))
expect_equal("BUILD.bazel, parts of the page", [source.split("/")[-1] for source in targets["timeline_page"]["srcs"]], [file for _, file in parts])
expect_equal("BUILD.bazel, names of the parts", re.search(r"set -- (.*)", targets["timeline_page"]["cmd"]).group(1).split(), [name for name, _ in parts])

for fault in faults:
    print("recipes:", fault)
sys.exit(1 if faults else 0)
