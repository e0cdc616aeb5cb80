#include "tools/coordctl/live_command.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "replica/admin_commands.h"
#include "replica/local_stream.h"
#include "tools/coordctl/answer.h"

namespace coordkit::coordctl {
namespace {

int unreachable(const std::string& sentence) {
  std::fprintf(stderr, "coordctl: %s\n", sentence.c_str());
  return kUnreachable;
}

AnswerPrinter::Form form_of(const LiveArguments& arguments) {
  if (arguments.json) return AnswerPrinter::Form::Objects;
  const bool streams = arguments.words.front() == "watch" || arguments.words.front() == "metrics";
  return streams ? AnswerPrinter::Form::Lines : AnswerPrinter::Form::Table;
}

int print_answer(LocalStream& replica, AnswerPrinter& printer) {
  while (true) {
    absl::StatusOr<std::optional<std::vector<std::string>>> received = replica.next();
    if (!received.ok() || !*received) return unreachable("the answer broke off: has the replica been closed?");
    std::optional<std::vector<std::string>>& line = *received;
    const std::string kind = line->front();
    line->erase(line->begin());
    if (kind == "columns") {
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

}  // namespace

void add_live(CLI::App& app, LiveArguments& arguments) {
  app.add_option("--socket", arguments.socket, "where a replica has its admin socket ($COORDKIT_SOCKET)")
      ->envname("COORDKIT_SOCKET");
  for (const AdminCommand& command : admin_commands()) {
    const std::string name(command.name);
    CLI::App* const sub = app.add_subcommand(name, std::string(command.help))->group("A running replica (--socket)");
    sub->fallthrough();
    sub->add_flag("--json", arguments.json, "a JSON object for each row");
    const auto words = std::make_shared<std::vector<std::string>>();
    const int most = static_cast<int>(command.words_most());
    if (most > 0) {
      sub->add_option("words", *words, std::string(command.usage))
          ->expected(static_cast<int>(command.words_least()), most)
          ->option_text(std::string(command.usage));
      if (command.words_least() > 0) sub->get_option("words")->required();
    }
    sub->callback([&arguments, name, words] {
      arguments.words = {name};
      arguments.words.insert(arguments.words.end(), words->begin(), words->end());
    });
  }
}

int run_live(const LiveArguments& arguments) {
  if (arguments.socket.empty() || arguments.socket.size() > kLocalPathBytesMax) {
    std::fprintf(stderr, "coordctl: give --socket the path that the replica has as its admin_socket (at most 107 bytes)\n");
    return kBadArguments;
  }
  LocalStream replica = LocalStream::connect(arguments.socket);
  if (!replica) return unreachable("nobody answers at " + arguments.socket + ": " + std::strerror(errno));
  replica.say(arguments.words);  // if it has hung up, it may have said why
  AnswerPrinter printer(form_of(arguments));
  return print_answer(replica, printer);
}

}  // namespace coordkit::coordctl
