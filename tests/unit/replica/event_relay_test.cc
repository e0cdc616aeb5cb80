// Events on their way to the callback thread: in order, bounded, and dropped ones are counted.
#include "service/loop/event_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>

namespace coordkit {
namespace {

constexpr MachineId kOne{16}, kTwo{17};

MachineEvent event(MachineId machine, uint64_t index, size_t bytes = 0) {
  return {machine, Index(index), std::string(bytes, 'e')};
}

TEST(EventRelayTest, EventsGoToTheCallbackOfTheirMachineInOrder) {
  std::vector<uint64_t> one, two;
  CallbackThread callbacks{"coordkit/test"};
  EventRelay relay({{.id = kOne, .on_event = [&](const OwnEvent& e) { one.push_back(e.index.value()); }},
                    {.id = kTwo, .on_event = [&](const OwnEvent& e) { two.push_back(e.index.value()); }}},
                   callbacks);
  for (const uint64_t index : {1, 2, 3}) {
    relay.relay(event(kOne, index));
    relay.relay(event(kTwo, 10 + index));
    relay.relay(event(MachineId(18), index));
    relay.relay(event(kCoordination, index));
  }
  callbacks.stop();
  EXPECT_THAT(one, testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(two, testing::ElementsAre(11, 12, 13));
}

TEST(EventRelayTest, BehindASlowCallbackEventsAreDroppedAndCounted) {
  std::promise<void> entered, go_on;
  std::vector<std::pair<uint64_t, uint64_t>> seen;  // index, missed
  CallbackThread callbacks{"coordkit/test"};
  EventRelay relay({{.id = kOne,
                     .on_event =
                         [&](const OwnEvent& e) {
                           seen.emplace_back(e.index.value(), e.missed);
                           if (e.index == Index(1)) {
                             entered.set_value();
                             go_on.get_future().wait();
                           }
                         }}},
                   callbacks, 2000);
  relay.relay(event(kOne, 1, 1000));
  entered.get_future().wait();
  relay.relay(event(kOne, 2, 1000));
  for (const uint64_t index : {3, 4, 5}) relay.relay(event(kOne, index, 1000));
  std::promise<void> passed;
  callbacks.post([&] { passed.set_value(); });
  go_on.set_value();
  passed.get_future().wait();
  relay.relay(event(kOne, 6, 1000));
  relay.relay(event(kOne, 7, 1));
  callbacks.stop();
  using P = std::pair<uint64_t, uint64_t>;
  EXPECT_THAT(seen, testing::ElementsAre(P{1, 0}, P{2, 0}, P{6, 3}, P{7, 0}));
}

}  // namespace
}  // namespace coordkit
