#include "transport/tcp/tcp_links.h"

#include <algorithm>

namespace coordkit::tcp {

std::shared_ptr<Link> Links::add(ReplicaId id) {
  auto link = std::make_shared<Link>(id, options_, io_);
  const std::lock_guard lock(mutex_);
  links_.emplace(id, link);
  return link;
}

void Links::erase(ReplicaId id) {
  const std::lock_guard lock(mutex_);
  links_.erase(id);
}

std::shared_ptr<Link> Links::find(ReplicaId id) const {
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : found->second;
}

std::shared_ptr<Link> Links::find_for_sending(ReplicaId id) const {
  const std::lock_guard lock(mutex_);
  return find(id);
}

std::vector<std::shared_ptr<Link>> Links::all() const {
  std::vector<std::shared_ptr<Link>> all;
  for (const auto& [id, link] : links_) all.push_back(link);
  return all;
}

bool Links::room_for_guest(bool belongs) const {
  const auto is_alike = [&](const auto& one) { return one.second->guest() && one.second->belongs() == belongs; };
  const auto alike = static_cast<size_t>(std::count_if(links_.begin(), links_.end(), is_alike));
  return alike < (belongs ? options_.acquaintances_max : options_.guests_max);
}

std::vector<std::string> loss_warnings(const Links& links, TimePoint now) {
  std::vector<std::string> sentences;
  for (const auto& link : links.all()) {
    if (link->dialed) link->losses.sent(now, link->dialed->liveness().packets());
    const std::string peer = "replica " + std::to_string(link->id.value());
    if (link->hole) {
      sentences.push_back("large packets to " + peer + " were lost on the way, and connections to it use packets of " +
                          std::to_string(kSmallPacketBytes) +
                          " bytes now: set the MTU of both ends to a size that passes between them");
    }
    if (const int percent = link->losses.percent(now); percent > 0) {
      sentences.push_back(std::to_string(percent) + " % of the packets to " + peer +
                          " have to be sent again, because the network loses them: look at the way there");
    }
  }
  return sentences;
}

}  // namespace coordkit::tcp
