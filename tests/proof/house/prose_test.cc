// A reader understands comments of headers and sources, and documents, at the first reading.
#include "tests/proof/house/prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/source_dir.h"
#include "tests/support/tree.h"

namespace coordkit::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const fs::path kRoot = source_dir();

std::vector<Finding> findings_in(const fs::path& path) {
  const std::string text = text_of_file(path);
  return path.extension() == ".md" ? prose_of_document(text) : prose_of_comments(text);
}

// Every file that is held to it, by its path below the top.
std::map<std::string, std::vector<Finding>> read_all() {
  std::map<std::string, std::vector<Finding>> found;
  const auto add = [&](const fs::path& path) {
    const fs::path kind = path.extension();
    if (kind == ".md" || kind == ".h" || kind == ".cc") found[path_in_tree(path)] = findings_in(path);
  };
  for (const fs::path& path : files_below({"include", "docs", "src", "verify", "tools"})) add(path);
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    if (entry.path().extension() == ".md") add(entry.path());
  }
  return found;
}

TEST(ProseTest, EverySentenceIsUnderstoodAtTheFirstReading) {
  const auto files = read_all();
  ASSERT_GE(files.size(), 500u);
  for (const auto& [path, findings] : files) {
    for (const Finding& each : findings)
      ADD_FAILURE() << path << ":" << each.line << ": " << each.rule << ": " << each.sentence;
  }
}

std::vector<std::string> rules(const std::vector<Finding>& findings) {
  std::vector<std::string> found;
  for (const Finding& each : findings) found.push_back(each.rule);
  return found;
}

std::vector<std::string> rules_of(std::string_view markdown) { return rules(prose_of_document(markdown)); }

std::string sentence_of(size_t count) {
  std::string sentence = "The";
  while (--count != 0) sentence += " lock";
  return sentence + ".";
}

TEST(ProseTest, ABareWhoIsFound) {
  for (const char* bad :
       {"Who waits is served in order.", "It never overtakes who waits.", "It is not encrypted: who reads along reads all.",
        "It is kept for who asks later.", "A hello fails; who sent it is closed.", "So who is late waits.",
        "The owner (who is gone) waits.", "Whoever is late waits."}) {
    EXPECT_THAT(rules_of(bad), SizeIs(1)) << bad;
  }
  for (const char* good : {"Those who wait are served in order.", "Who holds this lock?", "It says who waits.",
                           "It says what is held, why, and who waits.", "It breaks for all who wait."}) {
    EXPECT_THAT(rules_of(good), IsEmpty()) << good;
  }
}

TEST(ProseTest, ABareWhatIsFound) {
  for (const char* bad : {"What is beyond the longest Duration is that one.", "It waits, because what is held stays.",
                          "Reads are local; what is written is not.", "- What a peer says is checked."}) {
    EXPECT_THAT(rules_of(bad), ElementsAre("bare what")) << bad;
  }
  for (const char* good : {"# What ends a session", "What is a lease?", "| What it does | unit |", "It says what it does.",
                           "**What ends a session** is its TTL"}) {
    EXPECT_THAT(rules_of(good), IsEmpty()) << good;
  }
}

TEST(ProseTest, AnEllipticOfIsFound) {
  for (const char* bad : {"Of another cluster.", "It failed; of another kind.", "So of another cluster, by name or id."}) {
    EXPECT_THAT(rules_of(bad), ElementsAre("elliptic Of")) << bad;
  }
  for (const char* good :
       {"Of these, three vote.", "Of 5 members, three vote.", "The id of a cluster.", "| of a lock | 1 |", "Of course."}) {
    EXPECT_THAT(rules_of(good), IsEmpty()) << good;
  }
}

TEST(ProseTest, PhrasesAreFound) {
  const std::map<std::string, std::string> bad = {
      {"It goes on when\nthere is room.", "goes on"},
      {"Going on, it reads.", "goes on"},
      {"It begins anew.", "anew"},
      {"As of version 2 it is so.", "as of"},
      {"The data in hand.", "in hand"},
      {"A lock that stands.", "stands"},
      {"The same likewise.", "likewise"},
      {"It is noexcept in spirit.", "in spirit"},
  };
  for (const auto& [text, rule] : bad) EXPECT_THAT(rules_of(text), ElementsAre(rule)) << text;
  for (const char* good : {"It goes on the wire.", "TTL stands for time to live.", "A standby is outstanding.", "As, of old.",
                           "It came in, handed over.", "It resumes."}) {
    EXPECT_THAT(rules_of(good), IsEmpty()) << good;
  }
}

