// Joins recordings and HLS sessions into one MP4 by stream copy. Each follows the one before it without a pause.
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// How long a file may take to answer, milliseconds.
#define PATIENCE 30000

typedef struct join {
    AVFormatContext *output;
    clm_timeline timeline;
    AVPacket *packet;
    bool has_audio;
    clm_joined *joined;
    /// Of the present input; NULL where they are not wanted.
    clm_joined_input *facts;
} join;

static bool has_same_format(const AVCodecParameters *one, const AVCodecParameters *other) {
    return one->codec_id == other->codec_id && one->width == other->width && one->height == other->height
        && one->sample_rate == other->sample_rate && one->ch_layout.nb_channels == other->ch_layout.nb_channels
        && one->extradata_size == other->extradata_size
        && memcmp(one->extradata, other->extradata, (size_t)one->extradata_size) == 0;
}

static enum clm_code start_output(join *work, const clm_copy *input, const char *path) {
    int result = avformat_alloc_output_context2(&work->output, NULL, "mp4", path);
    if (result >= 0) result = clm_copy_add_stream(work->output, input->format->streams[input->video]);
    work->has_audio = input->audio >= 0;
    if (result >= 0 && work->has_audio)
        result = clm_copy_add_stream(work->output, input->format->streams[input->audio]);
    work->joined->width = input->format->streams[input->video]->codecpar->width;
    work->joined->height = input->format->streams[input->video]->codecpar->height;
    if (result >= 0) result = avio_open(&work->output->pb, path, AVIO_FLAG_WRITE);
    AVDictionary *options = NULL;
    av_dict_set(&options, "movflags", "faststart", 0);
    if (result >= 0) result = avformat_write_header(work->output, &options);
    av_dict_free(&options);
    return result < 0 ? CLM_UNWRITABLE : CLM_OK;
}

static bool fits(const join *work, const clm_copy *input) {
    if (work->has_audio != (input->audio >= 0)) return false;
    AVStream **streams = input->format->streams;
    return has_same_format(work->output->streams[0]->codecpar, streams[input->video]->codecpar)
        && (!work->has_audio || has_same_format(work->output->streams[1]->codecpar, streams[input->audio]->codecpar));
}

/// Notes what became of an input: where its first key frame was, and what was added to the output since.
static void note(const join *work, uint64_t frames, int64_t first) {
    if (!work->facts || !work->timeline.has_base) return;
    work->facts->frames = frames;
    work->facts->skipped_ms = FFMAX(0, work->timeline.base - first) / 1000;
    work->facts->duration_ms = (work->timeline.end - work->timeline.offset) / 1000;
}

static enum clm_code copy_packets(join *work, clm_copy *input) {
    uint64_t frames = 0;
    int64_t first = AV_NOPTS_VALUE;
    for (;;) {
        clm_watch_for(&input->watch, PATIENCE);
        int result = clm_copy_read(input, work->packet);
        // What was cut off in the middle of a packet ends with the last whole one.
        if (result == AVERROR_EOF || result == AVERROR_INVALIDDATA) {
            note(work, frames, first);
            return frames > 0 ? CLM_OK : CLM_UNREADABLE;
        }
        if (result < 0) return CLM_UNREADABLE;
        bool is_video = work->packet->stream_index == input->video;
        AVRational from = input->format->streams[work->packet->stream_index]->time_base;
        AVRational to = work->output->streams[is_video ? 0 : 1]->time_base;
        if (first == AV_NOPTS_VALUE && work->packet->dts != AV_NOPTS_VALUE)
            first = av_rescale_q(work->packet->dts, from, CLM_MICROSECONDS);
        if (clm_timeline_place(&work->timeline, work->packet, from, to, is_video)) {
            work->packet->stream_index = is_video ? 0 : 1;
            result = av_interleaved_write_frame(work->output, work->packet);
            if (result < 0) return CLM_UNWRITABLE;
            frames += is_video;
            work->joined->frames += is_video;
        }
        av_packet_unref(work->packet);
    }
}

static enum clm_code add_input(join *work, const char *path, const char *output) {
    clm_copy input = {0};
    enum clm_code code = CLM_UNREADABLE;
    if (clm_copy_open(&input, path, PATIENCE) >= 0) {
        code = work->output ? CLM_OK : start_output(work, &input, output);
        if (code == CLM_OK && !fits(work, &input)) code = CLM_MISMATCH;
        if (code == CLM_OK) clm_timeline_continue(&work->timeline);
        if (code == CLM_OK) code = copy_packets(work, &input);
    }
    clm_copy_close(&input);
    return code;
}

/// Syncs a file or directory.
static int sync_path(const char *path, int flags) {
    int descriptor = open(path, flags | O_CLOEXEC);
    if (descriptor < 0) return -1;
    int result = fsync(descriptor);
    close(descriptor);
    return result;
}

/// Gives the complete file its name, so that it is still there after a power cut.
static enum clm_code publish(const char *part, const char *output) {
    char *copy = strdup(output);
    if (!copy) return CLM_NO_RESOURCES;
    bool is_done = sync_path(part, O_RDWR) == 0 && rename(part, output) == 0
        && sync_path(dirname(copy), O_RDONLY | O_DIRECTORY) == 0;
    free(copy);
    return is_done ? CLM_OK : CLM_UNWRITABLE;
}

static enum clm_code finish(join *work) {
    int result = av_write_trailer(work->output);
    if (avio_closep(&work->output->pb) < 0) result = -1;
    work->joined->duration_ms = work->timeline.end / 1000;
    return result < 0 ? CLM_UNWRITABLE : CLM_OK;
}

/// Writes all inputs to an output, which is left as it is when that fails.
static enum clm_code join_all(const char *const *paths, int32_t count, const char *output, clm_joined *joined,
                              clm_joined_input *inputs) {
    join work = {.packet = av_packet_alloc(), .joined = joined};
    enum clm_code code = work.packet ? CLM_OK : CLM_NO_RESOURCES;
    for (int index = 0; index < count && code == CLM_OK; index++) {
        if (inputs) *(work.facts = &inputs[index]) = (clm_joined_input){0};
        code = add_input(&work, paths[index], output);
        if (code == CLM_UNREADABLE || code == CLM_MISMATCH) joined->fault = index;
    }
    if (code == CLM_OK) code = finish(&work);
    if (work.output && work.output->pb) avio_closep(&work.output->pb);
    avformat_free_context(work.output);
    av_packet_free(&work.packet);
    return code;
}

enum clm_code clm_join(const char *const *paths, int32_t count, const char *output, clm_joined *joined) {
    clm_set_up();
    *joined = (clm_joined){.fault = -1};
    if (count < 1) return CLM_BAD_VALUE;
    char *part = av_asprintf("%s.part", output);
    if (!part) return CLM_NO_RESOURCES;
    enum clm_code code = join_all(paths, count, part, joined, NULL);
    if (code == CLM_OK) code = publish(part, output);
    if (code != CLM_OK) unlink(part);
    av_free(part);
    return code;
}

enum clm_code clm_join_descriptor(const char *const *paths, int32_t count, int descriptor, clm_joined *joined,
                                  clm_joined_input *inputs) {
    clm_set_up();
    *joined = (clm_joined){.fault = -1};
    if (count < 1 || descriptor < 0) return CLM_BAD_VALUE;
    // The muxer opens its output a second time to put the index in front, so it needs a path; this one leads to the
    // open file, whether that has a name or not.
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return join_all(paths, count, path, joined, inputs);
}
