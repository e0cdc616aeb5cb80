#include "tools/differential/http.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <stdexcept>

namespace coordkit::differential {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

}  // namespace

struct HttpClient::Rep {
  // Runs what was started until it is finished. Beast gives up by itself after the stream's timeout.
  template <typename Start>
  void await(const char* what, Start start) {
    std::optional<error_code> outcome;
    stream.expires_after(std::chrono::seconds(10));
    start([&outcome](error_code code, auto&&...) { outcome = code; });
    context.restart();
    context.run();
    if (!outcome || *outcome) throw std::runtime_error(std::string(what) + ": " + (outcome ? outcome->message() : "nothing"));
  }
  void send(const std::string& path, const std::string& body) {
    http::request<http::string_body> request(http::verb::post, path, 11);
    request.set(http::field::host, "127.0.0.1");
    request.set(http::field::content_type, "application/json");
    request.body() = body;
    request.prepare_payload();
    await("send", [&](auto done) { http::async_write(stream, request, std::move(done)); });
  }

  asio::io_context context;
  beast::tcp_stream stream{context};
  beast::flat_buffer buffer;
  std::unique_ptr<http::response_parser<http::string_body>> streamed;
};

HttpClient::HttpClient(uint16_t port) : rep_(std::make_unique<Rep>()) {
  const asio::ip::tcp::endpoint server(asio::ip::address_v4::loopback(), port);
  rep_->await("connect", [&](auto done) { rep_->stream.async_connect(server, std::move(done)); });
  rep_->stream.socket().set_option(asio::ip::tcp::no_delay(true));
}

HttpClient::~HttpClient() = default;

std::string HttpClient::post(const std::string& path, const std::string& body) {
  rep_->send(path, body);
  http::response<http::string_body> response;
  rep_->await("receive", [&](auto done) { http::async_read(rep_->stream, rep_->buffer, response, std::move(done)); });
  return response.body();
}

void HttpClient::open_stream(const std::string& path, const std::string& body) {
  rep_->send(path, body);
  rep_->streamed = std::make_unique<http::response_parser<http::string_body>>();
  rep_->streamed->body_limit(boost::none);
}

std::string HttpClient::next_line() {
  auto& parser = *rep_->streamed;
  while (true) {
    std::string& body = parser.get().body();
    if (const size_t end = body.find('\n'); end != std::string::npos) {
      std::string line = body.substr(0, end);
      body.erase(0, end + 1);
      return line;
    }
    if (parser.is_done()) throw std::runtime_error("the stream has ended: " + body);
    rep_->await("stream", [&](auto done) { http::async_read_some(rep_->stream, rep_->buffer, parser, std::move(done)); });
  }
}

}  // namespace coordkit::differential
