// A third party's shared library with coordkit inside.
#include <coordkit/replica.h>

#include <string>

std::string sentence_of_bad_options();

std::string sentence_of_bad_options() {
  const auto replica = coordkit::Replica::open({.id = 0, .cluster = "", .data_dir = ""});
  return replica.ok() ? "none" : replica.status().ToString();
}
