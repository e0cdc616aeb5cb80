// A replica's answer, printed as it arrives: a table for people, or a line of JSON for each row.
#pragma once

#include <string>
#include <vector>

namespace coordkit::coordctl {

class AnswerPrinter {
 public:
  enum class Form {
    Table,    // aligned, once all rows have arrived
    Lines,    // each row at once, its cells two spaces apart
    Objects,  // each row at once, as a JSON object
  };
  explicit AnswerPrinter(Form form) : form_(form) {}

  void columns(const std::vector<std::string>& names);
  void row(std::vector<std::string> cells);
  void end();  // ends the answer

 private:
  struct Column {
    enum class Kind { Text, Number, Flag } kind = Kind::Text;
    std::string name;
  };
  std::string object(const std::vector<std::string>& cells) const;
  void print_table() const;

  const Form form_;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace coordkit::coordctl
