// What Swift's importer cannot see of libcurl: its variadic functions. One line each, one per argument type.
#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H
#include <curl/curl.h>

/// curl_easy_setopt is variadic: an option that takes a number.
static inline CURLcode ccurl_set_long(CURL *_Nonnull easy, CURLoption option, long value) { return curl_easy_setopt(easy, option, value); }

/// curl_easy_setopt is variadic: an option that takes a string, which libcurl copies.
static inline CURLcode ccurl_set_string(CURL *_Nonnull easy, CURLoption option, const char *_Nullable value) { return curl_easy_setopt(easy, option, value); }

/// curl_easy_setopt is variadic: an option that takes a pointer, which libcurl keeps.
static inline CURLcode ccurl_set_pointer(CURL *_Nonnull easy, CURLoption option, void *_Nullable value) { return curl_easy_setopt(easy, option, value); }

/// curl_easy_setopt is variadic: an option that takes a block of memory, copied when its flags say CURL_BLOB_COPY.
static inline CURLcode ccurl_set_blob(CURL *_Nonnull easy, CURLoption option, struct curl_blob *_Nonnull value) { return curl_easy_setopt(easy, option, value); }

/// curl_easy_setopt is variadic: CURLOPT_WRITEFUNCTION or CURLOPT_HEADERFUNCTION.
static inline CURLcode ccurl_set_receiver(CURL *_Nonnull easy, CURLoption option, curl_write_callback _Nonnull value) { return curl_easy_setopt(easy, option, value); }

/// curl_easy_setopt is variadic: CURLOPT_READFUNCTION.
static inline CURLcode ccurl_set_supplier(CURL *_Nonnull easy, curl_read_callback _Nonnull value) { return curl_easy_setopt(easy, CURLOPT_READFUNCTION, value); }

/// curl_easy_setopt is variadic: an option that takes a curl_off_t.
static inline CURLcode ccurl_set_offset(CURL *_Nonnull easy, CURLoption option, curl_off_t value) { return curl_easy_setopt(easy, option, value); }

/// curl_easy_setopt is variadic: CURLOPT_PREREQFUNCTION.
static inline CURLcode ccurl_set_prerequest(CURL *_Nonnull easy, curl_prereq_callback _Nonnull value) { return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value); }

/// curl_easy_setopt is variadic: CURLOPT_DEBUGFUNCTION.
static inline CURLcode ccurl_set_tracer(CURL *_Nonnull easy, curl_debug_callback _Nonnull value) { return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value); }

/// curl_easy_getinfo is variadic: a number.
static inline CURLcode ccurl_get_long(CURL *_Nonnull easy, CURLINFO info, long *_Nonnull value) { return curl_easy_getinfo(easy, info, value); }

/// curl_easy_getinfo is variadic: a string that libcurl owns.
static inline CURLcode ccurl_get_string(CURL *_Nonnull easy, CURLINFO info, const char *_Nullable *_Nonnull value) { return curl_easy_getinfo(easy, info, value); }

/// curl_easy_getinfo is variadic: the pointer that was set with CURLOPT_PRIVATE.
static inline CURLcode ccurl_get_private(CURL *_Nonnull easy, void *_Nullable *_Nonnull value) { return curl_easy_getinfo(easy, CURLINFO_PRIVATE, value); }

/// curl_multi_setopt is variadic: an option that takes a number.
static inline CURLMcode ccurl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value) { return curl_multi_setopt(multi, option, value); }
#endif
