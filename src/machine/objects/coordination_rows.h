// The checkpoint rows of semaphores, barriers and the like. Each kind of record has one letter; checkpoint_rows.h describes key
// and value.
#pragma once

#include "coordination/coordination.h"
#include "machine/checkpoint_rows.h"
#include "machine/record_codec.h"

namespace coordkit::machine::rows {

template <typename Row>
inline constexpr TableByte kTableOf = TableByte(0);
template <>
inline constexpr TableByte kTableOf<coordination::Barrier> = TableByte::Barriers;
template <>
inline constexpr TableByte kTableOf<coordination::Counter> = TableByte::NumberedCounters;
template <>
inline constexpr TableByte kTableOf<coordination::DoubleBarrier> = TableByte::DoubleBarriers;
template <>
inline constexpr TableByte kTableOf<coordination::Place> = TableByte::Places;
template <>
inline constexpr TableByte kTableOf<coordination::Group> = TableByte::Groups;
template <>
inline constexpr TableByte kTableOf<coordination::Item> = TableByte::Items;
template <>
inline constexpr TableByte kTableOf<coordination::Claim> = TableByte::ItemClaims;
template <>
inline constexpr TableByte kTableOf<coordination::Latch> = TableByte::Latches;
template <>
inline constexpr TableByte kTableOf<coordination::Member> = TableByte::Members;
template <>
inline constexpr TableByte kTableOf<coordination::Permits> = TableByte::Permits;
template <>
inline constexpr TableByte kTableOf<coordination::Queue> = TableByte::Queues;
template <>
inline constexpr TableByte kTableOf<coordination::Semaphore> = TableByte::Semaphores;
template <>
inline constexpr TableByte kTableOf<coordination::Wait> = TableByte::Waits;

// Adds the changes since the previous call.
void collect(coordination::Coordination& state, std::string_view prefix, CheckpointBatch& batch);
void forget_stored(coordination::Coordination& state);
// Adds one row. nullopt: it belongs to no table of coordination. kDataLoss: malformed or impossible.
std::optional<absl::Status> restore(coordination::Coordination& state, const ParsedKey& key, std::string_view value);

}  // namespace coordkit::machine::rows
