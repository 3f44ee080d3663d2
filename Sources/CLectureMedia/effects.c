// The filter graph: zoom, the broadcast's size, inset, mirror, black. It is built again when something changes, which
// costs less than a frame's time; without effects and with the right size there is none.
//
//   picture → crop → scale, pad → overlay ← scale ← inset
//                                 overlay → hflip → black
#include "internal.h"
#include <errno.h>
#include <string.h>

void clm_effects_free(clm_effects *effects) {
    avfilter_graph_free(&effects->graph);
    effects->input = effects->inset = effects->output = NULL;
}

static int add_input(AVFilterGraph *graph, const char *name, const int *shape, AVFilterContext **input) {
    char arguments[128];
    snprintf(arguments, sizeof arguments, "video_size=%dx%d:pix_fmt=%d:time_base=1/1000000:pixel_aspect=1/1", shape[0],
             shape[1], shape[2]);
    return avfilter_graph_create_filter(input, avfilter_get_by_name("buffer"), name, arguments, NULL, graph);
}

/// The graph as a text, from the labels `in` and `inset` to `out`.
static void describe(const clm_effects *effects, const clm_effect_values *values, bool has_inset, char *text,
                     size_t size) {
    int width = effects->width, height = effects->height;
    text[0] = 0;
    av_strlcatf(text, size, "[in]");
    if (values->zoom > 1000) av_strlcatf(text, size, "crop=w=iw*1000/%d:h=ih*1000/%d,", values->zoom, values->zoom);
    av_strlcatf(text, size, "scale=%d:%d:force_original_aspect_ratio=decrease:flags=fast_bilinear:out_range=tv,", width,
                height);
    av_strlcatf(text, size, "pad=%d:%d:(ow-iw)/2:(oh-ih)/2,format=yuv420p", width, height);
    if (has_inset) {
        int inset_width = width / 4 & ~1, inset_height = height / 4 & ~1, gap = height / 40 & ~1;
        av_strlcatf(text, size, "[main];[inset]scale=%d:%d:flags=fast_bilinear:out_range=tv,format=yuv420p[small];",
                    inset_width, inset_height);
        av_strlcatf(text, size, "[main][small]overlay=x=%d:y=%d", width - inset_width - gap,
                    height - inset_height - gap);
    }
    if (values->is_mirrored) av_strlcatf(text, size, ",hflip");
    if (values->is_muted) av_strlcatf(text, size, ",lutyuv=y=16:u=128:v=128");
    av_strlcatf(text, size, ",format=yuv420p[out]");
}

static AVFilterInOut *label(const char *name, AVFilterContext *filter, AVFilterInOut *next) {
    AVFilterInOut *end = avfilter_inout_alloc();
    if (!end) return next;
    *end = (AVFilterInOut){.name = av_strdup(name), .filter_ctx = filter, .pad_idx = 0, .next = next};
    return end;
}

static int build(clm_effects *effects, const clm_effect_values *values, const int *shape) {
    char text[1024];
    bool has_inset = shape[3] != 0;
    clm_effects_free(effects);
    effects->graph = avfilter_graph_alloc();
    if (!effects->graph) return AVERROR(ENOMEM);
    effects->graph->nb_threads = 1;
    int result = add_input(effects->graph, "in", shape, &effects->input);
    if (result >= 0 && has_inset) result = add_input(effects->graph, "inset", shape + 3, &effects->inset);
    if (result >= 0)
        result = avfilter_graph_create_filter(&effects->output, avfilter_get_by_name("buffersink"), "out", NULL, NULL,
                                              effects->graph);
    if (result < 0) return result;
    describe(effects, values, has_inset, text, sizeof text);
    // From the text's point of view, the inputs are outputs.
    AVFilterInOut *outputs = label("in", effects->input, has_inset ? label("inset", effects->inset, NULL) : NULL);
    AVFilterInOut *inputs = label("out", effects->output, NULL);
    result = avfilter_graph_parse_ptr(effects->graph, text, &inputs, &outputs, NULL);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    if (result >= 0) result = avfilter_graph_config(effects->graph, NULL);
    effects->built = *values;
    memcpy(effects->shape, shape, sizeof effects->shape);
    return result;
}

static bool is_same(const clm_effect_values *one, const clm_effect_values *other) {
    return one->zoom == other->zoom && one->is_mirrored == other->is_mirrored && one->is_muted == other->is_muted;
}

int clm_effects_apply(clm_effects *effects, const clm_effect_values *values, AVFrame *picture, AVFrame *inset,
                      AVFrame *result) {
    int shape[6] = {picture->width, picture->height, picture->format};
    if (inset) memcpy(shape + 3, (int[]){inset->width, inset->height, inset->format}, 3 * sizeof(int));
    bool is_plain = values->zoom <= 1000 && !values->is_mirrored && !values->is_muted && !inset;
    if (is_plain && shape[0] == effects->width && shape[1] == effects->height && shape[2] == AV_PIX_FMT_YUV420P) {
        av_frame_move_ref(result, picture);
        return 0;
    }
    int error = 0;
    if (!effects->graph || !is_same(values, &effects->built) || memcmp(shape, effects->shape, sizeof shape) != 0)
        error = build(effects, values, shape);
    picture->sample_aspect_ratio = (AVRational){1, 1};
    if (inset) {
        inset->pts = picture->pts;
        inset->sample_aspect_ratio = picture->sample_aspect_ratio;
        if (error >= 0) error = av_buffersrc_add_frame(effects->inset, inset);
    }
    if (error >= 0) error = av_buffersrc_add_frame(effects->input, picture);
    if (error >= 0) error = av_buffersink_get_frame(effects->output, result);
    if (error < 0) clm_effects_free(effects);
    return error;
}

/// The first picture of a file.
static int decode_first(const char *path, AVFrame *frame) {
    AVFormatContext *format = NULL;
    AVCodecContext *context = NULL;
    AVPacket *packet = av_packet_alloc();
    const AVCodec *codec = NULL;
    int stream = -1, result = packet ? avformat_open_input(&format, path, NULL, NULL) : AVERROR(ENOMEM);
    if (result >= 0) result = avformat_find_stream_info(format, NULL);
    if (result >= 0) result = stream = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (result >= 0) result = clm_decoder_open(format->streams[stream], codec, &context);
    while (result >= 0) {
        int read = av_read_frame(format, packet);
        if (read >= 0 && packet->stream_index != stream) {
            av_packet_unref(packet);
            continue;
        }
        avcodec_send_packet(context, read >= 0 ? packet : NULL);
        av_packet_unref(packet);
        result = avcodec_receive_frame(context, frame);
        if (result >= 0) break;
        if (result == AVERROR(EAGAIN) && read >= 0) result = 0;
    }
    avcodec_free_context(&context);
    avformat_close_input(&format);
    av_packet_free(&packet);
    return result;
}

AVFrame *clm_image_load(const char *path, int width, int height) {
    clm_effects effects = {.width = width, .height = height};
    clm_effect_values plain = {.zoom = 1000};
    AVFrame *image = av_frame_alloc(), *result = av_frame_alloc();
    bool is_loaded = image && result && decode_first(path, image) >= 0;
    if (is_loaded) image->pts = 0;
    is_loaded = is_loaded && clm_effects_apply(&effects, &plain, image, NULL, result) >= 0;
    clm_effects_free(&effects);
    av_frame_free(&image);
    if (!is_loaded) av_frame_free(&result);
    return result;
}
