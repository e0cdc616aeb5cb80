// The reports of open_tls() and reload() about the three files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordkit/error.h"
#include "tests/support/sentence.h"
#include "tests/unit/tls/certificates.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class TlsFilesTest : public ::testing::Test {
 protected:
  // The sentence that files are refused with.
  std::string refusal(const Tls& tls) {
    const absl::Status status = open_tls(tls, files_.identity(1)).status();
    EXPECT_EQ(reason_of(status), Reason::InvalidArgument) << status;
    EXPECT_EQ(fault_of_sentence(status), "") << status;
    return std::string(sentence_of(status));
  }
  Tls with(support::CertificateOrder order) { return files_.write("odd", order); }

  Certificates files_;
};

TEST_F(TlsFilesTest, ValidOnesAreTaken) { EXPECT_TRUE(open_tls(files_.valid(1), files_.identity(1)).ok()); }

TEST_F(TlsFilesTest, AFileThatIsMissingOrCannotBeReadIsNamed) {
  for (std::string Tls::*file : {&Tls::certificate, &Tls::key, &Tls::authority}) {
    Tls tls = files_.valid(1);
    tls.*file = files_.folder() / "nowhere.pem";
    EXPECT_THAT(refusal(tls), AllOf(HasSubstr("nowhere.pem"), HasSubstr("No such file")));
    tls.*file = files_.folder();
    EXPECT_THAT(refusal(tls), AllOf(HasSubstr(files_.folder()), HasSubstr("Is a directory")));
  }
}

TEST_F(TlsFilesTest, AFileOfSomethingElseIsNamed) {
  for (const std::string& text : {std::string("hello"), std::string(), std::string(2 << 20, 'x')}) {
    for (std::string Tls::*file : {&Tls::certificate, &Tls::key, &Tls::authority}) {
      Tls tls = files_.valid(1);
      tls.*file = files_.folder() / "odd.pem";
      support::write_file(files_.folder() / "odd.pem", text);
      EXPECT_THAT(refusal(tls), AllOf(HasSubstr("odd.pem"), HasSubstr("PEM")));
    }
  }
}

TEST_F(TlsFilesTest, ADamagedOneIsNamed) {
  const Tls tls = files_.valid(1);
  std::string text = support::read_file(tls.certificate);
  text[text.size() / 2] = '*';
  support::write_file(tls.certificate, text);
  EXPECT_THAT(refusal(tls), HasSubstr("damaged"));
}

TEST_F(TlsFilesTest, AKeyThatDoesNotFitIsRefused) {
  Tls tls = files_.valid(1);
  tls.key = files_.valid(2).key;
  EXPECT_THAT(refusal(tls), AllOf(HasSubstr("2.key"), HasSubstr("does not fit"), HasSubstr("1.pem")));
}

