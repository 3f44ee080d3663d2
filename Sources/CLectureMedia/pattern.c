// The test picture: its number in black and white cells, noise that costs bits, and bars that show zoom and mirror.
//
//   W c c c … c B    a white column, 20 cells, a black column: the right way round, or mirrored
//   W c c c … c B    40 cells: 32 bits of the counter and a check of 8 bits, the highest first
//   noise            a different one in each picture
//   bars             eight, from dark to bright
#include "internal.h"
#include <math.h>
#include <string.h>

#define COLUMNS 22
#define ROWS 2
#define BLACK 16
#define WHITE 235

/// CRC-8 with a start other than 0, so that black and white pictures have no valid number.
static uint8_t check_of(uint32_t counter) {
    uint8_t check = 0xFF;
    for (int shift = 24; shift >= 0; shift -= 8) {
        check ^= (uint8_t)(counter >> shift);
        for (int bit = 0; bit < 8; bit++) check = (uint8_t)(check & 0x80 ? check << 1 ^ 0x07 : check << 1);
    }
    return check;
}

static int cell_width(const AVFrame *frame) { return frame->width / COLUMNS; }

static int cell_height(const AVFrame *frame) { return FFMIN(cell_width(frame), frame->height / 8); }

/// Whether a cell is white in the picture of this code.
static bool is_white(uint64_t code, int row, int column) {
    if (column == 0) return true;
    if (column == COLUMNS - 1) return false;
    return code >> (39 - (row * (COLUMNS - 2) + column - 1)) & 1;
}

static void draw_cells(AVFrame *frame, uint64_t code) {
    int width = cell_width(frame), height = cell_height(frame);
    for (int row = 0; row < ROWS; row++)
        for (int line = row * height; line < (row + 1) * height; line++) {
            uint8_t *luma = frame->data[0] + (ptrdiff_t)line * frame->linesize[0];
            memset(luma, BLACK, (size_t)frame->width);
            for (int column = 0; column < COLUMNS; column++)
                if (is_white(code, row, column)) memset(luma + column * width, WHITE, (size_t)width);
        }
}

static void draw_noise(AVFrame *frame, uint32_t counter, int from, int to) {
    uint64_t random = 0x9E3779B97F4A7C15u * (counter + 1u);
    for (int line = from; line < to; line++) {
        uint8_t *luma = frame->data[0] + (ptrdiff_t)line * frame->linesize[0];
        for (int x = 0; x < frame->width; x += 8) {
            // xorshift64: eight values of five bits at once, around the middle.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            uint64_t values = (random & 0x1F1F1F1F1F1F1F1Fu) + 0x7070707070707070u;
            memcpy(luma + x, &values, (size_t)FFMIN(8, frame->width - x));
        }
    }
}

static void draw_bars(AVFrame *frame, int from) {
    for (int line = from; line < frame->height; line++) {
        uint8_t *luma = frame->data[0] + (ptrdiff_t)line * frame->linesize[0];
        for (int bar = 0; bar < 8; bar++) {
            int left = frame->width * bar / 8, right = frame->width * (bar + 1) / 8;
            memset(luma + left, 40 + 24 * bar, (size_t)(right - left));
        }
    }
}

void clm_pattern_draw(AVFrame *frame, uint32_t counter) {
    int cells = ROWS * cell_height(frame), bars = frame->height / 2;
    draw_cells(frame, (uint64_t)counter << 8 | check_of(counter));
    draw_noise(frame, counter, cells, bars);
    draw_bars(frame, bars);
    for (int plane = 1; plane < 3; plane++)
        for (int line = 0; line < (frame->height + 1) / 2; line++)
            memset(frame->data[plane] + (ptrdiff_t)line * frame->linesize[plane], plane == 1 ? 150 : 110,
                   (size_t)((frame->width + 1) / 2));
}

void clm_pattern_black(AVFrame *frame) {
    for (int plane = 0; plane < 3; plane++)
        for (int line = 0; line < (plane ? (frame->height + 1) / 2 : frame->height); line++)
            memset(frame->data[plane] + (ptrdiff_t)line * frame->linesize[plane], plane ? 128 : BLACK,
                   (size_t)(plane ? (frame->width + 1) / 2 : frame->width));
}

/// Mean luma of a rectangle.
static int mean(const AVFrame *frame, int left, int top, int width, int height) {
    int64_t sum = 0;
    for (int line = top; line < top + height; line++)
        for (int x = left; x < left + width; x++) sum += frame->data[0][(ptrdiff_t)line * frame->linesize[0] + x];
    return (int)(sum / FFMAX(1, width * height));
}

/// Reads one direction. False when the edges or the check are wrong.
static bool read_cells(const AVFrame *frame, bool is_mirrored, uint32_t *counter) {
    int width = cell_width(frame), height = cell_height(frame);
    uint64_t code = 0;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int left = column * width + width / 4, part = FFMAX(1, width / 2);
            if (is_mirrored) left = frame->width - left - part;
            bool white = mean(frame, left, row * height + height / 4, part, FFMAX(1, height / 2)) > 125;
            if (column == 0 || column == COLUMNS - 1) {
                if (white != (column == 0)) return false;
            } else {
                code = code << 1 | white;
            }
        }
    *counter = (uint32_t)(code >> 8);
    return check_of(*counter) == (uint8_t)code;
}

void clm_pattern_read(const AVFrame *frame, clm_frame *found) {
    found->has_counter = read_cells(frame, false, &found->counter);
    found->is_mirrored = !found->has_counter && read_cells(frame, true, &found->counter);
    found->has_counter = found->has_counter || found->is_mirrored;
    if (!found->has_counter) found->counter = 0;
    found->columns = 0;
    for (int column = 0; column < 8; column++) {
        int left = frame->width * column / 8, width = frame->width / 8;
        // The edge of a bar is blurred by the encoder.
        int value = mean(frame, left + width / 4, frame->height * 3 / 4, width / 2, frame->height / 4);
        found->columns |= (uint64_t)value << 8 * column;
    }
}

void clm_pattern_tone(AVFrame *frame, int64_t position) {
    const double turn = 6.283185307179586 / frame->sample_rate;
    for (int index = 0; index < frame->nb_samples; index++) {
        int64_t place = (position + index) % frame->sample_rate;
        bool is_beep = place < frame->sample_rate / 10;
        float value = (float)(is_beep ? 0.5 * sin(turn * 1000 * (double)place) : 0.1 * sin(turn * 440 * (double)place));
        for (int channel = 0; channel < CLM_CHANNELS; channel++) ((float *)frame->data[channel])[index] = value;
    }
}
