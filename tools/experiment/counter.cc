// The counter: one number in a file. The server answers one request at a time, so the check of a token and its effect are one
// step.
//
//   "read TOKEN"        -> "value N" or "refused"
//   "write TOKEN BASE"  -> "ok" (the number is BASE + 1 now) or "refused"
//
// A read shows its token as well: from then on no earlier holder's write is accepted between it and its own write.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "coordkit/locks/fence.h"
#include "tools/experiment/roles.h"
#include "tools/support/line_server.h"
#include "tools/support/report.h"

namespace coordkit::experiment {
namespace {

// Written in place and synced: answered values are in the file.
class NumberFile {
 public:
  explicit NumberFile(const std::filesystem::path& path) : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640)) {
    set(0);
  }
  bool usable() const { return usable_; }
  uint64_t get() const {
    char text[32] = {};
    return pread(file_.get(), text, kWidth, 0) == kWidth ? std::stoull(text) : 0;
  }
  void set(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "%020lu\n", static_cast<unsigned long>(value));
    usable_ = pwrite(file_.get(), text, kWidth, 0) == kWidth && fdatasync(file_.get()) == 0;
  }

 private:
  static constexpr int kWidth = 21;
  support::Descriptor file_;
  bool usable_ = false;
};

class Counter {
 public:
  Counter(const std::filesystem::path& directory, std::unique_ptr<FileFenceGate> gate)
      : number_(directory / "counter"), gate_(std::move(gate)) {}
  int run();

 private:
  std::string answer(const std::string& request);

  support::Reporter report_;
  NumberFile number_;
  const std::unique_ptr<FileFenceGate> gate_;  // null: none
  uint64_t writes_ = 0;
  uint64_t refused_ = 0;
};

std::string Counter::answer(const std::string& request) {
  std::istringstream words(request);
  std::string what;
  uint64_t token = 0;
  uint64_t base = 0;
  words >> what >> token >> base;
  if (gate_ && !gate_->admit(Token(token)).ok()) {
    ++refused_;
    return "refused";
  }
  if (what == "read") return "value " + std::to_string(number_.get());
  number_.set(base + 1);
  ++writes_;
  return number_.usable() ? "ok" : "refused";
}

int Counter::run() {
  support::LineServer server([this](const std::string& request) { return answer(request); });
  const uint16_t port = server.listen_on_loopback();
  if (!number_.usable() || port == 0) return 1;
  report_("listening", {{"port", port}});
  if (!server.serve_until_input()) return 1;
  report_("summary", {{"value", number_.get()}, {"writes", writes_}, {"refused", refused_}});
  return number_.usable() ? 0 : 1;
}

}  // namespace

int run_counter(const std::filesystem::path& directory, bool gate) {
  std::unique_ptr<FileFenceGate> opened;
  if (gate) {
    auto file = FileFenceGate::open(directory / "counter.fence");
    if (!file.ok()) {
      support::Reporter()("error", {{"what", file.status().ToString()}});
      return 1;
    }
    opened = *std::move(file);
  }
  return Counter(directory, std::move(opened)).run();
}

}  // namespace coordkit::experiment
