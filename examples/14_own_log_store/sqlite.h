// As much of SQLite as a store needs: statements whose failures are exceptions of type absl::Status.
#pragma once

#include <coordkit/error.h>
#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace example {

class Database {
 public:
  explicit Database(const std::string& file) {
    check(sqlite3_open(file.c_str(), &database_));
    run("PRAGMA locking_mode = EXCLUSIVE");
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { sqlite3_close(database_); }

  uint64_t run(const std::string& sql);  // the first number of the answer, if there is one
  void check(int code) const {
    using coordkit::make_error, coordkit::Reason;
    const std::string why = std::string("SQLite says: ") + sqlite3_errmsg(database_);
    if (code == SQLITE_BUSY) throw make_error(Reason::InUse, why + "; somebody else has it open");
    if (code == SQLITE_NOTADB) throw make_error(Reason::ForeignData, why);
    if (code == SQLITE_CORRUPT) throw make_error(Reason::Corrupt, why);
    if (code != SQLITE_OK) throw make_error(Reason::StorageFailed, why);
  }
  // After a failure closing must write nothing either.
  void give_up() { sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }

 private:
  friend class Statement;
  sqlite3* database_ = nullptr;
};

class Statement {
 public:
  Statement(Database& database, const std::string& sql) : database_(database) {
    database_.check(sqlite3_prepare_v2(database_.database_, sql.c_str(), -1, &it_, nullptr));
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(it_); }

  // The next parameter. Bytes stay where they are until step().
  Statement& with(uint64_t number) {
    database_.check(sqlite3_bind_int64(it_, ++bound_, static_cast<int64_t>(number)));
    return *this;
  }
  Statement& with(std::string_view bytes) {
    database_.check(sqlite3_bind_blob64(it_, ++bound_, bytes.data(), bytes.size(), SQLITE_STATIC));
    return *this;
  }
  bool step() {  // true: to a row
    const int code = sqlite3_step(it_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) database_.check(code);
    return code == SQLITE_ROW;
  }
  uint64_t number(int column) { return static_cast<uint64_t>(sqlite3_column_int64(it_, column)); }
  std::string bytes(int column) {
    const auto* first = static_cast<const char*>(sqlite3_column_blob(it_, column));  // null if there are none
    return first == nullptr ? std::string() : std::string(first, static_cast<size_t>(sqlite3_column_bytes(it_, column)));
  }

 private:
  Database& database_;
  sqlite3_stmt* it_ = nullptr;
  int bound_ = 0;
};

inline uint64_t Database::run(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.number(0) : 0;
}

}  // namespace example