TEST_F(TlsFilesTest, AKeyWithAPassphraseIsRefusedWithoutAskingForIt) {
  const Tls tls = files_.valid(1);
  support::write_file(tls.key, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIH=\n-----END ENCRYPTED PRIVATE KEY-----\n");
  EXPECT_THAT(refusal(tls), HasSubstr("passphrase"));
}

TEST_F(TlsFilesTest, OneThatIsNotValidNowIsRefused) {
  support::CertificateOrder order = files_.order(1);
  order.valid = {-48h, -24h};
  EXPECT_THAT(refusal(with(order)), HasSubstr("has expired"));
  order.valid = {24h, 48h};
  EXPECT_THAT(refusal(with(order)), HasSubstr("not valid yet"));
}

// It led, and only the health of the others said that they refuse it.
TEST_F(TlsFilesTest, OneThatMayNotBeUsedAtBothEndsIsRefused) {
  support::CertificateOrder order = files_.order(1);
  order.usages = "serverAuth";
  EXPECT_THAT(refusal(with(order)), AllOf(HasSubstr("odd.pem"), HasSubstr("may not be used by a TLS client (clientAuth)")));
  order.usages = "clientAuth";
  EXPECT_THAT(refusal(with(order)), HasSubstr("may not be used by a TLS server (serverAuth)"));
  order.usages = "emailProtection";
  EXPECT_THAT(refusal(with(order)), HasSubstr("server (serverAuth) and client (clientAuth)"));
}

TEST_F(TlsFilesTest, OneThatIsLargerThanOthersTakeIsRefused) {
  support::CertificateOrder order = files_.order(1);
  for (int i = 0; i < 2000; ++i) order.dns.push_back("host-" + std::to_string(i) + ".example");
  EXPECT_THAT(refusal(with(order)), AllOf(HasSubstr("odd.pem"), HasSubstr("32768 at most")));
  const Tls tls = files_.valid(1);
  std::string chain = support::read_file(tls.certificate);
  for (int i = 0; i < 100; ++i) chain += files_.stranger().certificate();
  support::write_file(tls.certificate, chain);
  EXPECT_THAT(refusal(tls), HasSubstr("32768 at most"));
}

TEST_F(TlsFilesTest, OneThatNamesSomebodyElseIsRefusedWithBothNames) {
  EXPECT_THAT(refusal(files_.valid(2)), AllOf(HasSubstr("replica 2 of cluster 'orders'"), HasSubstr("this is replica 1")));
  support::CertificateOrder order = files_.order(1);
  order.uris = {"coordkit://billing/1"};
  EXPECT_THAT(refusal(with(order)), AllOf(HasSubstr("'billing'"), HasSubstr("'orders'")));
}

TEST_F(TlsFilesTest, OneThatNamesNobodyOrSeveralIsRefusedAndToldWhatToWrite) {
  using Names = std::vector<std::string>;
  for (const Names& uris : {Names{}, Names{"spiffe://orders/1"}, Names{"coordkit://orders/1", "coordkit://orders/2"},
                            Names{"coordkit://orders/x"}, Names{std::string("coordkit://orders/1\0", 20)}}) {
    support::CertificateOrder order = files_.order(1);
    order.uris = uris;
    EXPECT_THAT(refusal(with(order)), HasSubstr("URI:coordkit://orders/1"));
  }
}

TEST_F(TlsFilesTest, AFunctionOfTheHostNamesThoseWhoHaveOtherNames) {
  support::CertificateOrder order{.common_name = "db-1", .uris = {"spiffe://shop/a"}, .dns = {"one.db.example"}};
  Tls tls = with(order);
  CertificateNames seen;
  tls.identity_of = [&](const CertificateNames& names) -> std::optional<CertifiedIdentity> {
    seen = names;
    return CertifiedIdentity{"orders", ReplicaId(names.dns.at(0) == "one.db.example" ? 1 : 2)};
  };
  EXPECT_TRUE(open_tls(tls, files_.identity(1)).ok());
  EXPECT_EQ(seen.common_name, "db-1");
  EXPECT_THAT(seen.uris, ::testing::ElementsAre("spiffe://shop/a"));
  order.dns.clear();  // now the function throws
  EXPECT_THAT(refusal([&] {
                Tls other = with(order);
                other.identity_of = tls.identity_of;
                return other;
              }()),
              HasSubstr("names no replica"));
}

TEST_F(TlsFilesTest, AReloadTakesWhatIsNewAndAnErrorChangesNothing) {
  const Tls tls = files_.valid(1);
  const auto channels = open_tls(tls, files_.identity(1)).value();
  const uint64_t before = channels->generation();
  support::write_file(tls.key, "torn");
  EXPECT_EQ(reason_of(channels->reload()), Reason::InvalidArgument);
  EXPECT_EQ(channels->generation(), before);
  files_.valid(1);
  EXPECT_TRUE(channels->reload().ok());
  EXPECT_EQ(channels->generation(), before + 1);
}

TEST(CertificateUriTest, EveryNameHasOneUriAndIsReadBack) {
  for (const std::string& cluster : {std::string("shop"), std::string("a/b c"), std::string("\xc3\xa4%\0\n", 5)}) {
    const CertifiedIdentity identity{cluster, ReplicaId(18'446'744'073'709'551'615u)};
    const std::string uri = certificate_uri(identity);
    EXPECT_EQ(identity_of_uri(uri), identity) << uri;
    EXPECT_EQ(uri.find_first_of(std::string(" \n\0", 3)), std::string::npos) << uri;
  }
  EXPECT_EQ(certificate_uri({"a/b", ReplicaId(7)}), "coordkit://a%2Fb/7");
}

TEST(CertificateUriTest, EverythingElseNamesNobody) {
  for (const char* uri :
       {"", "coordkit://", "coordkit://a", "coordkit://a/", "coordkit:///1", "coordkit://a/0", "coordkit://a/01",
        "coordkit://a/+1", "coordkit://a/1/", "coordkit://a/1?", "coordkit://a/18446744073709551616", "coordkit://a b/1",
        "coordkit://%61/1", "coordkit://%/1", "coordkit://%2/1", "coordkit://%zz/1", "COORDKIT://a/1", "https://a/1"}) {
    EXPECT_EQ(identity_of_uri(uri), std::nullopt) << uri;
  }
  EXPECT_EQ(identity_of_uri("coordkit://" + std::string(257, 'a') + "/1"), std::nullopt);
}

}  // namespace
}  // namespace coordkit::testkit
