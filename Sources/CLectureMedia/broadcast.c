// A broadcast: the thread that makes and encodes pictures and sound, and what changes it while it runs.
//
//   source → effects → encoders → queue → connection
//   `------ one thread ------'            `- its own -'
//
// `control` is taken by calls that connect and disconnect, `exchanging` by those that change the source, which may
// block; `lock` for moments, at most those of an inset's picture; `encoding` while one picture or sound is encoded, so
// that a call that disconnects waits until it is queued.
#include "internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct clm_broadcast {
    clm_configuration configuration;
    clm_encoder encoder;
    clm_source source, inset;
    clm_effects effects;
    clm_queue queue;
    clm_link *link;
    clm_link_counts counts;
    /// Another source, until the thread takes it: it is the one before then. Under `lock`.
    clm_source *exchange;
    pthread_mutex_t control, exchanging, lock, encoding;
    pthread_cond_t wake, exchanged;
    pthread_t thread;
    bool has_thread, is_closed, has_inset;
    /// How many calls wait to disconnect: a call that connects meanwhile makes way.
    atomic_int leaving;
    /// Under `lock`.
    clm_effect_values values;
    AVFrame *image;
    clm_preview *preview;
    enum clm_code last_error;
    bool is_stopping, is_over;
    atomic_bool is_accepting, is_connected, needs_key, is_silent, has_preview;
    _Atomic int32_t bitrate;
    atomic_uint_fast64_t frames_made, frames_encoded;
    /// Of the thread: pictures and samples since the start, which was at `start`.
    int64_t ticks, samples, start;
    clm_ended ended;
    void *context;
};

// MARK: The thread

/// Waits for a time from the start, milliseconds. False when the broadcast is closed.
static bool wait_until(clm_broadcast *broadcast, int64_t time) {
    int64_t due = broadcast->start + time;
    // After a standstill of the machine, the time that was lost is not made up for.
    if (clm_now() > due + 2000) broadcast->start += clm_now() - due;
    struct timespec end = clm_time(due);
    pthread_mutex_lock(&broadcast->lock);
    while (!broadcast->is_stopping && clm_now() < due)
        pthread_cond_timedwait(&broadcast->wake, &broadcast->lock, &end);
    bool goes_on = !broadcast->is_stopping;
    pthread_mutex_unlock(&broadcast->lock);
    return goes_on;
}

/// Whether there still is a connection to encode for. Then `encoding` is taken.
static bool begin_encoding(clm_broadcast *broadcast) {
    pthread_mutex_lock(&broadcast->encoding);
    if (atomic_load(&broadcast->is_accepting)) return true;
    pthread_mutex_unlock(&broadcast->encoding);
    return false;
}

/// Called with `encoding` taken.
static void encode(clm_broadcast *broadcast, AVCodecContext *context, const AVFrame *frame) {
    if (avcodec_send_frame(context, frame) < 0) return;
    bool is_video = context == broadcast->encoder.video;
    for (;;) {
        AVPacket *packet = av_packet_alloc();
        if (!packet || avcodec_receive_packet(context, packet) < 0) {
            av_packet_free(&packet);
            return;
        }
        if (is_video) atomic_fetch_add(&broadcast->frames_encoded, 1);
        if (clm_queue_push(&broadcast->queue, packet, is_video, context->time_base))
            atomic_store(&broadcast->needs_key, true);
    }
}

/// The still image, or the source's picture with effects. `made` is empty before.
static int compose(clm_broadcast *broadcast, AVFrame *picture, AVFrame *inset, AVFrame *made) {
    pthread_mutex_lock(&broadcast->lock);
    clm_effect_values values = broadcast->values;
    int result = broadcast->image ? av_frame_ref(made, broadcast->image) : 0;
    pthread_mutex_unlock(&broadcast->lock);
    if (result < 0) return result;
    if (made->buf[0] && !values.is_muted) return 0;
    if (made->buf[0]) {
        // An image that is shown is muted as the source's picture is.
        av_frame_unref(picture);
        av_frame_move_ref(picture, made);
    }
    picture->pts = broadcast->ticks;
    bool has_inset = inset->buf[0] != NULL;
    return clm_effects_apply(&broadcast->effects, &values, picture, has_inset ? inset : NULL, made);
}

