// Files and devices, decoded. A file is read by the thread that asks for its pictures, so that none is lost; a device
// is read by a thread of its own, which keeps the newest.
#include "internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/// So many seconds of a device's sound wait at most, and after so many it is seen how much of it had to.
#define SOUND_SECONDS 5

struct clm_input {
    AVFormatContext *format;
    AVCodecContext *video, *audio;
    int video_stream, audio_stream;
    SwrContext *resampler;
    AVAudioFifo *sound;
    AVPacket *packet;
    AVFrame *decoded, *current;
    /// Decoded pictures, oldest first. Their times are in microseconds from the start of the first round.
    AVFrame *pictures[CLM_INPUT_PICTURES];
    int head, count;
    clm_watch watch;
    bool loops, is_device, is_at_end, has_current;
    int sample_rate;
    /// Microseconds: the file's first time, the start of this round, and the end of its latest picture.
    int64_t first, round, end;
    /// Samples that were written to `sound` since the start.
    int64_t written;
    /// Of devices: samples that were taken since the last look, and the fewest that were left meanwhile.
    int taken, least;
    /// Of devices only.
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
};

static int open_decoder(clm_input *input, enum AVMediaType type, int *stream, AVCodecContext **context) {
    const AVCodec *codec = NULL;
    *stream = av_find_best_stream(input->format, type, -1, -1, &codec, 0);
    if (*stream < 0 || !codec) {
        *stream = -1;
        return 0;
    }
    return clm_decoder_open(input->format->streams[*stream], codec, context);
}

static int open_resampler(clm_input *input) {
    AVChannelLayout layout;
    av_channel_layout_default(&layout, CLM_CHANNELS);
    AVCodecContext *audio = input->audio;
    if (audio->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&audio->ch_layout, audio->ch_layout.nb_channels);
    int result = swr_alloc_set_opts2(&input->resampler, &layout, AV_SAMPLE_FMT_FLTP, input->sample_rate,
                                     &audio->ch_layout, audio->sample_fmt, audio->sample_rate, 0, NULL);
    if (result >= 0) result = swr_init(input->resampler);
    if (result < 0) return result;
    input->sound = av_audio_fifo_alloc(AV_SAMPLE_FMT_FLTP, CLM_CHANNELS, input->sample_rate);
    return input->sound ? 0 : AVERROR(ENOMEM);
}

static int open_format(clm_input *input, const clm_source_choice *choice, bool is_microphone,
                       const clm_configuration *configuration) {
    static const char *const devices[] = {[CLM_SOURCE_SCREEN] = "x11grab", [CLM_SOURCE_CAMERA] = "v4l2"};
    const AVInputFormat *device = NULL;
    AVDictionary *options = NULL;
    if (is_microphone || choice->kind != CLM_SOURCE_FILE) {
        device = av_find_input_format(is_microphone ? "alsa" : devices[choice->kind]);
        if (!device) return AVERROR_DEMUXER_NOT_FOUND;
    }
    input->is_device = device != NULL;
    if (device && !is_microphone) av_dict_set_int(&options, "framerate", configuration->frames_per_second, 0);
    if (choice->kind == CLM_SOURCE_CAMERA && !is_microphone) {
        char size[32];
        snprintf(size, sizeof size, "%dx%d", configuration->width, configuration->height);
        av_dict_set(&options, "video_size", size, 0);
    }
    input->format = avformat_alloc_context();
    if (!input->format) return AVERROR(ENOMEM);
    clm_watch_for(&input->watch, configuration->write_deadline);
    input->format->interrupt_callback = clm_watch_callback(&input->watch);
    const char *name = is_microphone ? choice->microphone : choice->name;
    int result = avformat_open_input(&input->format, name, device, &options);
    av_dict_free(&options);
    return result < 0 ? result : avformat_find_stream_info(input->format, NULL);
}

static int allocate(clm_input *input) {
    input->packet = av_packet_alloc();
    input->decoded = av_frame_alloc();
    input->current = av_frame_alloc();
    bool is_complete = input->packet && input->decoded && input->current;
    for (int index = 0; index < CLM_INPUT_PICTURES; index++)
        if (!(input->pictures[index] = av_frame_alloc())) is_complete = false;
    return is_complete ? 0 : AVERROR(ENOMEM);
}

/// Keeps a decoded picture. A device's oldest makes way.
static void keep_picture(clm_input *input) {
    AVFrame *frame = input->decoded;
    AVRational unit = input->format->streams[input->video_stream]->time_base;
    int64_t time = frame->best_effort_timestamp, step = av_rescale_q(frame->pkt_duration, unit, CLM_MICROSECONDS);
    int64_t start = input->round - input->first;
    time = time == AV_NOPTS_VALUE ? input->end : av_rescale_q(time, unit, CLM_MICROSECONDS) + start;
    input->end = FFMAX(input->end, time + (step > 0 ? step : 33333));
    pthread_mutex_lock(&input->lock);
    if (input->count == (input->is_device ? 2 : CLM_INPUT_PICTURES)) {
        av_frame_unref(input->pictures[input->head]);
        input->head = (input->head + 1) % CLM_INPUT_PICTURES;
        input->count--;
    }
    AVFrame *place = input->pictures[(input->head + input->count) % CLM_INPUT_PICTURES];
    av_frame_move_ref(place, frame);
    place->pts = time;
    input->count++;
    pthread_mutex_unlock(&input->lock);
}

