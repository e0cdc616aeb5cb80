// The bytes of operations on keys and of their results (proto/coordkit/v1/machine.proto). Operations without branches list
// their fields here for record_codec.h, because they are public types. Transactions, which nest, are written by hand.
#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include "absl/status/statusor.h"
#include "coordkit/keys/key_operations.h"
#include "machine/record_codec.h"

namespace coordkit::machine::fields {

template <>
struct FieldsOf<KeyValue> {
  static constexpr auto list() {
    return std::tuple(&KeyValue::key, &KeyValue::value, &KeyValue::create, &KeyValue::mod, &KeyValue::version,
                      &KeyValue::lease);
  }
};
template <>
inline constexpr size_t kListMax<KeyValue> = size_t{1} << 24;  // answers are bounded by their bytes

template <>
struct FieldsOf<RangeOperation> {
  static constexpr auto list() {
    using R = RangeOperation;
    return std::tuple(&R::key, &R::end, &R::revision, &R::limit, &R::sort_by, &R::order, &R::keys_only, &R::count_only,
                      &R::mod_min, &R::mod_max, &R::create_min, &R::create_max);
  }
};
template <>
struct FieldsOf<PutOperation> {
  static constexpr auto list() {
    using P = PutOperation;
    return std::tuple(&P::key, &P::value, &P::lease, &P::ignore_value, &P::ignore_lease, &P::previous, &P::sequential);
  }
};
template <>
struct FieldsOf<DeleteOperation> {
  static constexpr auto list() { return std::tuple(&DeleteOperation::key, &DeleteOperation::end, &DeleteOperation::previous); }
};
template <>
struct FieldsOf<Compare> {
  static constexpr auto list() {
    using C = Compare;
    return std::tuple(&C::key, &C::end, &C::target, &C::relation, &C::number, &C::value);
  }
};
template <>
struct FieldsOf<RangeReply> {
  static constexpr auto list() { return std::tuple(&RangeReply::entries, &RangeReply::more, &RangeReply::count); }
};
template <>
struct FieldsOf<PutReply> {
  static constexpr auto list() { return std::tuple(&PutReply::key, &PutReply::previous); }
};
template <>
struct FieldsOf<DeleteReply> {
  static constexpr auto list() { return std::tuple(&DeleteReply::deleted, &DeleteReply::previous); }
};

}  // namespace coordkit::machine::fields

namespace coordkit::machine {

void append_transaction(std::string& bytes, const Transaction& transaction);
// Throws a protozero::exception: the bytes are malformed, or the nesting is deeper than anything valid.
Transaction read_transaction(protozero::pbf_reader in);

namespace fields {
template <>
struct CodecOf<Transaction> {
  static void append(std::string& bytes, const Transaction& transaction) { append_transaction(bytes, transaction); }
  static void read(pbf_reader in, Transaction& transaction) { transaction = read_transaction(in); }
};
}  // namespace fields

std::string encode(const OperationReply& reply);
absl::StatusOr<OperationReply> decode_operation_reply(std::string_view bytes);  // kDataLoss: malformed

}  // namespace coordkit::machine
