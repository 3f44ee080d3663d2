// The types of libmpv's functions, without linking the library, which is opened with the first player. The compiler
// takes them from libmpv's own declarations.
#ifndef CMPV_SHIM_H
#define CMPV_SHIM_H
#include <mpv/client.h>
#include <mpv/stream_cb.h>

typedef __typeof__(&mpv_create) cmpv_create;
typedef __typeof__(&mpv_initialize) cmpv_initialize;
typedef __typeof__(&mpv_terminate_destroy) cmpv_terminate_destroy;
typedef __typeof__(&mpv_error_string) cmpv_error_string;
typedef __typeof__(&mpv_set_option_string) cmpv_set_option_string;
typedef __typeof__(&mpv_set_property) cmpv_set_property;
typedef __typeof__(&mpv_get_property) cmpv_get_property;
typedef __typeof__(&mpv_observe_property) cmpv_observe_property;
typedef __typeof__(&mpv_command_async) cmpv_command_async;
typedef __typeof__(&mpv_wait_event) cmpv_wait_event;
typedef __typeof__(&mpv_stream_cb_add_ro) cmpv_stream_cb_add_ro;
#endif
