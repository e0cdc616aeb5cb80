// etcd's side: each step as a request to its JSON gateway, each answer in the common form.
#pragma once

#include "tools/differential/http.h"
#include "tools/differential/step.h"

namespace coordkit::differential {

class EtcdSide final : public Side {
 public:
  explicit EtcdSide(uint16_t port) : port_(port), http_(port) {}
  Answer take(const Step& step) override;

 private:
  nlohmann::json ask(const std::string& path, const nlohmann::json& request);
  Answer watch(const WatchFrom& watch);

  uint16_t port_;
  HttpClient http_;
};

}  // namespace coordkit::differential
