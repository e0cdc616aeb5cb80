// The symbols that a shared libcoordkit shows to programs. Each public header exports its namespace
// once, and everything else is hidden (docs/decisions/0015). An export at the namespace covers
// classes and their typeinfo, which exceptions and casts compare across libraries. It also covers
// everything that is declared there later, nested classes included. A nested class that no public
// header defines is marked as hidden at its definition.
#pragma once

#if defined(__GNUC__)
#define COORDKIT_EXPORT [[gnu::visibility("default")]]  // shown to programs
#define COORDKIT_HIDDEN [[gnu::visibility("hidden")]]   // not shown to them
#else
#define COORDKIT_EXPORT
#define COORDKIT_HIDDEN
#endif

#include "coordkit/built_alike.h"
