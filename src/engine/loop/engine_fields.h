// How the engine's own entries and rows become fields (base/field_io.h). describe() is looked for in this namespace, also of
// types that are not of it.
#pragma once

#include "base/field_io.h"

namespace coordkit::engine {

using codec::Describes;

struct FieldRules : codec::DenseRules {};

}  // namespace coordkit::engine
