// What Swift's importer cannot see of OpenSSL's libcrypto. One line each, with the reason.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#endif
