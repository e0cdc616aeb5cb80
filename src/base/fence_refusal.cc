#include "base/fence_refusal.h"

#include <charconv>
#include <string>

#include "absl/strings/cord.h"
#include "base/mutant.h"
#include "coordkit/error.h"

namespace coordkit {
namespace {

constexpr char kPayloadUrl[] = "coordkit/fenced-by";  // the token in decimal

}  // namespace

absl::Status judge(const FenceState& state, Token token, FenceMode mode) {
  if (!token) return make_error(Reason::InvalidArgument, "a fencing token is above zero; take it from a grant");
  if (state.admits(token, mode) || mutant(Mutant::GateTakesOlder)) return absl::OkStatus();
  const std::string newest = std::to_string(state.highest.value());
  std::string sentence = "token " + std::to_string(token.value());
  sentence.append(" is fenced off: a newer holder came with ").append(newest).append("; give up this grant");
  absl::Status refusal = make_error(Reason::Fenced, sentence);
  refusal.SetPayload(kPayloadUrl, absl::Cord(newest));
  return refusal;
}

std::optional<Token> fenced_by(const absl::Status& refusal) {
  const absl::optional<absl::Cord> payload = refusal.GetPayload(kPayloadUrl);
  if (!payload) return std::nullopt;
  const std::string digits(*payload);
  uint64_t newest = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), newest);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return Token(newest);
}

}  // namespace coordkit
