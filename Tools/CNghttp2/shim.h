// The header compression of nghttp2 (RFC 7541). Everything that is used imports as it is.
#ifndef CNGHTTP2_SHIM_H
#define CNGHTTP2_SHIM_H
#include <nghttp2/nghttp2.h>
#endif
