// cluster.yaml of examples/21_kubernetes: its parts fit together, and three processes of the example, given what the
// manifest gives its pods, are probed and rolled over as a cluster would do it.
#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include <boost/asio.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/source_dir.h"
#include "tools/support/child.h"
#include "tools/support/loopback.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace asio = boost::asio;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr auto kPatience = 60s;

std::string text(const YAML::Node& node) { return node.as<std::string>(); }

class Manifest {
 public:
  Manifest() {
    for (const YAML::Node& document : YAML::LoadAllFromFile(source_dir() + "/examples/21_kubernetes/cluster.yaml")) {
      documents_[text(document["apiVersion"]) + " " + text(document["kind"])] = document;
    }
  }
  const std::map<std::string, YAML::Node>& documents() const { return documents_; }
  YAML::Node service() const { return documents_.at("v1 Service"); }
  YAML::Node set() const { return documents_.at("apps/v1 StatefulSet")["spec"]; }
  YAML::Node budget() const { return documents_.at("policy/v1 PodDisruptionBudget"); }
  YAML::Node pod() const { return set()["template"]["spec"]; }
  YAML::Node container() const { return pod()["containers"][0]; }
  std::string name() const { return text(documents_.at("apps/v1 StatefulSet")["metadata"]["name"]); }

  std::string variable(const std::string& name) const {
    for (const YAML::Node& each : container()["env"]) {
      if (text(each["name"]) == name) return text(each["value"]);
    }
    return "";
  }
  std::vector<std::string> members() const {
    std::istringstream words(variable("MEMBERS"));
    return {std::istream_iterator<std::string>(words), {}};
  }
  int port(const std::string& called) const {
    for (const YAML::Node& each : container()["ports"]) {
      if (text(each["name"]) == called) return each["containerPort"].as<int>();
    }
    return 0;
  }
  // The volume that this path of the container lies on; empty: none.
  std::string volume_of(const std::string& path) const {
    for (const YAML::Node& each : container()["volumeMounts"]) {
      if (path.starts_with(text(each["mountPath"]) + "/")) return text(each["name"]);
    }
    return "";
  }

 private:
  std::map<std::string, YAML::Node> documents_;
};

std::map<std::string, std::string> labels(const YAML::Node& node) { return node.as<std::map<std::string, std::string>>(); }

TEST(KubernetesTest, WhatBelongsTogetherInTheManifestDoes) {
  const Manifest manifest;
  ASSERT_THAT(manifest.documents(), SizeIs(3));
  const YAML::Node set = manifest.set(), pod = manifest.pod();
  const auto selected = labels(set["template"]["metadata"]["labels"]);
  EXPECT_EQ(labels(set["selector"]["matchLabels"]), selected);
  EXPECT_EQ(labels(manifest.service()["spec"]["selector"]), selected);
  EXPECT_EQ(labels(manifest.budget()["spec"]["selector"]["matchLabels"]), selected);
  EXPECT_EQ(manifest.budget()["spec"]["maxUnavailable"].as<int>(), 1);

  const std::string service = text(manifest.service()["metadata"]["name"]);
  EXPECT_EQ(text(set["serviceName"]), service);
  EXPECT_EQ(text(manifest.service()["spec"]["clusterIP"]), "None");
  EXPECT_TRUE(manifest.service()["spec"]["publishNotReadyAddresses"].as<bool>());
  EXPECT_EQ(text(set["podManagementPolicy"]), "Parallel");
  EXPECT_EQ(manifest.service()["spec"]["ports"][0]["port"].as<int>(), manifest.port("replicas"));

  const std::vector<std::string> members = manifest.members();
  ASSERT_THAT(members, SizeIs(set["replicas"].as<size_t>()));
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(members[i],
              manifest.name() + "-" + std::to_string(i) + "." + service + ":" + std::to_string(manifest.port("replicas")));
  }
  EXPECT_THAT(manifest.variable("HTTP"), HasSubstr(":" + std::to_string(manifest.port("http"))));
  for (const char* probe : {"startupProbe", "readinessProbe", "livenessProbe"}) {
    EXPECT_EQ(text(manifest.container()[probe]["httpGet"]["port"]), "http") << probe;
  }
  EXPECT_EQ(manifest.volume_of(manifest.variable("DATA")), text(set["volumeClaimTemplates"][0]["metadata"]["name"]));
  EXPECT_EQ(manifest.volume_of(manifest.variable("SECRET_FILE")), text(pod["volumes"][0]["name"]));
}

struct Seen {
  int code = 0;  // of HTTP; 0: no answer
  std::string body;
};

