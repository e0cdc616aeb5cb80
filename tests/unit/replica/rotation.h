// Many rotations under load, counted.
#pragma once

#include <iostream>

#include "tests/unit/replica/tls_cluster.h"

namespace coordkit::testkit {

// This many times three replicas take new files; each tenth time the authority is new.
inline void rotate_under_load(uint64_t rotations) {
  TlsCluster tls;
  ASSERT_NO_FATAL_FAILURE(tls.open_all());
  Callers callers(tls.cluster);
  uint64_t done = 0;
  for (; done < rotations && !::testing::Test::HasFailure(); done += 3) tls.rotate(done / 3 % 10 == 9);
  callers.stop();
  uint64_t renewed = 0, refused = 0;
  for (uint64_t id = 1; id <= 3; ++id) {
    renewed += tls.closed_for(id, CloseReason::Renewed);
    refused += tls.closed_for(id, CloseReason::RefusedByPeer) + tls.closed_for(id, CloseReason::CertificateUnknownAuthority);
  }
  std::cout << done << " rotations, " << renewed << " connections replaced, " << refused << " refused, " << callers.calls()
            << " calls, " << callers.failed() << " failed\n";
  EXPECT_EQ(callers.failed(), 0u);
  EXPECT_GE(callers.calls(), rotations);
  EXPECT_GE(renewed, 2 * done);
  EXPECT_EQ(refused, 0u);
}

}  // namespace coordkit::testkit
