// What Swift's importer cannot do with libcurl: call its variadic functions, and name the type of a function without
// linking the library, which is opened with the first request. One line each; the compiler takes the types from libcurl's
// own declarations.
#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H
#include <curl/curl.h>
// Swift's Glibc module leaves it out.
#include <sys/epoll.h>

typedef __typeof__(&curl_easy_init) ccurl_easy_init;
typedef __typeof__(&curl_easy_cleanup) ccurl_easy_cleanup;
typedef __typeof__(&curl_easy_reset) ccurl_easy_reset;
typedef __typeof__(&curl_easy_pause) ccurl_easy_pause;
typedef __typeof__(&curl_easy_strerror) ccurl_easy_strerror;
typedef __typeof__(&curl_slist_append) ccurl_slist_append;
typedef __typeof__(&curl_slist_free_all) ccurl_slist_free_all;
typedef __typeof__(&curl_global_init) ccurl_global_init;
typedef __typeof__(&curl_multi_init) ccurl_multi_init;
typedef __typeof__(&curl_multi_cleanup) ccurl_multi_cleanup;
typedef __typeof__(&curl_multi_add_handle) ccurl_multi_add_handle;
typedef __typeof__(&curl_multi_remove_handle) ccurl_multi_remove_handle;
typedef __typeof__(&curl_multi_socket_action) ccurl_multi_socket_action;
typedef __typeof__(&curl_multi_timeout) ccurl_multi_timeout;
typedef __typeof__(&curl_multi_info_read) ccurl_multi_info_read;
typedef __typeof__(&curl_url) ccurl_url;
typedef __typeof__(&curl_url_cleanup) ccurl_url_cleanup;
typedef __typeof__(&curl_url_set) ccurl_url_set;
typedef __typeof__(&curl_url_get) ccurl_url_get;
typedef __typeof__(&curl_url_strerror) ccurl_url_strerror;
typedef __typeof__(&curl_free) ccurl_free;
/// A variadic function, whose type Swift cannot name; the shims below give it back its own.
typedef void (*ccurl_variadic)(void);

/// curl_easy_setopt is variadic: an option that takes a number.
static inline CURLcode ccurl_set_long(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, CURLoption option, long value) { return ((__typeof__(&curl_easy_setopt))function)(easy, option, value); }

/// curl_easy_setopt is variadic: an option that takes a string, which libcurl copies.
static inline CURLcode ccurl_set_string(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, CURLoption option, const char *_Nullable value) { return ((__typeof__(&curl_easy_setopt))function)(easy, option, value); }

/// curl_easy_setopt is variadic: an option that takes a pointer, which libcurl keeps.
static inline CURLcode ccurl_set_pointer(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, CURLoption option, void *_Nullable value) { return ((__typeof__(&curl_easy_setopt))function)(easy, option, value); }

/// curl_easy_setopt is variadic: an option that takes a block of memory, copied when its flags say CURL_BLOB_COPY.
static inline CURLcode ccurl_set_blob(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, CURLoption option, struct curl_blob *_Nonnull value) { return ((__typeof__(&curl_easy_setopt))function)(easy, option, value); }

/// curl_easy_setopt is variadic: CURLOPT_WRITEFUNCTION or CURLOPT_HEADERFUNCTION.
static inline CURLcode ccurl_set_receiver(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, CURLoption option, curl_write_callback _Nonnull value) { return ((__typeof__(&curl_easy_setopt))function)(easy, option, value); }

/// curl_easy_setopt is variadic: CURLOPT_READFUNCTION.
static inline CURLcode ccurl_set_supplier(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, curl_read_callback _Nonnull value) { return ((__typeof__(&curl_easy_setopt))function)(easy, CURLOPT_READFUNCTION, value); }

/// curl_easy_setopt is variadic: an option that takes a curl_off_t.
static inline CURLcode ccurl_set_offset(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, CURLoption option, curl_off_t value) { return ((__typeof__(&curl_easy_setopt))function)(easy, option, value); }

/// curl_easy_setopt is variadic: CURLOPT_PREREQFUNCTION.
static inline CURLcode ccurl_set_prerequest(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, curl_prereq_callback _Nonnull value) { return ((__typeof__(&curl_easy_setopt))function)(easy, CURLOPT_PREREQFUNCTION, value); }

/// curl_easy_setopt is variadic: CURLOPT_DEBUGFUNCTION.
static inline CURLcode ccurl_set_tracer(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, curl_debug_callback _Nonnull value) { return ((__typeof__(&curl_easy_setopt))function)(easy, CURLOPT_DEBUGFUNCTION, value); }

/// curl_easy_getinfo is variadic: a number.
static inline CURLcode ccurl_get_long(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, CURLINFO info, long *_Nonnull value) { return ((__typeof__(&curl_easy_getinfo))function)(easy, info, value); }

/// curl_easy_getinfo is variadic: a number of 64 bits, such as a time in microseconds.
static inline CURLcode ccurl_get_offset(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, CURLINFO info, curl_off_t *_Nonnull value) { return ((__typeof__(&curl_easy_getinfo))function)(easy, info, value); }

/// curl_easy_getinfo is variadic: a string that libcurl owns.
static inline CURLcode ccurl_get_string(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, CURLINFO info, const char *_Nullable *_Nonnull value) { return ((__typeof__(&curl_easy_getinfo))function)(easy, info, value); }

/// curl_easy_getinfo is variadic: the pointer that was set with CURLOPT_PRIVATE.
static inline CURLcode ccurl_get_private(ccurl_variadic _Nonnull function, CURL *_Nonnull easy, void *_Nullable *_Nonnull value) { return ((__typeof__(&curl_easy_getinfo))function)(easy, CURLINFO_PRIVATE, value); }

/// curl_multi_setopt is variadic: an option that takes a number.
static inline CURLMcode ccurl_multi_set_long(ccurl_variadic _Nonnull function, CURLM *_Nonnull multi, CURLMoption option, long value) { return ((__typeof__(&curl_multi_setopt))function)(multi, option, value); }

/// curl_multi_setopt is variadic: an option that takes a pointer, which libcurl keeps.
static inline CURLMcode ccurl_multi_set_pointer(ccurl_variadic _Nonnull function, CURLM *_Nonnull multi, CURLMoption option, void *_Nullable value) { return ((__typeof__(&curl_multi_setopt))function)(multi, option, value); }

/// curl_multi_setopt is variadic: CURLMOPT_SOCKETFUNCTION.
static inline CURLMcode ccurl_multi_set_watcher(ccurl_variadic _Nonnull function, CURLM *_Nonnull multi, curl_socket_callback _Nonnull value) { return ((__typeof__(&curl_multi_setopt))function)(multi, CURLMOPT_SOCKETFUNCTION, value); }
#endif
