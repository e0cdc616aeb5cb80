#include "tests/proof/house/prose.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "tests/proof/house/words.h"

namespace coordkit::house {
namespace {

constexpr size_t kWordsMax = 35;

using Set = std::set<std::string_view>;

struct Passage {
  size_t line = 0;
  std::string text;  // its lines, joined by '\n'
  bool heading = false;
};

std::string_view stripped(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// How long the marker of a list's item at the start of this line is: "- ", "* ", "12. ".
size_t marker(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ")) return 2;
  const size_t digits = line.find_first_not_of("0123456789");
  const bool numbered = digits != line.npos && digits != 0 && digits < 3 && line.substr(digits, 2) == ". ";
  return numbered ? digits + 2 : 0;
}

// Collects the lines of a text into passages.
class Passages {
 public:
  void add(size_t number, std::string_view line) {
    std::string_view text = stripped(line);
    while (text.starts_with("> ")) text = stripped(text.substr(2));
    if (text.starts_with('|')) return add_row(number, text);
    if (text.starts_with('#')) return add_alone(number, text.substr(std::min(text.find_first_not_of('#'), text.size())), true);
    const size_t skipped = marker(text);
    const bool columns = text.find("  ") != text.npos;
    if (skipped != 0 || columns || text.empty()) end();
    if (text.empty()) return;
    item_ = skipped != 0 || (item_ && open_);
    if (!open_) found_.push_back({number, {}, false});
    if (open_) found_.back().text += '\n';
    found_.back().text += text.substr(skipped);
    open_ = true;
  }
  void end() { open_ = false; }
  bool in_item() const { return open_ && item_; }
  std::vector<Passage> take() { return std::move(found_); }

 private:
  void add_alone(size_t number, std::string_view text, bool heading) {
    found_.push_back({number, std::string(stripped(text)), heading});
    open_ = false;
  }
  void add_row(size_t number, std::string_view row) {
    size_t begin = 1;
    bool code = false;
    for (size_t at = 1; at < row.size(); ++at) {
      if (row[at] == '`') code = !code;
      if (row[at] != '|' || code || row[at - 1] == '\\') continue;
      add_alone(number, row.substr(begin, at - begin), false);
      begin = at + 1;
    }
    add_alone(number, row.substr(begin), false);
  }

  std::vector<Passage> found_;
  bool open_ = false;
  bool item_ = false;
};

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Removes <!-- -->, and keeps the line breaks in it. Code spans and blocks of documents have none.
std::string without_html_comments(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const size_t begin = std::min(text.find("<!--"), text.size());
    kept += text.substr(0, begin);
    text.remove_prefix(begin);
    const size_t end = text.find("-->");
    const std::string_view comment = text.substr(0, end == text.npos ? text.size() : end + 3);
    kept.append(static_cast<size_t>(std::count(comment.begin(), comment.end(), '\n')), '\n');
    text.remove_prefix(comment.size());
  }
  return kept;
}

std::vector<Passage> passages_of_document(std::string_view markdown) {
  const std::string text = without_html_comments(markdown);
  Passages passages;
  bool fenced = false;
  size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    const bool fence = stripped(line).starts_with("```");
    if (fence) fenced = !fenced;
    fence || fenced ? passages.end() : passages.add(number, line);
  }
  return passages.take();
}

struct Comment {
  size_t line = 0;
  size_t column = 0;
  bool alone = true;  // nothing is left of it
  std::string_view text;
};

std::vector<Comment> comments_of(std::string_view cpp) {
  std::vector<Comment> found;
  size_t line = 1, line_begin = 0;
  for (size_t at = 0; at < cpp.size();) {
    const size_t end = std::min(std::max(skip(cpp, at), at + 1), cpp.size());
    const std::string_view piece = cpp.substr(at, end - at);
    if (piece.starts_with("//")) {
      const std::string_view left = cpp.substr(line_begin, at - line_begin);
      const size_t slashes = std::min(piece.find_first_not_of('/'), piece.size());
      std::string_view text = piece.substr(slashes);
      if (text.ends_with('\n')) text.remove_suffix(1);
      found.push_back({line, at - line_begin, stripped(left).empty(), text});
    }
    for (size_t i = at; i < end; ++i) {
      if (cpp[i] != '\n') continue;
      ++line;
      line_begin = i + 1;
    }
    at = end;
  }
  return found;
}

// A comment below another one continues it, if the same column begins both. A line that is indented by three or more is an
// example or a row, and read alone, unless it continues an item of a list.
std::vector<Passage> passages_of_comments(std::string_view cpp) {
  Passages passages;
  const std::vector<Comment> comments = comments_of(cpp);
  for (size_t i = 0; i < comments.size(); ++i) {
    const Comment& comment = comments[i];
    const bool below = i != 0 && comment.line == comments[i - 1].line + 1 && comment.column == comments[i - 1].column;
    const bool apart = comment.text.starts_with("   ") && !passages.in_item();
    if (!below || !comment.alone || apart) passages.end();
    passages.add(comment.line, comment.text);
    if (apart) passages.end();
  }
  return passages.take();
}

// A span of code becomes one word, a link its text. Emphasis goes.
std::string plain(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '`') {
      const size_t width = std::min(text.find_first_not_of('`', at), text.size()) - at;
      const size_t end = text.find(text.substr(at, width), at + width);
      if (end == text.npos) continue;
      const std::string_view span = text.substr(at, end - at);
      out.append(static_cast<size_t>(std::count(span.begin(), span.end(), '\n')), '\n');
      out += "Code";
      at = end + width - 1;
    } else if (text.substr(at, 2) == "](") {
      at = std::min(text.find(')', at), text.size() - 1);
    } else if (c != '*' && c != '[' && c != ']') {
      out += c;
    }
  }
  return out;
}

