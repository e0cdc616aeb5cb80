#include "machine/questions.h"

#include "coordkit/error.h"
#include "machine/keys/kv_codec.h"
#include "machine/permissions/permission_fields.h"
#include "machine/record_codec.h"

// The fields of the answers. Those of questions and results are with their types.
namespace coordkit::machine::fields {

template <>
struct FieldsOf<HeldLock> {
  static constexpr auto list() {
    using H = HeldLock;
    return std::tuple(&H::name, &H::session, &H::owner_tag, &H::token, &H::since, &H::request, &H::texts, &H::mode, &H::count,
                      &H::releases, &H::last, &H::asked);
  }
};
template <>
struct FieldsOf<Holders> {
  static constexpr auto list() { return std::tuple(&Holders::holders, &Holders::waiters, &Holders::delayed, &Holders::more); }
};
template <>
struct FieldsOf<WaiterInfo> {
  static constexpr auto list() {
    using W = WaiterInfo;
    return std::tuple(&W::position, &W::session, &W::owner_tag, &W::since, &W::request, &W::mode);
  }
};
template <>
struct FieldsOf<LockQueue> {
  static constexpr auto list() { return std::tuple(&LockQueue::waiters, &LockQueue::more); }
};
template <>
struct FieldsOf<SessionInfo> {
  static constexpr auto list() {
    using S = SessionInfo;
    return std::tuple(&S::session, &S::ttl, &S::node, &S::boot, &S::incarnation, &S::generation, &S::holds, &S::waiters,
                      &S::metadata, &S::ending);
  }
};
template <>
struct FieldsOf<Sessions> {
  static constexpr auto list() { return std::tuple(&Sessions::sessions, &Sessions::more); }
};
template <>
struct FieldsOf<HeldLocks> {
  static constexpr auto list() { return std::tuple(&HeldLocks::locks, &HeldLocks::more); }
};
template <>
struct FieldsOf<ObjectRow> {
  static constexpr auto list() {
    using O = ObjectRow;
    return std::tuple(&O::id, &O::token, &O::session, &O::owner, &O::count, &O::priority, &O::value);
  }
};
template <>
inline constexpr size_t kListMax<ObjectRow> = size_t{1} << 24;  // all members of a group, however many
template <>
struct FieldsOf<ObjectView> {
  static constexpr auto list() {
    using O = ObjectView;
    return std::tuple(&O::exists, &O::number, &O::limit, &O::taken, &O::waiters, &O::more, &O::rows);
  }
};
template <>
struct FieldsOf<OwnedObject> {
  static constexpr auto list() {
    using O = OwnedObject;
    return std::tuple(&O::kind, &O::name, &O::token, &O::since, &O::id, &O::count, &O::owner, &O::value);
  }
};
template <>
struct FieldsOf<OwnedObjects> {
  static constexpr auto list() { return std::tuple(&OwnedObjects::rows, &OwnedObjects::more); }
};
template <>
struct FieldsOf<Entry> {
  static constexpr auto list() { return std::tuple(&Entry::entry, &Entry::revision); }
};
template <>
struct FieldsOf<KeysRead<RangeReply>> {
  static constexpr auto list() {
    using K = KeysRead<RangeReply>;
    return std::tuple(&K::code, &K::revision, &K::compacted, &K::reply);
  }
};
template <>
struct FieldsOf<KeySpace> {
  static constexpr auto list() {
    using K = KeySpace;
    return std::tuple(&K::weight, &K::quota, &K::keys, &K::changes, &K::revision, &K::compacted, &K::sweeping);
  }
};
template <>
struct FieldsOf<LeaseRow> {
  static constexpr auto list() { return std::tuple(&LeaseRow::id, &LeaseRow::number, &LeaseRow::ttl, &LeaseRow::node); }
};
template <>
struct FieldsOf<EntryRow> {
  static constexpr auto list() {
    using E = EntryRow;
    return std::tuple(&E::key, &E::value, &E::create, &E::mod, &E::version, &E::lease);
  }
};
template <>
struct FieldsOf<ChangeRow> {
  static constexpr auto list() { return std::tuple(&ChangeRow::entry, &ChangeRow::previous); }
};
template <>
struct FieldsOf<Changes> {
  static constexpr auto list() {
    using C = Changes;
    return std::tuple(&C::revision, &C::compacted, &C::gone, &C::changes, &C::next, &C::next_sub);
  }
};

template <>
struct FieldsOf<PermissionLists> {
  static constexpr auto list() { return std::tuple(&PermissionLists::lists, &PermissionLists::more); }
};

// Questions that carry a message with bytes of its own.
template <>
struct CodecOf<RefusalOf> {
  static void append(std::string& bytes, const RefusalOf& question) { bytes += encode(question.request); }
  static void read(pbf_reader in, RefusalOf& question) {
    const absl::Status status = decode_request({in.data().data(), in.data().size()}, question.request);
    codec::require(status.ok(), "a malformed acquire");
  }
};
template <>
struct CodecOf<OutcomeOf> {
  static void append(std::string& bytes, const OutcomeOf& question) { append_transaction(bytes, question.transaction); }
  static void read(pbf_reader in, OutcomeOf& question) { question.transaction = read_transaction(in); }
};

}  // namespace coordkit::machine::fields

