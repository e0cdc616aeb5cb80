// The timeline page in a real browser: headless Chromium opens it as a file, and what it then reports in the attributes
// of its root element (verify/timeline/page/page.js, publish) is compared. Each page leaves a picture beside it, for humans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <string>

#include "coordkit/sim/sim_options.h"
#include "tests/support/command.h"

namespace coordkit::sim {
namespace {

namespace fs = std::filesystem;
using testing::Not;

std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    Ran found = run_command(std::string("command -v ") + name + " 2>/dev/null");
    if (found.status == 0) return found.text.substr(0, found.text.find('\n'));
  }
  return {};
}

using Facts = std::map<std::string, std::string>;

// Percent-encoded: in a path a '#', '?' or '%' is a character like any other.
std::string file_url(const std::string& path) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string url = "file://";
  for (const unsigned char c : path) {
    const bool plain = std::isalnum(c) || c == '/' || c == '-' || c == '.' || c == '_';
    url += plain ? std::string(1, static_cast<char>(c)) : std::string{'%', kDigits[c >> 4], kDigits[c & 15]};
  }
  return url;
}

class PageTest : public testing::Test {
 protected:
  void SetUp() override {
    browser_ = browser();
    if (browser_.empty()) GTEST_SKIP() << "there is no chromium here; ./dev test full installs it";
    folder_ = fs::path(testing::TempDir()) / "pages" / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  Timeline record(uint64_t seed, const std::string& profile, const char* defect = nullptr, double hostile_seconds = 20) {
    Timeline timeline;
    SimOptions options;
    options.seed = seed;
    options.profile = profile;
    options.hostile_time = Duration(static_cast<int64_t>(hostile_seconds * 1e9));
    options.timeline = &timeline;
    if (defect) {
      EXPECT_TRUE(plant(options.defects, defect));
    }
    report_ = simulate(options);
    return timeline;
  }
  std::string save(const Timeline& timeline) {
    const fs::path file = folder_ / "page.html";
    std::ofstream(file, std::ios::binary) << timeline_page(timeline);
    return file;
  }

  // The reports of the page when opened at this address; and a picture.
  Facts open(const std::string& file, const std::string& address = {}) {
    const std::string common = browser_ +
                               " --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,720 "
                               "--virtual-time-budget=4000 --enable-logging=stderr --user-data-dir=" +
                               shell_word(folder_ / "profile") + " ";
    const std::string url = " " + shell_word(file_url(file) + address);
    const std::string log = folder_ / "browser.log";
    const std::string picture = folder_ / ("page" + std::to_string(++pictures_) + ".png");
    EXPECT_EQ(run_command(common + "--screenshot=" + shell_word(picture) + url + " 2>/dev/null").status, 0);
    EXPECT_GT(fs::exists(picture) ? fs::file_size(picture) : 0, 10'000u) << picture;
    const Ran dom = run_command(common + "--dump-dom" + url + " 2>" + shell_word(log));
    EXPECT_EQ(dom.status, 0);
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);) EXPECT_THAT(line, Not(testing::HasSubstr("CONSOLE")));
    Facts facts;
    const std::string head = dom.text.substr(0, dom.text.find('>', dom.text.find("<html")));
    static const std::regex attribute("data-([a-z-]+)=\"([^\"]*)\"");
    for (std::sregex_iterator at(head.begin(), head.end(), attribute), end; at != end; ++at) facts[(*at)[1]] = (*at)[2];
    EXPECT_EQ(facts["errors"], "0") << facts["error"];
    return facts;
  }

  std::string browser_;
  fs::path folder_;
  Report report_;
  int pictures_ = 0;
};

TEST_F(PageTest, OpensAtTheViolatedCallWithItsCauses) {
  const Timeline timeline = record(1, "swarm", "submits_twice");
  ASSERT_EQ(report_.violation, "INV_L09");
  Facts facts = open(save(timeline));
  EXPECT_EQ(facts["lanes"], std::to_string(report_.nodes));
  EXPECT_EQ(facts["drawn-lanes"], facts["lanes"]);
  EXPECT_EQ(facts["violated"], "INV_L09");
  EXPECT_EQ(facts["moment-in-view"], "true");
  EXPECT_EQ(facts["operation-in-view"], "true");
  EXPECT_EQ(facts["selected"], "operation:" + std::to_string(*timeline.violation->operation));
  EXPECT_GE(std::stoi(facts["steps"]), 5);
}