struct Word {
  std::string_view raw;
  std::string text;  // in lower case, without the punctuation around it
  char after = ' ';  // the punctuation that follows it
  size_t line = 0;
};

struct Sentence {
  std::vector<Word> words;
  bool question = false;
  bool stopped = false;  // by a full stop
};

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string_view without_closers(std::string_view raw) {
  while (!raw.empty() && std::string_view(")\"'").find(raw.back()) != std::string_view::npos) raw.remove_suffix(1);
  return raw;
}

bool ends_sentence(std::string_view raw, std::string_view next) {
  const std::string_view body = without_closers(raw);
  if (body.empty() || std::string_view(".!?").find(body.back()) == std::string_view::npos) return false;
  for (const std::string_view abbreviation : {"e.g.", "i.e.", "vs.", "cf."}) {
    if (body.ends_with(abbreviation)) return false;
  }
  const bool open = body.ends_with("...") || body.ends_with("etc.");
  return !open || next.empty() || std::islower(static_cast<unsigned char>(next.front())) == 0;
}

std::vector<Word> words_of(std::string_view text, size_t line) {
  std::vector<Word> words;
  for (size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      line += text[at++] == '\n' ? 1 : 0;
      continue;
    }
    const size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
    const std::string_view raw = text.substr(at, end - at);
    at = end;
    const auto first = std::find_if(raw.begin(), raw.end(), is_alnum);
    const auto last = std::find_if(raw.rbegin(), raw.rend(), is_alnum).base();
    if (first == raw.end()) {  // a dash, an operator
      if (!words.empty()) words.back().after = raw.back();
      continue;
    }
    Word word{raw, std::string(first, last), last == raw.end() ? ' ' : raw.back(), line};
    std::transform(word.text.begin(), word.text.end(), word.text.begin(), [](unsigned char c) { return std::tolower(c); });
    words.push_back(std::move(word));
  }
  return words;
}

std::vector<Sentence> sentences_of(std::string_view text, size_t line) {
  std::vector<Sentence> sentences(1);
  const std::vector<Word> words = words_of(text, line);
  for (size_t i = 0; i < words.size(); ++i) {
    sentences.back().words.push_back(words[i]);
    if (!ends_sentence(words[i].raw, i + 1 < words.size() ? words[i + 1].raw : "")) continue;
    const char stop = without_closers(words[i].raw).back();
    sentences.back().question = stop == '?';
    sentences.back().stopped = stop == '.';
    sentences.emplace_back();
  }
  if (sentences.back().words.empty()) sentences.pop_back();
  return sentences;
}

// "those who wait" and "says who waits" are English; "overtakes who waits" is not.
bool may_precede_who(std::string_view word) {
  static const Set antecedents = {"those",      "all",         "one",       "ones",       "anyone",   "anybody",  "everyone",
                                  "everybody",  "someone",     "somebody",  "nobody",     "people",   "person",   "user",
                                  "users",      "caller",      "callers",   "holder",     "holders",  "member",   "members",
                                  "operator",   "operators",   "reader",    "readers",    "owner",    "owners",   "client",
                                  "clients",    "writer",      "writers",   "author",     "authors",  "attacker", "attackers",
                                  "maintainer", "maintainers", "candidate", "candidates", "stranger", "others"};
  static const Set asking = {"ask",    "asks",    "asked", "know",   "knows",  "known",   "see",       "sees",
                             "say",    "says",    "said",  "show",   "shows",  "tell",    "tells",     "told",
                             "learn",  "learns",  "find",  "finds",  "decide", "decides", "remember",  "remembers",
                             "list",   "lists",   "name",  "names",  "report", "reports", "record",    "records",
                             "choose", "chooses", "prove", "proves", "check",  "checks",  "determine", "determines"};
  return antecedents.contains(word) || asking.contains(word);
}

