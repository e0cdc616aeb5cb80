#include "base/agreement_codec.h"

#include <limits>

#include "base/field_io.h"

namespace coordkit::agreement {

struct Rules : codec::SparseRules {
  template <typename T>
  static T value(uint64_t number) {
    if constexpr (std::is_same_v<T, MachineId>) {
      return MachineId(number);
    } else if constexpr (std::is_same_v<T, Duration>) {
      codec::require(number <= static_cast<uint64_t>(Duration::max().count()), "a negative duration");
      return Duration(static_cast<Duration::rep>(number));
    } else {
      codec::require(number <= std::numeric_limits<T>::max(), "a setting out of range");
      return static_cast<T>(number);
    }
  }
};

template <typename Io>
void describe(Io& io, codec::Describes<Agreement::Machine> auto& machine) {
  io.number(1, machine.id);
  io.number(2, machine.version);
}

template <typename Io>
void describe(Io& io, codec::Describes<Agreement> auto& agreement) {
  io.number(1, agreement.rate_error_ppm);
  io.number(2, agreement.election_timeout);
  io.number(3, agreement.leader_leases);
  io.number(4, agreement.digest_entries);
  io.number(5, agreement.revisions_kept);
  io.number(6, agreement.history_kept);
  io.repeated(7, agreement.machines, kAgreedMachinesMax);
}

}  // namespace coordkit::agreement

namespace coordkit {

std::string encode(const Agreement& said) {
  std::string bytes;
  codec::append<agreement::Rules>(bytes, said);
  return bytes;
}

Agreement parse_agreement(std::string_view bytes) {
  Agreement parsed;
  codec::read<agreement::Rules>(bytes, parsed);
  return parsed;
}

}  // namespace coordkit
