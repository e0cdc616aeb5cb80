#include "transport/tcp_links.h"

#include <algorithm>

namespace coordkit::tcp {
namespace {

constexpr size_t kAcquaintancesMax = 64;  // more were never members of one cluster at a time

}  // namespace

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
  return alike < (belongs ? kAcquaintancesMax : options_.guests_max);
}

}  // namespace coordkit::tcp
