#include "tools/coordctl/completion.h"

namespace coordkit::coordctl {

std::string bash_completion(const CLI::App& app) {
  std::string names;
  std::string options;
  for (const CLI::App* sub : app.get_subcommands({})) {
    names += (names.empty() ? "" : " ") + sub->get_name();
    options += "    " + sub->get_name() + ") words='";
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& name : option->get_lnames()) options += "--" + name + " ";
    }
    options += "' ;;\n";
  }
  return "_coordctl() {\n"
         "  local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= word words\n"
         "  if [ \"$before\" = --socket ]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$now\")\n"
         "    return\n"
         "  fi\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \" " +
         names +
         " \" in *\" $word \"*) command=$word; break ;; esac\n"
         "  done\n"
         "  case $command in\n"
         "    '') words='--socket " +
         names + "' ;;\n" + options +
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$now\")\n"
         "}\n"
         "complete -o default -F _coordctl coordctl\n";
}

}  // namespace coordkit::coordctl
