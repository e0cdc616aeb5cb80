// How objects know each other. A class is given at most five others, and nobody stores a function that would lead back to the
// object that made it: what must come back is returned as a value, and the loop above carries it on (ARCHITECTURE.md, Rooms).
//
// Given is what a class refers to without owning it: each reference among its fields, and each pointer that has no value in
// its declaration, since a constructor must then give it one. Pointers to text are none. A field of a plain struct that holds
// such references counts as all of them, so that a bag of references hides nothing. The rule is for src and include. In
// verify/sim a fault strikes the whole world on purpose, and its targets are named in one place (faults.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/proof/house/classes.h"
#include "tests/support/tree.h"

namespace coordkit::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Files = std::map<std::string, std::string>;  // text by path

constexpr size_t kGivenMax = 5;

bool given(const Field& field) {
  if (field.begins || has_outside(field.type, "char")) return false;
  return has_outside(field.type, "&") || has_outside(field.type, "*");
}

std::string last_part(const std::string& name) {
  const size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

// What the class is given, by name. `bags`: plain structs, with what each holds.
std::vector<std::string> given_to(const Class& one, const std::map<std::string, std::vector<std::string>>& bags) {
  std::vector<std::string> all;
  for (const Field& field : one.fields) {
    const std::vector<std::string>* bag = nullptr;
    for (const auto& [name, held] : bags) {
      const auto names = [&name = name](const std::string& token) { return last_part(token) == name; };
      if (name != last_part(one.name) && std::ranges::any_of(field.type, names)) bag = &held;
    }
    if (bag != nullptr) {
      all.insert(all.end(), bag->begin(), bag->end());
    } else if (given(field)) {
      all.push_back(field.name);
    }
  }
  return all;
}

std::vector<std::string> judge_given(const Files& files) {
  std::map<std::string, std::vector<Class>> classes;
  std::map<std::string, std::vector<std::string>> bags;
  for (const auto& [path, text] : files) {
    classes[path] = classes_in(text);
    for (const Class& one : classes[path]) {
      const std::vector<std::string> held = given_to(one, {});
      if (one.methods == 0 && !held.empty()) bags[last_part(one.name)] = held;
    }
  }
  std::vector<std::string> wrong;
  for (const auto& [path, all] : classes) {
    for (const Class& one : all) {
      const std::vector<std::string> held = given_to(one, bags);
      if (held.size() <= kGivenMax) continue;
      std::string names;
      for (const std::string& name : held) names += " " + name;
      wrong.push_back(path + ": " + one.name + " is given " + std::to_string(held.size()) + " objects:" + names);
    }
  }
  return wrong;
}

Files files_of(std::initializer_list<std::string_view> folders) {
  Files files;
  for (const fs::path& path : files_below(folders, {".h", ".cc"})) files[path_in_tree(path)] = text_of_file(path);
  return files;
}

TEST(WiringTest, NoClassIsGivenMoreThanFiveObjects) {
  const Files files = files_of({"src", "include"});
  EXPECT_GE(files.size(), 300u) << "the test found hardly any file";
  for (const std::string& text : judge_given(files)) ADD_FAILURE() << text;
}

std::string class_given(size_t references, const std::string& more = "") {
  std::string text = "class Sample {\n public:\n  Sample();\n  Other& other();\n";
  for (size_t i = 0; i < references; ++i) text += "  const Other& other_" + std::to_string(i) + "_;\n";
  return text + more + "};\n";
}

TEST(WiringTest, TheSixthReferenceIsOneTooMany) {
  EXPECT_THAT(judge_given({{"src/a.h", class_given(5)}}), IsEmpty());
  EXPECT_THAT(judge_given({{"src/a.h", class_given(6)}}),
              ElementsAre(HasSubstr("src/a.h: Sample is given 6 objects: other_0_ ")));
  EXPECT_THAT(judge_given({{"src/a.h", class_given(5, "  Other* const more_;\n")}}), ElementsAre(HasSubstr("more_")));
}

TEST(WiringTest, WhatAClassFindsOrOwnsIsNotGiven) {
  const std::string own = R"cc(
    Other* found_ = nullptr;
    Other own_;
    const char* word_;
    std::unique_ptr<Other> part_;
    std::map<int, Other*> by_number_;
    std::function<void(Other&)> act_;
  )cc";
  EXPECT_THAT(judge_given({{"src/a.h", class_given(5, own)}}), IsEmpty());
}

TEST(WiringTest, ABagOfReferencesCountsAsWhatItHolds) {
  const std::string bag = "struct Bag { One& one; Two* two; int number = 0; };\n";
  EXPECT_THAT(judge_given({{"src/a.h", bag + class_given(3, "  const Bag bag_;\n")}}), IsEmpty());
  EXPECT_THAT(judge_given({{"src/b.h", bag}, {"src/a.h", class_given(4, "  const Outer::Bag& bag_;\n")}}),
              ElementsAre(HasSubstr("Sample is given 6 objects: other_0_ other_1_ other_2_ other_3_ one two")));
}

// ---- stored functions

