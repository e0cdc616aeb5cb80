// Uses so little of coordkit that all of it would link with any settings.
#include <coordkit/types.h>

#include <iostream>

int main() {
  std::cout << coordkit::ReplicaId(3).value() << std::endl;
  return 0;
}
