// Folders of certificates, made and renewed.
#include "tools/certificates/folder.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/unit/tls/certificates.h"

namespace coordkit::testkit {
namespace {

using support::make_certificates;
using ::testing::HasSubstr;

class CertificatesFolderTest : public ::testing::Test {
 protected:
  bool valid(const std::string& cluster, uint64_t id) const {
    return open_tls(support::tls_of(folder(), id), {cluster, ReplicaId(id)}).ok();
  }
  std::string key(uint64_t id) const { return support::read_file(support::tls_of(folder(), id).key); }
  std::string refusal(support::FolderOrder order) const {
    try {
      make_certificates(std::move(order));
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
  std::filesystem::path folder() const { return certificates_.folder() / "jobs"; }

 private:
  Certificates certificates_;  // for its folder
};

TEST_F(CertificatesFolderTest, WithoutWordsAFolderIsRenewedAsItIs) {
  make_certificates({.folder = folder(), .cluster = "jobs", .replicas = 5});
  std::set<std::string> keys;
  for (uint64_t id = 1; id <= 5; ++id) keys.insert(key(id));
  const support::FolderOrder authority = make_certificates({.folder = folder(), .new_authority = true});
  EXPECT_EQ(authority.cluster, "jobs");
  EXPECT_EQ(keys.count(key(5)), 1u) << "only the authority is new";
  const support::FolderOrder renewed = make_certificates({.folder = folder()});
  EXPECT_EQ(renewed.cluster, "jobs");
  EXPECT_EQ(renewed.replicas, 5u);
  for (uint64_t id = 1; id <= 5; ++id) {
    EXPECT_TRUE(valid("jobs", id)) << id;
    EXPECT_EQ(keys.count(key(id)), 0u) << id;
  }
  make_certificates({.folder = folder(), .cluster = "jobs", .replicas = 6});
  EXPECT_TRUE(valid("jobs", 6)) << "one more";
}

// The certificates in use were of the one before the previous authority then, which nobody trusted any more.
TEST_F(CertificatesFolderTest, AnAuthorityThatHasSignedNothingYetGivesWayToNoOther) {
  make_certificates({.folder = folder()});
  make_certificates({.folder = folder(), .new_authority = true});
  const std::string before = support::read_file(folder() / "authority.pem");
  EXPECT_THAT(refusal({.folder = folder(), .new_authority = true}), HasSubstr("run this with the folder alone first"));
  EXPECT_EQ(support::read_file(folder() / "authority.pem"), before);
  make_certificates({.folder = folder()});
  make_certificates({.folder = folder(), .new_authority = true});
  make_certificates({.folder = folder()});
  EXPECT_TRUE(valid("demo", 1));
}

TEST_F(CertificatesFolderTest, AKeyOfAnInterruptedRunSignsNothing) {
  make_certificates({.folder = folder()});
  support::write_file(folder() / "authority.key", support::TestAuthority("killed before its certificate was written").key());
  const std::string before = key(1);
  EXPECT_THAT(refusal({.folder = folder()}), HasSubstr("make another authority with --new-authority"));
  EXPECT_EQ(key(1), before);
  make_certificates({.folder = folder(), .new_authority = true});
  EXPECT_TRUE(valid("demo", 1)) << "the former certificates are trusted until they are renewed";
  make_certificates({.folder = folder()});
  EXPECT_TRUE(valid("demo", 1));
}

// Another one took its place, and those who had loaded the former trusted no certificate that was made then.
TEST_F(CertificatesFolderTest, AnAuthorityThatLostItsKeyIsReplacedOnlyOnRequestAndStaysTrusted) {
  make_certificates({.folder = folder()});
  std::filesystem::remove(folder() / "authority.key");
  const std::string authority = support::read_file(folder() / "authority.pem"), before = key(1);
  EXPECT_THAT(refusal({.folder = folder()}), HasSubstr("authority.key is missing"));
  EXPECT_EQ(support::read_file(folder() / "authority.pem"), authority);
  EXPECT_EQ(key(1), before);
  make_certificates({.folder = folder(), .new_authority = true});
  EXPECT_EQ(key(1), before) << "only the authority is new";
  EXPECT_TRUE(valid("demo", 1)) << "the former certificates are trusted until they are renewed";
  make_certificates({.folder = folder()});
  EXPECT_TRUE(valid("demo", 1));
}

TEST_F(CertificatesFolderTest, ANewFolderWithoutWordsIsForThreeOfDemo) {
  make_certificates({.folder = folder()});
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_TRUE(valid("demo", id)) << id;
}

TEST_F(CertificatesFolderTest, WhatDoesNotAgreeWithTheFolderIsRefusedAndNothingIsWritten) {
  make_certificates({.folder = folder(), .cluster = "jobs", .replicas = 4});
  const std::string before = key(1);
  EXPECT_THAT(refusal({.folder = folder(), .cluster = "demo"}),
              HasSubstr("has certificates of cluster 'jobs' for the replicas 1 to 4, not of 'demo': name another folder"));
  EXPECT_THAT(refusal({.folder = folder(), .replicas = 3}), HasSubstr("not 3: all are renewed together"));
  EXPECT_THAT(refusal({.folder = folder(), .cluster = "demo", .new_authority = true}), HasSubstr("not of 'demo'"));
  std::filesystem::copy_file(folder() / "1.pem", folder() / "7.pem");
  EXPECT_THAT(refusal({.folder = folder()}), HasSubstr("7.pem is no certificate of replica 7"));
  support::write_file(folder() / "7.pem", "hello");
  EXPECT_THAT(refusal({.folder = folder()}), HasSubstr("7.pem"));
  EXPECT_EQ(key(1), before);
  EXPECT_TRUE(valid("jobs", 1));
}

}  // namespace
}  // namespace coordkit::testkit
