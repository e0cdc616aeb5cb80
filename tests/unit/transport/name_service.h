// A name service that answers when it is told to: this program's getaddrinfo() takes precedence over the C library's. Names
// below "silent.test" get no answer until release(), and then none that is any good. All others are this machine's, as far as
// the C library does not know them. "known.test" is this machine, and "both.test" has two addresses, 127.0.0.1 and 127.0.0.2.
// One instance at a time.
#pragma once

namespace coordkit::testkit {

class NameService {
 public:
  NameService();
  ~NameService() { release(); }  // once every question is answered
  NameService(const NameService&) = delete;
  NameService& operator=(const NameService&) = delete;

  // Until so many have been asked for that get no answer, or that are hidden.
  void wait_asked(int count);
  int asked() const;
  // "known.test" is not known any more.
  void hide();
  // Those that wait get their answers, later ones do not.
  void answer();
  // All get their answers; returns when they have.
  void release();
};

}  // namespace coordkit::testkit
