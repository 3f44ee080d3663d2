// Decodes a file or playlist, and reports the counter of each picture and the loudness of the sound.
#include "internal.h"
#include <errno.h>
#include <math.h>

/// How long a file may take to answer, milliseconds.
#define PATIENCE 30000

typedef struct reading {
    clm_copy input;
    AVCodecContext *video, *audio;
    AVFrame *frame;
    clm_on_frame on_frame;
    clm_on_sound on_sound;
    void *context;
} reading;

static int open_decoder(const clm_copy *input, int index, AVCodecContext **context) {
    return index < 0 ? 0 : clm_decoder_open(input->format->streams[index], NULL, context);
}

static bool is_readable(const AVFrame *frame) {
    return frame->format == AV_PIX_FMT_YUV420P || frame->format == AV_PIX_FMT_YUVJ420P;
}

static void report_picture(reading *work, int64_t time) {
    clm_frame found = {.time = time, .is_key = work->frame->key_frame};
    if (is_readable(work->frame)) clm_pattern_read(work->frame, &found);
    work->on_frame(work->context, &found);
}

static void report_sound(reading *work, int64_t time) {
    const AVFrame *frame = work->frame;
    if (frame->format != AV_SAMPLE_FMT_FLTP || frame->nb_samples == 0) return;
    const float *samples = (const float *)frame->data[0];
    double sum = 0;
    for (int index = 0; index < frame->nb_samples; index++) sum += (double)samples[index] * samples[index];
    clm_sound found = {.time = time, .loudness = (float)sqrt(sum / frame->nb_samples)};
    work->on_sound(work->context, &found);
}

/// Decodes a packet, or what is left in the decoder.
static void decode(reading *work, AVCodecContext *context, const AVPacket *packet) {
    if (!context || avcodec_send_packet(context, packet) < 0) return;
    while (avcodec_receive_frame(context, work->frame) >= 0) {
        int64_t time = av_rescale_q(work->frame->best_effort_timestamp, context->pkt_timebase, CLM_MICROSECONDS);
        if (context == work->video)
            report_picture(work, time);
        else
            report_sound(work, time);
        av_frame_unref(work->frame);
    }
}

static enum clm_code read_all(reading *work) {
    AVPacket *packet = av_packet_alloc();
    if (!packet) return CLM_NO_RESOURCES;
    int result;
    for (;;) {
        clm_watch_for(&work->input.watch, PATIENCE);
        result = clm_copy_read(&work->input, packet);
        if (result < 0) break;
        decode(work, packet->stream_index == work->input.video ? work->video : work->audio, packet);
        av_packet_unref(packet);
    }
    decode(work, work->video, NULL);
    decode(work, work->audio, NULL);
    av_packet_free(&packet);
    return result == AVERROR_EOF || result == AVERROR_INVALIDDATA ? CLM_OK : CLM_UNREADABLE;
}

enum clm_code clm_read_frames(const char *path, clm_on_frame on_frame, clm_on_sound on_sound, void *context) {
    clm_set_up();
    reading work = {.on_frame = on_frame, .on_sound = on_sound, .context = context, .frame = av_frame_alloc()};
    enum clm_code code = work.frame ? CLM_UNREADABLE : CLM_NO_RESOURCES;
    if (work.frame && clm_copy_open(&work.input, path, PATIENCE) >= 0
        && open_decoder(&work.input, work.input.video, &work.video) >= 0
        && open_decoder(&work.input, work.input.audio, &work.audio) >= 0)
        code = read_all(&work);
    clm_copy_close(&work.input);
    avcodec_free_context(&work.video);
    avcodec_free_context(&work.audio);
    av_frame_free(&work.frame);
    return code;
}
