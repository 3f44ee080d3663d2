// One interface over the test picture, files and devices.
#include "internal.h"
#include <errno.h>
#include <string.h>

enum clm_code clm_source_open(clm_source *source, const clm_source_choice *choice,
                              const clm_configuration *configuration) {
    *source = (clm_source){.kind = choice->kind};
    if (choice->kind == CLM_SOURCE_PATTERN || choice->kind == CLM_SOURCE_BLACK) return CLM_OK;
    if (!choice->name) return CLM_BAD_VALUE;
    source->input = clm_input_open(choice, false, configuration);
    if (source->input && choice->microphone && choice->kind != CLM_SOURCE_FILE) {
        source->microphone = clm_input_open(choice, true, configuration);
        if (!source->microphone) {
            clm_source_close(source);
            return CLM_NO_MICROPHONE;
        }
    }
    return source->input ? CLM_OK : CLM_NO_SOURCE;
}

void clm_source_close(clm_source *source) {
    clm_input_free(source->input);
    clm_input_free(source->microphone);
    source->input = source->microphone = NULL;
}

int clm_picture_allocate(AVFrame *picture, int width, int height) {
    picture->format = AV_PIX_FMT_YUV420P;
    picture->width = width;
    picture->height = height;
    picture->color_range = AVCOL_RANGE_MPEG;
    return av_frame_get_buffer(picture, 0);
}

int clm_source_picture(clm_source *source, int64_t time, const clm_configuration *configuration, AVFrame *picture) {
    if (!source->has_origin) source->origin = time;
    source->has_origin = true;
    // Half a frame later, so that rounding of a file's times takes no picture twice.
    int64_t place = time - source->origin + 500000 / configuration->frames_per_second;
    int result = source->input ? clm_input_picture(source->input, place, picture) : AVERROR(EAGAIN);
    if (result != AVERROR(EAGAIN)) return result;
    result = clm_picture_allocate(picture, configuration->width, configuration->height);
    if (result < 0) return result;
    if (source->input || source->kind == CLM_SOURCE_BLACK)
        clm_pattern_black(picture); // Also for a device that has not begun.
    else
        clm_pattern_draw(picture, source->counter++);
    return 0;
}

int clm_source_sound(clm_source *source, int64_t position, AVFrame *sound) {
    clm_input *input = source->microphone ? source->microphone : source->input;
    if (input && clm_input_has_sound(input)) return clm_input_sound(input, sound);
    if (source->kind == CLM_SOURCE_PATTERN)
        clm_pattern_tone(sound, position);
    else
        av_samples_set_silence(sound->data, 0, sound->nb_samples, CLM_CHANNELS, AV_SAMPLE_FMT_FLTP);
    return 0;
}

bool clm_source_has_lost_sound(clm_source *source) {
    if (source->has_lost_sound || !source->microphone || !clm_input_is_over(source->microphone)) return false;
    source->has_lost_sound = true;
    return true;
}