static void write_silence(clm_input *input, int64_t samples) {
    uint8_t *planes[CLM_CHANNELS];
    int count = (int)FFMIN(samples, input->sample_rate * 10LL);
    if (count <= 0 || av_samples_alloc(planes, NULL, CLM_CHANNELS, count, AV_SAMPLE_FMT_FLTP, 0) < 0) return;
    av_samples_set_silence(planes, 0, count, CLM_CHANNELS, AV_SAMPLE_FMT_FLTP);
    av_audio_fifo_write(input->sound, (void **)planes, count);
    av_freep(&planes[0]);
    input->written += count;
}

/// Keeps decoded sound at its place: silence where there is a gap, and less where rounds overlap.
static void keep_sound(clm_input *input) {
    AVFrame *frame = input->decoded;
    uint8_t *planes[CLM_CHANNELS];
    int room = swr_get_out_samples(input->resampler, frame->nb_samples);
    if (room <= 0 || av_samples_alloc(planes, NULL, CLM_CHANNELS, room, AV_SAMPLE_FMT_FLTP, 0) < 0) return;
    int count = swr_convert(input->resampler, planes, room, (const uint8_t **)frame->extended_data, frame->nb_samples);
    pthread_mutex_lock(&input->lock);
    int64_t ahead = 0;
    if (!input->is_device && frame->best_effort_timestamp != AV_NOPTS_VALUE) {
        AVRational unit = input->format->streams[input->audio_stream]->time_base;
        int64_t time = av_rescale_q(frame->best_effort_timestamp, unit, CLM_MICROSECONDS) - input->first + input->round;
        ahead = av_rescale(time, input->sample_rate, 1000000) - input->written;
    }
    if (ahead > input->sample_rate / 20) write_silence(input, ahead);
    bool is_doubled = ahead < -input->sample_rate / 20;
    // A device whose sound is not taken loses it, as it loses pictures.
    bool is_late = input->is_device && av_audio_fifo_size(input->sound) > input->sample_rate * SOUND_SECONDS;
    if (count > 0 && !is_doubled && !is_late) {
        av_audio_fifo_write(input->sound, (void **)planes, count);
        input->written += count;
    }
    pthread_mutex_unlock(&input->lock);
    av_freep(&planes[0]);
}

static void decode(clm_input *input, AVCodecContext *context, const AVPacket *packet) {
    if (!context || avcodec_send_packet(context, packet) < 0) return;
    while (avcodec_receive_frame(context, input->decoded) >= 0) {
        if (context == input->video)
            keep_picture(input);
        else
            keep_sound(input);
        av_frame_unref(input->decoded);
    }
}

/// At the end: the decoders give what they have, and a file that loops begins again.
static int finish_round(clm_input *input) {
    decode(input, input->video, NULL);
    decode(input, input->audio, NULL);
    int64_t heard = av_rescale(input->written, 1000000, input->sample_rate);
    bool has_moved = input->end > input->round || heard > input->round;
    if (!input->loops || !has_moved) return AVERROR_EOF;
    int result = av_seek_frame(input->format, -1, input->format->start_time, AVSEEK_FLAG_BACKWARD);
    if (result < 0) return result;
    if (input->video) avcodec_flush_buffers(input->video);
    if (input->audio) avcodec_flush_buffers(input->audio);
    if (!input->video) input->end = heard;
    input->round = input->end;
    return 0;
}

/// Reads and decodes one packet.
static int step(clm_input *input) {
    clm_watch_for(&input->watch, 10000);
    int result = av_read_frame(input->format, input->packet);
    if (result == AVERROR(EAGAIN)) return 0;
    if (result < 0) return result == AVERROR_EOF ? finish_round(input) : result;
    if (input->packet->stream_index == input->video_stream) decode(input, input->video, input->packet);
    if (input->packet->stream_index == input->audio_stream) decode(input, input->audio, input->packet);
    av_packet_unref(input->packet);
    return 0;
}

static void *read_device(void *argument) {
    clm_input *input = argument;
    while (!atomic_load(&input->watch.is_cancelled) && step(input) >= 0) {}
    pthread_mutex_lock(&input->lock);
    input->is_at_end = true;
    pthread_mutex_unlock(&input->lock);
    return NULL;
}

