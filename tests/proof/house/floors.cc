#include "tests/proof/house/floors.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <utility>

#include "tests/proof/house/words.h"

namespace coordkit::house {
namespace {

using Folders = std::set<std::string>;

// Public headers that belong to a folder: code that must not see the folder must not see them either. All others are ports.
const std::map<std::string, std::string> kOwners = {
    {"coordkit/raft/core.h", "raft"},
    {"coordkit/engine/engine.h", "engine"},
    {"coordkit/session.h", "client"},
    {"coordkit/engine/engine_status.h", "engine"},
    {"coordkit/locks/mutex.h", "client"},
    {"coordkit/keys/kv.h", "client"},
    {"coordkit/keys/watch.h", "client"},
    {"coordkit/objects/election.h", "client"},
    {"coordkit/objects/semaphore.h", "client"},
    {"coordkit/objects/latch.h", "client"},
    {"coordkit/objects/barrier.h", "client"},
    {"coordkit/objects/claim_queue.h", "client"},
    {"coordkit/objects/counter.h", "client"},
    {"coordkit/objects/group.h", "client"},
    {"coordkit/keys/txn.h", "client"},
    {"coordkit/operate/members.h", "service"},
    {"coordkit/replica.h", "replica"},
    {"coordkit/remote.h", "service"},
    {"coordkit/service.h", "service"},
    {"coordkit/keys/stm.h", "service"},
    {"coordkit/sessions/kept_session.h", "service"},
    {"coordkit/keys/mirror.h", "service"},
    {"coordkit/keys/config.h", "service"},
    {"coordkit/objects/registry.h", "service"},
    {"coordkit/keys/id_allocator.h", "service"},
    {"coordkit/coordkit.h", "replica"},
    {"coordkit/asio/asio.h", "replica"},
    {"coordkit/keys/key_lease.h", "client"},
    {"coordkit/keys/key_space.h", "client"},
    {"coordkit/operate/permissions.h", "client"},
    {"coordkit/engine/wire.h", "engine"},
    {"coordkit/engine/coordination_machine.h", "client"},
    {"coordkit/ports/parts.h", "replica"},
    {"coordkit/ports/executor.h", "service"},
    {"coordkit/asio/asio_tokens.h", "service"},
    {"coordkit/asio/asio_stream.h", "service"},
    {"coordkit/operate/metrics.h", "service"},
    {"coordkit/asio/asio_executor.h", "service"},
    {"coordkit/asio/asio_boost.h", "service"},
    {"coordkit/sim/compare.h", "compare"},
    {"coordkit/operate/inspect.h", "backup"},
    {"coordkit/operate/backup.h", "backup"},
    {"coordkit/asio/asio_operation.h", "service"},
    {"coordkit/c/coordkit_remote.h", "c"},
};

using Paths = std::vector<std::string_view>;

bool is_in(std::string_view path, const Paths& homes) {
  return std::ranges::any_of(homes, [&](std::string_view home) { return path.starts_with(home); });
}

// Where descriptors are opened, and the suites for users.
const Paths kDescriptors = {"src/base/descriptor.h", "include/coordkit/testing/"};
// Where threads begin, and the suites for users.
const Paths kThreads = {"src/base/thread.h", "include/coordkit/testing/"};

struct HeaderRule {
  std::regex header;
  Folders allowed;  // folders that may include it
  std::string why;
  Paths homes = {};  // files that may include it, too
};

const std::vector<HeaderRule>& header_rules() {
  static const std::vector<HeaderRule> rules = {
      {std::regex("lmdb\\.h"), {"storage"}, "only storage sees LMDB"},
      {std::regex("(fcntl|dirent|sys/(stat|file|uio|statvfs|statfs)|linux/(fs|falloc|stat|magic))\\.h|filesystem|fstream"),
       {"storage"},
       "only storage makes file-system calls",
       kDescriptors},
      {std::regex("(unistd|sys/mman)\\.h"),
       {"storage", "replica", "service"},
       "only storage, service and replica call the operating system",
       kDescriptors},
      {std::regex("openssl/(ssl|x509.*|pem|bio|err)\\.h"),
       {"tls"},
       "only tls sees TLS and certificates, or all would link libssl"},
      {std::regex("openssl/.*"), {"transport", "tls"}, "only transport and tls see OpenSSL"},
      {std::regex("boost/.*|(sys/(socket|epoll|un|ioctl)|linux/sockios|netdb|poll|arpa/.*|netinet/.*)\\.h"),
       {"transport", "replica", "service"},
       "only transport, service and replica see sockets and Asio",
       kDescriptors},
      {std::regex("thread|future|condition_variable|absl/synchronization/.*|base/thread\\.h"),
       {"storage", "transport", "replica", "service"},
       "this floor has no threads",
       kThreads},
      {std::regex("coroutine"), {"service"}, "coroutines live only at the top"},
      {std::regex("iostream|print"), {}, "the library never writes to stdout or stderr"},
      {std::regex("(gtest|gmock|benchmark)/.*"), {}, "test and benchmark code stays out of the library"},
      {std::regex("coordkit/testing/.*"), {"testing"}, "test and benchmark code stays out of the library"},
      {std::regex("coordkit/sim/timeline\\.h"),
       {"sim", "timeline"},
       "only the simulator and its page see what a run is recorded in"},
      {std::regex("coordkit/sim/(?!timeline\\.h).*"), {"sim", "compare"}, "only the simulator sees its own headers"},
  };
  return rules;
}

struct WordRule {
  std::regex word;  // tried where a word begins
  Folders allowed;
  std::string why;
  Paths homes = {};  // files that may use it, too
};

const std::vector<WordRule>& word_rules() {
  static const std::vector<WordRule> rules = {
      {std::regex("system_clock::|(gettimeofday|CLOCK_REALTIME|absl::Now|GetCurrentTimeNanos)\\b|"
                  "time\\s*\\(\\s*(nullptr|NULL|0|&)"),
       {"replica"},
       "the wall clock is read once, by replica, for genesis"},
      {std::regex("(steady_clock|high_resolution_clock|clock_gettime|random_device)\\b|s?rand\\s*\\("),
       {"base", "storage", "transport", "replica", "service"},
       "this floor is deterministic: time and randomness come in as values"},
      {std::regex("(v?f?printf|f?puts|putchar)\\s*\\(|std::(cout|cerr|clog)\\b|fmt::print"),
       {},
       "the library never writes to stdout or stderr"},
      {std::regex("std::j?thread\\b(?!::)|std::async\\b|(pthread|thrd)_create\\b|asio::thread(_pool)?\\b"),
       {},
       "every thread begins in base/thread.h, which blocks the host's signals and names the thread",
       kThreads},
      {std::regex(
           "(openat|accept4|eventfd|timerfd_create|epoll_create1?|pipe2?|dup[23]?|memfd_create|fopen|BIO_new_file)"
           "\\s*\\(|socket\\s*\\(\\s*[AP]F_|open\\s*\\(.*\\bO_[A-Z]+|(recursive_)?directory_iterator\\b|async_accept\\b"),
       {},
       "every descriptor is opened by base/descriptor.h, which leaves the numbers of the standard streams to the host",
       kDescriptors},
  };
  return rules;
}

// Searched for everywhere, with a \b before it, it takes ten times as long.
bool holds(const std::string& line, const std::regex& word) {
  bool within = false;
  for (auto at = line.begin(); at != line.end(); ++at) {
    const bool begins = !std::exchange(within, in_word(*at)) && within;
    if (begins && std::regex_search(at, line.end(), word, std::regex_constants::match_continuous)) return true;
  }
  return false;
}

// Blanks comments and literals and keeps every line break, so that words in prose are not taken for code.
std::string without_comments(std::string_view text) {
  enum class In { Code, Line, Block, String, Char } in = In::Code;
  std::string code;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    switch (in) {
      case In::Code:
        if (c == '/' && next == '/') in = In::Line;
        if (c == '/' && next == '*') in = In::Block;
        if (c == '"') in = In::String;
        if (c == '\'' && (code.empty() || !std::isxdigit(static_cast<unsigned char>(code.back())))) in = In::Char;
        code += in == In::Code ? c : ' ';
        break;
      case In::Line:
        if (c == '\n') in = In::Code;
        code += c == '\n' ? c : ' ';
        break;
      case In::Block:
        code += c == '\n' ? c : ' ';
        if (c == '*' && next == '/') {
          in = In::Code;
          code += ' ';
          ++i;
        }
        break;
      case In::String:
      case In::Char:
        code += c == '\n' ? c : ' ';
        if (c == '\\') ++i;
        if (c == (in == In::String ? '"' : '\'') || c == '\n') in = In::Code;
        break;
    }
  }
  return code;
}

struct Place {
  bool is_public = false;
  std::string tree;  // "src" or "verify"
  std::string folder;
};

Place place_of(std::string_view path) {
  if (path.starts_with("include/")) return {true, {}, {}};
  const size_t tree = path.find('/');
  const std::string_view rest = path.substr(tree + 1);
  return {false, std::string(path.substr(0, tree)), std::string(rest.substr(0, rest.find('/')))};
}

bool may_see(const std::string& folder, const std::string& other) {
  return folder == other || floors().at(folder).contains(other);
}

// Empty when the include is fine.
std::string fault_in_public(const std::string& header, bool quoted, std::string_view path) {
  if (quoted) {
    const bool fine = header.starts_with("coordkit/") || header.starts_with("absl/");
    return fine ? "" : "a public header includes only public headers, Abseil and the standard library";
  }
  if (header.starts_with("boost/") && path.starts_with("include/coordkit/asio/asio")) return "";
  if (header.starts_with("fmt/") && path == "include/coordkit/fmt.h") return "";
  const bool is_gtest = header.starts_with("gtest/") || header.starts_with("gmock/");
  if (is_gtest && path.starts_with("include/coordkit/testing/")) return "";  // conformance suites, matchers
  static const std::regex of_c("std(def|int)\\.h");
  if (path.starts_with("include/coordkit/c/") && std::regex_match(header, of_c)) return "";
  static const std::regex processes("(poll|signal|unistd|sys/wait)\\.h");
  if (path == "include/coordkit/testing/child_process.h" && std::regex_match(header, processes)) return "";
  if (header == "iostream" || !std::regex_match(header, std::regex("[a-z0-9_]+"))) {
    return "a public header includes only public headers, Abseil and the standard library";
  }
  return "";
}

std::string fault_in_folder(const std::string& folder, const std::string& header, bool quoted, std::string_view path) {
  for (const HeaderRule& rule : header_rules()) {
    const bool may = rule.allowed.contains(folder) || is_in(path, rule.homes);
    if (!may && std::regex_match(header, rule.header)) return rule.why;
  }
  if (const auto owner = kOwners.find(header); owner != kOwners.end() && !may_see(folder, owner->second)) {
    return folder + " may not include the headers of " + owner->second;
  }
  if (!quoted || header.starts_with("coordkit/") || header.starts_with("absl/")) return "";
  const size_t slash = header.find('/');
  if (slash == std::string::npos) return "write the folder too: \"" + folder + "/" + header + "\"";
  const std::string other = header.substr(0, slash);
  if (!floors().contains(other)) return "there is no folder " + other;
  if (!may_see(folder, other)) return folder + " may not include " + other;
  return "";
}

void scan_length(std::string_view path, size_t lines, Findings& findings) {
  const size_t limit = path.ends_with(".h") ? 200 : 350;
  if (lines <= limit) return;
  const std::string text = std::string(path) + ": " + std::to_string(lines) + " lines, " + std::to_string(limit) + " are good";
  (lines > 2 * limit ? findings.broken : findings.long_).push_back(text);
}

}  // namespace

