#include "tools/coordctl/live_command.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/remote.h"
#include "replica/operate/admin_commands.h"
#include "replica/operate/local_stream.h"
#include "tools/coordctl/answer.h"
#include "tools/coordctl/interruption.h"

namespace coordkit::coordctl {
namespace {

constexpr Duration kGatewayPatience = std::chrono::seconds(10);

int unreachable(const std::string& sentence) {
  std::fprintf(stderr, "coordctl: %s\n", sentence.c_str());
  return kUnreachable;
}

AnswerPrinter::Form form_of(const LiveArguments& arguments) {
  if (arguments.json && arguments.words.front() == "metrics") return AnswerPrinter::Form::Samples;
  if (arguments.json) return AnswerPrinter::Form::Objects;
  const bool streams = arguments.words.front() == "watch" || arguments.words.front() == "metrics";
  return streams ? AnswerPrinter::Form::Lines : AnswerPrinter::Form::Table;
}

int broken_off(const Interruption* interruption) {
  if (interruption == nullptr || !interruption->noted())
    return unreachable("the answer broke off: has the replica been closed?");
  return unreachable("interrupted, and the replica has not said what became of the backup: check whether the file exists");
}

int print_answer(LocalStream& replica, AnswerPrinter& printer, const Interruption* interruption) {
  while (true) {
    absl::StatusOr<std::optional<std::vector<std::string>>> received = replica.next();
    if (!received.ok() || !*received) return broken_off(interruption);
    std::optional<std::vector<std::string>>& line = *received;
    const std::string kind = line->front();
    line->erase(line->begin());
    if (kind == "field" && !line->empty()) {
      std::string name = std::move(line->front());
      line->erase(line->begin());
      printer.field(std::move(name), *line);
    } else if (kind == "columns") {
      printer.columns(*line);
    } else if (kind == "row") {
      printer.row(*std::move(line));
      if (std::ferror(stdout) != 0) return kDone;  // nobody reads on; main() says so
    } else if (kind == "note") {
      std::fprintf(stderr, "note: %s\n", line->empty() ? "" : line->front().c_str());
    } else if (kind == "ok") {
      printer.end();
      return kDone;
    } else if (kind == "error") {
      std::fprintf(stderr, "coordctl: %s\n", line->empty() ? "refused" : line->back().c_str());
      return kRefused;
    }
  }
}

int run_at_socket(const LiveArguments& arguments) {
  if (arguments.socket.empty() || arguments.socket.size() > kLocalPathBytesMax) {
    std::fprintf(stderr, "coordctl: give --socket the path that the replica has as its admin_socket (at most 107 bytes)\n");
    return kBadArguments;
  }
  LocalStream replica = LocalStream::connect(arguments.socket);
  if (!replica) return unreachable("no replica answers at " + arguments.socket + ": " + std::strerror(errno));
  std::optional<Interruption> interruption;
  if (arguments.words.front() == "backup-to") interruption.emplace(replica.socket());
  replica.say(arguments.words);  // if it has hung up, it may have said why
  AnswerPrinter printer(form_of(arguments));
  return print_answer(replica, printer, interruption ? &*interruption : nullptr);
}

// Prints an answer that is made in this process.
class PrintedReply final : public AdminReply {
 public:
  explicit PrintedReply(AnswerPrinter& printer) : printer_(printer) {}

  void field(std::string name, std::vector<std::string> cells) override { printer_.field(std::move(name), cells); }
  void columns(std::vector<std::string> names) override { printer_.columns(names); }
  void row(std::vector<std::string> cells) override { printer_.row(std::move(cells)); }
  void note(std::string sentence) override { std::fprintf(stderr, "note: %s\n", sentence.c_str()); }
  bool gone() override { return std::ferror(stdout) != 0; }

 private:
  AnswerPrinter& printer_;
};

// The first line of the file.
absl::StatusOr<std::string> secret_in(const std::string& path) {
  std::ifstream file(path);
  std::string secret;
  if (!file || !std::getline(file, secret)) {
    return absl::NotFoundError("cannot read a secret from " + path +
                               ": give --secret-file a file whose first line is the secret");
  }
  return secret;
}

int run_as_remote(const LiveArguments& arguments) {
  RemoteOptions options{
      .cluster = arguments.cluster, .gateways = arguments.gateways, .name = arguments.name, .security = PlainText{}};
  if (!arguments.secret_file.empty()) {
    absl::StatusOr<std::string> secret = secret_in(arguments.secret_file);
    if (!secret.ok()) return unreachable(std::string(secret.status().message()));
    options.security = SharedSecret{*std::move(secret)};
  }
  const absl::StatusOr<std::unique_ptr<Remote>> remote = Remote::open(std::move(options));
  if (!remote.ok()) {
    std::fprintf(stderr, "coordctl: %s\n", std::string(remote.status().message()).c_str());
    return kBadArguments;
  }
  if (absl::Status ready = (*remote)->wait_ready(kGatewayPatience); !ready.ok()) {
    return unreachable(std::string(ready.message()));
  }
  AnswerPrinter printer(form_of(arguments));
  PrintedReply reply(printer);
  const absl::Status status = run_remote_command(**remote, {.id = 0, .cluster = arguments.cluster}, arguments.words, reply);
  if (absl::IsUnavailable(status)) return unreachable(std::string(status.message()));
  if (!status.ok()) return refuse(status);
  printer.end();
  return kDone;
}

}  // namespace

void add_live(CLI::App& app, LiveArguments& arguments) {
  app.add_option("--socket", arguments.socket, "path of a replica's admin socket ($COORDKIT_SOCKET)")
      ->envname("COORDKIT_SOCKET");
  CLI::Option* const remote =
      app.add_option("--remote", arguments.gateways, "HOST:PORT where a replica listens for remotes, instead of --socket")
          ->type_name("ADDRESS")
          ->allow_extra_args(false);
  app.add_option("--cluster", arguments.cluster, "the cluster's name, for --remote")->needs(remote);
  app.add_option("--as", arguments.name, "the name of this remote, for --remote")->needs(remote);
  app.add_option("--secret-file", arguments.secret_file, "file with the secret of remotes; without it: plain text")
      ->needs(remote);
  for (const AdminCommand& command : admin_commands()) {
    const std::string name(command.name);
    CLI::App* const sub =
        app.add_subcommand(name, std::string(command.help))->group("A running cluster (--socket, or --remote)");
    sub->fallthrough();
    sub->add_flag("--json", arguments.json, "JSON objects, as docs/coordctl.md has them");
    // Each word for itself: of one in brackets CLI11 would make a list if it were given many.
    std::vector<CLI::Option*> words;
    std::istringstream usage{std::string(command.usage)};
    for (std::string word; usage >> word;) {
      const bool optional = word.front() == '[';
      const std::string what = optional ? word.substr(1, word.size() - 2) : word;
      words.push_back(sub->add_option(what)->type_name("")->required(!optional));
    }
    sub->callback([&arguments, name, words] {
      arguments.words = {name};
      for (const CLI::Option* word : words) {
        arguments.words.insert(arguments.words.end(), word->results().begin(), word->results().end());
      }
    });
  }
}

int run_live(const LiveArguments& arguments) {
  return arguments.gateways.empty() ? run_at_socket(arguments) : run_as_remote(arguments);
}

}  // namespace coordkit::coordctl
