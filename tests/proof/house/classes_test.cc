// A class is small enough to be held in mind: at most 40 methods and 15 fields, its constructors included, what it inherits and
// what is nested in it not. A friend of the product is a part of the product.
#include "tests/proof/house/classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/tree.h"

namespace coordkit::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr size_t kMethodsMax = 40;
constexpr size_t kFieldsMax = 15;

// By file and name, with the reason.
using Exceptions = std::map<std::string, std::string>;
Exceptions exceptions() {
  const std::string door = "a public door: one pointer, and a call for each thing that users do";
  return {
      {"include/coordkit/engine/client.h Client", door},
      {"include/coordkit/service.h Service", door},
  };
}

// Named like a member of a class: what a plain struct holds is its meaning.
size_t private_fields(const Class& one) {
  return static_cast<size_t>(std::ranges::count_if(one.fields, [](const Field& field) { return field.name.ends_with('_'); }));
}

// The faults of these files, by path; and with the exceptions.
std::vector<std::string> judge(const std::map<std::string, std::string>& files, Exceptions exceptions) {
  std::vector<std::string> wrong;
  for (const auto& [path, text] : files) {
    for (const Class& one : classes_in(text)) {
      const size_t fields = private_fields(one);
      if (one.methods <= kMethodsMax && fields <= kFieldsMax) continue;
      if (exceptions.erase(path + " " + one.name) != 0) continue;
      wrong.push_back(path + ": " + one.name + " has " + std::to_string(one.methods) + " methods and " +
                      std::to_string(fields) + " fields: which objects live in it?");
    }
  }
  for (const auto& [name, reason] : exceptions) wrong.push_back(name + " needs no exception");
  return wrong;
}

// The classes that these files name as friends, and do not define: "path name".
std::vector<std::string> strange_friends(const std::map<std::string, std::string>& files) {
  const auto last_name = [](const std::string& name) { return name.substr(name.rfind(':') + 1); };
  std::set<std::string> own;
  for (const auto& [path, text] : files) {
    for (const Class& one : classes_in(text)) own.insert(last_name(one.name));
  }
  std::vector<std::string> strange;
  for (const auto& [path, text] : files) {
    const Tokens tokens = tokens_of(text);
    for (size_t at = 0; at + 2 < tokens.size(); ++at) {
      if (tokens[at] != "friend") continue;
      const bool says_class = tokens[at + 1] == "class" || tokens[at + 1] == "struct";
      const std::string name = last_name(tokens[at + (says_class ? 2 : 1)]);
      if ((says_class || tokens[at + 2] == ";") && !own.contains(name)) strange.push_back(path + " " + name);
    }
  }
  return strange;
}

TEST(ClassesTest, NoTestAndNoProofIsAFriendOfTheProduct) {
  std::map<std::string, std::string> files;
  for (const fs::path& path : files_below({"src", "include"}, {".h", ".cc"})) files[path_in_tree(path)] = text_of_file(path);
  EXPECT_GE(files.size(), 400u) << "the test found hardly any file";
  EXPECT_THAT(strange_friends(files), IsEmpty()) << "verify/twin/opened.h shows private members to a proof";
}

TEST(ClassesTest, AFriendThatTheProductDoesNotDefineIsNamed) {
  const std::string text = R"cc(
    class Twin;  // friend class InComment;
    class Impl::Part final {
      friend class Own;
      friend struct tests::Probe;
      friend Twin;
      friend class Pool<T>;
      friend bool operator==(const Part&, const Part&) = default;
      friend H hash(H state, const Part& part);
    };
  )cc";
  EXPECT_THAT(strange_friends({{"src/a.h", text}, {"src/b.h", "template <class T> class Pool {}; struct own::Own {};"}}),
              ElementsAre("src/a.h Probe", "src/a.h Twin"));
}

TEST(ClassesTest, NoneIsTooLargeToBeHeldInMind) {
  std::map<std::string, std::string> files;
  for (const fs::path& path : files_below({"src", "include", "verify"}, {".h", ".cc"})) {
    files[path_in_tree(path)] = text_of_file(path);
  }
  EXPECT_GE(files.size(), 500u) << "the test found hardly any file";
  for (const std::string& text : judge(files, exceptions())) ADD_FAILURE() << text;
}

TEST(ClassesTest, MethodsAndFieldsAreCounted) {
  const std::vector<Class> found = classes_in(R"cc(
    template <typename T, class U>
    class Sample final : public Base<T>, Other {
     public:
      explicit Sample(int a) : a_{a}, b_(a) {
        if (a < 1) {
          call();
        }
      }  // one; not two: g();
      ~Sample() override;
      Sample& operator=(const Sample&) = delete;
      const std::map<int, std::function<void(int)>>& all() const { return all_; }
      template <typename V>
      static V make(V (*maker)());
      auto later() -> std::vector<int>;
      using Callback = std::function<void()>;
      friend bool operator==(const Sample&, const Sample&) = default;
      static_assert(sizeof(int) == 4);
      enum class Kind : uint8_t { A, B };

     private:
      struct Part {
        int in_part_ = 0;
        void method();
      };
      const char* const text_ = "void f(); int x_;";
      std::map<int, std::function<void(int)>> all_;
      Duration a_{make(1'000)}, b_;
      Now now_ = Now(2);
      std::array<int, 3> list_ = {1, 2};
      char bytes_[4] = {'{', '"'};
    };
    class Declared;
  )cc");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "Sample");
  EXPECT_EQ(found[0].methods, 6u);
  EXPECT_EQ(private_fields(found[0]), 7u);
  EXPECT_EQ(found[1].name, "Part");
  EXPECT_EQ(found[1].methods, 1u);
  EXPECT_EQ(private_fields(found[1]), 1u);
}

std::string class_with(size_t methods, size_t fields) {
  std::string text = "class Outer::Inner {\n";
  for (size_t i = 0; i < methods; ++i) text += "  void method_" + std::to_string(i) + "();\n";
  for (size_t i = 0; i < fields; ++i) text += "  int field_" + std::to_string(i) + "_ = 0;\n";
  return text + "};\n";
}

TEST(ClassesTest, OneMethodOrFieldTooManyIsNamed) {
  EXPECT_THAT(judge({{"src/a.h", class_with(40, 15)}}, {}), IsEmpty());
  EXPECT_THAT(judge({{"src/a.h", class_with(41, 0)}}, {}), ElementsAre(HasSubstr("Outer::Inner has 41 methods and 0 fields")));
  EXPECT_THAT(judge({{"src/a.h", class_with(1, 16)}}, {}), ElementsAre(HasSubstr("src/a.h: Outer::Inner has 1 methods")));
}

TEST(ClassesTest, AnExceptionIsForOneClassAndMustBeNeeded) {
  const Exceptions inner = {{"src/a.h Outer::Inner", "why"}};
  EXPECT_THAT(judge({{"src/a.h", class_with(41, 0)}}, inner), IsEmpty());
  EXPECT_THAT(judge({{"src/b.h", class_with(41, 0)}, {"src/a.h", class_with(40, 15)}}, inner),
              ElementsAre(HasSubstr("src/b.h"), "src/a.h Outer::Inner needs no exception"));
}

}  // namespace
}  // namespace coordkit::house
