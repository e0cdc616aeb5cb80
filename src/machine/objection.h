// Why a command is refused in any state, so before it is executed. Each kind of command has one check. The client asks it
// before the log and passes the sentence to its caller; apply asks it again and answers the code (S-35).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "machine/result.h"
#include "machine/wait.h"

namespace coordkit::machine {

struct Objection {
  ResultCode code = ResultCode::Ok;  // Ok: there is none
  std::string sentence = {};  // says what to change; empty: no caller of the client can cause it, or the code says it all

  bool none() const { return code == ResultCode::Ok; }
};

inline Objection invalid(std::string sentence = {}) { return {ResultCode::InvalidArgument, std::move(sentence)}; }
// `size` and `most`: bytes.
Objection check_size(const char* what, size_t size, size_t most);
// The name of a lock, a semaphore, a barrier and the like.
Objection check_name(std::string_view name);
Objection check_owner(std::string_view tag);
Objection check_wait(const Wait& wait);
Objection check_ttl(Duration ttl);

}  // namespace coordkit::machine
