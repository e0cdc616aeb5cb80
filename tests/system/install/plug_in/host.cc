// Knows only two functions, nothing about coordkit.
#include <dlfcn.h>

#include <iostream>
#include <string>
#include <system_error>

std::string sentence_of_bad_options();

int main(int, char** argv) {
  std::cout << "the library: " << sentence_of_bad_options() << std::endl;
  void* plug_in = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (plug_in == nullptr) {
    std::cerr << dlerror() << "\n";
    return 1;
  }
  const auto visit = reinterpret_cast<int (*)(const char*)>(dlsym(plug_in, "visit"));
  try {
    return visit("billing");
  } catch (const std::system_error& error) {
    std::cout << "the plug-in: wrote once, then caught: " << error.what() << std::endl;
  }
  return 0;
}