/// Puts the second source's picture into `inset`, when there is one. At its end it goes on no more.
static void add_inset(clm_broadcast *broadcast, int64_t time, AVFrame *inset) {
    pthread_mutex_lock(&broadcast->lock);
    if (broadcast->has_inset && clm_source_picture(&broadcast->inset, time, &broadcast->configuration, inset) < 0)
        av_frame_unref(inset);
    pthread_mutex_unlock(&broadcast->lock);
}

/// Takes another source where one waits, between two pictures.
static void take_source(clm_broadcast *broadcast) {
    pthread_mutex_lock(&broadcast->lock);
    if (broadcast->exchange) {
        clm_source before = broadcast->source;
        broadcast->source = *broadcast->exchange;
        // The numbers of test pictures go on.
        broadcast->source.counter = before.counter;
        *broadcast->exchange = before;
        broadcast->exchange = NULL;
        atomic_store(&broadcast->needs_key, true);
        pthread_cond_broadcast(&broadcast->exchanged);
    }
    pthread_mutex_unlock(&broadcast->lock);
}

/// Shows a picture to the broadcaster.
static void show(clm_broadcast *broadcast, const AVFrame *made) {
    pthread_mutex_lock(&broadcast->lock);
    if (broadcast->preview) clm_preview_put(broadcast->preview, made);
    pthread_mutex_unlock(&broadcast->lock);
}

static void encode_picture(clm_broadcast *broadcast, AVFrame *made) {
    if (!begin_encoding(broadcast)) return;
    made->pts = broadcast->ticks;
    bool is_key = atomic_exchange(&broadcast->needs_key, false);
    made->pict_type = is_key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
    clm_encoder_set_bitrate(&broadcast->encoder, atomic_load(&broadcast->bitrate));
    encode(broadcast, broadcast->encoder.video, made);
    pthread_mutex_unlock(&broadcast->encoding);
}

static void encode_sound(clm_broadcast *broadcast, const AVFrame *sound) {
    if (!begin_encoding(broadcast)) return;
    encode(broadcast, broadcast->encoder.audio, sound);
    pthread_mutex_unlock(&broadcast->encoding);
}

static int make_picture(clm_broadcast *broadcast) {
    take_source(broadcast);
    AVFrame *picture = av_frame_alloc(), *inset = av_frame_alloc(), *made = av_frame_alloc();
    int64_t time = av_rescale(broadcast->ticks, 1000000, broadcast->configuration.frames_per_second);
    int result = picture && inset && made ? 0 : AVERROR(ENOMEM);
    if (result >= 0) result = clm_source_picture(&broadcast->source, time, &broadcast->configuration, picture);
    if (result >= 0) {
        atomic_fetch_add(&broadcast->frames_made, 1);
        add_inset(broadcast, time, inset);
        bool is_accepting = atomic_load(&broadcast->is_accepting), is_shown = atomic_load(&broadcast->has_preview);
        if (is_accepting || is_shown) result = compose(broadcast, picture, inset, made);
        if (result >= 0 && is_shown) show(broadcast, made);
        if (result >= 0 && is_accepting) encode_picture(broadcast, made);
    }
    broadcast->ticks++;
    av_frame_free(&picture);
    av_frame_free(&inset);
    av_frame_free(&made);
    return result;
}

static int make_sound(clm_broadcast *broadcast) {
    AVFrame *sound = av_frame_alloc();
    if (!sound) return AVERROR(ENOMEM);
    AVCodecContext *audio = broadcast->encoder.audio;
    sound->format = audio->sample_fmt;
    sound->sample_rate = audio->sample_rate;
    sound->nb_samples = audio->frame_size;
    int result = av_channel_layout_copy(&sound->ch_layout, &audio->ch_layout);
    if (result >= 0) result = av_frame_get_buffer(sound, 0);
    if (result >= 0) result = clm_source_sound(&broadcast->source, broadcast->samples, sound);
    if (clm_source_has_lost_sound(&broadcast->source)) broadcast->ended(broadcast->context, CLM_NO_MICROPHONE);
    if (result >= 0 && atomic_load(&broadcast->is_silent))
        av_samples_set_silence(sound->data, 0, sound->nb_samples, CLM_CHANNELS, sound->format);
    sound->pts = broadcast->samples;
    if (result >= 0) encode_sound(broadcast, sound);
    broadcast->samples += audio->frame_size;
    av_frame_free(&sound);
    return result;
}

