// The bytes of what engines say about members and leadership: genesis offers, changes and transfers (wire.h, the part of it
// that is about who belongs). Kind bytes and limits are there; what is decoded here is as hostile.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "coordkit/message.h"

namespace coordkit {

void write_body(std::string& body, const GenesisOffer& m);
void write_body(std::string& body, const ChangeRequest& m);
void write_body(std::string& body, const ChangeReply& m);
void write_body(std::string& body, const TransferRequest& m);
void write_body(std::string& body, const TransferReply& m);

// kDataLoss, or protozero::exception: malformed or beyond a limit.
absl::StatusOr<Message> decode_genesis_offer(protozero::pbf_reader in);
absl::StatusOr<Message> decode_change_request(protozero::pbf_reader in);
absl::StatusOr<Message> decode_change_reply(protozero::pbf_reader in);
absl::StatusOr<Message> decode_transfer_request(protozero::pbf_reader in);
absl::StatusOr<Message> decode_transfer_reply(protozero::pbf_reader in);

}  // namespace coordkit
