// The command "compare": the lines of two builds that ran the same suite in turns (./dev bench against), as medians and their
// ratios. Reads what older builds print too: a line is what its name and its callers say.
#pragma once

#include <string>

namespace coordkit::bench {

// For people. Throws std::runtime_error with a sentence.
std::string compared(const std::string& then_file, const std::string& now_file);

}  // namespace coordkit::bench
