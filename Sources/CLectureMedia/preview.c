// The newest picture of a broadcast as bytes, for one reader: what the broadcaster sees. The producer never waits for
// the reader; a picture that was not read before the next one comes is left out.
#include "internal.h"
#include <stdlib.h>
#include <string.h>

struct clm_preview {
    int width, height;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    /// The newest picture; empty when it was taken. Under `lock`.
    AVFrame *newest;
    bool is_closed;
    /// Of the reader: the planes of one picture, one after the other, and how much of them was read.
    uint8_t *bytes;
    int size, position;
};

clm_preview *clm_preview_create(int32_t width, int32_t height) {
    int size = av_image_get_buffer_size(AV_PIX_FMT_YUV420P, width, height, 1);
    clm_preview *preview = size > 0 ? calloc(1, sizeof *preview) : NULL;
    if (!preview) return NULL;
    preview->width = width;
    preview->height = height;
    preview->size = preview->position = size;
    pthread_mutex_init(&preview->lock, NULL);
    pthread_cond_init(&preview->filled, NULL);
    preview->newest = av_frame_alloc();
    preview->bytes = malloc((size_t)size);
    if (preview->newest && preview->bytes) return preview;
    clm_preview_free(preview);
    return NULL;
}

void clm_preview_put(clm_preview *preview, const AVFrame *picture) {
    if (picture->width != preview->width || picture->height != preview->height) return;
    // The reader has the lock for the moment of an exchange only; should it have it now, the next picture is shown.
    if (pthread_mutex_trylock(&preview->lock) != 0) return;
    av_frame_unref(preview->newest);
    if (!preview->is_closed && av_frame_ref(preview->newest, picture) >= 0) pthread_cond_signal(&preview->filled);
    pthread_mutex_unlock(&preview->lock);
}

/// Waits for a picture, and copies its planes. False when the preview was closed.
static bool take(clm_preview *preview) {
    AVFrame *picture = av_frame_alloc();
    if (!picture) return false;
    pthread_mutex_lock(&preview->lock);
    while (!preview->is_closed && !preview->newest->buf[0]) pthread_cond_wait(&preview->filled, &preview->lock);
    bool is_open = !preview->is_closed;
    if (is_open) av_frame_move_ref(picture, preview->newest);
    pthread_mutex_unlock(&preview->lock);
    bool is_taken = is_open
        && av_image_copy_to_buffer(preview->bytes, preview->size, (const uint8_t *const *)picture->data,
                                   picture->linesize, AV_PIX_FMT_YUV420P, preview->width, preview->height, 1)
            >= 0;
    av_frame_free(&picture);
    if (is_taken) preview->position = 0;
    return is_taken;
}

int64_t clm_preview_read(clm_preview *preview, void *buffer, int64_t count) {
    if (count <= 0 || (preview->position == preview->size && !take(preview))) return 0;
    int length = (int)FFMIN(count, preview->size - preview->position);
    memcpy(buffer, preview->bytes + preview->position, (size_t)length);
    preview->position += length;
    return length;
}

void clm_preview_close(clm_preview *preview) {
    pthread_mutex_lock(&preview->lock);
    preview->is_closed = true;
    av_frame_unref(preview->newest);
    pthread_cond_broadcast(&preview->filled);
    pthread_mutex_unlock(&preview->lock);
}

void clm_preview_free(clm_preview *preview) {
    av_frame_free(&preview->newest);
    free(preview->bytes);
    pthread_cond_destroy(&preview->filled);
    pthread_mutex_destroy(&preview->lock);
    free(preview);
}
