#include "c/c_errors.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

namespace coordkit::c {
namespace {

constexpr size_t kTextBytesMax = 16 << 20;   // far above every limit of the cluster: a size that is no size
constexpr size_t kStructBytesMax = 4 << 10;  // the same for a struct

static_assert(COORDKIT_CANCELLED == static_cast<int>(absl::StatusCode::kCancelled));
static_assert(COORDKIT_UNKNOWN == static_cast<int>(absl::StatusCode::kUnknown));
static_assert(COORDKIT_INVALID_ARGUMENT == static_cast<int>(absl::StatusCode::kInvalidArgument));
static_assert(COORDKIT_DEADLINE_EXCEEDED == static_cast<int>(absl::StatusCode::kDeadlineExceeded));
static_assert(COORDKIT_NOT_FOUND == static_cast<int>(absl::StatusCode::kNotFound));
static_assert(COORDKIT_ALREADY_EXISTS == static_cast<int>(absl::StatusCode::kAlreadyExists));
static_assert(COORDKIT_PERMISSION_DENIED == static_cast<int>(absl::StatusCode::kPermissionDenied));
static_assert(COORDKIT_RESOURCE_EXHAUSTED == static_cast<int>(absl::StatusCode::kResourceExhausted));
static_assert(COORDKIT_FAILED_PRECONDITION == static_cast<int>(absl::StatusCode::kFailedPrecondition));
static_assert(COORDKIT_ABORTED == static_cast<int>(absl::StatusCode::kAborted));
static_assert(COORDKIT_OUT_OF_RANGE == static_cast<int>(absl::StatusCode::kOutOfRange));
static_assert(COORDKIT_UNIMPLEMENTED == static_cast<int>(absl::StatusCode::kUnimplemented));
static_assert(COORDKIT_INTERNAL == static_cast<int>(absl::StatusCode::kInternal));
static_assert(COORDKIT_UNAVAILABLE == static_cast<int>(absl::StatusCode::kUnavailable));
static_assert(COORDKIT_DATA_LOSS == static_cast<int>(absl::StatusCode::kDataLoss));
static_assert(COORDKIT_NO_EFFECT == static_cast<int>(Outcome::NoEffect));
static_assert(COORDKIT_EFFECT_UNKNOWN == static_cast<int>(Outcome::Unknown));
static_assert(COORDKIT_DONE == static_cast<int>(Outcome::Done));

// The longest beginning of at most `most` bytes that does not end within a character of UTF-8.
std::string_view beginning_of(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

template <size_t Size>
size_t write(char (&place)[Size], std::string_view text) {
  const std::string_view fits = beginning_of(text, Size - 1);
  std::ranges::copy(fits, place);
  place[fits.size()] = '\0';
  return fits.size();
}

coordkit_status report(coordkit_error* error, coordkit_status status, Outcome outcome, std::optional<Reason> reason,
                       std::string_view sentence) {
  if (error == nullptr) return status;
  error->status = status;
  error->outcome = static_cast<int32_t>(outcome);
  error->reason = reason ? static_cast<int32_t>(*reason) : 0;
  write(error->reason_name, reason ? name_of(*reason) : std::string_view());
  error->sentence_size = write(error->sentence, sentence);
  return status;
}

}  // namespace

coordkit_status answer(const absl::Status& status, coordkit_error* error) noexcept {
  return report(error, static_cast<coordkit_status>(status.code()), outcome_of(status), reason_of(status), sentence_of(status));
}

coordkit_status no_memory(coordkit_error* error) noexcept {
  return report(error, COORDKIT_RESOURCE_EXHAUSTED, Outcome::Unknown, Reason::OutOfMemory, "an allocation failed");
}

coordkit_status threw(std::string_view what, coordkit_error* error) noexcept {
  return report(error, COORDKIT_UNKNOWN, Outcome::Unknown, std::nullopt, what);
}

absl::Status fork_of_opener() {
  return make_error(Reason::Closed, "this process is a fork of the one that opened the remote: open another one here");
}

Duration timeout_from(int64_t milliseconds) {
  constexpr int64_t kMost = std::chrono::floor<std::chrono::milliseconds>(kForever).count();
  return milliseconds < 0 || milliseconds > kMost ? kForever : Duration(std::chrono::milliseconds(milliseconds));
}

int64_t milliseconds_of(Duration time) {
  return std::chrono::floor<std::chrono::milliseconds>(std::max(time, Duration::zero())).count();
}

std::string Arguments::text(std::string_view what, const char* data, size_t size) {
  if (size == 0) return {};
  if (size > kTextBytesMax) {
    refuse(Reason::LimitExceeded, what, " has more bytes than anything may have; is its size a size?");
    return {};
  }
  needs(data, what);
  return data == nullptr ? std::string() : std::string(data, size);
}

std::string Arguments::key(const char* data, size_t size) {
  if (size == 0) refuse(Reason::EmptyKey, "key", " is empty");
  return text("key", data, size);
}

Duration Arguments::span(std::string_view what, int64_t milliseconds, Duration otherwise) {
  if (milliseconds < 0) refuse(Reason::InvalidArgument, what, " is negative");
  return milliseconds == 0 ? otherwise : timeout_from(milliseconds);
}

void Arguments::size(std::string_view what, size_t given, size_t first) {
  if (given < first || given > kStructBytesMax)
    refuse(Reason::InvalidArgument, what, " is not the struct's size: set it to sizeof");
}

void Arguments::copy_options(const void* given, size_t first, void* known, size_t known_size) {
  size_t given_size = 0;
  std::memcpy(&given_size, given, sizeof given_size);
  size("options->struct_size", given_size, first);
  if (!ok()) return;
  const std::string_view all(static_cast<const char*>(given), given_size);
  std::memcpy(known, given, std::min(given_size, known_size));
  if (given_size > known_size && all.find_first_not_of('\0', known_size) != std::string_view::npos) {
    refuse(Reason::Unsupported, "options", " have a field set that this library does not know: it is older than the header");
  }
}

void Arguments::refuse(Reason reason, std::string_view what, std::string_view why) {
  if (status_.ok()) status_ = make_error(reason, std::string(what).append(why));
}

}  // namespace coordkit::c
