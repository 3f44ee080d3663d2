// What Swift's importer cannot see of libmicrohttpd. One line each, with the reason.
#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H
#include <microhttpd.h>
#endif