TEST_F(PageTest, OpensAtTheGrantOrTheEntryThatIsNamed) {
  Facts grant = open(save(record(1, "swarm", "gate_open")));
  EXPECT_EQ(grant["violated"], "INV_L14");
  EXPECT_EQ(grant["moment-in-view"], "true");
  EXPECT_THAT(grant["selected"], testing::StartsWith("grant:"));
  EXPECT_GE(std::stoi(grant["lit-messages"]), 1);
  Facts entry = open(save(record(3, "swarm", "forgets_tail")), "#theme=dark");
  ASSERT_NE(entry["violated"], "");
  EXPECT_EQ(entry["theme"], "dark");
  EXPECT_EQ(entry["moment-in-view"], "true");
}

TEST_F(PageTest, ACalmRunOpensAtTheEndOfItsFaults) {
  const Timeline timeline = record(17, "holders");
  ASSERT_EQ(report_.violation, "");
  Facts facts = open(save(timeline));
  EXPECT_EQ(facts["violated"], "");
  EXPECT_EQ(facts["selected"], "");
  EXPECT_LT(std::stoll(facts["from"]), timeline.calm_from->count());
  EXPECT_GT(std::stoll(facts["until"]), timeline.calm_from->count());
}

// A click on a call, a message and a hold.
TEST_F(PageTest, AClickFollowsCauses) {
  const Timeline timeline = record(4, "calm");
  const std::string file = save(timeline);
  uint64_t chosen = 0;
  for (const Timeline::Operation& call : timeline.operations) {
    if (call.kind == "put" && call.outcome == "ok" && call.lane != 0) chosen = call.id;
  }
  const std::string key = "operation:" + std::to_string(chosen);
  Facts facts = open(file, "#press=" + key);
  EXPECT_EQ(facts["selected"], key);
  EXPECT_GE(std::stoi(facts["steps"]), 4);
  EXPECT_GE(std::stoi(facts["lit-messages"]), 1);
  EXPECT_THAT(open(file, "#press=grant:0")["selected"], testing::StartsWith("grant:"));
  size_t message = 0;
  while (timeline.kinds[timeline.messages.at(message).kind].name != "AppendRequest") ++message;
  EXPECT_THAT(open(file, "#press=message:" + std::to_string(message))["selected"], Not(testing::StrEq("")));
}

// Every key and button once, a pointer over a hold, and some time of play.
TEST_F(PageTest, KeysPointerAndPlayDoNotStumble) {
  std::string page = timeline_page(record(1, "swarm", "gate_open"));
  const std::string body = "</body>";
  page.replace(page.rfind(body), body.size(), R"(<script>{
    const hold = T.grants.find(one => one.trustedUntil !== null && trustBox(one).x > GUTTER + 20);
    const place = canvas.getBoundingClientRect(), box = trustBox(hold);
    canvas.dispatchEvent(new PointerEvent('pointermove',
        { bubbles: true, clientX: place.left + box.x + box.width / 2, clientY: place.top + box.y + 5 }));
    document.documentElement.dataset.tip = document.getElementById('tip').textContent.length;
    for (const key of ['0', 'v', '+', '-', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'n', 'p', 'm', 'm', '?', 't', 'Escape']) {
      dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      paint();
    }
    canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -300, clientX: place.left + 500, cancelable: true }));
    for (const words of ['lock-0', 'token 5', 'index 9', 'pause', 'nothing like it']) find(words);
    document.querySelectorAll('button').forEach(button => button.click());
    const start = play.at = Math.max(0, view.from);
    play.on = false;
    togglePlay();
    setTimeout(() => { document.documentElement.dataset.played = String(play.at > start); publish(); }, 500);
    }</script></body>)");
  const std::string file = folder_ / "page.html";
  std::ofstream(file, std::ios::binary) << page;
  Facts facts = open(file);
  EXPECT_GT(std::stoi(facts["tip"]), 40);
  EXPECT_EQ(facts["played"], "true");
}

