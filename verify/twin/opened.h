// Private members of a class of the product, for proofs. So the product names no class of its proofs as a friend.
//
//   template struct Opens<&Freshness::word_, &Freshness::at_>;   at namespace scope, once for a class and in one source
//   const auto [word, at] = opened(freshness);                   below it: references, in that order
//
// The technique is legal C++: no access is checked in the declaration of an explicit instantiation ([temp.spec.general]). The
// instantiated class defines the function that `MembersOf` declares, and this function returns the pointers to the members. A
// member that is renamed or removed is an error at compile time. A member function is opened as something that can be called.
#pragma once

#include <tuple>
#include <type_traits>

namespace coordkit::raft {

template <typename Class>
struct MembersOf {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"  // meant: each MembersOf has a function of its own
#endif
  friend constexpr auto members_of(MembersOf);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
};

template <typename Class, typename Type>
MembersOf<Class> members_with(Type Class::*);

template <auto First, auto... Others>
struct Opens {
  friend constexpr auto members_of(decltype(members_with(First))) { return std::tuple(First, Others...); }
};

template <typename Class, typename Member>
decltype(auto) reach(Class& object, Member member) {
  if constexpr (std::is_member_object_pointer_v<Member>) {
    return (object.*member);
  } else {
    return [&object, member](const auto&... arguments) -> decltype(auto) { return (object.*member)(arguments...); };
  }
}

template <typename Class>
auto opened(Class& object) {
  return std::apply(
      [&object](auto... member) { return std::tuple<decltype(reach(object, member))...>(reach(object, member)...); },
      members_of(MembersOf<std::remove_const_t<Class>>()));
}

}  // namespace coordkit::raft
