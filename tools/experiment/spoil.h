// Damages files: one random act of vandalism, as a disk, a careless hand or a bad backup might do it.
#pragma once

#include <filesystem>
#include <random>
#include <string>

namespace coordkit::experiment {

// Damages something below `data`, the directory of a member; `other` is another member's, to be mixed up with it. Returns what
// it did, in words for a report; empty: there was nothing to damage.
std::string spoil(const std::filesystem::path& data, const std::filesystem::path& other, std::mt19937_64& random);

}  // namespace coordkit::experiment
