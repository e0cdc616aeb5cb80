#include "tests/unit/engine/counter.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "base/check.h"
#include "base/sums.h"
#include "coordkit/engine/engine.h"

namespace coordkit::engine {

void Counter::bootstrap(ClusterId cluster, uint64_t token_base) {
  if (throw_in_bootstrap) throw std::runtime_error("the bootstrap broke");
  cluster_ = cluster;
  token_base_ = token_base;
  ++founded_;
}

void Counter::apply(std::span<const Command> commands, ApplyOutput& output) {
  batches_.push_back(commands.size());
  for (const Command& command : commands) {
    if (command.remote) remotes.emplace_back(*command.remote);
    execute(command, output);
  }
}

void Counter::execute(const Command& command, ApplyOutput& output) {
  std::istringstream in{std::string(command.payload)};
  std::string verb, rest;
  in >> verb;
  const auto answer = [&](std::string bytes, ApplyOutput::Stage stage = ApplyOutput::Stage::Final) {
    output.answer(command, bytes, stage);
  };
  if (throw_in_apply) throw std::runtime_error("the counter broke");
  if (verb == "forget") return;
  executed_.emplace_back(command.payload);
  if (verb == "add") {
    int64_t by = 0;
    in >> by;
    answer(std::to_string(total_ += by + skew));
  } else if (verb == "wait") {
    waiters_.push_back(command.request);
    answer("queued", ApplyOutput::Stage::Queued);
  } else if (verb == "wake") {
    for (const RequestId& waiter : waiters_) output.answer(command.index, waiter, "woken");
    waiters_.clear();
    answer("woke");
  } else if (verb == "arm") {
    uint64_t id = 0, generation = 0, ms = 0, node = 0, boot = 0, incarnation = 0;
    in >> id >> generation >> ms >> node >> boot >> incarnation;
    TimerOp op{TimerOp::Kind::Arm, TimerId(id), Generation(generation), std::chrono::milliseconds(ms), {}};
    if (node != 0) op.group = {ReplicaId(node), BootCounter(boot), incarnation, op.duration};
    armed_[op.id] = op;
    output.timer_ops.push_back(op);
    answer("armed");
  } else if (verb == "disarm") {
    uint64_t id = 0;
    in >> id;
    armed_.erase(TimerId(id));
    output.timer_ops.push_back({TimerOp::Kind::Disarm, TimerId(id), {}, {}, {}});
    answer("disarmed");
  } else if (verb == "result") {
    size_t bytes = 0;
    in >> bytes;
    answer(std::string(bytes, '.'));
  } else {
    in >> rest;
    output.events.push_back({command.index, rest});
    answer("said");
  }
}

void Counter::fire(Index index, std::span<const FiredTimer> timers, ApplyOutput& output) {
  for (const FiredTimer& timer : timers) {
    const auto it = armed_.find(timer.id);
    if (it == armed_.end() || it->second.generation != timer.generation) continue;
    armed_.erase(it);
    fired_.push_back(timer);
    output.timer_ops.push_back({TimerOp::Kind::Disarm, timer.id, {}, {}, {}});
    output.events.push_back({index, "fired " + std::to_string(timer.id.value())});
  }
}

absl::StatusOr<std::string> Counter::query(std::string_view request) const {
  if (request == "throw") throw std::runtime_error("the query broke");
  if (request == "total") return std::to_string(total_);
  if (request == "executed") return std::to_string(executed_.size());
  return absl::InvalidArgumentError("no such question");
}

void Counter::observe(std::string_view subject, bool wanted) {
  const bool changed = wanted ? observed_.emplace(subject).second : observed_.erase(std::string(subject)) == 1;
  COORDKIT_CHECK_MSG(changed, "wanted at most once at a time");
}

bool Counter::holds(std::string_view guard) {
  if (guard == "throw") throw std::runtime_error("the guard broke");
  int64_t bound = 0;
  std::istringstream(std::string(guard)) >> bound;
  return total_ >= bound;
}

std::string Counter::state() const {
  std::ostringstream out;
  out << cluster_.value() << ' ' << token_base_ << ' ' << total_ << ' ' << executed_.size() << '\n';
  for (const std::string& line : executed_) out << line << '\n';
  out << waiters_.size() << '\n';
  for (const RequestId& id : waiters_) {
    out << id.origin.replica.value() << ' ' << id.origin.store.value() << ' ' << id.origin.boot.value() << ' '
        << id.sequence.value() << '\n';
  }
  out << armed_.size() << '\n';
  for (const auto& [id, op] : armed_) {
    out << id.value() << ' ' << op.generation.value() << ' ' << op.duration.count() << ' ' << op.group.node.value() << ' '
        << op.group.boot.value() << ' ' << op.group.incarnation << ' ' << op.group.ttl.count() << '\n';
  }
  out << fired_.size() << '\n';
  for (const FiredTimer& timer : fired_) out << timer.id.value() << ' ' << timer.generation.value() << '\n';
  return out.str();
}

void Counter::checkpoint(CheckpointBatch& batch) {
  batch.put(row_prefix(id_) + "state", state());
  if (!another_row.empty()) batch.put(another_row, "");
  if (throw_in_checkpoint) throw std::runtime_error("the checkpoint broke");
}

absl::Status Counter::restore(const CheckpointView& view) {
  if (in_restore) in_restore();
  *this = Counter(id_);
  return view.scan(row_prefix(id_), [&](std::string_view, std::string_view value) {
    std::istringstream in{std::string(value)};
    const auto number = [&] {
      uint64_t read = 0;
      in >> read;
      return read;
    };
    cluster_ = ClusterId(number());
    token_base_ = number();
    in >> total_;
    executed_.resize(number());
    in.ignore();
    for (std::string& line : executed_) std::getline(in, line);
    waiters_.resize(number());
    for (RequestId& id : waiters_) {
      id.origin.replica = ReplicaId(number());
      id.origin.store = StoreId(number());
      id.origin.boot = BootCounter(number());
      id.sequence = Sequence(number());
    }
    for (uint64_t left = number(); left > 0; --left) {
      TimerOp op;
      op.id = TimerId(number());
      op.generation = Generation(number());
      op.duration = Duration(number());
      op.group.node = ReplicaId(number());
      op.group.boot = BootCounter(number());
      op.group.incarnation = number();
      op.group.ttl = Duration(number());
      armed_[op.id] = op;
    }
    fired_.resize(number());
    for (FiredTimer& timer : fired_) {
      timer.id = TimerId(number());
      timer.generation = Generation(number());
    }
    return in ? absl::OkStatus() : absl::DataLossError("no counter");
  });
}

void Counter::timers(std::vector<TimerOp>& out) const {
  for (const auto& [id, op] : armed_) out.push_back(op);
}

uint64_t Counter::digest() const {
  if (throw_in_digest) throw std::runtime_error("the digest broke");
  return hash_bytes(state());
}

void Table::commit(const CheckpointBatch& batch) {
  applied_ = batch.applied;
  installed_ = false;
  if (batch.whole) {
    rows.clear();
    staged.clear();
  }
  for (const CheckpointBatch::Row& row : batch.rows) {
    if (row.value) {
      rows[row.key] = *row.value;
    } else {
      rows.erase(row.key);
    }
  }
}

void Table::stage(const StateRows& chunk) {
  std::erase_if(staged, [&](const auto& row) { return chunk.range.contains(row.first); });
  for (const CheckpointBatch::Row& row : chunk.rows) staged[row.key] = *row.value;
}

bool Table::install(Position at, uint64_t digest) {
  std::map<std::string, std::string> taken = std::exchange(staged, {});
  if (digest_of(taken) != digest) return false;
  rows = std::move(taken);
  applied_ = at;
  installed_ = true;
  return true;
}

// The word of a waiter that is gone is not kept.
void Counter::queued_results(std::span<const RequestId> requests,
                             absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const {
  if (throw_in_queued_results) throw std::runtime_error("the waiters broke");
  for (const RequestId& waiter : waiters_) {
    if (std::binary_search(requests.begin(), requests.end(), waiter)) answer({Index(), waiter, ApplyOutput::Stage::Queued, {}});
  }
}

}  // namespace coordkit::engine
