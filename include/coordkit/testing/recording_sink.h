// A TransportSink for tests: keeps the reports of a transport and lets a test wait for them. No
// test needs to sleep.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/ports/transport.h"
#include "coordkit/testing/patience.h"

namespace coordkit::testkit {

// Thread-safe; on_received is set before start and called on the transport's thread, before the
// report is kept.
class RecordingSink : public TransportSink {
 public:
  // One frame that arrived.
  struct Received {
    ReplicaId from;         // the replica that sent it
    std::string body;       // as it arrived
    BootCounter life = {};  // of its sender, by the peer_up before
    StoreId store = {};     // of its sender, from the same peer_up
  };

  void peer_up(const Hello& hello) override {
    change([&] {
      up_[hello.from] = latest_[hello.from] = hello;
      refused_.erase(hello.from);
      unreachable_.erase(hello.from);
    });
  }
  void peer_down(ReplicaId peer) override {
    change([&] { up_.erase(peer), ++downs_[peer]; });
  }
  void received(ReplicaId from, std::string body) override {
    if (on_received) on_received(from, body);
    change([&] {
      const Hello& sender = latest_[from];
      received_.push_back({from, std::move(body), sender.boot, sender.store});
    });
  }

  void peer_refused(ReplicaId peer, std::string why) override {
    change([&] { refused_[peer] = std::move(why); });
  }
  void peer_unreachable(ReplicaId peer, std::string why) override {
    keep([&] { unreachable_[peer] = std::move(why); });
  }

  // True once `fact` holds; false after a deadline that only a defect reaches.
  bool wait(const std::function<bool()>& fact, std::chrono::milliseconds at_most = patience()) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, at_most, fact);
  }
  // Waits until the peer is up. This and every later wait is true once it is so, and false after
  // the patience.
  bool wait_up(ReplicaId peer) {
    return wait([&] { return up_.contains(peer); });
  }
  // Until the peer is not up, and was reported down at least once.
  bool wait_down(ReplicaId peer) {
    return wait([&] { return !up_.contains(peer) && downs_[peer] > 0; });
  }
  // Until the peer is up with a hello that fits.
  bool wait_hello(ReplicaId peer, const std::function<bool(const Hello&)>& fits) {
    return wait([&] { return up_.contains(peer) && fits(up_.at(peer)); });
  }
  // Until the peer is refused with a sentence that contains `part`.
  bool wait_refused(ReplicaId peer, const std::string& part) {
    return wait([&] { return refused_.contains(peer) && refused_.at(peer).find(part) != std::string::npos; });
  }
  // Until the peer is unreachable, with a sentence that contains `part`.
  bool wait_unreachable(ReplicaId peer, const std::string& part) {
    return wait([&] { return unreachable_.contains(peer) && unreachable_.at(peer).find(part) != std::string::npos; });
  }
  // Waits until its next peer_up.
  bool wait_reached(ReplicaId peer) {
    return wait([&] { return up_.contains(peer) && !unreachable_.contains(peer); });
  }
  // The sentence it is refused with; nullopt: it is not refused.
  std::optional<std::string> wait_refusal(ReplicaId peer) {
    std::optional<std::string> why;
    wait([&] {
      if (const auto found = refused_.find(peer); found != refused_.end()) why = found->second;
      return why.has_value();
    });
    return why;
  }
  // Whether it is refused by now, and has not been up since.
  bool is_refused(ReplicaId peer) {
    const std::lock_guard lock(mutex_);
    return refused_.contains(peer);
  }
  // Waits until this many frames have arrived in all, repeated ones included.
  bool wait_received(size_t count) {
    return wait([&] { return received_.size() >= count; });
  }
  // Waits until a frame with exactly this body has arrived.
  bool wait_body(const std::string& body, std::chrono::milliseconds at_most = patience()) {
    return wait([&] { return holds(body); }, at_most);
  }

  // Whether the body has arrived by now.
  bool has_body(const std::string& body) {
    const std::lock_guard lock(mutex_);
    return holds(body);
  }
  // Whether it is up by now.
  bool is_up(ReplicaId peer) {
    const std::lock_guard lock(mutex_);
    return up_.contains(peer);
  }
  // The newest hello that a peer_up has named.
  Hello hello(ReplicaId peer) {
    const std::lock_guard lock(mutex_);
    return latest_[peer];
  }
  // How often peer_down named it.
  int downs(ReplicaId peer) {
    const std::lock_guard lock(mutex_);
    return downs_[peer];
  }
  // All frames by now, in the order of arrival.
  std::vector<Received> all() {
    const std::lock_guard lock(mutex_);
    return received_;
  }
  uint64_t reports() const { return reports_; }  // without those of unreachable peers
  // From here on every report is a defect.
  void forbid() { forbidden_ = true; }
  bool violated() const { return violated_; }  // whether a report came after forbid()

  std::function<void(ReplicaId from, const std::string& body)> on_received;  // set before start

 private:
  bool holds(const std::string& body) const {  // under mutex_
    return std::any_of(received_.begin(), received_.end(), [&](const Received& one) { return one.body == body; });
  }
  template <typename F>
  void change(F what) {
    ++reports_;
    keep(what);
  }
  template <typename F>
  void keep(F what) {
    if (forbidden_) violated_ = true;
    const std::lock_guard lock(mutex_);
    what();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ReplicaId, Hello> up_;
  std::map<ReplicaId, Hello> latest_;
  std::map<ReplicaId, int> downs_;
  std::map<ReplicaId, std::string> refused_;
  std::map<ReplicaId, std::string> unreachable_;
  std::vector<Received> received_;
  std::atomic<uint64_t> reports_{0};
  std::atomic<bool> forbidden_{false};
  std::atomic<bool> violated_{false};
};

}  // namespace coordkit::testkit
