#include "transport/frame_writer.h"

#include <utility>

namespace coordkit::tcp {

void FrameWriter::add(FrameKind kind, Frame frame) {
  frames_.push_back(std::move(frame));
  kinds_.push_back(kind);
}

void FrameWriter::seal() {
  kinds_.resize(frames_.size(), FrameKind::Message);
  headers_.resize(frames_.size());  // first: buffers point into it
  buffers_.clear();
  sent_ = 0;
  for (size_t i = 0; i < frames_.size(); ++i) {
    headers_[i] = make_frame_header(kinds_[i], kOnlyGroup, frames_[i].body, sums_);
    sums_.next();
    if (next_key_ && kinds_[i] == FrameKind::Hello) {
      sums_.set_key(*next_key_);
      next_key_.reset();
    }
    buffers_.emplace_back(asio::buffer(headers_[i]));
    if (!frames_[i].body.empty()) buffers_.emplace_back(asio::buffer(frames_[i].body));
  }
}

Buffers FrameWriter::unsent() const {
  const asio::const_buffer* all = buffers_.data();
  return {all + sent_, all + buffers_.size()};
}

bool FrameWriter::sent(size_t bytes) {
  while (sent_ < buffers_.size() && bytes >= buffers_[sent_].size()) bytes -= buffers_[sent_++].size();
  if (sent_ < buffers_.size()) {
    buffers_[sent_] += bytes;
    return false;
  }
  frames_.clear();
  kinds_.clear();
  return true;
}

}  // namespace coordkit::tcp
