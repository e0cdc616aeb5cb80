#include "lock/fence_refusal.h"

#include <string>

#include "base/last_number.h"
#include "coordkit/error.h"

namespace coordkit {

absl::Status judge(const FenceState& state, Token token, FenceMode mode) {
  if (!token) return make_error(Reason::InvalidArgument, "a fencing token is above zero; take it from a grant");
  if (state.admits(token, mode)) return absl::OkStatus();
  return make_error(Reason::Fenced, "token " + std::to_string(token.value()) +
                                        " is fenced off, so give up this grant: a newer holder came with token " +
                                        std::to_string(state.highest.value()));
}

std::optional<Token> fenced_by(const absl::Status& refusal) {
  if (reason_of(refusal) != Reason::Fenced) return std::nullopt;
  const std::optional<uint64_t> newest = last_number(sentence_of(refusal));
  return newest ? std::optional(Token(*newest)) : std::nullopt;
}

}  // namespace coordkit
