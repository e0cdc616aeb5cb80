#include "one_lock.h"

#include <coordkit/version.h>

static_assert(COORDKIT_VERSION >= COORDKIT_MAKE_VERSION(0, 1, 0));

int main() {
  return with_replica([](coordkit::Replica& replica) {
    using namespace std::chrono_literals;
    coordkit::Session me = replica.open_session({.ttl = 5s}).value();
    auto grant = me.acquire("billing", {.timeout = 20s});
    if (!grant.ok()) return 1;
    std::cout << "coordkit " COORDKIT_VERSION_STRING ", token " << grant->token().value() << "\n";
    return 0;
  });
}
