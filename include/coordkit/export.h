// What a shared libcoordkit shows to the programs that load it: each public header says so once, at its namespace, and
// everything else is hidden (docs/decisions/0015). Standing at the namespace it covers classes, their typeinfo, which
// exceptions and casts compare across libraries, and whatever is declared there tomorrow, classes inside of classes too: one
// of these that no public header defines says that it is hidden, where it is defined.
#pragma once

#if defined(__GNUC__)
#define COORDKIT_EXPORT [[gnu::visibility("default")]]
#define COORDKIT_HIDDEN [[gnu::visibility("hidden")]]
#else
#define COORDKIT_EXPORT
#define COORDKIT_HIDDEN
#endif

#include "coordkit/built_alike.h"
