#include "compare/ephemerals.h"

#include <utility>

namespace coordkit::sim::compare {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kTicksPerTimeout = 4;  // between 2 and 20 in the original
constexpr Duration kReconnectPause = milliseconds(20);

}  // namespace

Ensemble::Ensemble(Scene& scene, Duration timeout) : scene_(scene), timeout_(timeout), tick_(timeout / kTicksPerTimeout) {
  sweep();
}

uint64_t Ensemble::open() {
  sessions_[++last_] = scene_.reading(kService) + timeout_;
  return last_;
}

bool Ensemble::touch(uint64_t session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return false;
  found->second = scene_.reading(kService) + timeout_;
  return true;
}

std::optional<uint64_t> Ensemble::create(uint64_t session) {
  if (!touch(session)) return std::nullopt;
  for (const auto& [node, owner] : nodes_) {
    if (owner == session) return node;
  }
  nodes_[++last_] = session;
  return last_;
}

std::optional<uint64_t> Ensemble::last_before(uint64_t node) const {
  const auto at = nodes_.lower_bound(node);
  if (at == nodes_.begin()) return std::nullopt;
  return std::prev(at)->first;
}

void Ensemble::when_deleted(uint64_t node, Scene::Act act) {
  if (!nodes_.contains(node)) return act();
  watches_.emplace(node, std::move(act));
}

void Ensemble::remove(uint64_t node) {
  if (nodes_.erase(node) == 0) return;
  while (true) {
    auto watch = watches_.extract(node);
    if (watch.empty()) return;
    watch.mapped()();
  }
}

// Expiry is checked only at ticks, which rounds every deadline up.
void Ensemble::sweep() {
  const LeadingTime now = scene_.reading(kService);
  std::vector<uint64_t> ended;
  for (const auto& [session, deadline] : sessions_) {
    if (deadline <= now) ended.push_back(session);
  }
  for (const uint64_t session : ended) {
    sessions_.erase(session);
    std::vector<uint64_t> nodes;
    for (const auto& [node, owner] : nodes_) {
      if (owner == session) nodes.push_back(node);
    }
    for (const uint64_t node : nodes) remove(node);
    if (auto close = closing_.extract(session); !close.empty()) close.mapped()();
  }
  scene_.after(tick_, [this] { sweep(); });
}

template <typename There, typename Back>
void EphemeralLock::call(There there, Back back) {
  scene_.request(
      machine_, kService, [this, connection = connection_, there = std::move(there), back = std::move(back)]() mutable {
        auto answer = there();
        scene_.respond(machine_, kService, [this, connection, back = std::move(back), answer = std::move(answer)]() mutable {
          if (connection != connection_) return;
          received();
          back(std::move(answer));
        });
      });
}

// ---- the session

void EphemeralLock::open() {
  ++connection_;
  call([this] { return ensemble_.open(); },
       [this](uint64_t session) {
         session_ = session;
         connected_ = true;
         ensemble_.on_expiry(session, [this, session] {
           scene_.respond(machine_, kService, [this, session] {
             if (session == session_ && connected_) disconnected();
           });
         });
         received();
         ping();
         create();
       });
}

// If no message arrives within two thirds of the timeout from now, the connection is taken for dead.
void EphemeralLock::received() {
  scene_.process(machine_).after(ensemble_.timeout() * 2 / 3, [this, count = ++received_] {
    if (count == received_ && connected_) disconnected();
  });
}

void EphemeralLock::ping() {
  scene_.process(machine_).after(ensemble_.timeout() / 3, [this, connection = connection_] {
    if (connection != connection_) return;
    call([this, session = session_] { return ensemble_.touch(session); }, [](bool) {});
    ping();
  });
}

void EphemeralLock::disconnected() {
  connected_ = false;
  reconnect();
}

// Opens a new connection and presents the session on it. Without an answer within a third of the timeout it tries again.
void EphemeralLock::reconnect() {
  ++connection_;
  call([this, session = session_] { return ensemble_.touch(session); },
       [this](bool lives) {
         if (!lives) return expired();
         connected_ = true;
         ping();
         if (granted_) wait_for_turn();
       });
  scene_.process(machine_).after(ensemble_.timeout() / 3, [this, connection = connection_] {
    if (connection == connection_ && !connected_) scene_.process(machine_).after(kReconnectPause, [this] { reconnect(); });
  });
}

void EphemeralLock::expired() {
  session_ = 0;
  node_ = 0;
  held_ = false;
  if (granted_) open();
}

// ---- the lock

void EphemeralLock::acquire(std::function<void()> granted) {
  granted_ = std::move(granted);
  if (session_ == 0) return open();
  if (connected_) create();  // otherwise the reconnection continues with create()
}

void EphemeralLock::create() {
  call([this, session = session_] { return ensemble_.create(session); },
       [this](std::optional<uint64_t> node) {
         if (!node) return disconnected();
         node_ = *node;
         wait_for_turn();
       });
}

void EphemeralLock::wait_for_turn() {
  if (node_ == 0) return create();
  struct Answer {
    bool lives;
    std::optional<uint64_t> before;
  };
  call(
      [this, session = session_, node = node_] {
        return Answer{ensemble_.touch(session), ensemble_.last_before(node)};
      },
      [this](Answer answer) {
        if (!answer.lives) return disconnected();
        if (answer.before) return watch(*answer.before);
        if (!granted_) return;
        held_ = true;
        std::exchange(granted_, nullptr)();
      });
}

void EphemeralLock::watch(uint64_t node) {
  scene_.request(machine_, kService, [this, node, connection = connection_] {
    ensemble_.when_deleted(node, [this, connection] {
      scene_.respond(machine_, kService, [this, connection] {
        if (connection != connection_) return;
        received();
        wait_for_turn();
      });
    });
  });
}

void EphemeralLock::release() {
  const uint64_t node = std::exchange(node_, 0);
  if (!std::exchange(held_, false) || session_ == 0) return;
  scene_.request(machine_, kService, [this, node] { ensemble_.remove(node); });
}

}  // namespace coordkit::sim::compare
