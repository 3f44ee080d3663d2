// Decoders of streams, for files, devices, images and what tests read.
#include "internal.h"

int clm_decoder_open(const AVStream *stream, const AVCodec *codec, AVCodecContext **context) {
    if (!codec) codec = avcodec_find_decoder(stream->codecpar->codec_id);
    if (!codec) return AVERROR_DECODER_NOT_FOUND;
    *context = avcodec_alloc_context3(codec);
    if (!*context) return AVERROR(ENOMEM);
    int result = avcodec_parameters_to_context(*context, stream->codecpar);
    if (result < 0) return result;
    (*context)->pkt_timebase = stream->time_base;
    (*context)->thread_count = 1;
    return avcodec_open2(*context, codec, NULL);
}
