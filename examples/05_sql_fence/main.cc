// A fence in an SQL database, one statement long: the row remembers the newest token that has touched it, and every
// statement of a holder says under which token it acts.
//
//   05_sql_fence [DIRECTORY]     database and replica keep their data there; without one, in a temporary directory
//
// The first teller reads a balance, falls asleep, and writes long after another teller has taken over. SQLite stands for any
// database here; the two statements are plain SQL.
#include <coordkit/coordkit.h>
#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// At the first access, reads included: earlier holders are shut out from here on.
constexpr const char* kRead = "UPDATE account SET fence = ?1 WHERE id = ?2 AND fence <= ?1 RETURNING balance";
// Changes one row, or none if a newer holder was here.
constexpr const char* kWrite = "UPDATE account SET balance = ?3, fence = ?1 WHERE id = ?2 AND fence <= ?1";

class Accounts {
 public:
  explicit Accounts(const fs::path& file) {
    sqlite3* opened = nullptr;
    if (sqlite3_open(file.c_str(), &opened) != SQLITE_OK) std::abort();
    database_.reset(opened);
    // Tokens are positive 64-bit numbers that never fall, so a signed column holds them.
    run("CREATE TABLE IF NOT EXISTS account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, fence INTEGER NOT NULL)");
    run("INSERT INTO account VALUES (1, 100, 0)");
  }

  // nullopt: fenced.
  std::optional<int64_t> read(int64_t id, coordkit::Token token) { return run(kRead, {signed_of(token), id}).value; }
  bool write(int64_t id, int64_t balance, coordkit::Token token) {
    return run(kWrite, {signed_of(token), id, balance}).rows == 1;
  }

 private:
  struct Outcome {
    std::optional<int64_t> value;
    int rows = 0;
  };
  static int64_t signed_of(coordkit::Token token) { return static_cast<int64_t>(token.value()); }

  Outcome run(const char* sql, std::initializer_list<int64_t> values = {}) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) std::abort();
    int at = 0;
    for (const int64_t value : values) sqlite3_bind_int64(statement, ++at, value);
    Outcome outcome;
    while (sqlite3_step(statement) == SQLITE_ROW) outcome.value = sqlite3_column_int64(statement, 0);
    if (sqlite3_finalize(statement) != SQLITE_OK) std::abort();
    outcome.rows = sqlite3_changes(database_.get());
    return outcome;
  }

  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

int failed(const std::string& what) {
  std::cerr << "05_sql_fence: " << what << "\n";
  return 1;
}

int serve(coordkit::Replica& replica, Accounts& accounts) {
  coordkit::Session session = replica.open_session({.ttl = 2s}).value();

  coordkit::Grant first = session.acquire("teller", {.owner = "first"}).value();
  const coordkit::Token sleepers = first.token();
  const int64_t seen = accounts.read(1, sleepers).value();
  std::cout << "the first teller reads " << seen << " and falls asleep\n";
  first.release().IgnoreError();  // or its session expires: the cluster continues without it, the sleeper does not know

  coordkit::Grant second = session.acquire("teller", {.owner = "second"}).value();
  const int64_t present = accounts.read(1, second.token()).value();
  if (!accounts.write(1, present - 30, second.token())) return failed("the present holder was refused");
  std::cout << "the second teller pays 30\n";

  if (accounts.write(1, seen + 5, sleepers)) return failed("the sleeper's write was taken");
  std::cout << "the first teller wakes up, and its write changes no row\n";

  const int64_t balance = accounts.read(1, second.token()).value_or(-1);
  std::cout << "balance " << balance << "\n";
  return balance == 70 ? 0 : failed("the balance is wrong");
}

int run(const fs::path& directory) {
  const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 3'000 * 4);
  auto replica = coordkit::Replica::open({
      .id = 1,
      .cluster = "bank",
      .data_dir = directory / "replica",
      .members = {{1, address}},
      .security = coordkit::PlainText{},
  });
  if (!replica.ok()) return failed(replica.status().ToString());
  if (const absl::Status ready = (*replica)->wait_ready(30s); !ready.ok()) return failed(ready.ToString());
  Accounts accounts(directory / "accounts.db");
  return serve(**replica, accounts);
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = fs::temp_directory_path() / "05_sql_fence-XXXXXX";
  const fs::path directory = argc > 1 ? fs::path(argv[1]) : fs::path(mkdtemp(name.data()));
  fs::create_directories(directory);
  const int code = run(directory);
  if (argc == 1) fs::remove_all(directory);
  return code;
}