clm_input *clm_input_open(const clm_source_choice *choice, bool is_microphone, const clm_configuration *configuration) {
    clm_input *input = calloc(1, sizeof *input);
    if (!input) return NULL;
    pthread_mutex_init(&input->lock, NULL);
    input->video_stream = input->audio_stream = -1;
    input->sample_rate = configuration->sample_rate;
    input->loops = choice->loops;
    int result = allocate(input);
    if (result >= 0) result = open_format(input, choice, is_microphone, configuration);
    if (result >= 0 && !is_microphone)
        result = open_decoder(input, AVMEDIA_TYPE_VIDEO, &input->video_stream, &input->video);
    if (result >= 0) result = open_decoder(input, AVMEDIA_TYPE_AUDIO, &input->audio_stream, &input->audio);
    if (result >= 0 && input->audio) result = open_resampler(input);
    if (result >= 0 && !(is_microphone ? input->audio : input->video)) result = AVERROR_STREAM_NOT_FOUND;
    if (result >= 0 && input->format->start_time != AV_NOPTS_VALUE) input->first = input->format->start_time;
    if (result >= 0 && input->is_device) {
        input->has_thread = pthread_create(&input->thread, NULL, read_device, input) == 0;
        if (!input->has_thread) result = AVERROR(EAGAIN);
    }
    if (result >= 0) return input;
    clm_input_free(input);
    return NULL;
}

void clm_input_free(clm_input *input) {
    if (!input) return;
    atomic_store(&input->watch.is_cancelled, true);
    if (input->has_thread) pthread_join(input->thread, NULL);
    avcodec_free_context(&input->video);
    avcodec_free_context(&input->audio);
    avformat_close_input(&input->format);
    swr_free(&input->resampler);
    if (input->sound) av_audio_fifo_free(input->sound);
    av_packet_free(&input->packet);
    av_frame_free(&input->decoded);
    av_frame_free(&input->current);
    for (int index = 0; index < CLM_INPUT_PICTURES; index++) av_frame_free(&input->pictures[index]);
    pthread_mutex_destroy(&input->lock);
    free(input);
}

bool clm_input_has_sound(const clm_input *input) { return input->audio != NULL; }

bool clm_input_is_over(clm_input *input) {
    pthread_mutex_lock(&input->lock);
    bool is_over = input->is_at_end;
    pthread_mutex_unlock(&input->lock);
    return is_over;
}

/// Makes the oldest picture the current one, while it is not later than the time.
static void advance(clm_input *input, int64_t time) {
    while (input->count > 0 && (input->is_device || input->pictures[input->head]->pts <= time)) {
        av_frame_unref(input->current);
        av_frame_move_ref(input->current, input->pictures[input->head]);
        input->head = (input->head + 1) % CLM_INPUT_PICTURES;
        input->count--;
        input->has_current = true;
    }
}

int clm_input_picture(clm_input *input, int64_t time, AVFrame *picture) {
    // A file is read until a later picture is there, which shows that the current one is the right one.
    while (!input->is_device && !input->is_at_end) {
        advance(input, time);
        if (input->count > 0 || step(input) >= 0) {
            if (input->count > 0 && input->pictures[input->head]->pts > time) break;
            continue;
        }
        input->is_at_end = true;
    }
    pthread_mutex_lock(&input->lock);
    advance(input, time);
    int result = input->has_current ? av_frame_ref(picture, input->current) : AVERROR(EAGAIN);
    bool is_over = input->is_at_end && input->count == 0 && (input->is_device || time >= input->end);
    pthread_mutex_unlock(&input->lock);
    if (is_over) av_frame_unref(picture);
    if (is_over) return input->is_device ? AVERROR(EIO) : AVERROR_EOF;
    return result;
}

/// Drops sound of a device that only makes it late. A device may give its sound in pieces of two seconds, as sources of
/// PulseAudio do: until the next piece the rest of the last one has to wait. What is still there when the next one comes
/// was never needed: it is there because the device began earlier, or its clock is faster.
static void drop_delay(clm_input *input, int taken) {
    int rest = av_audio_fifo_size(input->sound);
    input->least = input->taken == 0 ? rest : FFMIN(input->least, rest);
    input->taken += taken;
    if (input->taken < input->sample_rate * SOUND_SECONDS) return;
    int spare = input->least - input->sample_rate / 10;
    if (spare > 0) av_audio_fifo_drain(input->sound, spare);
    input->taken = 0;
}

int clm_input_sound(clm_input *input, AVFrame *sound) {
    while (!input->is_device && !input->is_at_end && av_audio_fifo_size(input->sound) < sound->nb_samples) {
        // The pictures on the way stay in memory; a file with too many of them has a gap in its sound.
        if (input->count >= CLM_INPUT_PICTURES - 20) break;
        if (step(input) < 0) input->is_at_end = true;
    }
    pthread_mutex_lock(&input->lock);
    int count = av_audio_fifo_read(input->sound, (void **)sound->data, sound->nb_samples);
    if (input->is_device) drop_delay(input, sound->nb_samples);
    pthread_mutex_unlock(&input->lock);
    count = FFMAX(count, 0);
    av_samples_set_silence(sound->data, count, sound->nb_samples - count, CLM_CHANNELS, AV_SAMPLE_FMT_FLTP);
    return 0;
}
