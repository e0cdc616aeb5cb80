// The table of mutants: defects on purpose, unknown to the product. tests/proof/mutants/*.txt describes each as a row and
// as rewrites of sources; README.md there says how. tree.h creates a tree that has all of them, behind switches.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace coordkit::mutants {

enum class Kind { Safety, Liveness, Unit };

struct Mutant {
  std::string name;
  Kind kind = Kind::Unit;
  std::string found;   // the profile of the simulator that shows it, or why there is none
  std::string breaks;  // ids of docs/, separated by blanks
  std::string killer;  // the folder of its test, a blank, and a filter of googletest
  std::string place;   // of its row, "tests/proof/mutants/raft.txt:12"

  std::string folder() const { return killer.substr(0, killer.find(' ')); }
  std::string filter() const { return killer.substr(killer.find(' ') + 1); }
};

// Texts are whole lines, each with its line break. The mutated text names its switches: mutant(votes_twice).
struct Rewrite {
  std::string mutant;  // the row it belongs to
  std::string place;   // of its first line in the table
  std::string file;    // below the top of the tree
  std::string original;
  std::string mutated;
};

struct Table {
  std::vector<Mutant> mutants;
  std::vector<Rewrite> rewrites;

  const Mutant* find(std::string_view name) const;
};

// Adds the rows of one file, which places name as `file`. Throws std::invalid_argument, with the place, if it is malformed.
void parse(const std::string& file, const std::string& text, Table& table);

// All of tests/proof/mutants/ below the top of a tree, in the order of the files' names.
Table read_table(const std::filesystem::path& top);

// The mutants whose switches a text has, in order; one that is named twice appears twice.
std::vector<std::string> switches_in(const std::string& text);

std::string read_file(const std::filesystem::path& path);  // throws std::system_error

}  // namespace coordkit::mutants
