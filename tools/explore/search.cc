#include "search.h"

#include <algorithm>
#include <bit>

#include "state_set.h"

namespace coordkit::explore {
namespace {

class Search {
 public:
  Search(Space& space, const Bounds& bounds) : space_(space), bounds_(bounds) {}

  Findings run() {
    reach(space_.first(), kNone, {});
    while (!next_.empty() && found_.violation.empty() && found_.states < bounds_.states_max) {
      level_.swap(next_);
      next_.clear();
      if (bounds_.on_level) bounds_.on_level(found_, level_.size());
      for (const Node& node : level_) {
        expand(node);
        if (!found_.violation.empty() || found_.states >= bounds_.states_max) break;
      }
      ++found_.depth;
    }
    found_.complete = found_.violation.empty() && next_.empty();
    return std::move(found_);
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Node {
    World world;
    uint32_t record;
  };
  struct Record {  // how a world was first reached
    uint32_t parent;
    Move move;
  };

  void expand(const Node& node) {
    space_.moves(node.world, moves_);
    for (const Move& move : moves_) {
      ++found_.transitions;
      World world = node.world;
      found_.violation = space_.make(world, move);
      if (!found_.violation.empty()) return trace(node.record, move);
      if (world == node.world) continue;
      reach(world, node.record, move);
    }
  }

  void reach(const World& world, uint32_t parent, Move move) {
    if (!met_.insert(space_.print_of(world))) return;
    ++found_.states;
    found_.leaders_most = std::max<uint64_t>(
        found_.leaders_most, std::count_if(world.leaders.begin(), world.leaders.end(), [](uint8_t id) { return id != 0; }));
    found_.committed_most = std::max<uint64_t>(found_.committed_most, space_.log(world.committed).terms.size());
    next_.push_back({world, static_cast<uint32_t>(records_.size())});
    records_.push_back({parent, move});
  }

  void trace(uint32_t record, Move last) {
    found_.trace.push_back(last);
    for (; records_[record].parent != kNone; record = records_[record].parent) found_.trace.push_back(records_[record].move);
    std::reverse(found_.trace.begin(), found_.trace.end());
  }

  Space& space_;
  const Bounds& bounds_;
  Findings found_;
  StateSet met_;
  std::deque<Record> records_;
  std::deque<Node> level_;
  std::deque<Node> next_;
  std::vector<Move> moves_;
};

}  // namespace

Findings search(Space& space, const Bounds& bounds) { return Search(space, bounds).run(); }

}  // namespace coordkit::explore
