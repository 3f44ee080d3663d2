// What Swift's importer cannot see of libcurl: its variadic functions. One line each, one per argument type.
#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H
#include <curl/curl.h>
#endif
