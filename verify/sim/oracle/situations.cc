#include "coordkit/sim/situations.h"

#include "base/enum_words.h"

namespace coordkit::sim {

std::string_view name_of(Situation situation) { return words_of(situation); }

}  // namespace coordkit::sim