TEST_F(PageTest, HostileNamesAreOnlyText) {
  Timeline timeline = record(1, "swarm", "submits_twice");
  const std::string hostile = "</script><img src=x onerror=document.documentElement.dataset.errors=9>\xff\xe2\x80\xae{{}}";
  for (Timeline::Operation& call : timeline.operations) call.subject = hostile;
  for (Timeline::Grant& grant : timeline.grants) grant.lock = hostile;
  for (Timeline::Note& note : timeline.notes) note.text = hostile;
  for (std::string& lane : timeline.lanes) lane = hostile;
  timeline.violation->what = timeline.title = timeline.command = hostile;
  Facts facts = open(save(timeline), "#tab=events");
  EXPECT_EQ(facts["violated"], "INV_L09");
  EXPECT_EQ(facts["lanes"], std::to_string(timeline.lanes.size()));
}

TEST_F(PageTest, AnEmptyTimelineIsAPageToo) {
  Timeline timeline;
  timeline.lanes = {"n1"};
  EXPECT_EQ(open(save(timeline))["lanes"], "1");
}

TEST_F(PageTest, AHundredThousandEventsAreDrawn) {
  Timeline timeline = record(9, "swarm", nullptr, 600);
  EXPECT_GT(timeline.messages.size() + timeline.progress.size() + timeline.operations.size(), 100'000u);
  Facts facts = open(save(timeline), "#at=0-" + std::to_string(timeline.end.count()));
  EXPECT_EQ(facts["lanes"], std::to_string(report_.nodes));
  RecordProperty("frame_ms", facts["frame-ms"]);
  std::cout << timeline.messages.size() << " messages, a frame of the whole run takes " << facts["frame-ms"] << " ms\n";
}

TEST_F(PageTest, TheProgramsWriteTheirPages) {
  const Ran sim = run_command(shell_word(COORDKIT_SIM_PROGRAM) + " --replay 1 --defect submits_twice --trace " +
                              shell_word(folder_ / "trace.html") + " 2>&1");
  EXPECT_THAT(sim.text, testing::HasSubstr("replay: ./dev sim --replay 1 --defect submits_twice"));
  EXPECT_EQ(open(folder_ / "trace.html")["violated"], "INV_L09");
  const Ran demo = run_command(shell_word(COORDKIT_DEMO_PROGRAM) + " --out " + shell_word(folder_));
  ASSERT_EQ(demo.status, 0) << demo.text;
  EXPECT_THAT(demo.text, testing::HasSubstr((folder_ / "demo.html").string()));
  Facts facts = open(folder_ / "demo.html");
  EXPECT_EQ(facts["lanes"], "3");
  EXPECT_EQ(facts["violated"], "");
}

// The printed line reproduces the run: the flags mean what replay_arguments() writes.
TEST_F(PageTest, AShrunkRunIsReplayedByItsLine) {
  const std::string program = shell_word(COORDKIT_SIM_PROGRAM);
  const std::string trace = " --trace " + shell_word(folder_ / "trace.html") + " 2>&1";
  const Ran shrunk = run_command(program + " --shrink 1 --defect gate_open" + trace);
  std::smatch line;
  ASSERT_TRUE(std::regex_search(shrunk.text, line, std::regex("replay: ./dev sim (.*)\n"))) << shrunk.text;
  EXPECT_THAT(line[1].str(), testing::HasSubstr("--hostile"));
  const Ran again = run_command(program + " " + line[1].str() + trace);
  EXPECT_THAT(again.text, testing::HasSubstr("INV_L14 violated by seed 1"));
  EXPECT_THAT(again.text, testing::HasSubstr(line[0].str()));
  EXPECT_EQ(open(folder_ / "trace.html")["violated"], "INV_L14");
}

}  // namespace
}  // namespace coordkit::sim