TEST(ProseTest, ASentenceOfMoreThan35WordsIsFound) {
  EXPECT_THAT(rules_of(sentence_of(35)), IsEmpty());
  EXPECT_THAT(rules_of(sentence_of(36)), ElementsAre("a sentence of 36 words"));
  EXPECT_THAT(rules_of(sentence_of(20) + " " + sentence_of(20)), IsEmpty());
  EXPECT_THAT(rules_of(sentence_of(20) + "\n\n- " + sentence_of(20) + "\n  " + sentence_of(20) + "\n- " + sentence_of(20)),
              IsEmpty());
  EXPECT_THAT(rules_of("A lock, e.g. " + sentence_of(33)), ElementsAre("a sentence of 36 words"));
}

TEST(ProseTest, ACellIsReadAlone) {
  EXPECT_THAT(rules_of("| " + sentence_of(30) + " | " + sentence_of(30) + " |\n|---|---|\n| a | " + sentence_of(36) + " |"),
              ElementsAre("a sentence of 36 words"));
  EXPECT_THAT(rules_of("| a `x | y` | b \\| c |"), IsEmpty());
}

TEST(ProseTest, CodeAndTargetsOfLinksAreNotRead) {
  EXPECT_THAT(rules_of("```sh\n" + sentence_of(40) + "\nWho waits. It goes on.\n```\n"), IsEmpty());
  EXPECT_THAT(rules_of("It calls `who goes on anew`.\n<!-- It goes\non. -->\n[page](who-goes on.md)"), IsEmpty());
  EXPECT_THAT(rules_of("It says [goes on](a.md)."), ElementsAre("goes on"));
  EXPECT_THAT(rules_of(sentence_of(30) + " Call `a\nb`. " + sentence_of(30)), IsEmpty());
  EXPECT_THAT(rules_of("**It goes** on."), ElementsAre("goes on"));
}

TEST(ProseTest, CommentsAreReadAndCodeBesideThemIsNot) {
  const auto findings = prose_of_comments(
      "// A lock that goes\n// on.\nint who = anew(\"// Of it.\");  // Of another\n                              // one.\n"
      "// Who waits.\n\n//     anew();\n//     call();\nauto s = R\"(// Who waits.)\";\n/// It begins anew.\n");
  EXPECT_THAT(rules(findings), ElementsAre("goes on", "elliptic Of", "bare who", "anew", "anew"));
  ASSERT_THAT(findings, SizeIs(5));
  EXPECT_EQ(findings[1].sentence, "Of another one.");
  EXPECT_EQ(findings[1].line, 3u);
  EXPECT_EQ(findings[2].line, 5u);
}

TEST(ProseTest, CommentsThatDoNotBelongTogetherAreReadApart) {
  EXPECT_THAT(rules(prose_of_comments("int a;  // The first\n// of\nint b;  // the second\n")), IsEmpty());
  const std::string half = sentence_of(30).substr(0, sentence_of(30).size() - 1);
  EXPECT_THAT(rules(prose_of_comments("// " + half + "\n//\n// " + half + "\nint a;\n// " + half + "\n")), IsEmpty());
  EXPECT_THAT(rules(prose_of_comments("// " + half + "\n// " + half + "\n")), ElementsAre("a sentence of 60 words"));
  EXPECT_THAT(rules(prose_of_comments("//   " + half + "\n//   " + half + "\n")), IsEmpty());
  EXPECT_THAT(rules(prose_of_comments("// a.cc  " + half + "\n// b.cc  " + half + "\n")), IsEmpty());
  EXPECT_THAT(rules(prose_of_comments("// - " + half + "\n//   " + half + "\n")), ElementsAre("a sentence of 60 words"));
}

}  // namespace
}  // namespace coordkit::house
