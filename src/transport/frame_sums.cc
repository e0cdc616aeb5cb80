#include "transport/frame_sums.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <new>

#include "base/fixed.h"
#include "base/sums.h"

namespace coordkit {
namespace {

constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;

void must(int done) {
  if (done != 1) throw std::bad_alloc();  // with the arguments below nothing else can fail
}

const uint8_t* bytes(const char* at) { return reinterpret_cast<const uint8_t*>(at); }

}  // namespace

// AES-GCM is GMAC if there is nothing to encrypt.
struct FrameSums::Mac {
  explicit Mac(const std::array<uint8_t, 32>& key) : context(EVP_CIPHER_CTX_new()) {
    if (context == nullptr) throw std::bad_alloc();
    must(EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nullptr, key.data(), nullptr));
  }
  ~Mac() { EVP_CIPHER_CTX_free(context); }
  Mac(const Mac&) = delete;
  Mac& operator=(const Mac&) = delete;

  uint64_t operator()(uint64_t number, const char* header, std::string_view body) {
    std::array<char, kNonceBytes> nonce{};
    store_u64(nonce.data() + 4, number);
    int size = 0;
    must(EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, bytes(nonce.data())));
    must(EVP_EncryptUpdate(context, nullptr, &size, bytes(header), 24));
    if (!body.empty()) must(EVP_EncryptUpdate(context, nullptr, &size, bytes(body.data()), static_cast<int>(body.size())));
    std::array<uint8_t, kTagBytes> tag{};
    must(EVP_EncryptFinal_ex(context, tag.data(), &size));
    must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()));
    return load_u64(reinterpret_cast<const char*>(tag.data()));
  }

  EVP_CIPHER_CTX* context;
};

FrameSums::FrameSums(uint64_t seed) : seed_(seed) {}
FrameSums::~FrameSums() = default;
FrameSums::FrameSums(FrameSums&&) noexcept = default;
FrameSums& FrameSums::operator=(FrameSums&&) noexcept = default;

void FrameSums::set_seed(uint64_t seed) {
  seed_ = seed;
  number_ = 0;
  mac_.reset();
}

void FrameSums::set_key(const SessionKey& key) {
  mac_ = std::make_unique<Mac>(key.frames);
  seed_ = key.headers;
  number_ = 0;
}

uint32_t FrameSums::of_header(const char* header) const {
  return static_cast<uint32_t>(hash_bytes({header, 20}, seed_ + number_));
}

uint64_t FrameSums::of_frame(const char* header, std::string_view body) {
  if (mac_) return (*mac_)(number_, header, body);
  return hash_bytes(body, hash_bytes({header, 24}, seed_ + number_));
}

bool FrameSums::equal(uint64_t a, uint64_t b) const { return CRYPTO_memcmp(&a, &b, sizeof a) == 0; }

}  // namespace coordkit
