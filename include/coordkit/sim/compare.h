// Four ways to lock, side by side under the same faults: lock keys with leases, sequential
// ephemeral nodes, Redlock, and coordkit. The first three are models (verify/compare). Their
// servers are assumed to be perfect; the simulation covers in full what their clients know, and
// when. coordkit's part is the real engine and client. Guide: docs/comparison.md.  Five machines,
// one lock, one shared counter. A process reads the counter, works, asks whether it still holds the
// lock, and writes the value it read plus one. An update is lost when a write overwrites one that
// its writer had not read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "coordkit/sim/program.h"
#include "coordkit/types.h"

namespace coordkit::sim {

// The ways to lock. name_of(): "lease keys", "ephemeral nodes", "redlock" or "coordkit".
enum class Recipe : uint8_t { LeaseKeys, Ephemerals, Redlock, Coordkit };
inline constexpr size_t kRecipes = 4;  // the number of them
// All of them, in the order of the enumeration.
inline constexpr std::array<Recipe, kRecipes> kAllRecipes = {Recipe::LeaseKeys, Recipe::Ephemerals, Recipe::Redlock,
                                                             Recipe::Coordkit};
std::string_view name_of(Recipe recipe);  // in words, see Recipe

// The faults that may strike. Two machines' clocks differ in rate by 1 % at most, whatever is
// chosen.
struct CompareFaults {
  bool pauses = true;      // a process is frozen, its machine continues
  bool cuts = true;        // a machine receives nothing; messages sent meanwhile arrive late
  bool drift = true;       // clocks run at the edges of that bound
  bool wall_steps = true;  // a machine's time of day jumps
  // Beyond the promise of any of them: only tokens are left. coordkit's holders are not judged
  // then.
  bool stopped_machines = false;  // a machine stops with all its clocks, and resumes as if nothing
                                  // had happened
  bool wild_rates = false;        // clocks run at half and at one and a half times the right rate

  // Whether a fault is chosen under which no recipe promises anything.
  bool beyond_promise() const { return stopped_machines || wild_rates; }
};

// One run for each recipe. `length` and `ttl` must be above zero; nothing checks that.
struct CompareOptions {
  uint64_t seed = 1;                           // draws the strikes, the delays and the work
  Duration length = std::chrono::seconds(60);  // of the run, in true time
  Duration ttl = std::chrono::seconds(2);      // lease, session timeout and auto-release time alike
  CompareFaults faults = {};                   // the first four kinds unless stated otherwise
};

// The counts of one recipe, of one run or of several.
struct RecipeFigures {
  uint64_t grants = 0;  // acquires that were granted
  uint64_t writes = 0;  // that reached the counter
  // Times in which two running processes both held the lock by their own rules.
  uint64_t overlaps = 0;
  Duration overlapped{};       // and how long, sampled every virtual millisecond
  Duration overlap_longest{};  // the longest of them
  uint64_t lost = 0;           // updates, on the counter without a fence
  uint64_t fenced_writes = 0;  // let through by a second counter, behind a FenceGate
  uint64_t fenced_lost = 0;    // updates lost there
  bool fence = false;          // does the recipe offer a number for it?

  // Adds the counts of another run. It keeps the larger overlap_longest, and `fence` is true if it
  // is in either.
  void add(const RecipeFigures& other);
};

// The result of compare_recipes() and compare_recipe().
struct Comparison {
  std::array<RecipeFigures, kRecipes> of{};  // by the value of Recipe
  uint64_t hash = 0;                         // of all events
  std::string violation;                     // of an invariant, in coordkit's part; empty: none

  // The figures of one recipe.
  const RecipeFigures& operator[](Recipe recipe) const { return of[static_cast<size_t>(recipe)]; }
};

// The strikes are drawn from the seed and are the same for all four.
Comparison compare_recipes(const CompareOptions& options);
// One of them alone; the others stay empty.
Comparison compare_recipe(const CompareOptions& options, Recipe recipe);

// One client's end of a recipe: the calls of the application on a lock.
class LockEnd {
 public:
  virtual ~LockEnd() = default;
  // Waits for the lock, through as many sessions and errors as it takes; one call at a time.
  virtual void acquire(std::function<void()> granted) = 0;
  // Whether the application may act now, as far as the rules of the recipe let it know.
  virtual bool holds() const = 0;
  // The token of the present hold; zero if the recipe has none.
  virtual Token token() const = 0;
  // Releases it, held or not.
  virtual void release() = 0;

  // The run ends: begin nothing new. Everything is released before.
  virtual void calm() {}
  // Asked after calm(): whether nothing is open any more. A run in which this does not come true is
  // a violation (INV_R20).
  virtual bool done() const { return true; }
};

// A recipe of your own, made of the calls of coordkit's client (examples/13_recipes), in coordkit's
// place: one end of it in the process of each replica, the same application, the same strikes.
using LockMaker = std::function<std::unique_ptr<LockEnd>(Process& process, const CompareOptions& options)>;
// The result of compare_own_recipe().
struct OwnRecipe {
  RecipeFigures figures;  // of this recipe in this one run
  uint64_t hash = 0;      // of all events: the same options give the same one
  std::string violation;  // of an invariant of the cluster itself; empty: none
};
// Runs it alone, under the strikes that compare_recipes() draws for the same options.
OwnRecipe compare_own_recipe(const CompareOptions& options, const LockMaker& make);

// Bars of overlaps and lost updates as one self-contained SVG.
std::string comparison_picture(const Comparison& sums, uint64_t runs, Duration length);

}  // namespace coordkit::sim