namespace coordkit::machine {
namespace {

using namespace fields;  // the vocabulary of this file

// ---- an answer as a message

template <typename T>
struct Told {  // whatever its type is, as the first field
  T value;
  static constexpr auto fields() { return std::tuple(&Told::value); }
};

template <typename Answer>
std::string bytes_of(Answer answer) {
  return encode_record(Told<Answer>{std::move(answer)});
}
template <typename Answer>
absl::Status read_answer(std::string_view bytes, Answer& answer) {
  absl::StatusOr<Told<Answer>> told = decode_record<Told<Answer>>(bytes, "answer");
  if (told.ok()) answer = std::move(told->value);
  return told.status();
}

struct KeyName {
  std::string key;
  static constexpr auto fields() { return std::tuple(&KeyName::key); }
};
struct ToldLeases {
  std::vector<LeaseRow> leases;
  std::vector<KeyName> keys;
  bool more = false;
  Revision revision;
  static constexpr auto fields() {
    using L = ToldLeases;
    return std::tuple(&L::leases, &L::keys, &L::more, &L::revision);
  }
};

std::string bytes_of(Leases answer) {
  ToldLeases told{std::move(answer.leases), {}, answer.more, answer.revision};
  for (std::string& key : answer.keys) told.keys.push_back({std::move(key)});
  return encode_record(told);
}
absl::Status read_answer(std::string_view bytes, Leases& answer) {
  absl::StatusOr<ToldLeases> told = decode_record<ToldLeases>(bytes, "answer");
  if (!told.ok()) return told.status();
  answer = {std::move(told->leases), {}, told->more, told->revision};
  for (KeyName& name : told->keys) answer.keys.push_back(std::move(name.key));
  return absl::OkStatus();
}

struct ToldOutcome {
  ResultCode code = ResultCode::Ok;
  Revision revision;
  Revision compacted;
  std::string reply;  // an encoded OperationReply
  static constexpr auto fields() {
    using O = ToldOutcome;
    return std::tuple(&O::code, &O::revision, &O::compacted, &O::reply);
  }
};

std::string bytes_of(KeysRead<TransactionReply> answer) {
  OperationReply reply{.body = std::vector<TransactionReply>()};
  std::get<std::vector<TransactionReply>>(reply.body).push_back(std::move(answer.reply));
  return encode_record(ToldOutcome{answer.code, answer.revision, answer.compacted, encode(reply)});
}
absl::Status read_answer(std::string_view bytes, KeysRead<TransactionReply>& answer) {
  const absl::StatusOr<ToldOutcome> told = decode_record<ToldOutcome>(bytes, "answer");
  if (!told.ok()) return told.status();
  absl::StatusOr<OperationReply> reply = decode_operation_reply(told->reply);
  if (!reply.ok()) return reply.status();
  auto* const replies = std::get_if<std::vector<TransactionReply>>(&reply->body);
  if (replies == nullptr || replies->size() != 1) return absl::DataLossError("malformed answer: no reply to a transaction");
  answer = {told->code, told->revision, told->compacted, std::move(replies->front())};
  return absl::OkStatus();
}

}  // namespace

RefusalOf::Answer RefusalOf::ask(const Reads& state) const {
  if (const auto* acquire = std::get_if<Acquire>(&request.body)) return state.refusal_of(*acquire);
  if (const auto* acquire = std::get_if<AcquireAll>(&request.body)) return state.refusal_of(*acquire);
  return std::nullopt;
}

std::string encode(const Question& question) {
  std::string encoded;
  put_alternative(encoded, question);
  return encoded;
}

absl::StatusOr<Question> decode_question(std::string_view bytes) {
  Question question;
  if (absl::Status status = get_alternatives(bytes, absl::StatusCode::kInvalidArgument, "question", question); !status.ok()) {
    return make_error(Reason::InvalidArgument, std::string(status.message()));
  }
  if (std::holds_alternative<std::monostate>(question)) {
    return make_error(Reason::Unsupported, "this replica does not know this kind of question; start a newer build there");
  }
  return question;
}

absl::StatusOr<std::string> encoded_answer(const Reads& state, const Question& question) {
  if (const auto* refusal = std::get_if<RefusalOf>(&question)) {
    if (const Objection objection = validated(refusal->request).objection; objection.code != ResultCode::Ok) {
      return make_error(Reason::InvalidArgument, "a question about an acquire that would be refused");
    }
  }
  if (const auto* outcome = std::get_if<OutcomeOf>(&question)) {
    if (state.reaches_too_far(outcome->transaction)) {
      return make_error(Reason::LimitExceeded, "the transaction looks at more keys than one command may");
    }
  }
  return std::visit(
      [&state](const auto& one) -> absl::StatusOr<std::string> {
        if constexpr (std::is_same_v<decltype(one), const std::monostate&>) {
          return make_error(Reason::Unsupported, "no question");
        } else {
          return bytes_of(one.ask(state));
        }
      },
      question);
}

std::string encode_answer(Changes answer) { return bytes_of(std::move(answer)); }

template <typename Q>
absl::StatusOr<typename Q::Answer> decode_answer(std::string_view bytes) {
  typename Q::Answer answer{};
  if (absl::Status status = read_answer(bytes, answer); !status.ok()) return status;
  return answer;
}

// One for each kind of answer that is decoded elsewhere.
template <typename... Questions>
struct ForEach {
  static constexpr auto kAll = std::tuple(&decode_answer<Questions>...);
};
template struct ForEach<HoldersOf, QueueOf, SessionOf, SessionsAfter, LocksOf, ObjectsOf, HeldBy, StillHeld, RefusalOf,
                        ObjectOf, MembersOf, EntryOf, PageOf, OutcomeOf, SpaceOf, LeaseOf, LeasesAfter, ChangesOf,
                        PermissionsFrom>;

}  // namespace coordkit::machine
