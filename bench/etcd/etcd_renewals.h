// The load renewals on etcd: every caller has a lease and keeps it alive, over and over, on one stream for each connection.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/cluster/load.h"

namespace coordkit::bench::etcd {

nlohmann::ordered_json run_renewals(const std::vector<std::shared_ptr<grpc::Channel>>& channels, const LoadOptions& load);

}  // namespace coordkit::bench::etcd
