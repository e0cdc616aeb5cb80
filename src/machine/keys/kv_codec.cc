#include "machine/keys/kv_codec.h"

#include <utility>

#include "mvcc/transaction.h"

namespace coordkit::machine {
namespace {

using namespace fields;  // the vocabulary of this file

// Numbers of the kinds, of an Operation and of its reply.
enum OperationKind : uint32_t { kRange = 1, kPut = 2, kDelete = 3, kTransaction = 4 };
constexpr size_t kReadDepthMax = 2 * mvcc::kDepthMax;  // deeper input could not be refused by recursing into it

// ---- writing

void write(std::string& out, const Transaction& transaction);

void write_body(std::string&, std::monostate) {}
void write_body(std::string& out, const RangeOperation& range) { put_element(out, kRange, range); }
void write_body(std::string& out, const PutOperation& put) { put_element(out, kPut, put); }
void write_body(std::string& out, const DeleteOperation& erase) { put_element(out, kDelete, erase); }
void write_body(std::string& out, const std::vector<Transaction>& nested) {
  for (const Transaction& one : nested) put_element(out, kTransaction, one);
}

void write_operations(std::string& out, uint32_t field, const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    put_message(out, field, [&] { std::visit([&out](const auto& kind) { write_body(out, kind); }, operation.body); });
  }
}

void write(std::string& out, const Transaction& transaction) {
  put_elements(out, 1, transaction.compares);
  write_operations(out, 2, transaction.then);
  write_operations(out, 3, transaction.otherwise);
}

void write(std::string& out, const OperationReply& reply);

void write(std::string& out, const TransactionReply& reply) {
  if (reply.succeeded) pbf_writer(out).add_uint64(1, 1);
  for (const OperationReply& one : reply.replies) put_message(out, 2, [&] { write(out, one); });
}

void write_reply(std::string&, std::monostate) {}
void write_reply(std::string& out, const RangeReply& range) { put_element(out, kRange, range); }
void write_reply(std::string& out, const PutReply& put) { put_element(out, kPut, put); }
void write_reply(std::string& out, const DeleteReply& erase) { put_element(out, kDelete, erase); }
void write_reply(std::string& out, const std::vector<TransactionReply>& nested) {
  for (const TransactionReply& one : nested) put_message(out, kTransaction, [&] { write(out, one); });
}

void write(std::string& out, const OperationReply& reply) {
  std::visit([&out](const auto& kind) { write_reply(out, kind); }, reply.body);
}

// ---- reading

void check_depth(size_t depth) {
  if (depth > kReadDepthMax) throw protozero::invalid_length_exception();
}

Transaction read_transaction(pbf_reader in, size_t depth);

Operation read_operation(pbf_reader in, size_t depth) {
  Operation operation;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(kRange): get(in, operation.body.emplace<RangeOperation>()); break;
      case bytes(kPut): get(in, operation.body.emplace<PutOperation>()); break;
      case bytes(kDelete): get(in, operation.body.emplace<DeleteOperation>()); break;
      case bytes(kTransaction): operation = read_transaction(in.get_message(), depth + 1); break;
      default: in.skip();
    }
  }
  return operation;
}

Transaction read_transaction(pbf_reader in, size_t depth) {
  check_depth(depth);
  Transaction transaction;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(1): get(in, transaction.compares); break;
      case bytes(2): transaction.then.push_back(read_operation(in.get_message(), depth)); break;
      case bytes(3): transaction.otherwise.push_back(read_operation(in.get_message(), depth)); break;
      default: in.skip();
    }
  }
  return transaction;
}

OperationReply read_operation_reply(pbf_reader in, size_t depth);

TransactionReply read_transaction_reply(pbf_reader in, size_t depth) {
  check_depth(depth);
  TransactionReply reply;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): reply.succeeded = in.get_uint64() != 0; break;
      case bytes(2): reply.replies.push_back(read_operation_reply(in.get_message(), depth)); break;
      default: in.skip();
    }
  }
  return reply;
}

OperationReply read_operation_reply(pbf_reader in, size_t depth) {
  OperationReply reply;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(kRange): get(in, reply.body.emplace<RangeReply>()); break;
      case bytes(kPut): get(in, reply.body.emplace<PutReply>()); break;
      case bytes(kDelete): get(in, reply.body.emplace<DeleteReply>()); break;
      case bytes(kTransaction): {
        std::vector<TransactionReply> nested;
        nested.push_back(read_transaction_reply(in.get_message(), depth + 1));
        reply.body = std::move(nested);
        break;
      }
      default: in.skip();
    }
  }
  return reply;
}

}  // namespace

void append_transaction(std::string& bytes, const Transaction& transaction) { write(bytes, transaction); }

Transaction read_transaction(protozero::pbf_reader in) { return read_transaction(in, 1); }

std::string encode(const OperationReply& reply) {
  std::string encoded;
  write(encoded, reply);
  return encoded;
}

absl::StatusOr<OperationReply> decode_operation_reply(std::string_view encoded) {
  OperationReply reply;
  const absl::Status status = guarded(encoded, absl::StatusCode::kDataLoss, "reply of an operation", [&](pbf_reader in) {
    reply = read_operation_reply(in, 0);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return reply;
}

}  // namespace coordkit::machine
