// Unit-testing code that uses locks: no cluster, no threads, no waiting. The code under test takes a coordkit::Session and
// knows nothing of the fake behind it.
#include <coordkit/testing/fake_session.h>

#include <chrono>
#include <functional>
#include <iostream>

using namespace std::chrono_literals;

namespace {

// The code under test: sends newsletters while it may.
int send_newsletters(coordkit::Session session, int count, const std::function<void()>& send_one) {
  absl::StatusOr<coordkit::Grant> grant = session.acquire("newsletter", {.timeout = 10s});
  int sent = 0;
  while (grant.ok() && sent < count && grant->valid()) {
    send_one();
    ++sent;
  }
  return sent;
}

int failures = 0;

void expect(bool fact, const char* sentence) {
  std::cout << (fact ? "ok      " : "FAILED  ") << sentence << "\n";
  failures += fact ? 0 : 1;
}

void all_are_sent_when_nothing_happens() {
  coordkit::testkit::FakeService service;
  expect(send_newsletters(service.open_session(), 100, [] {}) == 100, "all are sent when nothing happens");
}

void it_stops_when_the_network_is_gone() {
  coordkit::testkit::FakeService service;
  coordkit::Session session = service.open_session({.ttl = 2s});
  service.at(3s, [&] { service.cut_off(); });
  const int sent = send_newsletters(session, 100, [&] { service.advance(500ms); });
  expect(sent > 6 && sent < 11, "it stops within one TTL after the network is gone");
}

void a_change_of_leader_stops_nothing() {
  coordkit::testkit::FakeService service;
  coordkit::Session session = service.open_session({.ttl = 2s});
  service.at(3s, [&] { service.change_leader(); });
  const int sent = send_newsletters(session, 100, [&] { service.advance(500ms); });
  expect(sent == 100, "a change of leader in between stops nothing");
}

void it_gives_up_when_another_session_keeps_the_lock() {
  coordkit::testkit::FakeService service;
  service.take("newsletter");
  expect(send_newsletters(service.open_session(), 100, [] {}) == 0, "it sends none while somebody else has the lock");
  expect(service.now() >= 10s && service.now() < 11s, "and waits for ten seconds, none of which passes here");
}

}  // namespace

int main() {
  all_are_sent_when_nothing_happens();
  it_stops_when_the_network_is_gone();
  a_change_of_leader_stops_nothing();
  it_gives_up_when_another_session_keeps_the_lock();
  return failures == 0 ? 0 : 1;
}
