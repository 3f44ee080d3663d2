// H.264 and AAC, set up for live media: no frame waits for a later one.
#include "internal.h"
#include <string.h>

static void set_rate(AVCodecContext *video, int32_t bits_per_second) {
    video->bit_rate = bits_per_second;
    video->rc_max_rate = bits_per_second;
    // Half a second of media: a smaller buffer costs quality, a larger one lets bursts through that the queue sees.
    video->rc_buffer_size = bits_per_second / 2;
}

static enum clm_code open_video(clm_encoder *encoder, const clm_configuration *configuration) {
    const AVCodec *codec = avcodec_find_encoder_by_name("libx264");
    AVCodecContext *video = encoder->video = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!video) return CLM_NO_ENCODER;
    video->width = configuration->width;
    video->height = configuration->height;
    video->pix_fmt = AV_PIX_FMT_YUV420P;
    video->color_range = AVCOL_RANGE_MPEG;
    video->sample_aspect_ratio = (AVRational){1, 1};
    video->time_base = (AVRational){1, configuration->frames_per_second};
    video->framerate = (AVRational){configuration->frames_per_second, 1};
    video->gop_size = configuration->key_interval;
    video->max_b_frames = 0;
    video->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    set_rate(video, configuration->video_bitrate);
    av_opt_set(video->priv_data, "preset", configuration->preset, 0);
    av_opt_set(video->priv_data, "tune", "zerolatency", 0);
    // Key frames come where they are due and where they are requested, and a decoder can start at each.
    av_opt_set(video->priv_data, "x264-params", "scenecut=0", 0);
    av_opt_set_int(video->priv_data, "forced-idr", 1, 0);
    return avcodec_open2(video, codec, NULL) < 0 ? CLM_NO_ENCODER : CLM_OK;
}

static enum clm_code open_audio(clm_encoder *encoder, const clm_configuration *configuration) {
    const AVCodec *codec = avcodec_find_encoder(AV_CODEC_ID_AAC);
    AVCodecContext *audio = encoder->audio = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!audio) return CLM_NO_ENCODER;
    audio->sample_fmt = AV_SAMPLE_FMT_FLTP;
    audio->sample_rate = configuration->sample_rate;
    audio->bit_rate = configuration->audio_bitrate;
    audio->time_base = (AVRational){1, configuration->sample_rate};
    audio->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    av_channel_layout_default(&audio->ch_layout, CLM_CHANNELS);
    return avcodec_open2(audio, codec, NULL) < 0 ? CLM_NO_ENCODER : CLM_OK;
}

enum clm_code clm_encoder_open(clm_encoder *encoder, const clm_configuration *configuration) {
    enum clm_code code = open_video(encoder, configuration);
    return code == CLM_OK ? open_audio(encoder, configuration) : code;
}

void clm_encoder_close(clm_encoder *encoder) {
    avcodec_free_context(&encoder->video);
    avcodec_free_context(&encoder->audio);
}

void clm_encoder_set_bitrate(clm_encoder *encoder, int32_t bits_per_second) {
    // FFmpeg's x264 compares these with what it was set to before each frame.
    if (encoder->video->bit_rate != bits_per_second) set_rate(encoder->video, bits_per_second);
}
