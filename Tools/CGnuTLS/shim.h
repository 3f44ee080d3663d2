// Digests, signatures, certificates and TLS of GnuTLS, which libmicrohttpd brings along. Everything that is used imports
// as it is.
#ifndef CGNUTLS_SHIM_H
#define CGNUTLS_SHIM_H
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#endif
