#include "check/checker.h"

#include <fmt/format.h>

#include <utility>

#include "base/enum_words.h"
#include "check/fenced_mutex_model.h"
#include "check/history.h"
#include "check/kv_model.h"
#include "check/line.h"
#include "check/mutex_model.h"
#include "check/queue_model.h"
#include "check/register_model.h"
#include "check/rw_lock_model.h"
#include "check/semaphore_check.h"
#include "check/transaction_model.h"

namespace coordkit::check {
namespace {

// All other models skip lines that name a model, so that one file can hold the histories of several. Single operations on
// keys are valid for both models of a store.
template <typename Model>
bool takes(std::string_view model) {
  if constexpr (std::is_same_v<Model, TransactionModel>) {
    if (model == KvModel::kName) return true;
  }
  return model.empty() || model == Model::kName;
}

template <typename Model>
class ModelChecker final : public Checker {
 public:
  explicit ModelChecker(const Options& options) : options_(options), partition_(options.settings, options.limits) {}

  absl::Status add(std::string_view line) override {
    ++number_;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos || decided()) return absl::OkStatus();
    Operation<typename Model::Call> op;
    bool skipped = false;
    if (absl::Status status = read(line, op, skipped); !status.ok()) {
      return absl::InvalidArgumentError(fmt::format("line {}: {}", number_, std::string(status.message())));
    }
    if (skipped) return ++skipped_, absl::OkStatus();
    op.number = number_;
    if (options_.reading == Reading::Whole) return history_.add(std::move(op)), absl::OkStatus();
    if (op.call < last_call_) {
      return absl::InvalidArgumentError(
          fmt::format("line {}: its call ({}) lies before that of an earlier line ({}); sort the lines "
                      "by \"call\", or have the whole history read first (--whole)",
                      number_, op.call, last_call_));
    }
    last_call_ = op.call;
    partition_.add(std::move(op));
    return absl::OkStatus();
  }

  bool decided() const override { return partition_.so_far().verdict == Verdict::Violation; }

  Report finish() override {
    Report report =
        options_.reading == Reading::Whole ? history_.check(options_.settings, options_.limits) : partition_.finish();
    report.skipped = skipped_;
    return report;
  }

 private:
  absl::Status read(std::string_view line, Operation<typename Model::Call>& op, bool& skipped) {
    absl::StatusOr<const json::Value*> value = document_.parse(line);
    if (!value.ok()) return value.status();
    LineHead head;
    if (absl::Status status = read_head(**value, head); !status.ok()) return status;
    skipped = !takes<Model>(head.model);
    return skipped ? absl::OkStatus() : read_operation<Model>(head, op);
  }

  const Options options_;
  Partition<Model> partition_;
  History<Model> history_;
  json::Document document_;
  uint64_t number_ = 0;
  uint64_t skipped_ = 0;
  Moment last_call_ = std::numeric_limits<Moment>::min();
};

struct Row {
  std::string_view name;
  std::unique_ptr<Checker> (*make)(const Options&);
};

template <typename Model>
constexpr Row row() {
  return {Model::kName,
          [](const Options& options) -> std::unique_ptr<Checker> { return std::make_unique<ModelChecker<Model>>(options); }};
}

constexpr Row kRows[] = {row<RegisterModel>(),    row<KvModel>(),     row<TransactionModel>(), row<MutexModel>(),
                         row<FencedMutexModel>(), row<RwLockModel>(), row<SemaphoreModel>(),   row<QueueModel>()};

}  // namespace

std::string_view name_of(Verdict verdict) { return words_of(verdict); }

std::vector<std::string_view> models() {
  std::vector<std::string_view> names;
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

std::unique_ptr<Checker> make_checker(std::string_view model, const Options& options) {
  for (const Row& row : kRows) {
    if (row.name == model) return row.make(options);
  }
  return nullptr;
}

}  // namespace coordkit::check
