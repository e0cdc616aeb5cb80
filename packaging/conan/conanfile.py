"""coordkit for Conan 2: conan create packaging/conan, in the tree that is to be packaged."""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class CoordkitRecipe(ConanFile):
    name = "coordkit"
    license = "Apache-2.0"
    description = "locks with fencing tokens, sessions and leadership, by Raft inside your own processes"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"fPIC": [True, False]}
    default_options = {"fPIC": True, "boost/*:header_only": True}

    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._tree(), "include", "coordkit", "version.h"))
        self.version = re.search(r'COORDKIT_VERSION_STRING "([0-9.]+)"', header).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "cmake/*", "docs/*", "examples/*", "include/*", "src/*", "verify/*"):
            copy(self, pattern, self._tree(), self.export_sources_folder)

    def requirements(self):
        visible = {"transitive_headers": True, "transitive_libs": True}
        self.requires("abseil/[>=20220623.0]", **visible)
        self.requires("boost/[>=1.74.0]", **visible)
        self.requires("fmt/[>=9.1.0]", **visible)
        self.requires("lmdb/[>=0.9.24 <1]")
        self.requires("openssl/[>=3.0.0 <4]")
        self.requires("protozero/[>=1.7.1]")
        self.requires("xxhash/[>=0.8.1]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["COORDKIT_TESTS"] = False
        toolchain.cache_variables["COORDKIT_PROGRAMS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        needs = {
            "core": ["abseil::abseil", "xxhash::xxhash", "protozero::protozero"],
            "remote": ["core", "abseil::abseil", "boost::headers", "fmt::fmt", "openssl::crypto"],
            "coordkit": ["remote", "abseil::abseil", "lmdb::lmdb"],
            "tls": ["remote", "openssl::ssl"],
            "c": [],  # a shared library, with all that it needs
            "sim": ["core", "fmt::fmt"],
            "compare": ["sim"],
            "testing": ["coordkit"],
        }
        for name, requires in needs.items():
            component = self.cpp_info.components[name]
            component.libs = ["coordkit" if name == "coordkit" else "coordkit_" + name]
            component.requires = requires
            component.system_libs = ["pthread"]
            component.set_property("cmake_target_name", "coordkit::" + name)
