#include "tools/coordctl/live_command.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>

#include "replica/operate/admin_commands.h"
#include "replica/operate/local_stream.h"
#include "tools/coordctl/answer.h"
#include "tools/coordctl/interruption.h"

namespace coordkit::coordctl {
namespace {

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

}  // namespace

void add_live(CLI::App& app, LiveArguments& arguments) {
  app.add_option("--socket", arguments.socket, "path of a replica's admin socket ($COORDKIT_SOCKET)")
      ->envname("COORDKIT_SOCKET");
  for (const AdminCommand& command : admin_commands()) {
    const std::string name(command.name);
    CLI::App* const sub = app.add_subcommand(name, std::string(command.help))->group("A running replica (--socket)");
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

}  // namespace coordkit::coordctl
