// The loop of a client and the objects that it owns. Each object knows only the earlier ones that it is given. The public
// faces (client.h and client/*.h) call them.
#pragma once

#include "client/calls/calls.h"
#include "client/calls/deliveries.h"
#include "client/calls/read_calls.h"
#include "client/calls/requests.h"
#include "client/calls/turn_gaps.h"
#include "client/calls/write_calls.h"
#include "client/keys/keys.h"
#include "client/keys/leases.h"
#include "client/locks/locks.h"
#include "client/objects/objects.h"
#include "client/sessions/commands_in_order.h"
#include "client/sessions/sessions.h"
#include "client/watches/observations.h"
#include "client/watches/watch_feed.h"
#include "coordkit/engine/client.h"
#include "coordkit/export.h"

namespace coordkit {

class COORDKIT_HIDDEN Client::Impl {
 public:
  Impl(Engine& engine, ClientOptions client_options);

  void before_turn(Now now);
  void after_turn(Now now, const EngineEffects& effects);
  Duration next_turn(Now now) const;
  void stop(const absl::Status& why);
  ClientStatus status() const;

  ClientOptions options;
  client::Deliveries deliveries;
  client::Requests requests;
  client::Calls calls;
  client::Sessions sessions;
  client::SessionCommands commands;
  client::Locks locks;
  client::ReadCalls reads;
  client::WriteCalls writes;
  client::Objects objects;
  client::Keys keys;
  client::Leases leases;
  client::Observations observations;
  client::WatchFeed watches;

 private:
  void notice_gap(Now now);
  void adopt(client::Sessions::Resumed resumed);
  void take(const MachineEvent& event);

  client::TurnGaps gaps_;
  bool stopped_whole_ = false;
};

}  // namespace coordkit
