// The real program on directories that real replicas left: what it prints, and its exit statuses.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/command.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Ran coordctl(const std::string& arguments) { return run_command(shell_word(COORDCTL) + " " + arguments + " 2>&1"); }

class CoordctlDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ReplicaOptions options = cluster.options(1);
    options.checkpoint_entries = 16;
    ASSERT_NO_FATAL_FAILURE(cluster.open(options));
    ASSERT_THAT(cluster[1].wait_ready(kPatience), IsOk());
    for (int i = 0; i < 20; ++i) ASSERT_THAT(cluster[1].put("key-" + std::to_string(i), "value").status(), IsOk());
    ASSERT_THAT(cluster[1].put("bytes", std::string("\x01\xff\x00", 3)).status(), IsOk());
    session = cluster.session(1);
    grant = *session.acquire("printer", {.timeout = kPatience});
  }

  Folder folder;
  const std::string file = folder.path() / "backup";
  const std::string made = folder.path() / "new-1";
  Cluster cluster{1};
  const std::string directory = cluster.options(1).data_dir;
  Session session;
  Grant grant;
};

TEST_F(CoordctlDataTest, InspectAndCatTellWhatIsThere) {
  EXPECT_EQ(coordctl("inspect " + shell_word(directory)).status, 1);
  EXPECT_THAT(coordctl("inspect " + shell_word(directory)).text,
              AllOf(StartsWith("coordctl: InUse: "), HasSubstr("--read-only-copy")));
  const Ran copy = coordctl("inspect --read-only-copy " + shell_word(directory));
  EXPECT_EQ(copy.status, 0) << copy.text;
  EXPECT_THAT(copy.text, AllOf(HasSubstr("directory    " + directory), HasSubstr("21 keys"), HasSubstr("from a copy")));
  cluster.close(1);
  const Ran text = coordctl("inspect --verify " + shell_word(directory));
  EXPECT_EQ(text.status, 0) << text.text;
  EXPECT_THAT(text.text, AllOf(HasSubstr("replica 1 of cluster 'test'"), HasSubstr("21 keys"), HasSubstr("1 sessions, 1 locks"),
                               HasSubstr("every page, row and entry verified")));
  const json report = json::parse(coordctl("inspect --json " + shell_word(directory)).text);
  EXPECT_EQ(report["state"]["keys"], 21);
  EXPECT_EQ(report["problems"], json::array());

  const Ran cat = coordctl("cat " + shell_word(directory));
  EXPECT_EQ(cat.status, 0);
  std::istringstream lines(cat.text);
  bool acquired = false, held = false, hex = false;
  for (std::string line; std::getline(lines, line);) {
    const json one = json::parse(line);
    acquired |= one.contains("command") && one["command"]["kind"] == "Acquire" && one["command"]["name"] == "printer";
    hex |= one.contains("command") && one["command"].contains("value") && one["command"]["value"].is_object() &&
           one["command"]["value"]["hex"] == "01ff00";
    held |= one.contains("row") && one["row"]["table"] == "keys";
  }
  EXPECT_TRUE(acquired && hex) << cat.text;
  EXPECT_EQ(held, report["checkpoint"]["applied"]["index"].get<uint64_t>() > 0) << cat.text;
}

// The part copied until then stayed among the temporary files.
TEST_F(CoordctlDataTest, AnInterruptedLookAtACopyLeavesNoCopy) {
  cluster.close(1);
  std::filesystem::resize_file(directory + "/reserve", 128 << 20);  // so that there is something to interrupt
  const std::string among = folder.path() / "among";
  std::filesystem::create_directory(among);
  const std::string interrupt = "TMPDIR=" + shell_word(among) + " " + shell_word(COORDCTL) + " inspect --read-only-copy " +
                                shell_word(directory) + " > /dev/null & while [ -z \"$(ls " + shell_word(among) +
                                ")\" ] && kill -0 $! 2> /dev/null; do :; done; kill -TERM $!; wait $! 2> /dev/null; echo $?";
  std::string status;
  while (status != "143\n") {
    status = run_command(interrupt).text;
    ASSERT_THAT(status, AnyOf("143\n", "0\n")) << "ended by the signal, or sooner";
    EXPECT_TRUE(std::filesystem::is_empty(among));
  }
  EXPECT_EQ(run_command("trap '' TERM; " + interrupt).text, "0\n") << "what is ignored interrupts nothing";
  EXPECT_TRUE(std::filesystem::is_empty(among));
}