Seen get(const std::string& port, const std::string& path) {
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  boost::system::error_code error;
  asio::connect(socket, asio::ip::tcp::resolver(io).resolve("127.0.0.1", port), error);
  if (!error) asio::write(socket, asio::buffer("GET " + path + " HTTP/1.1\r\nHost: pod\r\n\r\n"), error);
  std::string answer;
  if (!error) asio::read(socket, asio::dynamic_buffer(answer), error);
  const size_t body = answer.find("\r\n\r\n");
  if (body == std::string::npos) return {};
  return {std::stoi(answer.substr(answer.find(' '))), answer.substr(body + 4)};
}

// Three pods and the role of a kubelet: their volumes outlive them.
class Pods {
 public:
  Pods() : addresses_(support::free_loopback_addresses(6)) {
    std::string pattern = ::testing::TempDir() + "/kubernetes.XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    fs::create_directories(folder_ / manifest_.volume_of(manifest_.variable("SECRET_FILE")));
    std::ofstream(on_volume(0, "SECRET_FILE")) << "a secret that all of them were given";
  }
  ~Pods() {
    pods_.clear();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void start(size_t number) {
    fs::create_directories(fs::path(on_volume(number, "DATA")).parent_path());
    std::vector<std::string> arguments = {"POD_NAME=" + manifest_.name() + "-" + std::to_string(number),
                                          "CLUSTER=" + manifest_.variable("CLUSTER"),
                                          "MEMBERS=" + addresses_[0] + " " + addresses_[1] + " " + addresses_[2],
                                          "DATA=" + on_volume(number, "DATA"),
                                          "SECRET_FILE=" + on_volume(number, "SECRET_FILE"),
                                          "HTTP=" + addresses_[3 + number],
                                          COORDKIT_EXAMPLE_PROGRAM};
    pods_[number] = support::Child::start_program("env", arguments);
  }
  // Its exit status, if it ended within a pod's grace period.
  std::optional<int> terminate(size_t number) {
    ::kill(pods_.at(number).pid(), SIGTERM);
    return pods_.at(number).wait(support::in(std::chrono::seconds(manifest_.pod()["terminationGracePeriodSeconds"].as<int>())));
  }

  Seen probe(size_t number, const std::string& which) const {
    const std::string& address = addresses_[3 + number];
    return get(address.substr(address.rfind(':') + 1), path(which));
  }
  std::string path(const std::string& which) const { return text(manifest_.container()[which]["httpGet"]["path"]); }
  bool becomes(size_t number, const std::string& probed, int code) const {
    for (const auto limit = support::in(kPatience); support::Deadline::clock::now() < limit;
         std::this_thread::sleep_for(20ms)) {
      if (probe(number, probed).code == code) return true;
    }
    return false;
  }
  std::string metrics(size_t number) const {
    const std::string& address = addresses_[3 + number];
    return get(address.substr(address.rfind(':') + 1), "/metrics").body;
  }

 private:
  // The path that the variable names, on this pod's own volume or on the shared one.
  std::string on_volume(size_t number, const std::string& variable) const {
    const std::string path = manifest_.variable(variable), volume = manifest_.volume_of(path);
    const bool own = volume == text(manifest_.set()["volumeClaimTemplates"][0]["metadata"]["name"]);
    const std::string place = volume + (own ? "-" + std::to_string(number) : "");
    return folder_ / place / fs::path(path).filename();
  }

  const Manifest manifest_;
  const std::vector<std::string> addresses_;  // of the replicas, and of their pages
  fs::path folder_;
  std::map<size_t, support::Child> pods_;
};

TEST(KubernetesTest, PodsAreProbedAndRolledOver) {
  Pods pods;
  pods.start(0);
  ASSERT_TRUE(pods.becomes(0, "startupProbe", 200));
  EXPECT_EQ(pods.probe(0, "livenessProbe").code, 200) << "a restart would not bring the others back";
  EXPECT_EQ(pods.probe(0, "readinessProbe").code, 503);
  EXPECT_THAT(pods.probe(0, "readinessProbe").body, HasSubstr("2"));
  pods.start(1);
  pods.start(2);
  for (size_t number = 0; number < 3; ++number) ASSERT_TRUE(pods.becomes(number, "readinessProbe", 200)) << number;
  EXPECT_THAT(pods.metrics(0), HasSubstr("coordkit_term"));

  for (const size_t number : {2, 1, 0}) {
    EXPECT_EQ(pods.terminate(number), 0) << number;
    pods.start(number);
    ASSERT_TRUE(pods.becomes(number, "readinessProbe", 200)) << number;
  }
  for (size_t number = 0; number < 3; ++number) EXPECT_TRUE(pods.becomes(number, "readinessProbe", 200)) << number;
}

}  // namespace
}  // namespace coordkit::testkit
