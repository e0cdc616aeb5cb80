// HTTP to a server on loopback, as much of it as etcd's JSON gateway needs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace coordkit::differential {

// One connection, kept. Errors, and ten seconds without an answer, are thrown as std::runtime_error.
class HttpClient {
 public:
  explicit HttpClient(uint16_t port);
  ~HttpClient();
  std::string post(const std::string& path, const std::string& body);

  // A request whose answer is a stream of lines, on this connection and for the rest of its life.
  void open_stream(const std::string& path, const std::string& body);
  std::string next_line();

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace coordkit::differential
