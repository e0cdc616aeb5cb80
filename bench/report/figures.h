// What was measured, one row for each figure, and its file: CSV with a head, written by a run and read again by tables and
// plots.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace coordkit::bench {

struct Subject {
  std::string who;    // "coordkit", or a peer
  std::string kind;   // of load
  std::string where;  // the callers are
  uint64_t callers = 0;
  double due_per_s = 0;  // operations; 0: each caller begins the next when the last is answered
  friend auto operator<=>(const Subject&, const Subject&) = default;
};

struct Figure {
  Subject of;
  uint32_t round = 1;
  std::string name;  // cycles_per_s, p50_us, ...
  double value = 0;
  bool suspect = false;  // the disk was slower than in the rest of the run
};

class Figures {
 public:
  struct Summary {
    double value = 0;
    size_t count = 0;
    bool suspect = false;  // none of the rounds had a disk as quick as the others
  };

  void add(Figure figure) { all_.push_back(std::move(figure)); }
  void add(const Figures& later);  // whose rounds come after these
  void not_measured(Subject of, std::string reason) { reasons_.insert_or_assign(std::move(of), std::move(reason)); }

  // Of all rounds that are not suspect; if there are none, of all.
  std::optional<Summary> quantile(const Subject& of, std::string_view name, double q) const;
  std::optional<Summary> median(const Subject& of, std::string_view name) const { return quantile(of, name, 0.5); }
  // The median of what each round says by itself, so that a slow minute counts for neither: `of` by `to`, over the rounds that
  // have both and are not suspect. Nothing: there are none.
  std::optional<double> median_ratio(const Subject& of, const Subject& to, std::string_view name) const;
  std::string reason(const Subject& of) const;  // why it was not measured; empty: not known
  std::vector<Subject> subjects() const;        // with figures, sorted
  bool empty() const { return all_.empty() && reasons_.empty(); }

  std::string csv() const;
  // Throws std::runtime_error with the first line if another build wrote it, with the line that is no row.
  static Figures from_csv(std::string_view text);

 private:
  std::vector<Figure> all_;
  std::map<Subject, std::string> reasons_;
};

// Between neighbours in proportion, as medians of an even count are. `values` has at least one.
double quantile_of(std::vector<double> values, double q);

}  // namespace coordkit::bench
