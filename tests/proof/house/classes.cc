#include "tests/proof/house/classes.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "tests/proof/house/words.h"

namespace coordkit::house {
namespace {

bool ends_field(const std::string& token) {
  return token == ";" || token == "," || token == "=" || token == "[" || token == ":";
}

// template <...> before a declaration.
void drop_template(Tokens& declaration) {
  if (declaration.empty() || declaration[0] != "template") return;
  size_t end = 1;
  for (size_t angles = 0; end < declaration.size(); ++end) {
    if (declaration[end] == "<") ++angles;
    if (declaration[end] == ">" && --angles == 0) break;
  }
  declaration.erase(declaration.begin(), declaration.begin() + static_cast<ptrdiff_t>(std::min(end + 1, declaration.size())));
}

// A declaration at the top of a class, without what is in its braces.
void count(Tokens declaration, Class& into) {
  while (declaration.size() > 1 && declaration[1] == ":") declaration.erase(declaration.begin(), declaration.begin() + 2);
  drop_template(declaration);
  if (declaration.empty()) return;
  for (const char* other : {"using", "friend", "typedef", "static_assert", "enum", "struct", "class"}) {
    if (declaration[0] == other) return;
  }
  size_t angles = 0;
  std::vector<Field> fields;
  for (size_t i = 0; i < declaration.size(); ++i) {
    const std::string& token = declaration[i];
    const std::string next = i + 1 < declaration.size() ? declaration[i + 1] : ";";
    if (token == "operator" || (token == "(" && angles == 0)) {
      ++into.methods;
      return;
    }
    if (token == "<") ++angles;
    if (token == ">" && angles != 0) --angles;
    if (angles != 0) continue;
    if (token == "=" || token == ":") break;
    if (i > 0 && in_word(token[0]) && ends_field(next)) {
      fields.push_back({token, Tokens(declaration.begin(), declaration.begin() + static_cast<ptrdiff_t>(i)), next == "="});
    }
  }
  into.fields.insert(into.fields.end(), fields.begin(), fields.end());
}

// From its opening brace on.
void count_members(const Tokens& tokens, size_t at, Class& into) {
  Tokens declaration;
  for (size_t depth = 0; at + 1 < tokens.size(); ++at) {
    const std::string& token = tokens[at];
    const std::string& next = tokens[at + 1];
    if (token == "{") ++depth;
    if (token == "}" && --depth == 0) return;
    if (depth != 1 || token == "{") continue;
    const bool braces_in_it = token == "}" && (next == "," || next == "{");
    if (token != ";" && token != "}") declaration.push_back(token);
    if (token == ";" || (token == "}" && !braces_in_it)) {
      count(std::move(declaration), into);
      declaration.clear();
    }
  }
}

}  // namespace

Tokens tokens_of(std::string_view text) {
  Tokens tokens;
  for (size_t at = 0; at < text.size();) {
    const size_t end = skip(text, at);
    const bool qualifies = text.substr(at, 2) == "::";
    if (end != at) {
      at = end;
    } else if (in_word(text[at]) || qualifies) {
      const bool goes_on = at > 0 && !tokens.empty() && (in_word(text[at - 1]) || text[at - 1] == ':');
      const bool joins = goes_on && (qualifies || tokens.back().ends_with("::"));
      size_t word_end = at + (qualifies ? 2 : 0);
      while (!qualifies && word_end < text.size() && in_word(text[word_end])) ++word_end;
      const std::string word(text.substr(at, word_end - at));
      joins ? tokens.back() += word : tokens.emplace_back(word);
      at = word_end;
    } else {
      if (std::isspace(static_cast<unsigned char>(text[at])) == 0) tokens.emplace_back(1, text[at]);
      ++at;
    }
  }
  return tokens;
}

std::vector<Class> classes_in(std::string_view text) {
  const Tokens tokens = tokens_of(text);
  std::vector<Class> found;
  for (size_t at = 0; at + 2 < tokens.size(); ++at) {
    if (tokens[at] != "class" && tokens[at] != "struct") continue;
    if (at > 0 && tokens[at - 1] == "enum") continue;
    size_t body = at + 2;
    if (tokens[body] == "final") ++body;
    if (body < tokens.size() && tokens[body] == ":") {
      while (body < tokens.size() && tokens[body] != "{" && tokens[body] != ";") ++body;
    }
    if (body >= tokens.size() || tokens[body] != "{") continue;
    count_members(tokens, body, found.emplace_back(Class{tokens[at + 1]}));
  }
  return found;
}

bool has_outside(const Tokens& type, std::string_view token) {
  size_t angles = 0;
  for (const std::string& one : type) {
    if (one == "<") ++angles;
    if (one == ">" && angles != 0) --angles;
    if (angles == 0 && one == token) return true;
  }
  return false;
}

}  // namespace coordkit::house
