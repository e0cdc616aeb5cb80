#include "service/loop/host_code.h"

#include <utility>

#include "coordkit/error.h"

namespace coordkit {
namespace {

constexpr size_t kWhyBytesMax = 512;
constexpr std::string_view kThrew = " threw: ";
constexpr char kOwnHook[] = "on_error";

// The text of a foreign exception, made fit for a sentence.
std::string printable(std::string_view why) {
  std::string out;
  for (const char byte : why.substr(0, kWhyBytesMax))
    out += static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7f ? byte : ' ';
  return out;
}

}  // namespace

void HostCode::note(std::string_view what) noexcept try { threw(what, what_was_thrown()); } catch (...) {
  untold_.fetch_add(1, std::memory_order_relaxed);
}

void HostCode::threw(std::string_view what, std::string_view why) {
  const absl::Status error = make_error(Reason::HostThrew, std::string(what).append(kThrew).append(printable(why)));
  count(error, std::string(what));
  if (what == kOwnHook || !on_error_) return;
  post_([this, error] { run(kOwnHook, [&] { on_error_(error); }); });
}

void HostCode::threw(const absl::Status& error) {
  const std::string_view sentence = sentence_of(error);
  count(error, std::string(sentence.substr(0, sentence.find(kThrew))));
  if (on_error_) post_([this, error] { run(kOwnHook, [&] { on_error_(error); }); });
}

void HostCode::count(const absl::Status& error, std::string kind) {
  const std::lock_guard lock(mutex_);
  Kind& seen = kinds_[std::move(kind)];
  ++seen.times;
  seen.newest = std::string(sentence_of(error));
}

std::vector<std::string> HostCode::warnings() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, kind] : kinds_) {
    out.push_back(kind.newest + (kind.times > 1 ? " (" + std::to_string(kind.times) + " times so far)" : "") +
                  "; let it catch its exceptions");
  }
  if (const uint64_t untold = untold_.load(std::memory_order_relaxed)) {
    out.push_back("code of yours threw " + std::to_string(untold) + " times more, and there was no memory for the details");
  }
  return out;
}

}  // namespace coordkit
