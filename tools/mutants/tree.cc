#include "tools/mutants/tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>

#include "tools/mutants/switch.h"

namespace coordkit::mutants {
namespace {

namespace fs = std::filesystem;

// Every place where a text has these whole lines.
std::vector<size_t> places_of(const std::string& lines, const std::string& text) {
  std::vector<size_t> found;
  for (size_t at = text.find(lines); at != std::string::npos; at = text.find(lines, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') found.push_back(at);
  }
  return found;
}

// The text between the originals stays, so the order in which rewrites are described does not matter.
class Sheet {
 public:
  explicit Sheet(std::string text) : text_(std::move(text)) {}

  // The objection to it, or nothing.
  std::string add(const Rewrite& rewrite) {
    const std::vector<size_t> found = places_of(rewrite.original, text_);
    const std::string where = rewrite.place + ": " + rewrite.mutant + ": the original text ";
    if (found.empty()) return where + "is not in " + rewrite.file;
    if (found.size() > 1) return where + "is in " + rewrite.file + " " + std::to_string(found.size()) + " times";
    const auto after = rewrites_.lower_bound(found[0]);
    if (after != rewrites_.end() && after->first < found[0] + rewrite.original.size())
      return where + "overlaps " + after->second->place;
    if (after != rewrites_.begin() && end_of(*std::prev(after)) > found[0])
      return where + "overlaps " + std::prev(after)->second->place;
    rewrites_.emplace(found[0], &rewrite);
    return "";
  }

  std::string mutated() const {
    std::string result = std::string("#include \"") + kSwitchInclude + "\"\n#line 1\n";
    size_t at = 0;
    for (const auto& [begin, rewrite] : rewrites_) {
      result.append(text_, at, begin - at);
      result += with_switches(rewrite->mutated);
      at = begin + rewrite->original.size();
    }
    return result.append(text_, at);
  }

 private:
  static size_t end_of(const std::pair<const size_t, const Rewrite*>& at) { return at.first + at.second->original.size(); }

  std::string text_;
  std::map<size_t, const Rewrite*> rewrites_;
};

// The folders that defects are planted in: the product, and the models that err with it.
constexpr std::array<const char*, 3> kCopied = {"src", "include", "verify"};

using Sheets = std::map<std::string, Sheet>;

Sheets sheets_of(const Table& table, const fs::path& top, std::vector<std::string>& complaints) {
  Sheets sheets;
  for (const Rewrite& rewrite : table.rewrites) {
    const bool copied =
        std::ranges::any_of(kCopied, [&](const char* folder) { return rewrite.file.starts_with(std::string(folder) + "/"); });
    if (!copied || !fs::is_regular_file(top / rewrite.file)) {
      complaints.push_back(rewrite.place + ": there is no " + rewrite.file + " below src/, include/ or verify/");
      continue;
    }
    if (!sheets.contains(rewrite.file)) sheets.emplace(rewrite.file, read_file(top / rewrite.file));
    if (std::string wrong = sheets.at(rewrite.file).add(rewrite); !wrong.empty()) complaints.push_back(std::move(wrong));
  }
  return sheets;
}

void compare_switches(const Table& table, std::vector<std::string>& complaints) {
  std::set<std::string> switched;
  for (const Rewrite& rewrite : table.rewrites) {
    for (const std::string& name : switches_in(rewrite.mutated)) {
      switched.insert(name);
      if (table.find(name) == nullptr) complaints.push_back(rewrite.place + ": there is no mutant " + name);
    }
  }
  for (const Mutant& mutant : table.mutants) {
    if (!switched.contains(mutant.name)) complaints.push_back(mutant.place + ": " + mutant.name + " has no rewrite");
  }
}

// The second tree while it is written: whatever was not placed by the end is removed.
class Tree {
 public:
  explicit Tree(fs::path into) : into_(std::move(into)) {}

  void place(const fs::path& file, const std::string& text) {
    placed_.insert(file);
    const fs::path path = into_ / file;
    if (fs::is_regular_file(path) && read_file(path) == text) return;
    fs::create_directories(path.parent_path());
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << text;
    if (!out.flush()) throw std::runtime_error(path.string() + " cannot be written");
    ++written_;
  }

  void link(const fs::path& name, const fs::path& to) {
    const fs::path path = into_ / name;
    if (fs::is_symlink(path) && fs::read_symlink(path) == to) return;
    fs::remove(path);
    fs::create_symlink(to, path);
  }

  void remove_others(const fs::path& folder) {
    if (!fs::exists(into_ / folder)) return;
    std::vector<fs::path> others;
    for (const auto& entry : fs::recursive_directory_iterator(into_ / folder)) {
      if (!entry.is_directory() && !placed_.contains(entry.path().lexically_relative(into_))) others.push_back(entry.path());
    }
    for (const fs::path& other : others) fs::remove(other);
    written_ += others.size();
  }

  size_t written() const { return written_; }

 private:
  fs::path into_;
  std::set<fs::path> placed_;
  size_t written_ = 0;
};

void copy_folder(const fs::path& top, const fs::path& folder, const Sheets& sheets, Tree& tree) {
  if (!fs::exists(top / folder)) return;
  for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
    if (!entry.is_regular_file()) continue;
    const fs::path file = entry.path().lexically_relative(top);
    const auto sheet = sheets.find(file.string());
    tree.place(file, sheet == sheets.end() ? read_file(entry.path()) : sheet->second.mutated());
  }
}

// Everything else that is built; nothing hidden, neither this tree's builds nor the copied folders.
void link_others(const fs::path& top, Tree& tree) {
  for (const auto& entry : fs::directory_iterator(top)) {
    const std::string name = entry.path().filename().string();
    if (name[0] != '.' && name != "out" && std::ranges::find(kCopied, name) == kCopied.end())
      tree.link(name, fs::canonical(entry.path()));
  }
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace

std::vector<std::string> complaints(const Table& table, const fs::path& top) {
  std::vector<std::string> found;
  sheets_of(table, top, found);
  compare_switches(table, found);
  return found;
}

Planted plant(const Table& table, const fs::path& top, const fs::path& into) {
  std::vector<std::string> wrong;
  const Sheets sheets = sheets_of(table, top, wrong);
  compare_switches(table, wrong);
  if (!wrong.empty()) throw std::invalid_argument(joined(wrong));
  fs::create_directories(into);
  Tree tree(into);
  tree.place(fs::path("include") / kSwitchInclude, switch_header(table));
  tree.place(kSwitchSource, switch_source(table));
  for (const char* folder : kCopied) {
    copy_folder(top, folder, sheets, tree);
    tree.remove_others(folder);
  }
  link_others(top, tree);
  return {.files = sheets.size(), .written = tree.written()};
}

}  // namespace coordkit::mutants
