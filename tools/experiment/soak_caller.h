// One thread of the soak experiment: makes things of every kind that a service makes, uses them and gives them up again, under
// names that never come twice. When it rests, nothing of it should be left anywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/keys/kv.h"
#include "coordkit/service.h"
#include "coordkit/session.h"

namespace coordkit::experiment {

class SoakCaller {
 public:
  // `careless`: one key in ten is forgotten, and what it is for is kept in memory.
  SoakCaller(Service& service, std::string name, uint64_t seed, bool careless)
      : service_(service), kv_(service), name_(std::move(name)), random_(seed), careless_(careless) {}

  // Plays one scene. False: something in it was refused or not answered, and was owed to tidy().
  bool act();
  // Gives up what scenes could not, because an answer was lost, and has a session again. Empty, or what does not go.
  std::string tidy();

 private:
  using Give = std::function<absl::Status()>;
  struct Scene {
    const char* name;
    void (SoakCaller::*play)();
  };
  static const std::vector<Scene>& scenes();

  uint64_t below(uint64_t bound) { return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_); }
  std::string fresh(const char* what) { return std::string(what) + "/" + name_ + "/" + std::to_string(++made_); }
  // How what a scene makes is given up by tidy(), if the scene does not come to its end.
  void owe(Give give) { owed_.push_back(std::move(give)); }
  static bool given(const Give& give);
  absl::StatusOr<Session> session();

  void keys();
  void lost_answers();
  void optimistic();
  void leased();
  void watched();
  void held();
  void shared();
  void contended();
  void cancelled();
  void several();
  void brief_session();
  void permits();
  void led();
  void closed();
  void together();
  void counted();
  void grouped();
  void latched();
  void queued();
  void registered();

  Service& service_;
  Kv kv_;
  const std::string name_;
  std::mt19937_64 random_;
  const bool careless_;
  Session session_;
  uint64_t made_ = 0;
  std::vector<Give> owed_;
  std::vector<std::string> kept_;  // by a careless one
};

}  // namespace coordkit::experiment
