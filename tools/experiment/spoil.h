// What becomes of files: one act of vandalism at random, as a disk, a careless hand or a bad backup might do it.
#pragma once

#include <filesystem>
#include <random>
#include <string>

namespace coordkit::experiment {

// Spoils something below `data`, the directory of a member; `other` is that of another one, to be mixed up with. Says what it
// did, in words for a report; empty: there was nothing to spoil.
std::string spoil(const std::filesystem::path& data, const std::filesystem::path& other, std::mt19937_64& random);

}  // namespace coordkit::experiment