class Reader {
 public:
  Reader(const Sentence& sentence, bool heading) : sentence_(sentence), heading_(heading) {}

  std::vector<std::string> rules() {
    for (size_t at = 0; at < sentence_.words.size(); ++at) {
      who(at);
      what(at);
      of(at);
      phrases(at);
    }
    const size_t words = sentence_.words.size();
    if (words > kWordsMax) found_.push_back("a sentence of " + std::to_string(words) + " words");
    return std::move(found_);
  }

 private:
  std::string_view word(size_t at) const {
    return at < sentence_.words.size() ? std::string_view(sentence_.words[at].text) : "";
  }
  std::string_view before(size_t at) const { return at == 0 ? "" : word(at - 1); }
  char break_before(size_t at) const { return at == 0 ? ' ' : sentence_.words[at - 1].after; }

  // "says what is held and who waits"
  bool goes_with_a_question(size_t at) const {
    static const Set questions = {"who", "what", "why", "when", "where", "which", "how"};
    const auto here = sentence_.words.begin() + static_cast<std::ptrdiff_t>(at);
    const bool listed = before(at) == "and" || before(at) == "or" || break_before(at) == ',';
    return listed &&
           std::any_of(sentence_.words.begin(), here, [&](const Word& each) { return questions.contains(each.text); });
  }

  void who(size_t at) {
    if (word(at) == "whoever") found_.emplace_back("whoever");
    if (word(at) != "who" || (at == 0 && sentence_.question)) return;
    if (goes_with_a_question(at)) return;
    const bool broken = std::string_view(";:").find(break_before(at)) != std::string_view::npos;
    if (at == 0 || broken || sentence_.words[at].raw.starts_with('(') || !may_precede_who(before(at)))
      found_.emplace_back("bare who");
  }

  // A heading or a cell may be a clause: "What ends a session".
  void what(size_t at) {
    static const Set joints = {"so", "because", "but", "if", "that", "when", "while", "unless"};
    if (word(at) != "what") return;
    const bool opens = at == 0 && sentence_.stopped && !heading_;
    const bool joined = at > 0 && (break_before(at) == ';' || joints.contains(before(at)));
    if (opens || joined) found_.emplace_back("bare what");
  }

  void of(size_t at) {
    static const Set wholes = {"these", "those", "course"};
    const bool opens = at == 0 && sentence_.words[at].raw.starts_with("Of");
    const bool joined = at > 0 && (break_before(at) == ';' || (at == 1 && before(at) == "so"));
    const std::string_view next = word(at + 1);
    const bool whole = wholes.contains(next) || (!next.empty() && std::isdigit(static_cast<unsigned char>(next.front())) != 0);
    if (word(at) == "of" && (opens || joined) && !whole) found_.emplace_back("elliptic Of");
  }

  void phrases(size_t at) {
    static const Set go = {"go", "goes", "going", "went", "gone"};
    static const Set places = {"the", "a", "an", "its", "this", "each", "every", "disk", "top"};
    static const Set stand = {"stand", "stands", "stood", "standing"};
    const std::string_view here = word(at), next = word(at + 1);
    const bool together = at + 1 < sentence_.words.size() && sentence_.words[at].after == ' ';
    if (go.contains(here) && next == "on" && together && !places.contains(word(at + 2))) found_.emplace_back("goes on");
    if (stand.contains(here) && next != "for" && next != "still") found_.emplace_back("stands");
    for (const char* only : {"anew", "likewise"}) {
      if (here == only) found_.emplace_back(only);
    }
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPairs = {
        {{"as", "of"}, {"in", "hand"}, {"in", "spirit"}}};
    for (const auto& [first, second] : kPairs) {
      if (here == first && next == second && together) found_.push_back(std::string(first) + " " + std::string(second));
    }
  }

  const Sentence& sentence_;
  const bool heading_;
  std::vector<std::string> found_;
};

std::string spoken(const Sentence& sentence) {
  std::string text;
  for (const Word& word : sentence.words) text += (text.empty() ? "" : " ") + std::string(word.raw);
  return text;
}

std::vector<Finding> findings_of(const std::vector<Passage>& passages) {
  std::vector<Finding> found;
  for (const Passage& passage : passages) {
    const std::string text = plain(passage.text);
    for (const Sentence& sentence : sentences_of(text, passage.line)) {
      for (std::string& rule : Reader(sentence, passage.heading).rules())
        found.push_back({sentence.words.front().line, std::move(rule), spoken(sentence)});
    }
  }
  return found;
}

}  // namespace

std::vector<Finding> prose_of_document(std::string_view markdown) { return findings_of(passages_of_document(markdown)); }
std::vector<Finding> prose_of_comments(std::string_view cpp) { return findings_of(passages_of_comments(cpp)); }

}  // namespace coordkit::house
