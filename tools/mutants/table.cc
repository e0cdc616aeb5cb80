#include "tools/mutants/table.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace coordkit::mutants {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, Kind> kKinds = {{"safety", Kind::Safety}, {"liveness", Kind::Liveness}, {"unit", Kind::Unit}};

// One file, line by line. The first character of a line tells its kind, so no text of a rewrite can be mistaken for anything
class Parser {
 public:
  Parser(std::string file, Table& table) : file_(std::move(file)), table_(table) {}

  void line(const std::string& text) {
    ++number_;
    if (text.empty() || text[0] == '#') return end_rewrite();
    if (text[0] == ' ' || text[0] == '-' || text[0] == '+') return rewritten(text[0], text.substr(1) + "\n");
    const size_t colon = text.find(": ");
    if (colon == std::string::npos) return begin_row(text);
    field(text.substr(0, colon), text.substr(colon + 2));
  }

  void end() {
    end_rewrite();
    end_row();
  }

 private:
  std::string place() const { return file_ + ":" + std::to_string(number_); }
  [[noreturn]] void refuse(const std::string& why) const { throw std::invalid_argument(place() + ": " + why); }

  void begin_row(const std::string& name) {
    static const std::regex form("[a-z][a-z0-9_]*");
    end_rewrite();
    end_row();
    if (!std::regex_match(name, form)) refuse("'" + name + "' is neither a name nor a field");
    if (table_.find(name) != nullptr) refuse(name + " is there twice");
    table_.mutants.push_back({.name = name, .place = place()});
    begun_ = true;
  }

  void end_row() {
    if (!begun_) return;
    const Mutant& row = table_.mutants.back();
    if (row.found.empty() || row.breaks.empty() || row.killer.empty()) refuse(row.name + " lacks its kind, breaks: or killer:");
  }

  void field(const std::string& key, const std::string& value) {
    end_rewrite();
    if (!begun_) refuse("a field without a row");
    Mutant& row = table_.mutants.back();
    if (const auto kind = kKinds.find(key); kind != kKinds.end()) {
      row.kind = kind->second;
      row.found = value;
    } else if (key == "breaks") {
      row.breaks = value;
    } else if (key == "killer") {
      row.killer = value;
    } else if (key == "in") {
      table_.rewrites.push_back({.mutant = row.name, .place = place(), .file = value});
      open_ = true;
    } else {
      refuse("there is no field " + key);
    }
  }

  void rewritten(char side, const std::string& text) {
    if (!open_) refuse("a line of a rewrite without its file");
    Rewrite& rewrite = table_.rewrites.back();
    if (side != '+') rewrite.original += text;
    if (side != '-') rewrite.mutated += text;
  }

  void end_rewrite() {
    if (!open_) return;
    open_ = false;
    const Rewrite& rewrite = table_.rewrites.back();
    if (rewrite.original.empty() || rewrite.original == rewrite.mutated) refuse("a rewrite that changes nothing");
    if (switches_in(rewrite.mutated).empty()) refuse("a rewrite without a switch");
  }

  std::string file_;
  Table& table_;
  int number_ = 0;
  bool begun_ = false;  // a row
  bool open_ = false;   // a rewrite
};

}  // namespace

const Mutant* Table::find(std::string_view name) const {
  const auto found = std::ranges::find(mutants, name, &Mutant::name);
  return found == mutants.end() ? nullptr : &*found;
}

void parse(const std::string& file, const std::string& text, Table& table) {
  Parser parser(file, table);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) parser.line(line);
  parser.end();
}

Table read_table(const fs::path& top) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(top / "tests/proof/mutants")) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  Table table;
  for (const fs::path& file : files) parse("tests/proof/mutants/" + file.filename().string(), read_file(file), table);
  return table;
}

std::vector<std::string> switches_in(const std::string& text) {
  static const std::regex form("\\bmutant\\((\\w+)\\)");
  std::vector<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), form), end; at != end; ++at) names.push_back((*at)[1]);
  return names;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::system_error(errno, std::generic_category(), path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace coordkit::mutants
