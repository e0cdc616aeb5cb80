// The output of `coordctl --json` for programs: the table of docs/coordctl.md, and one answer to the last byte.
#include <sys/socket.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "replica/operate/local_stream.h"
#include "tests/support/command.h"
#include "tests/support/source_dir.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string trimmed(const std::string& cell) {
  const size_t first = cell.find_first_not_of(" `");
  return first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(" `") - first + 1);
}

// Fields and their types, as the page has them.
std::map<std::string, std::string> documented(const std::string& command) {
  std::ifstream page(source_dir() + "/docs/coordctl.md");
  std::map<std::string, std::string> fields;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    if (cells.size() == 4 && cells[0].find("`" + command + "`") != std::string::npos)
      fields[trimmed(cells[1])] = trimmed(cells[2]);
  }
  return fields;
}

bool is_of(const ordered_json& value, const std::string& type) {
  if (type == "number") return value.is_number();
  if (type == "number or null") return value.is_number() || value.is_null();
  if (type == "text") return value.is_string();
  if (type == "flag") return value.is_boolean();
  if (type == "object") return value.is_object();
  return type == "texts" && value.is_array() &&
         std::ranges::all_of(value, [](const ordered_json& one) { return one.is_string(); });
}

class CoordctlJsonTest : public ::testing::Test {
 protected:
  void open() {
    ReplicaOptions options = cluster_.options(1);
    options.admin_socket = socket_;
    ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(options)));
    ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
  }
  Ran json(const std::string& words) const {
    return run_command(shell_word(COORDCTL) + " --socket " + shell_word(socket_) + " " + words + " --json");
  }
  // Every object has the fields of the page, of their types.
  void expect_as_documented(const std::string& words) {
    const std::string command = words.substr(0, words.find(' '));
    const std::map<std::string, std::string> fields = documented(command);
    ASSERT_FALSE(fields.empty()) << command;
    const Ran ran = json(words);
    ASSERT_EQ(ran.status, 0) << ran.text;
    std::istringstream lines(ran.text);
    size_t objects = 0;
    for (std::string line; std::getline(lines, line); ++objects) {
      const ordered_json object = ordered_json::parse(line);
      ASSERT_TRUE(object.is_object()) << line;
      for (const auto& [name, value] : object.items()) {
        const auto found = fields.find(name);
        ASSERT_NE(found, fields.end()) << command << " gives " << name << ", of which docs/coordctl.md says nothing";
        const std::string type = found->second.substr(0, found->second.find('?'));
        EXPECT_TRUE(is_of(value, type)) << name << " is no " << type << ": " << value;
      }
      for (const auto& [name, type] : fields) {
        EXPECT_TRUE(type.ends_with('?') || object.contains(name)) << command << " lacks " << name;
      }
    }
    EXPECT_GT(objects, 0u) << words;
  }

  Folder folder_;
  const std::string socket_ = folder_.path() / "admin";
  Cluster cluster_{1};
};

TEST_F(CoordctlJsonTest, EveryAnswerHasTheFieldsAndTypesOfThePage) {
  ASSERT_NO_FATAL_FAILURE(open());
  Session session = cluster_.session(1), other = cluster_.session(1);
  const absl::StatusOr<Grant> grant = session.acquire("jobs", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  std::thread waiting([&] { other.acquire("jobs", {.timeout = kPatience}).status().IgnoreError(); });
  EXPECT_TRUE(eventually([&] { return cluster_[1].queue("jobs")->waiters.size() == 1; }));
  ASSERT_THAT(cluster_[1].put("color", "green").status(), IsOk());
  for (const char* words : {"status", "members", "locks", "locks jobs", "queue jobs", "sessions", "keys", "metrics"}) {
    expect_as_documented(words);
  }
  expect_as_documented("backup-to " + shell_word(folder_.path() / "backup"));
  expect_as_documented("force-release jobs " + std::to_string(grant->token().value()));
  waiting.join();
  EXPECT_EQ(json("kill-session " + std::to_string(other.id().value())).text, "");
}

// A process that knows the id may pass for a member (decision 0018).
TEST_F(CoordctlJsonTest, NoAnswerHasTheIdOfTheCluster) {
  ASSERT_NO_FATAL_FAILURE(open());
  const std::string id = std::to_string(cluster_[1].health().cluster.value());
  ASSERT_GT(id.size(), 4u);
  for (const char* words : {"status", "members", "locks", "sessions", "keys", "metrics"}) {
    EXPECT_THAT(json(words).text, Not(HasSubstr(id))) << words;
    EXPECT_THAT(run_command(shell_word(COORDCTL) + " --socket " + shell_word(socket_) + " " + words + " 2>&1").text,
                Not(HasSubstr(id)));
  }
}

// A replica that sends these lines, whatever it is asked.
class Recorded {
 public:
  Recorded(const std::string& socket, std::vector<std::vector<std::string>> lines) : listener_(local_socket()) {
    const sockaddr_un address = local_address(socket);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    thread_ = std::thread([this, lines = std::move(lines)] {
      LocalStream visitor(Descriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
      EXPECT_THAT(visitor.next().status(), IsOk());
      for (const std::vector<std::string>& line : lines) visitor.say(line);
    });
  }
  ~Recorded() { thread_.join(); }

 private:
  Descriptor listener_;
  std::thread thread_;
};

TEST_F(CoordctlJsonTest, AStatusIsThisObjectToTheLastByte) {
  const Recorded replica(socket_, {{"field", "replica:number", "2"},
                                   {"field", "cluster", "sh\"op"},
                                   {"field", "state", "Starting"},
                                   {"field", "leader:number"},
                                   {"field", "digest:number", "15000582515499696314"},
                                   {"field", "missing:list", "replica 1 is gone", "replica 3 is gone"},
                                   {"field", "warnings:list"},
                                   {"ok"}});
  EXPECT_EQ(json("status").text,
            "{\"replica\":2,\"cluster\":\"sh\\\"op\",\"state\":\"Starting\",\"leader\":null,"
            "\"digest\":15000582515499696314,\"missing\":[\"replica 1 is gone\",\"replica 3 is gone\"],\"warnings\":[]}\n");
}

TEST_F(CoordctlJsonTest, ASampleOfMetricsIsThisObjectToTheLastByte) {
  const Recorded replica(socket_, {{"columns", "line"},
                                   {"row", "# TYPE coordkit_turn_seconds histogram"},
                                   {"row", "coordkit_turn_seconds_bucket{replica=\"2\",le=\"+Inf\"} 12"},
                                   {"row", "coordkit_turn_seconds_sum{cluster=\"a\\\\\\\"b c\"} 0.25"},
                                   {"row", "coordkit_leads 1"},
                                   {"row", "not a sample {"},
                                   {"ok"}});
  EXPECT_EQ(json("metrics").text,
            "{\"name\":\"coordkit_turn_seconds_bucket\",\"labels\":{\"replica\":\"2\",\"le\":\"+Inf\"},\"value\":12}\n"
            "{\"name\":\"coordkit_turn_seconds_sum\",\"labels\":{\"cluster\":\"a\\\\\\\"b c\"},\"value\":0.25}\n"
            "{\"name\":\"coordkit_leads\",\"labels\":{},\"value\":1}\n");
}

}  // namespace
}  // namespace coordkit::testkit
