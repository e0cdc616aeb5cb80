// A reader of C++ that knows just enough of it to find classes and to count what they declare. What a class inherits and what
// is nested in it are not its own; a nested class is found as one more class.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coordkit::house {

// Words, among them qualified names, and single other characters.
using Tokens = std::vector<std::string>;
Tokens tokens_of(std::string_view text);

struct Field {
  std::string name;
  Tokens type;          // all that is declared before the name
  bool begins = false;  // it has a value in its declaration, after `=`
};

struct Class {
  std::string name;
  size_t methods = 0;  // constructors included
  std::vector<Field> fields = {};
};

std::vector<Class> classes_in(std::string_view text);

// Whether the token stands in this type outside of angle brackets.
bool has_outside(const Tokens& type, std::string_view token);

}  // namespace coordkit::house
