// The types of libmpv's functions, without linking the library, which is opened with the first player. The compiler
// takes them from libmpv's own declarations.
#ifndef CMPV_SHIM_H
#define CMPV_SHIM_H
#include <mpv/client.h>
#include <mpv/render.h>
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
typedef __typeof__(&mpv_render_context_create) cmpv_render_context_create;
typedef __typeof__(&mpv_render_context_set_update_callback) cmpv_render_context_set_update_callback;
typedef __typeof__(&mpv_render_context_update) cmpv_render_context_update;
typedef __typeof__(&mpv_render_context_render) cmpv_render_context_render;
typedef __typeof__(&mpv_render_context_free) cmpv_render_context_free;

/// Parameters are arrays of pointers to pointers, which C writes in a line (render.h, `mpv_render_param`). Creates a
/// renderer into memory; NULL when libmpv refuses.
static inline mpv_render_context *_Nullable cmpv_create_renderer(cmpv_render_context_create _Nonnull create,
                                                                 mpv_handle *_Nonnull player) {
    mpv_render_context *context = NULL;
    mpv_render_param parameters[] = {{MPV_RENDER_PARAM_API_TYPE, (void *)MPV_RENDER_API_TYPE_SW},
                                     {MPV_RENDER_PARAM_INVALID, NULL}};
    return create(&context, player, parameters) < 0 ? NULL : context;
}

/// Renders the current picture, four bytes a pixel: red, green, blue and one that means nothing.
static inline int cmpv_render(cmpv_render_context_render _Nonnull render, mpv_render_context *_Nonnull context,
                              int width, int height, size_t stride, void *_Nonnull pixels) {
    int size[] = {width, height};
    mpv_render_param parameters[] = {{MPV_RENDER_PARAM_SW_SIZE, size},
                                     {MPV_RENDER_PARAM_SW_FORMAT, (void *)"rgb0"},
                                     {MPV_RENDER_PARAM_SW_STRIDE, &stride},
                                     {MPV_RENDER_PARAM_SW_POINTER, pixels},
                                     {MPV_RENDER_PARAM_INVALID, NULL}};
    return render(context, parameters);
}

/// Whether the result of `mpv_render_context_update` says that there is another picture.
static inline _Bool cmpv_has_picture(uint64_t flags) { return flags & MPV_RENDER_UPDATE_FRAME; }
#endif