// Each by file, class and member, with what it is for. None leads into a higher room.
using Stored = std::map<std::string, std::string>;
Stored stored_functions() {
  const std::string host = "the host's or the caller's own code";
  const std::string rest = "the rest of a call, as the room that made it left it here";
  const std::string pure = "how this call's kind judges or shows a state: a function of its arguments";
  const std::string below = "a question to the engine, which is below";
  const std::string argument = "an argument, for as long as one call lasts";
  return {
      {"src/client/calls/calls.h Fresh::start", rest},
      {"src/client/calls/deliveries.h Answered::callback", host},
      {"src/client/calls/deliveries.h Deliveries::notify_", host},
      {"src/client/calls/deliveries.h Item::run", host},
      {"src/client/calls/requests.h Request::on_completion", rest},
      {"src/client/calls/requests.h Requests::timers_", rest},
      {"src/client/calls/write_calls.h Pending::on_executed", rest},
      {"src/client/objects/executed.h OutcomeOfView::judge", pure},
      {"src/client/sessions/belongings.cc Listing::done", rest},
      {"src/client/watches/observe_calls.cc Responder::observer_", host},
      {"src/client/watches/observers.h ObserverTarget::change", pure},
      {"src/client/watches/observers.h ObserverTarget::snapshot", pure},
      {"src/client/watches/observers.h Observers::interest_", below},
      {"src/client/watches/watches.h Listener::observer", host},
      {"src/client/watches/watches.h Watches::read_", below},
      {"src/engine/disks/rollback_check.h Holds::term_at", argument},
      {"src/engine/loop/event_log.h EventLog::on_event_", host},
      {"src/machine/queued_answers.h QueuedAnswers::answer_", argument},
  };
}

// src/client of a path below it; all of include is one floor, which every other one knows.
std::string floor_of(const std::string& path) {
  return path.starts_with("include/") ? "include" : path.substr(0, path.find('/', path.find('/') + 1));
}

// Names of types that are functions: those of the libraries, and those that the files of a floor declare for them.
std::set<std::string> function_types(const Files& files, const std::string& floor, std::set<std::string> types) {
  for (const auto& [path, text] : files) {
    if (floor_of(path) != floor) continue;
    const Tokens tokens = tokens_of(text);
    for (size_t i = 0; i + 3 < tokens.size(); ++i) {
      if (tokens[i] != "using" || tokens[i + 2] != "=") continue;
      size_t type = i + 3;
      while (type + 1 < tokens.size() && (tokens[type] == "const" || tokens[type] == "typename")) ++type;
      if (types.contains(last_part(tokens[type]))) types.insert(tokens[i + 1]);
    }
  }
  return types;
}

bool stores(const Field& field, const std::set<std::string>& types) {
  if (has_outside(field.type, "static")) return false;
  return std::ranges::any_of(field.type, [&types](const std::string& token) { return types.contains(last_part(token)); });
}

// The classes of these floors are judged.
std::vector<std::string> judge_stored(const Files& files, const std::vector<std::string>& floors, Stored known) {
  const std::set<std::string> all =
      function_types(files, "include", {"function", "AnyInvocable", "InlineFunction", "FunctionRef"});
  std::vector<std::string> wrong;
  for (const std::string& floor : floors) {
    const std::set<std::string> types = function_types(files, floor, all);
    for (const auto& [path, text] : files) {
      if (floor_of(path) != floor) continue;
      for (const Class& one : classes_in(text)) {
        for (const Field& field : one.fields) {
          const std::string name = path + " " + one.name + "::" + field.name;
          if (!stores(field, types) || known.erase(name) != 0) continue;
          wrong.push_back(name + " is a stored function: return a value instead, for the loop");
        }
      }
    }
  }
  for (const auto& [name, reason] : known) wrong.push_back(name + " is not stored any more");
  return wrong;
}

TEST(WiringTest, NoStoredFunctionLeadsIntoAHigherRoom) {
  const Files files = files_of({"src", "include"});
  for (const std::string& text : judge_stored(files, {"src/client", "src/machine", "src/engine"}, stored_functions()))
    ADD_FAILURE() << text;
}

TEST(WiringTest, AStoredFunctionIsFoundUnderAnyName) {
  const std::string types =
      "template <typename T>\nusing Callback = absl::AnyInvocable<void(T)>;\nusing Done = Callback<int>;\n";
  const auto wrong = [&](const std::string& members) {
    return judge_stored({{"include/a.h", types}, {"src/client/b.h", "struct Hooks {\n" + members + "};\n"}}, {"src/client"},
                        {});
  };
  EXPECT_THAT(wrong("  void call(std::function<void()> now);\n  int count_ = 0;\n  using Own = std::function<void()>;\n"),
              IsEmpty());
  EXPECT_THAT(wrong("  absl::AnyInvocable<void(SessionId)> ended;\n"),
              ElementsAre(HasSubstr("src/client/b.h Hooks::ended is")));
  EXPECT_THAT(wrong("  std::map<int, std::function<void()>> all_;\n  const Callback<int> one_;\n  Done done_;\n"),
              ElementsAre(HasSubstr("all_"), HasSubstr("one_"), HasSubstr("done_")));
}

TEST(WiringTest, AKnownStoredFunctionMustBeThere) {
  const Files files = {{"src/client/b.h", "struct Call { std::function<void()> done; };\n"},
                       {"src/replica/c.h", "struct Other { std::function<void()> act; };\n"}};
  EXPECT_THAT(judge_stored(files, {"src/client"}, {{"src/client/b.h Call::done", "why"}}), IsEmpty());
  EXPECT_THAT(judge_stored(files, {"src/client"}, {{"src/client/b.h Call::done", "why"}, {"src/client/b.h Call::gone", "why"}}),
              ElementsAre("src/client/b.h Call::gone is not stored any more"));
}

}  // namespace
}  // namespace coordkit::house
