// Replicas with certificates, and replicas with none or wrong ones.
#include <algorithm>

#include "tests/unit/replica/tls_cluster.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

using ::testing::HasSubstr;

bool warns(Replica& replica, const std::string& part) {
  const std::vector<std::string> warnings = replica.health().warnings;
  return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& one) { return one.find(part) != one.npos; });
}

// Covers: FLT_S10
TEST(TlsTest, WhoHasCertificatesFoundsAClusterAndWorks) {
  TlsCluster tls;
  ASSERT_NO_FATAL_FAILURE(tls.open_all());
  Session session = tls.cluster.session(3);
  EXPECT_THAT(session.acquire("lock", {.timeout = kPatience}).status(), IsOk());
}

// Covers: FLT_S10
TEST(TlsTest, WhoSpeaksPlainTextIsRefusedWarnedOfAndCounted) {
  TlsCluster tls;
  ASSERT_NO_FATAL_FAILURE(tls.open_all());  // initialization needs all members
  tls.cluster.close(3);
  ASSERT_NO_FATAL_FAILURE(tls.cluster.open(tls.cluster.options(3)));
  for (const uint64_t id : {1, 2}) {
    EXPECT_TRUE(eventually([&] { return warns(tls.cluster[id], "replica 3 speaks plain text, and TLS is wanted"); }));
    EXPECT_GE(tls.closed_for(id, CloseReason::SpeaksPlainText), 1u);
    EXPECT_THAT(prometheus_text(tls.cluster[id].metrics().value()), HasSubstr("reason=\"SpeaksPlainText\""));
  }
  EXPECT_TRUE(eventually([&] { return warns(tls.cluster[3], "says: replica 3 speaks plain text, and TLS is wanted"); }));
  EXPECT_EQ(tls.cluster[3].metrics()->peers.tcp->opened, 0u);
  EXPECT_THAT(tls.cluster[3].reload_tls(), Is(Reason::Unsupported));
}

// Covers: FLT_A06
TEST(TlsTest, FilesThatCannotBeUsedAreRefusedAtTheOpeningAndNothingIsTouched) {
  TlsCluster tls;
  ReplicaOptions options = tls.options(1);
  std::get<Tls>(options.security).key = "";
  EXPECT_THAT(Replica::open(options).status(), Is(Reason::InvalidArgument));
  options.security = std::get<Tls>(tls.options(2).security);
  const absl::Status other = Replica::open(options).status();
  EXPECT_THAT(other, Is(Reason::InvalidArgument));
  EXPECT_THAT(std::string(other.message()), HasSubstr("names replica 2"));
  ASSERT_NO_FATAL_FAILURE(tls.open_all());
}

// Covers: FLT_S11
TEST(TlsTest, FilesOfRelativePathsAreReadAgainFromAnotherDirectory) {
  TlsCluster tls;
  ReplicaOptions options = tls.options(1);
  Tls& files = std::get<Tls>(options.security);
  const std::filesystem::path folder = std::filesystem::path(files.key).parent_path();
  for (std::string Tls::*file : {&Tls::certificate, &Tls::key, &Tls::authority}) {
    files.*file = std::filesystem::path(files.*file).filename();
  }
  {
    const WorkingDirectory here(folder);
    ASSERT_NO_FATAL_FAILURE(tls.cluster.open(options));
  }
  EXPECT_THAT(tls.cluster[1].reload_tls(), IsOk());
}

// Covers: FLT_S11
TEST(TlsTest, CertificatesAndAuthorityAreExchangedUnderLoadWithoutAFailedCall) {
  TlsCluster tls;
  ASSERT_NO_FATAL_FAILURE(tls.open_all());
  Callers callers(tls.cluster);
  for (int round = 0; round < 6; ++round) ASSERT_NO_FATAL_FAILURE(tls.rotate(round % 3 == 1));
  callers.stop();
  EXPECT_EQ(callers.failed(), 0u);
  EXPECT_GT(callers.calls(), 0u);
}

}  // namespace
}  // namespace coordkit::testkit