const std::map<std::string, Folders>& floors() {
  static const std::map<std::string, Folders> table = [] {
    std::map<std::string, Folders> rows = {
        {"base", {}},
        {"raft", {"base"}},
        {"log", {"base"}},
        {"mvcc", {"base"}},
        {"lease", {"base"}},
        {"lock", {"base"}},
        {"coordination", {"base"}},
        {"check", {"base"}},
        {"timeline", {"base"}},
        {"twin", {"raft", "base"}},
        {"engine", {"raft", "base"}},
        {"machine", {"mvcc", "lease", "lock", "coordination", "base"}},
        {"client", {"engine", "machine", "raft", "mvcc", "lease", "lock", "coordination", "base"}},
        {"remote", {"engine", "machine", "raft", "mvcc", "lease", "lock", "coordination", "base"}},
        {"storage", {"log", "lock", "base"}},
        {"transport", {"base"}},
        {"tls", {"base"}},
        {"service",
         {"client", "remote", "transport", "engine", "machine", "raft", "mvcc", "lease", "lock", "coordination", "base"}},
        {"sim",
         {"client", "remote", "engine", "machine", "raft", "log", "mvcc", "lease", "lock", "coordination", "check", "timeline",
          "base"}},
        {"compare",
         {"sim", "client", "remote", "engine", "machine", "raft", "log", "mvcc", "lease", "lock", "coordination", "check",
          "timeline", "base"}},
        {"backup", {"client", "engine", "machine", "storage", "raft", "log", "mvcc", "lease", "lock", "coordination", "base"}},
    };
    Folders all;
    for (const auto& row : rows) all.insert(row.first);
    rows["replica"] = all;
    // Only targets that ask for them link them.
    for (const char* other : {"sim", "compare", "check", "timeline", "twin", "tls"}) rows["replica"].erase(other);
    rows["testing"] = rows["replica"];
    rows["testing"].insert("replica");
    rows["c"] = rows["service"];
    rows["c"].insert("service");
    return rows;
  }();
  return table;
}

