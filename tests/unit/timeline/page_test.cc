// A recorded run as data and on the page, whatever its strings contain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "coordkit/sim/timeline.h"

namespace coordkit::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Timeline with_names(const std::string& name) {
  Timeline timeline;
  timeline.title = timeline.command = name;
  timeline.lanes = {name};
  timeline.facts = {{name, name}};
  timeline.violation = Timeline::Violation{.id = name, .what = name, .lock = name, .token = Token(~uint64_t{0})};
  timeline.frozen = {{0, Duration(1), std::nullopt, name}};
  timeline.kinds = {{name, Timeline::Topic::Votes}};
  Timeline::Operation call;
  call.kind = call.subject = call.label = call.outcome = name;
  timeline.operations = {call};
  timeline.entries = {{Index(1), Term(1), 0, Duration(1), name, {0}}};
  Timeline::Grant grant;
  grant.lock = grant.end = name;
  timeline.grants = {grant};
  timeline.faults = {{1, name, Duration(1), std::nullopt, {0}, {{0, 0}}}};
  timeline.notes = {{std::nullopt, Duration(1), Timeline::Weight::Plain, name}};
  timeline.dropped = {{name, 1}};
  return timeline;
}

TEST(TimelineJsonTest, StringsComeBackWhateverTheyHold) {
  const std::string name = "</script><!--\"\\\n\t\x01\x7f&amp; \xc3\xa9\xe2\x82\xac\xf0\x9f\x94\x92";
  const std::string json = timeline_json(with_names(name));
  EXPECT_THAT(json, Not(HasSubstr("<")));
  EXPECT_THAT(json, Not(HasSubstr("&")));
  const auto parsed = nlohmann::json::parse(json);
  EXPECT_EQ(parsed["title"], name);
  EXPECT_EQ(parsed["lanes"][0], name);
  EXPECT_EQ(parsed["operations"][0][3], name);
  EXPECT_EQ(parsed["grants"][0][0], name);
  EXPECT_EQ(parsed["violation"][7], "18446744073709551615");  // tokens are exact
  EXPECT_TRUE(parsed["frozen"][0][2].is_null());
}

TEST(TimelineJsonTest, BytesThatAreNoTextAreReplaced) {
  const std::string replaced = "\xef\xbf\xbd";
  const std::map<std::string, std::string> cases = {{"a\xff"
                                                     "b",
                                                     "a" + replaced + "b"},
                                                    {"\xc0\xaf", replaced + replaced},
                                                    {"\xed\xa0\x80", replaced + replaced + replaced},
                                                    {"\xf4\x90\x80\x80", replaced + replaced + replaced + replaced},
                                                    {"\xe2\x82", replaced + replaced},
                                                    {"\xe2\x82\xac", "\xe2\x82\xac"},
                                                    {std::string("\0x", 2), std::string("\0x", 2)}};
  for (const auto& [bytes, expected] : cases) {
    EXPECT_EQ(nlohmann::json::parse(timeline_json(with_names(bytes)))["title"], expected);
  }
}

TEST(TimelinePageTest, NamesCannotEndTheScript) {
  const std::string harmless = timeline_page(with_names("name"));
  const std::string hostile = timeline_page(with_names("</script><script>alert(1)</script><img src=x onerror=alert(1)>"));
  EXPECT_EQ(count(hostile, "</script"), count(harmless, "</script"));
  EXPECT_EQ(count(hostile, "<script"), count(harmless, "<script"));
  EXPECT_EQ(count(hostile, "<img"), 0u);
}

TEST(TimelinePageTest, ThePageNeedsNothingElse) {
  const std::string page = timeline_page(with_names("name"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* outside :
       {"http:", "https:", "src=\"", "@import", "url(", "fetch(", "XMLHttpRequest", "innerHTML", "eval("}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

}  // namespace
}  // namespace coordkit::sim
