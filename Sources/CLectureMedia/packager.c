// HLS from RTMP or a file, without decoding: fragmented MP4, segments of two seconds, an event playlist that has its
// end mark when reading has ended, however that was.
#include "internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct clm_packager {
    char *url, *directory;
    int deadline;
    clm_copy input;
    AVFormatContext *output;
    clm_timeline timeline;
    /// Microseconds: the newest time of the input, to notice jumps.
    int64_t newest;
    pthread_mutex_t control;
    pthread_t thread;
    bool has_thread;
    atomic_uint_fast64_t frames, bytes;
    _Atomic int64_t duration;
    clm_ended ended;
    void *context;
};

static int open_output(clm_packager *packager) {
    char path[4096], segments[4096];
    snprintf(path, sizeof path, "%s/index.m3u8", packager->directory);
    snprintf(segments, sizeof segments, "%s/segment%%05d.m4s", packager->directory);
    int result = avformat_alloc_output_context2(&packager->output, NULL, "hls", path);
    AVStream **streams = packager->input.format->streams;
    if (result >= 0) result = clm_copy_add_stream(packager->output, streams[packager->input.video]);
    if (result >= 0 && packager->input.audio >= 0)
        result = clm_copy_add_stream(packager->output, streams[packager->input.audio]);
    if (result < 0) return result;
    AVDictionary *options = NULL;
    av_dict_set(&options, "hls_time", "2", 0);
    av_dict_set(&options, "hls_list_size", "0", 0);
    av_dict_set(&options, "hls_playlist_type", "event", 0);
    av_dict_set(&options, "hls_segment_type", "fmp4", 0);
    av_dict_set(&options, "hls_segment_filename", segments, 0);
    av_dict_set(&options, "hls_fmp4_init_filename", "init.mp4", 0);
    // Without `temp_file`, a reader could meet a file that is half written.
    av_dict_set(&options, "hls_flags", "program_date_time+independent_segments+temp_file", 0);
    result = avformat_write_header(packager->output, &options);
    av_dict_free(&options);
    return result;
}

/// A source that was published again begins a new time. What follows is placed where the last picture ended.
static void follow_jumps(clm_packager *packager, const AVPacket *packet, AVRational unit) {
    if (packet->dts == AV_NOPTS_VALUE) return;
    int64_t time = av_rescale_q(packet->dts, unit, CLM_MICROSECONDS), distance = time - packager->newest;
    bool has_jumped = packager->timeline.has_base && (distance < -5000000 || distance > 30000000);
    if (has_jumped) clm_timeline_continue(&packager->timeline);
    packager->newest = has_jumped || !packager->timeline.has_base ? time : FFMAX(packager->newest, time);
}

static int write_packet(clm_packager *packager, AVPacket *packet) {
    bool is_video = packet->stream_index == packager->input.video;
    AVRational from = packager->input.format->streams[packet->stream_index]->time_base;
    AVRational to = packager->output->streams[is_video ? 0 : 1]->time_base;
    follow_jumps(packager, packet, from);
    if (!clm_timeline_place(&packager->timeline, packet, from, to, is_video)) return 0;
    packet->stream_index = is_video ? 0 : 1;
    uint64_t size = (uint64_t)packet->size;
    int result = av_interleaved_write_frame(packager->output, packet);
    if (result < 0) return result;
    if (is_video) atomic_fetch_add(&packager->frames, 1);
    atomic_fetch_add(&packager->bytes, size);
    atomic_store(&packager->duration, packager->timeline.end / 1000);
    return 0;
}

/// Why reading has ended.
static enum clm_code input_code(const clm_packager *packager, int result) {
    if (atomic_load(&packager->input.watch.is_cancelled)) return CLM_STOPPED;
    return result == AVERROR_EOF ? CLM_SOURCE_ENDED : clm_write_code(result);
}

static enum clm_code copy_all(clm_packager *packager) {
    AVPacket *packet = av_packet_alloc();
    if (!packet) return CLM_NO_RESOURCES;
    enum clm_code code = CLM_OK;
    while (code == CLM_OK) {
        clm_watch_for(&packager->input.watch, packager->deadline);
        int result = clm_copy_read(&packager->input, packet);
        if (result < 0)
            code = input_code(packager, result);
        else if (write_packet(packager, packet) < 0)
            code = CLM_UNWRITABLE;
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return code;
}

static enum clm_code package_input(clm_packager *packager) {
    clm_forget_reports();
    int result = clm_copy_open(&packager->input, packager->url, packager->deadline);
    bool is_stream = strstr(packager->url, "://") != NULL;
    if (result < 0 && atomic_load(&packager->input.watch.is_cancelled)) return CLM_STOPPED;
    if (result < 0) return is_stream ? clm_connect_code(result) : CLM_UNREADABLE;
    if (open_output(packager) < 0) return CLM_UNWRITABLE;
    enum clm_code code = copy_all(packager);
    return av_write_trailer(packager->output) < 0 ? CLM_UNWRITABLE : code;
}

static void *run(void *argument) {
    clm_packager *packager = argument;
    enum clm_code code = package_input(packager);
    clm_copy_close(&packager->input);
    avformat_free_context(packager->output);
    packager->output = NULL;
    packager->ended(packager->context, code);
    return NULL;
}

clm_packager *clm_packager_create(const char *url, const char *directory, int32_t deadline, clm_ended ended,
                                  void *context, enum clm_code *code) {
    clm_set_up();
    clm_packager *packager = calloc(1, sizeof *packager);
    *code = CLM_NO_RESOURCES;
    if (!packager) return NULL;
    packager->url = strdup(url);
    packager->directory = strdup(directory);
    packager->deadline = deadline;
    packager->ended = ended;
    packager->context = context;
    pthread_mutex_init(&packager->control, NULL);
    packager->has_thread =
        packager->url && packager->directory && pthread_create(&packager->thread, NULL, run, packager) == 0;
    if (packager->has_thread) {
        *code = CLM_OK;
        return packager;
    }
    clm_packager_free(packager);
    return NULL;
}

void clm_packager_stop(clm_packager *packager) {
    pthread_mutex_lock(&packager->control);
    atomic_store(&packager->input.watch.is_cancelled, true);
    if (packager->has_thread) pthread_join(packager->thread, NULL);
    packager->has_thread = false;
    pthread_mutex_unlock(&packager->control);
}

void clm_packager_free(clm_packager *packager) {
    clm_packager_stop(packager);
    pthread_mutex_destroy(&packager->control);
    free(packager->url);
    free(packager->directory);
    free(packager);
}

clm_packager_statistics clm_packager_read(clm_packager *packager) {
    return (clm_packager_statistics){.frames = atomic_load(&packager->frames),
                                     .bytes = atomic_load(&packager->bytes),
                                     .duration_ms = atomic_load(&packager->duration)};
}