static void *produce(void *argument) {
    clm_broadcast *broadcast = argument;
    int64_t rate = broadcast->configuration.sample_rate, frames = broadcast->configuration.frames_per_second;
    int result = 0;
    broadcast->start = clm_now();
    while (result >= 0) {
        bool is_picture = broadcast->ticks * rate <= broadcast->samples * frames;
        int64_t due = is_picture ? broadcast->ticks * 1000 / frames : broadcast->samples * 1000 / rate;
        if (!wait_until(broadcast, due)) return NULL;
        result = is_picture ? make_picture(broadcast) : make_sound(broadcast);
    }
    pthread_mutex_lock(&broadcast->lock);
    broadcast->is_over = true;
    pthread_cond_broadcast(&broadcast->exchanged);
    pthread_mutex_unlock(&broadcast->lock);
    broadcast->ended(broadcast->context, result == AVERROR_EOF ? CLM_SOURCE_ENDED : CLM_NO_SOURCE);
    return NULL;
}

// MARK: Making and ending

static bool is_valid(const clm_configuration *values) {
    return values->width >= CLM_LEAST_WIDTH && values->width <= 7680 && values->width % 2 == 0
        && values->height >= CLM_LEAST_HEIGHT && values->height <= 4320 && values->height % 2 == 0
        && values->frames_per_second >= 1 && values->frames_per_second <= 120 && values->video_bitrate >= 10000
        && values->video_bitrate <= 200000000 && values->audio_bitrate >= 8000 && values->audio_bitrate <= 512000
        && values->key_interval >= 1 && values->sample_rate >= 8000 && values->sample_rate <= 96000
        && values->write_deadline > 0 && values->queue_limit > 0;
}

static enum clm_code start(clm_broadcast *broadcast) {
    const clm_configuration *configuration = &broadcast->configuration;
    enum clm_code code = clm_source_open(&broadcast->source, &configuration->source, configuration);
    if (code == CLM_OK) code = clm_encoder_open(&broadcast->encoder, configuration);
    if (code != CLM_OK) return code;
    broadcast->has_thread = pthread_create(&broadcast->thread, NULL, produce, broadcast) == 0;
    return broadcast->has_thread ? CLM_OK : CLM_NO_RESOURCES;
}

clm_broadcast *clm_broadcast_create(const clm_configuration *configuration, clm_ended ended, void *context,
                                    enum clm_code *code) {
    clm_set_up();
    *code = CLM_BAD_VALUE;
    if (!is_valid(configuration)) return NULL;
    clm_broadcast *broadcast = calloc(1, sizeof *broadcast);
    *code = CLM_NO_RESOURCES;
    if (!broadcast) return NULL;
    broadcast->configuration = *configuration;
    broadcast->ended = ended;
    broadcast->context = context;
    broadcast->values.zoom = 1000;
    broadcast->effects.width = configuration->width;
    broadcast->effects.height = configuration->height;
    atomic_store(&broadcast->bitrate, configuration->video_bitrate);
    pthread_mutex_init(&broadcast->control, NULL);
    pthread_mutex_init(&broadcast->exchanging, NULL);
    pthread_mutex_init(&broadcast->lock, NULL);
    pthread_mutex_init(&broadcast->encoding, NULL);
    clm_condition_init(&broadcast->wake);
    clm_condition_init(&broadcast->exchanged);
    clm_queue_init(&broadcast->queue, configuration->queue_limit);
    *code = start(broadcast);
    // Only what has started reads texts no more: they belong to the caller.
    broadcast->configuration.source.name = broadcast->configuration.source.microphone = NULL;
    broadcast->configuration.preset = "";
    if (*code == CLM_OK) return broadcast;
    clm_broadcast_free(broadcast);
    return NULL;
}

/// Called with `control` taken.
static void disconnect(clm_broadcast *broadcast, int32_t drain) {
    // What is being encoded is queued first, and sent with the rest.
    pthread_mutex_lock(&broadcast->encoding);
    atomic_store(&broadcast->is_accepting, false);
    pthread_mutex_unlock(&broadcast->encoding);
    if (broadcast->link) clm_link_close(broadcast->link, drain);
    broadcast->link = NULL;
    atomic_store(&broadcast->is_connected, false);
}

void clm_broadcast_disconnect(clm_broadcast *broadcast, int32_t drain) {
    atomic_fetch_add(&broadcast->leaving, 1);
    pthread_mutex_lock(&broadcast->control);
    atomic_fetch_sub(&broadcast->leaving, 1);
    disconnect(broadcast, drain);
    pthread_mutex_unlock(&broadcast->control);
}

