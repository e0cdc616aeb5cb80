// Every file of src/ and include/ stays on its floor, and the scanner that checks it is shown to bite.
#include "tests/proof/house/floors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <iterator>

#include "tests/support/source_dir.h"
#include "tests/support/tree.h"

namespace coordkit::house {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> faults(std::string_view path, std::string_view text) {
  Findings findings;
  scan(path, text, findings);
  return findings.broken;
}

TEST(FloorsTest, NoFileIncludesAHigherOrANeighbouringFloor) {
  Findings findings;
  const std::vector<std::filesystem::path> files = files_below({"src", "include", "verify"}, {".h", ".cc"});
  for (const std::filesystem::path& path : files) scan(path_in_tree(path), text_of_file(path), findings);
  EXPECT_GE(files.size(), 20u) << "the scan found hardly any file";
  for (const std::string& text : findings.broken) ADD_FAILURE() << text;
  for (const std::string& text : findings.long_) std::cout << "long: " << text << "\n";
}

TEST(FloorsTest, NoTwoFoldersMayIncludeEachOther) {
  for (const auto& [folder, below] : floors()) {
    for (const std::string& other : below) {
      ASSERT_TRUE(floors().contains(other)) << other;
      EXPECT_FALSE(floors().at(other).contains(folder)) << folder << " and " << other;
    }
  }
}

TEST(FloorsTest, EveryFolderOfTheTableExists) {
  for (const auto& row : floors())
    EXPECT_TRUE(std::filesystem::is_directory(std::filesystem::path(source_dir()) / tree_of(row.first) / row.first))
        << row.first;
}

struct Planted {
  const char* path;
  const char* text;
  const char* finding;
};

TEST(FloorsTest, PlantedFaultsAreFound) {
  const Planted planted[] = {
      {"src/raft/core.cc", "#include \"log/segment.h\"", "raft may not include log"},
      {"src/raft/core.cc", "#include \"engine/loop/turn.h\"", "raft may not include engine"},
      {"src/lock/lock_table.h", "#include \"lease/lease_table.h\"", "lock may not include lease"},
      {"src/base/check.h", "#include \"raft/core.h\"", "base may not include raft"},
      {"src/engine/turn.cc", "#include \"machine/machine.h\"", "engine may not include machine"},
      {"src/machine/machine.cc", "#include \"coordkit/raft/core.h\"", "headers of raft"},
      {"src/raft/core.cc", "#include \"coordkit/replica.h\"", "headers of replica"},
      {"src/transport/tcp.cc", "#include \"engine/loop/turn.h\"", "transport may not include engine"},
      {"verify/sim/world/world.cc", "#include \"storage/files.h\"", "sim may not include storage"},
      {"verify/sim/world/world.cc", "#include \"coordkit/sim/compare.h\"", "headers of compare"},
      {"src/storage/files.cc", "#include \"lease/lease_table.h\"", "storage may not include lease"},
      {"src/replica/replica.cc", "#include \"sim/world/world.h\"", "replica may not include sim"},
      {"verify/timeline/timeline_json.cc", "#include \"coordkit/sim/sim_options.h\"", "only the simulator sees"},
      {"verify/timeline/timeline_json.cc", "#include \"sim/record/recorder.h\"", "timeline may not include sim"},
      {"src/engine/turn.cc", "#include \"twin/core_twin.h\"", "engine may not include twin"},
      {"src/replica/replica.cc", "#include \"coordkit/sim/timeline.h\"", "only the simulator and its page"},
      {"src/raft/core.cc", "#include \"core.h\"", "write the folder too"},
      {"src/raft/core.cc", "#include \"rafft/core.h\"", "there is no folder"},
      {"src/other/core.cc", "", "not in the table"},
      {"src/log/segment.cc", "#include <fcntl.h>", "file-system calls"},
      {"src/replica/replica.cc", "#include <filesystem>", "file-system calls"},
      {"src/replica/replica.cc", "#include <lmdb.h>", "only storage sees LMDB"},
      {"src/client/session.cc", "#include <boost/asio.hpp>", "sockets and Asio"},
      {"src/transport/tcp.cc", "#include <openssl/ssl.h>", "only tls sees TLS"},
      {"src/replica/replica.cc", "#include <openssl/hmac.h>", "only transport and tls see OpenSSL"},
      {"src/replica/replica.cc", "#include \"tls/channel.h\"", "replica may not include tls"},
      {"src/client/session.cc", "#include <thread>", "no threads"},
      {"src/client/session.cc", "#include \"base/thread.h\"", "no threads"},
      {"src/base/pool.h", "#include <thread>", "no threads"},
      {"src/replica/operate/scrubber.h", "std::thread thread_;", "base/thread.h"},
      {"src/replica/operate/scrubber.cc", "std::jthread scrubs([] {});", "base/thread.h"},
      {"src/transport/tcp/lookup.cc", "::pthread_create(&made, nullptr, ask, this);", "base/thread.h"},
      {"src/storage/files.cc", "auto done = std::async(sync);", "base/thread.h"},
      {"include/coordkit/asio/asio.h", "std::thread waiter;", "base/thread.h"},
      {"src/storage/files.cc", "const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);", "base/descriptor.h"},
      {"src/storage/files.cc", "Descriptor fd(::openat(directory, name, flags));", "base/descriptor.h"},
      {"src/replica/operate/admin_socket.cc", "::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);", "base/descriptor.h"},
      {"src/transport/tcp.cc", "acceptor_.async_accept(done);", "base/descriptor.h"},
      {"src/tls/files.cc", "BIO_new_file(path.c_str(), text);", "base/descriptor.h"},
      {"src/client/session.cc", "  #  include <coroutine>", "coroutines"},
      {"src/base/check.cc", "#include <iostream>", "stdout"},
      {"src/base/check.cc", "/* why */ std::printf(\"x\");", "stdout"},
      {"src/base/check.cc", "fprintf(stderr, text);", "stdout"},
      {"src/base/check.cc", "std::cerr << 1;", "stdout"},
      {"src/storage/files.cc", "auto now = std::chrono::system_clock::now();", "wall clock"},
      {"src/storage/files.cc", "auto now = time(nullptr);", "wall clock"},
      {"src/transport/tcp.cc", "gettimeofday(&now, nullptr);", "wall clock"},
      {"src/engine/turn.cc", "auto now = std::chrono::steady_clock::now();", "deterministic"},
      {"src/machine/machine.cc", "std::random_device entropy;", "deterministic"},
      {"include/coordkit/keys/kv.h", "#include <boost/asio.hpp>", "public header"},
      {"include/coordkit/types.h", "#include <fmt/format.h>", "public header"},
      {"include/coordkit/keys/kv.h", "#include <lmdb.h>", "public header"},
      {"include/coordkit/keys/kv.h", "#include <fmt/core.h>", "public header"},
      {"include/coordkit/keys/kv.h", "#include <protozero/pbf_reader.hpp>", "public header"},
      {"include/coordkit/keys/kv.h", "#include \"base/check.h\"", "public header"},
      {"include/coordkit/keys/kv.h", "#include <iostream>", "public header"},
  };
  for (const Planted& plant : planted) {
    EXPECT_THAT(faults(plant.path, plant.text), ElementsAre(HasSubstr(plant.finding))) << plant.path << " " << plant.text;
  }
}

// Covers: REG_R82 FLT_P05
TEST(FloorsTest, NoFolderButReplicaMayAskForWallTime) {
  for (const auto& row : floors()) {
    for (const char* text : {"auto now = std::chrono::system_clock::now();", "time(nullptr);", "gettimeofday(&now, nullptr);",
                             "absl::Now();", "read(CLOCK_REALTIME);"}) {
      const std::string path = tree_of(row.first) + "/" + row.first + "/any.cc";
      if (row.first == "replica") {
        EXPECT_THAT(faults(path, text), IsEmpty()) << path << " " << text;
      } else {
        EXPECT_THAT(faults(path, text), ElementsAre(HasSubstr("wall clock"))) << path << " " << text;
      }
    }
  }
}

TEST(FloorsTest, WhatIsAllowedIsNotReported) {
  const Planted allowed[] = {
      {"src/raft/core.cc", "#include \"raft/core.h\"\n#include \"base/check.h\"\n#include \"coordkit/ports/log_store.h\"", ""},
      {"src/transport/tcp.cc", "#include \"coordkit/ports/transport.h\"\n#include <boost/asio.hpp>", ""},
      {"src/storage/files.cc", "#include <fcntl.h>\n#include <lmdb.h>\n#include <thread>", ""},
      {"src/replica/genesis.cc", "auto now = std::chrono::system_clock::now();", ""},
      {"src/base/thread.h", "#include <thread>\nstd::thread thread_;", ""},
      {"src/base/descriptor.h", "#include <fcntl.h>\nreturn ::openat(directory, path, flags);", ""},
      {"src/storage/files.cc", "open_at(directory, path, O_RDONLY);\nLog::open(*files, options);", ""},
      {"src/service/shell/closing.h", "std::thread::id closer_;", ""},
      {"include/coordkit/testing/suite.h", "std::thread sender([] {});", ""},
      {"src/base/check.cc", "// std::cout and time(nullptr) in a comment\n/* #include <iostream>\n#include <thread> */", ""},
      {"src/base/check.cc", "text = \"printf(std::cerr)\"; std::snprintf(buffer, 1'000, text);", ""},
      {"src/replica/replica.cc", "const Clock& clock = coordkit::system_clock();", ""},
      {"include/coordkit/fmt.h", "#include <fmt/format.h>\n#include \"coordkit/types.h\"", ""},
      {"include/coordkit/asio/asio.h", "#include <boost/asio.hpp>\n#include <coroutine>\n#include \"coordkit/replica.h\"", ""},
      {"include/coordkit/keys/kv.h", "#include <vector>\n#include \"absl/status/status.h\"", ""},
  };
  for (const Planted& text : allowed) EXPECT_THAT(faults(text.path, text.text), IsEmpty()) << text.path;
}

TEST(FloorsTest, LongFilesAreNamedAndAbsurdOnesFail) {
  Findings findings;
  scan("src/raft/core.h", std::string(200, '\n'), findings);
  scan("src/raft/core.cc", std::string(350, '\n'), findings);
  EXPECT_THAT(findings.long_, IsEmpty());
  scan("src/raft/core.h", std::string(201, '\n'), findings);
  scan("src/raft/core.cc", std::string(700, '\n'), findings);
  EXPECT_EQ(findings.long_.size(), 2u);
  EXPECT_THAT(findings.broken, IsEmpty());
  scan("src/raft/core.h", std::string(401, '\n'), findings);
  scan("src/raft/core.cc", std::string(701, '\n'), findings);
  EXPECT_EQ(findings.broken.size(), 2u);
}

}  // namespace
}  // namespace coordkit::house
