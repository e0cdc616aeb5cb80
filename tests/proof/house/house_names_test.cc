// Names in comments are true: an id has its row in a table of docs/, and `Name::member` is declared where Name is. No folder is
// a list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/proof/house/words.h"
#include "tests/support/source_dir.h"
#include "tests/support/tree.h"

namespace coordkit::house {
namespace {

namespace fs = std::filesystem;
using Words = std::set<std::string>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Source {
  std::string code;
  std::string comments;
};

Source split(std::string_view text) {
  Source source;
  for (size_t at = 0; at < text.size();) {
    const size_t end = skip(text, at);
    if (end == at) {
      source.code += text[at++];
      continue;
    }
    if (text[at] == '/') source.comments += std::string(text.substr(at, end - at)) + "\n";
    source.code += ' ';
    at = end;
  }
  return source;
}

// The words of each file, and where each type and namespace of ours is declared.
class Names {
 public:
  void add(const std::string& file, const Source& source) {
    static const std::regex declaration(
        R"(\b(?:class|struct|enum class|enum|namespace|union)\s+(?:COORDKIT_EXPORT\s+|\[\[nodiscard\]\]\s+)*((?:\w+::)*\w+))");
    static const std::regex word(R"([A-Za-z_]\w*)");
    const std::string& code = source.code;
    Words& words = words_[file];
    for (std::sregex_iterator at(code.begin(), code.end(), word), end; at != end; ++at) words.insert(at->str());
    for (std::sregex_iterator at(code.begin(), code.end(), declaration), end; at != end; ++at) {
      const std::string names = (*at)[1];
      for (std::sregex_iterator name(names.begin(), names.end(), word); name != end; ++name) homes_[name->str()].insert(file);
    }
  }

  // A namespace of somebody else's has no home here, although a forward declaration may give it one.
  bool declares(const std::string& owner, const std::string& member) const {
    static const Words others = {"std", "absl", "boost", "asio", "fmt", "protozero", "testing"};
    const auto homes = homes_.find(owner);
    if (others.contains(owner) || homes == homes_.end()) return true;
    for (const std::string& file : homes->second) {
      if (words_.at(file).contains(member)) return true;
    }
    return false;
  }

 private:
  std::map<std::string, Words> words_;
  std::map<std::string, Words> homes_;
};

std::vector<std::string> dead_names(const Names& names, const std::string& file, const std::string& comments) {
  static const std::regex member(R"(\b([A-Za-z_]\w*)::~?([A-Za-z_]\w*))");
  std::vector<std::string> dead;
  for (std::sregex_iterator at(comments.begin(), comments.end(), member), end; at != end; ++at) {
    if (!names.declares((*at)[1], (*at)[2])) dead.push_back(file + ": " + at->str());
  }
  return dead;
}

std::vector<std::string> dead_ids(const std::string& tables, const std::string& file, const std::string& text) {
  static const std::regex id(R"(\b(?:INV|FLT|REG)_[A-Z][0-9]+\b)");
  std::vector<std::string> dead;
  for (std::sregex_iterator at(text.begin(), text.end(), id), end; at != end; ++at) {
    const std::regex row("\\| (?:\\w+ )*" + at->str() + "\\b");
    if (!std::regex_search(tables, row)) dead.push_back(file + ": " + at->str());
  }
  return dead;
}

TEST(NamesTest, AMemberThatACommentNamesIsDeclared) {
  Names names;
  std::map<std::string, std::string> comments;
  for (const fs::path& file : files_below({"include", "src", "verify"}, {".h", ".cc"})) {
    const Source source = split(text_of_file(file));
    names.add(file, source);
    comments[file] = source.comments;
  }
  EXPECT_GE(comments.size(), 500u) << "hardly any file was found";
  for (const auto& [file, text] : comments) EXPECT_THAT(dead_names(names, file, text), IsEmpty());
}

TEST(NamesTest, AnIdThatACommentNamesHasARow) {
  std::string tables;
  for (const char* name : {"invariants.md", "faults.md", "regressions.md"}) {
    tables += text_of_file(fs::path(source_dir()) / "docs" / name) + "\n";
  }
  for (const fs::path& file : files_below({"include", "src", "verify"}, {".h", ".cc"})) {
    EXPECT_THAT(dead_ids(tables, file, split(text_of_file(file)).comments), IsEmpty());
  }
}

TEST(NamesTest, ADeadOneIsFound) {
  Names names;
  names.add("a.h", split("struct Effects { int halt_reason; };  // halted\nnamespace std { class string; }"));
  EXPECT_THAT(dead_names(names, "b.h", "// Effects::halted says it, std::bad_alloc too"), ElementsAre("b.h: Effects::halted"));
  EXPECT_THAT(dead_names(names, "b.h", "// Effects::halt_reason, Other::member"), IsEmpty());
  EXPECT_THAT(dead_ids("| FLT_A19 | founding |\n| FLT_N07 FLT_N15 | dials |", "b.h", "// FLT_A19, FLT_N15 and FLT_A7"),
              ElementsAre("b.h: FLT_A7"));
}

// ---- folders

std::vector<std::string> crowded(const std::vector<fs::path>& files, size_t most) {
  std::map<fs::path, size_t> sources;
  for (const fs::path& file : files) {
    if (file.extension() == ".cc") ++sources[file.parent_path()];
  }
  std::vector<std::string> found;
  for (const auto& [folder, count] : sources) {
    if (count > most) found.push_back(folder.string() + " has " + std::to_string(count) + " sources");
  }
  return found;
}

TEST(NamesTest, NoFolderIsAList) {
  for (const char* tree : {"src", "verify"}) EXPECT_THAT(crowded(files_below({tree}, {".h", ".cc"}), 25), IsEmpty());
}

// Somebody who hears a file's name finds one.
std::vector<std::string> namesakes(const std::vector<fs::path>& files) {
  std::map<std::string, fs::path> first;
  std::vector<std::string> found;
  for (const fs::path& file : files) {
    const auto [known, is_first] = first.try_emplace(file.filename().string(), file);
    if (!is_first) found.push_back(file.string() + " has the name of " + known->second.string());
  }
  return found;
}

TEST(NamesTest, NoTwoSourcesOfATreeHaveOneName) {
  for (const char* tree : {"include", "src", "verify", "tests"}) {
    std::vector<fs::path> files = files_below({tree}, {".h", ".cc"});
    std::erase_if(files, [](const fs::path& file) { return file.filename() == "main.cc" || file.filename() == "host.cc"; });
    EXPECT_THAT(namesakes(files), IsEmpty());
  }
}

TEST(NamesTest, ANamesakeIsFound) {
  EXPECT_THAT(namesakes({"a/b.cc", "a/b.h", "c/b.h"}), ElementsAre("c/b.h has the name of a/b.h"));
}

TEST(NamesTest, ACrowdedFolderIsFound) {
  EXPECT_THAT(crowded({"a/b.cc", "a/c.cc", "a/c.h", "d/e.cc"}, 1), ElementsAre(HasSubstr("a has 2")));
}

}  // namespace
}  // namespace coordkit::house
