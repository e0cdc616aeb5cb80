// For the other headers that are called asio_*: they use Asio as it is since Boost 1.81, and a program with an older one is
// refused with a sentence. The rest of coordkit, asio_executor.h included, takes Boost 1.74.
#pragma once

#include <boost/version.hpp>

#if BOOST_VERSION < 108100
#error "coordkit/asio.h needs Boost 1.81 or newer; the functions called *_async and the blocking ones need none"
#endif
