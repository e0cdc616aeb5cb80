// The source tree, for tests that read it.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace coordkit {

std::string text_of_file(const std::filesystem::path& path);

// All regular files below these folders of the tree, if they exist, sorted; with extensions (".h"), only those that have one.
std::vector<std::filesystem::path> files_below(std::initializer_list<std::string_view> folders,
                                               std::initializer_list<std::string_view> extensions = {});

std::string path_in_tree(const std::filesystem::path& path);  // src/raft/log.cc

// ./dev with all that it reads, into a small tree of a test's own.
void copy_dev(const std::filesystem::path& into);

}  // namespace coordkit
