// What Swift's importer cannot see of OpenSSL's libcrypto. One line each, with the reason.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/objects.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/// Readies a GMAC context for AES-256-GCM. In C, because OSSL_PARAM keeps the pointer to its key's name, and Swift lends
/// the text of a string macro only for one call. The cipher comes first: a nonce without one is lost. Returns 1 or 0.
static inline int copenssl_gmac_init(
    EVP_MAC_CTX *_Nonnull context, const unsigned char *_Nullable key, size_t key_length,
    unsigned char *_Nonnull nonce, size_t nonce_length) {
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, (char *)"AES-256-GCM", 0),
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, nonce, nonce_length), OSSL_PARAM_construct_end()};
    return EVP_MAC_init(context, key, key_length, parameters);
}

/// Readies an HMAC context for SHA-256; in C for the same reason. Returns 1 or 0.
static inline int copenssl_hmac_init(
    EVP_MAC_CTX *_Nonnull context, const unsigned char *_Nonnull key, size_t key_length) {
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0), OSSL_PARAM_construct_end()};
    return EVP_MAC_init(context, key, key_length, parameters);
}
#endif