void clm_broadcast_close(clm_broadcast *broadcast) {
    atomic_fetch_add(&broadcast->leaving, 1);
    pthread_mutex_lock(&broadcast->control);
    atomic_fetch_sub(&broadcast->leaving, 1);
    broadcast->is_closed = true;
    disconnect(broadcast, 0);
    pthread_mutex_lock(&broadcast->lock);
    broadcast->is_stopping = true;
    pthread_cond_broadcast(&broadcast->wake);
    pthread_cond_broadcast(&broadcast->exchanged);
    pthread_mutex_unlock(&broadcast->lock);
    if (broadcast->has_thread) pthread_join(broadcast->thread, NULL);
    broadcast->has_thread = false;
    clm_source_close(&broadcast->source);
    pthread_mutex_unlock(&broadcast->control);
}

void clm_broadcast_free(clm_broadcast *broadcast) {
    clm_broadcast_close(broadcast);
    if (broadcast->has_inset) clm_source_close(&broadcast->inset);
    clm_effects_free(&broadcast->effects);
    clm_encoder_close(&broadcast->encoder);
    clm_queue_free(&broadcast->queue);
    av_frame_free(&broadcast->image);
    pthread_cond_destroy(&broadcast->exchanged);
    pthread_cond_destroy(&broadcast->wake);
    pthread_mutex_destroy(&broadcast->encoding);
    pthread_mutex_destroy(&broadcast->lock);
    pthread_mutex_destroy(&broadcast->exchanging);
    pthread_mutex_destroy(&broadcast->control);
    free(broadcast);
}

// MARK: Connecting

/// The connection has ended by itself, on its own thread.
static void link_ended(void *context, enum clm_code code) {
    clm_broadcast *broadcast = context;
    pthread_mutex_lock(&broadcast->lock);
    atomic_store(&broadcast->is_accepting, false);
    atomic_store(&broadcast->is_connected, false);
    broadcast->last_error = code;
    pthread_mutex_unlock(&broadcast->lock);
    broadcast->ended(broadcast->context, code);
}

enum clm_code clm_broadcast_connect(clm_broadcast *broadcast, const char *url) {
    if (strncmp(url, "rtmp://", 7) != 0 && strncmp(url, "rtmps://", 8) != 0) return CLM_BAD_VALUE;
    pthread_mutex_lock(&broadcast->control);
    enum clm_code code = CLM_BAD_STATE;
    if (!broadcast->is_closed && !atomic_load(&broadcast->is_connected)) {
        disconnect(broadcast, 0);
        // Before the thread of the connection starts, which may end it at once.
        atomic_store(&broadcast->needs_key, true);
        atomic_store(&broadcast->is_connected, true);
        broadcast->link = clm_link_open(url, &broadcast->encoder, &broadcast->queue, &broadcast->counts,
                                        &broadcast->configuration, &broadcast->leaving, link_ended, broadcast,
                                        &code);
        if (!broadcast->link) atomic_store(&broadcast->is_connected, false);
        pthread_mutex_lock(&broadcast->lock);
        if (!broadcast->link) broadcast->last_error = code;
        if (atomic_load(&broadcast->is_connected)) atomic_store(&broadcast->is_accepting, true);
        pthread_mutex_unlock(&broadcast->lock);
    }
    pthread_mutex_unlock(&broadcast->control);
    return code;
}

// MARK: Changes

enum clm_code clm_broadcast_set_bitrate(clm_broadcast *broadcast, int32_t bits_per_second) {
    if (bits_per_second < 10000 || bits_per_second > 200000000) return CLM_BAD_VALUE;
    atomic_store(&broadcast->bitrate, bits_per_second);
    return CLM_OK;
}

void clm_broadcast_request_key(clm_broadcast *broadcast) { atomic_store(&broadcast->needs_key, true); }

enum clm_code clm_broadcast_set_zoom(clm_broadcast *broadcast, int32_t thousandths) {
    if (thousandths < 1000 || thousandths > 16000) return CLM_BAD_VALUE;
    pthread_mutex_lock(&broadcast->lock);
    broadcast->values.zoom = thousandths;
    pthread_mutex_unlock(&broadcast->lock);
    return CLM_OK;
}

void clm_broadcast_set_mirrored(clm_broadcast *broadcast, bool is_mirrored) {
    pthread_mutex_lock(&broadcast->lock);
    broadcast->values.is_mirrored = is_mirrored;
    pthread_mutex_unlock(&broadcast->lock);
}

