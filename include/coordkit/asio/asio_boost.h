// For the other headers named asio_*: they use Asio as it is since Boost 1.81. A program with an
// older Boost is refused with a sentence. The rest of coordkit, asio_executor.h included, accepts
// Boost 1.74.
#pragma once

#include <boost/version.hpp>

#if BOOST_VERSION < 108100
#error "coordkit/asio/asio.h needs Boost 1.81 or newer; the functions called *_async and the blocking ones need none"
#endif
