// What reads and moves packets without decoding them: shared by the packager, the joiner and the frame reader.
#include "internal.h"
#include <string.h>

int clm_copy_open(clm_copy *copy, const char *url, int64_t deadline) {
    AVDictionary *options = NULL;
    copy->video = copy->audio = -1;
    copy->format = avformat_alloc_context();
    if (!copy->format) return AVERROR(ENOMEM);
    clm_watch_for(&copy->watch, deadline);
    copy->format->interrupt_callback = clm_watch_callback(&copy->watch);
    if (av_stristr(url, ".m3u8")) {
        // From the start, and only what is there: a playlist without an end is that of a session that was cut off.
        av_dict_set_int(&options, "live_start_index", 0, 0);
        av_dict_set_int(&options, "max_reload", 1, 0);
    }
    if (av_strstart(url, "rtmp", NULL)) {
        av_dict_set(&options, "rtmp_live", "live", 0);
        copy->format->max_analyze_duration = 1000000;
    }
    int result = avformat_open_input(&copy->format, url, NULL, &options);
    av_dict_free(&options);
    if (result >= 0) result = avformat_find_stream_info(copy->format, NULL);
    if (result < 0) return result;
    copy->video = av_find_best_stream(copy->format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    copy->audio = av_find_best_stream(copy->format, AVMEDIA_TYPE_AUDIO, -1, copy->video, NULL, 0);
    if (copy->audio < 0) copy->audio = -1;
    return copy->video < 0 ? AVERROR_STREAM_NOT_FOUND : 0;
}

void clm_copy_close(clm_copy *copy) { avformat_close_input(&copy->format); }

int clm_copy_add_stream(AVFormatContext *output, const AVStream *stream) {
    AVStream *added = avformat_new_stream(output, NULL);
    if (!added) return AVERROR(ENOMEM);
    int result = avcodec_parameters_copy(added->codecpar, stream->codecpar);
    added->codecpar->codec_tag = 0;
    added->time_base = stream->time_base;
    added->avg_frame_rate = stream->avg_frame_rate;
    return result;
}

int clm_copy_read(clm_copy *copy, AVPacket *packet) {
    for (;;) {
        int result = av_read_frame(copy->format, packet);
        if (result == AVERROR(EAGAIN) && clm_watch_is_over(&copy->watch)) return AVERROR_EXIT;
        if (result == AVERROR(EAGAIN)) continue;
        // A connection that broke looks like an end here; its own error says what it was.
        if (result == AVERROR_EOF && copy->format->pb && copy->format->pb->error < 0) result = copy->format->pb->error;
        if (result < 0 || packet->stream_index == copy->video || packet->stream_index == copy->audio) return result;
        av_packet_unref(packet);
    }
}

void clm_timeline_continue(clm_timeline *timeline) {
    timeline->offset = timeline->end;
    timeline->has_base = false;
}

bool clm_timeline_place(clm_timeline *timeline, AVPacket *packet, AVRational from, AVRational to, bool is_video) {
    if (packet->dts == AV_NOPTS_VALUE) packet->dts = packet->pts;
    if (packet->pts == AV_NOPTS_VALUE) packet->pts = packet->dts;
    if (packet->dts == AV_NOPTS_VALUE) return false;
    int64_t dts = av_rescale_q(packet->dts, from, CLM_MICROSECONDS);
    int64_t ahead = av_rescale_q(packet->pts - packet->dts, from, to);
    if (!timeline->has_base) {
        if (!is_video || !(packet->flags & AV_PKT_FLAG_KEY)) return false;
        timeline->base = dts;
        timeline->has_base = true;
    }
    if (dts < timeline->base) return false;
    int64_t time = dts - timeline->base + timeline->offset;
    int64_t duration = av_rescale_q(packet->duration, from, CLM_MICROSECONDS);
    if (is_video) {
        // FLV has no durations; the distance of the pictures is one.
        if (time > timeline->last_picture) timeline->step = time - timeline->last_picture;
        timeline->last_picture = time;
        duration = FFMAX(duration, FFMIN(timeline->step, 1000000));
    }
    timeline->end = FFMAX(timeline->end, time + duration);
    packet->dts = av_rescale_q(time, CLM_MICROSECONDS, to);
    int64_t *last = &timeline->last[is_video ? 0 : 1];
    bool *has_packets = &timeline->has_packets[is_video ? 0 : 1];
    if (*has_packets && packet->dts <= *last) packet->dts = *last + 1;
    *last = packet->dts;
    *has_packets = true;
    packet->pts = packet->dts + ahead;
    packet->duration = av_rescale_q(duration, CLM_MICROSECONDS, to);
    packet->pos = -1;
    return true;
}