void clm_broadcast_mute_video(clm_broadcast *broadcast, bool is_muted) {
    pthread_mutex_lock(&broadcast->lock);
    broadcast->values.is_muted = is_muted;
    pthread_mutex_unlock(&broadcast->lock);
}

void clm_broadcast_mute_audio(clm_broadcast *broadcast, bool is_muted) {
    atomic_store(&broadcast->is_silent, is_muted);
}

enum clm_code clm_broadcast_show_image(clm_broadcast *broadcast, const char *path) {
    AVFrame *image = path ? clm_image_load(path, broadcast->effects.width, broadcast->effects.height) : NULL;
    if (path && !image) return CLM_UNREADABLE;
    pthread_mutex_lock(&broadcast->lock);
    AVFrame *old = broadcast->image;
    broadcast->image = image;
    pthread_mutex_unlock(&broadcast->lock);
    av_frame_free(&old);
    return CLM_OK;
}

enum clm_code clm_broadcast_show_inset(clm_broadcast *broadcast, const clm_source_choice *choice) {
    clm_source source = {0};
    enum clm_code code = choice ? clm_source_open(&source, choice, &broadcast->configuration) : CLM_OK;
    if (code != CLM_OK) return code;
    pthread_mutex_lock(&broadcast->lock);
    clm_source old = broadcast->inset;
    bool had_inset = broadcast->has_inset;
    broadcast->inset = source;
    broadcast->has_inset = choice != NULL;
    pthread_mutex_unlock(&broadcast->lock);
    if (had_inset) clm_source_close(&old);
    return CLM_OK;
}

enum clm_code clm_broadcast_set_source(clm_broadcast *broadcast, const clm_source_choice *choice) {
    clm_source source = {0};
    pthread_mutex_lock(&broadcast->exchanging);
    enum clm_code code = clm_source_open(&source, choice, &broadcast->configuration);
    if (code == CLM_OK) {
        pthread_mutex_lock(&broadcast->lock);
        broadcast->exchange = &source;
        while (broadcast->exchange && !broadcast->is_stopping && !broadcast->is_over)
            pthread_cond_wait(&broadcast->exchanged, &broadcast->lock);
        // Nothing takes it any more.
        if (broadcast->exchange) code = broadcast->is_stopping ? CLM_STOPPED : CLM_NO_SOURCE;
        broadcast->exchange = NULL;
        pthread_mutex_unlock(&broadcast->lock);
        // The one before, or this one.
        clm_source_close(&source);
    }
    pthread_mutex_unlock(&broadcast->exchanging);
    return code;
}

void clm_broadcast_set_preview(clm_broadcast *broadcast, clm_preview *preview) {
    pthread_mutex_lock(&broadcast->lock);
    broadcast->preview = preview;
    atomic_store(&broadcast->has_preview, preview != NULL);
    pthread_mutex_unlock(&broadcast->lock);
}

void clm_broadcast_drop(clm_broadcast *broadcast) {
    if (clm_queue_drop(&broadcast->queue)) atomic_store(&broadcast->needs_key, true);
}

clm_statistics clm_broadcast_statistics(clm_broadcast *broadcast) {
    clm_statistics result = {0};
    clm_queue *queue = &broadcast->queue;
    result.queue_ms = clm_queue_length(queue, &result.queue_bytes);
    result.frames_made = atomic_load(&broadcast->frames_made);
    result.frames_encoded = atomic_load(&broadcast->frames_encoded);
    result.frames_sent = atomic_load(&broadcast->counts.frames);
    result.key_frames_sent = atomic_load(&broadcast->counts.keys);
    result.sounds_sent = atomic_load(&broadcast->counts.sounds);
    result.bytes_sent = atomic_load(&broadcast->counts.bytes);
    result.video_bitrate = atomic_load(&broadcast->bitrate);
    result.is_connected = atomic_load(&broadcast->is_connected);
    result.idle_ms = result.is_connected ? clm_now() - atomic_load(&broadcast->counts.last) : -1;
    pthread_mutex_lock(&queue->lock);
    result.frames_dropped = queue->frames_dropped;
    result.sounds_dropped = queue->sounds_dropped;
    pthread_mutex_unlock(&queue->lock);
    pthread_mutex_lock(&broadcast->lock);
    result.last_error = broadcast->last_error;
    pthread_mutex_unlock(&broadcast->lock);
    return result;
}