TEST_F(CoordctlDataTest, AnInterruptedBackupSaysSoAndLeavesNothing) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_THAT(cluster[1].put("large-" + std::to_string(i), std::string(1'000'000, 'x')).status(), IsOk());
  }
  cluster.close(1);
  const std::filesystem::path among = folder.path() / "among";
  std::filesystem::create_directory(among);
  const std::string made_there = among / "backup";
  const std::string interrupt = shell_word(COORDCTL) + " backup " + shell_word(directory) + " " + shell_word(made_there) +
                                " 2>&1 > /dev/null & while [ -z \"$(ls " + shell_word(among) +
                                ")\" ] && kill -0 $! 2> /dev/null; do :; done; kill -TERM $!; wait $! 2> /dev/null; echo $?";
  for (std::string said = "0\n"; said == "0\n";) {
    said = run_command(interrupt).text;
    ASSERT_THAT(said, AnyOf("0\n", AllOf(StartsWith("coordctl: Cancelled: "), HasSubstr("\n1\n")))) << "interrupted, or sooner";
    EXPECT_EQ(std::filesystem::remove(made_there), said == "0\n");
    EXPECT_TRUE(std::filesystem::is_empty(among));
  }
}

TEST_F(CoordctlDataTest, ABackupIsMadeCheckedAndRestored) {
  EXPECT_EQ(coordctl("backup " + shell_word(directory) + " " + shell_word(file)).status, 1) << "in use";
  cluster.close(1);
  const Ran made_one = coordctl("backup " + shell_word(directory) + " " + shell_word(file));
  EXPECT_EQ(made_one.status, 0) << made_one.text;
  EXPECT_EQ(coordctl("backup " + shell_word(directory) + " " + shell_word(file)).status, 1) << "never replaces a file";
  EXPECT_EQ(coordctl("restore --check " + shell_word(file)).status, 0);
  const std::string cut = file + ".cut";
  std::filesystem::copy_file(file, cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 1);
  EXPECT_EQ(coordctl("restore --check " + shell_word(cut)).status, 2) << "something is wrong with what was looked at";
  EXPECT_EQ(coordctl("restore --check " + shell_word(file + ".nowhere")).status, 1);

  EXPECT_EQ(coordctl("restore " + shell_word(file) + " nonsense").status, 3);
  const Ran nowhere = coordctl("restore " + shell_word(file) + " " + shell_word("1=127.0.0.1:74000=" + made));
  EXPECT_EQ(nowhere.status, 3) << "the cluster's log would have an address at which nobody can be reached";
  EXPECT_THAT(nowhere.text, HasSubstr("has a port above 65535"));
  EXPECT_EQ(coordctl("restore " + shell_word(file) + " " + shell_word("1=127.0.0.1:0=" + made)).status, 3) << "nor there";
  const std::string member = "1=" + cluster.options(1).members[0].address + "=" + made;
  const Ran restored = coordctl("restore " + shell_word(file) + " " + shell_word(member));
  EXPECT_EQ(restored.status, 0) << restored.text;
  EXPECT_THAT(restored.text, HasSubstr("a new cluster 'test'"));
  EXPECT_THAT(restored.text, HasSubstr("one run for all members"));
  EXPECT_THAT(restored.text, HasSubstr("WARNING: this cluster has one voter"));
  ReplicaOptions options = cluster.options(1);
  options.data_dir = made;
  ASSERT_NO_FATAL_FAILURE(cluster.open(options));
  ASSERT_THAT(cluster[1].wait_ready(kPatience), IsOk());
  EXPECT_EQ(cluster[1].get("key-7")->entry->value, "value");
}

TEST_F(CoordctlDataTest, RecoverSaysFirstAndDoesItWhenItIsTold) {
  Cluster three(3);
  three.open_all();
  ASSERT_THAT(three[2].put("kept", "yes", {.timeout = kPatience}).status(), IsOk());
  for (uint64_t id = 1; id <= 3; ++id) three.close(id);
  const std::string left = three.options(2).data_dir;
  const Ran ran = coordctl("recover " + shell_word(left));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.text, AllOf(HasSubstr("1 of 3 voters are here"), HasSubstr("LOSS:"), HasSubstr("nothing was written")));
  EXPECT_LT(ran.text.find("LOSS:"), ran.text.find("nothing was written")) << "also where both go into one file";
  const std::string flags = " --accept-the-loss-of-acknowledged-writes --member " +
                            shell_word("2=" + three.options(2).members[1].address + "=" + made);
  const Ran done = coordctl("recover " + shell_word(left) + flags);
  EXPECT_EQ(done.status, 0) << done.text;
  ReplicaOptions options = three.options(2);
  options.data_dir = made;
  options.members = {options.members[1]};
  ASSERT_NO_FATAL_FAILURE(three.open(options));
  ASSERT_THAT(three[2].wait_ready(kPatience), IsOk());
  EXPECT_EQ(three[2].get("kept")->entry->value, "yes");
}

}  // namespace
}  // namespace coordkit::testkit
