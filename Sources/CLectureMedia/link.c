// One connection: FLV over RTMP, and the thread that sends.
#include "internal.h"
#include <stdlib.h>

struct clm_link {
    AVFormatContext *output;
    clm_watch watch;
    clm_queue *queue;
    clm_link_counts *counts;
    int write_deadline;
    /// When it was accepted, milliseconds of the monotonic clock.
    int64_t accepted;
    /// When closing, the end of the time for what is queued; milliseconds of the monotonic clock.
    _Atomic int64_t drain_end;
    pthread_t thread;
    clm_ended ended;
    void *context;
};

static int add_stream(AVFormatContext *output, const AVCodecContext *codec) {
    AVStream *stream = avformat_new_stream(output, NULL);
    if (!stream) return AVERROR(ENOMEM);
    stream->time_base = CLM_MILLISECONDS;
    stream->avg_frame_rate = codec->framerate;
    return avcodec_parameters_from_context(stream->codecpar, codec);
}

/// The media's header is sent as well, so that a server that is gone is noticed at once.
static int start_output(clm_link *link, const char *url, const clm_encoder *encoder) {
    AVDictionary *options = NULL;
    int result = avformat_alloc_output_context2(&link->output, NULL, "flv", NULL);
    if (result >= 0) result = add_stream(link->output, encoder->video);
    if (result >= 0) result = add_stream(link->output, encoder->audio);
    if (result < 0) return result;
    link->output->interrupt_callback = clm_watch_callback(&link->watch);
    link->output->flush_packets = 1;
    clm_watch_for(&link->watch, link->write_deadline);
    // With the kernel's usual buffer, megabytes wait where the queue does not see them.
    av_dict_set_int(&options, "send_buffer_size", 65536, 0);
    result = avio_open2(&link->output->pb, url, AVIO_FLAG_WRITE, &link->output->interrupt_callback, &options);
    av_dict_free(&options);
    if (result < 0) return result;
    av_dict_set(&options, "flvflags", "no_duration_filesize", 0);
    clm_watch_for(&link->watch, link->write_deadline);
    result = avformat_write_header(link->output, &options);
    av_dict_free(&options);
    return result;
}

/// Sends one packet.
static int send_entry(clm_link *link, clm_queue_entry *entry) {
    AVPacket *packet = entry->packet;
    uint64_t size = (uint64_t)packet->size;
    packet->stream_index = entry->is_video ? 0 : 1;
    packet->pts = packet->dts = entry->time;
    packet->duration = 0;
    int64_t drain_end = atomic_load(&link->drain_end), deadline = clm_now() + link->write_deadline;
    atomic_store(&link->watch.deadline, FFMIN(deadline, drain_end));
    int result = av_write_frame(link->output, packet);
    if (result < 0) return result;
    atomic_fetch_add(entry->is_video ? &link->counts->frames : &link->counts->sounds, 1);
    if (entry->is_key) atomic_fetch_add(&link->counts->keys, 1);
    atomic_fetch_add(&link->counts->bytes, size);
    atomic_store(&link->counts->last, clm_now());
    return result;
}

/// Why sending has ended. Some servers accept a publisher before they look at their rules, and close then.
static enum clm_code ended_code(const clm_link *link, int result) {
    enum clm_code code = clm_write_code(result);
    return code == CLM_LOST && clm_now() - link->accepted < 1000 ? CLM_REFUSED : code;
}

static void *send_all(void *argument) {
    clm_link *link = argument;
    clm_queue_entry entry;
    int result = 0;
    while (result >= 0 && clm_queue_pop(link->queue, &entry)) {
        result = send_entry(link, &entry);
        av_packet_free(&entry.packet);
        if (result >= 0)
            clm_queue_sent(link->queue);
        else
            clm_queue_lost(link->queue, entry.is_video);
    }
    // A connection that does not accept the farewell is left without it.
    if (result >= 0) clm_watch_for(&link->watch, 1000);
    if (result >= 0) av_write_trailer(link->output);
    avio_closep(&link->output->pb);
    bool is_requested = atomic_load(&link->drain_end) != INT64_MAX;
    if (result < 0) {
        clm_queue_close(link->queue);
        clm_queue_discard(link->queue);
        if (!is_requested) link->ended(link->context, ended_code(link, result));
    }
    return NULL;
}

clm_link *clm_link_open(const char *url, const clm_encoder *encoder, clm_queue *queue, clm_link_counts *counts,
                        const clm_configuration *configuration, const atomic_int *leaving, clm_ended ended,
                        void *context, enum clm_code *code) {
    clm_link *link = calloc(1, sizeof *link);
    *code = CLM_NO_RESOURCES;
    if (!link) return NULL;
    link->queue = queue;
    link->counts = counts;
    link->write_deadline = configuration->write_deadline;
    link->ended = ended;
    link->context = context;
    atomic_store(&link->drain_end, INT64_MAX);
    link->watch.leaving = leaving;
    clm_forget_reports();
    int result = start_output(link, url, encoder);
    *code = result < 0 ? clm_connect_code(result) : CLM_OK;
    if (result < 0 && atomic_load(leaving) != 0) *code = CLM_STOPPED;
    // A connection that is there is ended in an orderly way.
    link->watch.leaving = NULL;
    if (result >= 0) {
        clm_queue_open(queue);
        link->accepted = clm_now();
        atomic_store(&counts->last, link->accepted);
        if (pthread_create(&link->thread, NULL, send_all, link) == 0) return link;
        clm_queue_close(queue);
        *code = CLM_NO_RESOURCES;
    }
    if (link->output) avio_closep(&link->output->pb);
    avformat_free_context(link->output);
    free(link);
    return NULL;
}

void clm_link_close(clm_link *link, int64_t drain) {
    int64_t end = clm_now() + drain;
    atomic_store(&link->drain_end, end);
    clm_queue_close(link->queue);
    // A write that is blocked must end with the time for the rest. The thread can only set an earlier deadline.
    if (atomic_load(&link->watch.deadline) > end) atomic_store(&link->watch.deadline, end);
    pthread_join(link->thread, NULL);
    clm_queue_discard(link->queue);
    avformat_free_context(link->output);
    free(link);
}