std::string tree_of(const std::string& folder) {
  static const Folders judges = {"sim", "compare", "check", "timeline", "twin"};
  return judges.contains(folder) ? "verify" : "src";
}

void scan(std::string_view path, std::string_view text, Findings& findings) {
  const Place place = place_of(path);
  if (!place.is_public && (!floors().contains(place.folder) || tree_of(place.folder) != place.tree)) {
    findings.broken.push_back(std::string(path) + ": " + place.tree + "/" + place.folder + " is not in the table of floors");
    return;
  }
  static const std::regex include("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"].*");
  const std::string code = without_comments(text);
  std::istringstream raw_lines{std::string(text)}, code_lines{code};
  size_t number = 0;
  for (std::string raw, line; std::getline(raw_lines, raw) && std::getline(code_lines, line);) {
    ++number;
    const auto broken = [&](const std::string& why) {
      findings.broken.push_back(std::string(path) + ":" + std::to_string(number) + ": " + why);
    };
    std::smatch match;
    if (line.find('#') != std::string::npos && std::regex_match(raw, match, include)) {
      const bool quoted = match[1] == "\"";
      const std::string fault =
          place.is_public ? fault_in_public(match[2], quoted, path) : fault_in_folder(place.folder, match[2], quoted, path);
      if (!fault.empty()) broken(match[2].str() + ": " + fault);
      continue;
    }
    for (const WordRule& rule : word_rules()) {
      const bool may = rule.allowed.contains(place.folder) || is_in(path, rule.homes);
      if (!may && holds(line, rule.word)) broken(rule.why);
    }
  }
  scan_length(path, number, findings);
}

}  // namespace coordkit::house
