// `coordctl completion`: what bash needs to complete coordctl's words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace coordkit::coordctl {

// For: source <(coordctl completion)
std::string bash_completion(const CLI::App& app);

}  // namespace coordkit::coordctl
