// A member that missed much is sent a whole state over a narrow link while others work: shared by the quick and the long form
// of one test.
#pragma once

#include "tests/system/integration/members_on_hosts.h"

namespace coordkit::testkit {

class NarrowLinkTest : public MembersOnHosts {
 protected:
  // No election, nothing lost, and work continues meanwhile; prints the gaps between acknowledgements.
  void expect_quiet_transfer(uint64_t state_megabytes, uint64_t bits_per_second);
};

}  // namespace coordkit::testkit
