// How a record lists its fields for record_codec.h. static constexpr auto fields() is a tuple of member pointers, numbered
// from 1 on. at() gives a field another number, from which the next fields count on. part() is a field of a member.
#pragma once

#include <cstdint>

namespace coordkit::machine {

template <typename Field>
struct NumberedField {
  uint32_t number;
  Field field;
};
template <typename Field>
constexpr NumberedField<Field> at(uint32_t number, Field field) {
  return {number, field};
}

template <typename Member, typename Field>
struct PartOfMember {
  Member member;
  Field field;
};
template <typename Member, typename Field>
constexpr PartOfMember<Member, Field> part(Member member, Field field) {
  return {member, field};
}

}  // namespace coordkit::machine
