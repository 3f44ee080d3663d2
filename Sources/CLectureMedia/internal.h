// What the files of this library share. Not visible outside.
#ifndef CLM_INTERNAL_H
#define CLM_INTERNAL_H
#include "CLectureMedia.h"
#include <libavcodec/avcodec.h>
#include <libavdevice/avdevice.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/avstring.h>
#include <libavutil/channel_layout.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
#include <pthread.h>
#include <stdatomic.h>

/// Both encoders and every source use this many channels.
#define CLM_CHANNELS 2
#define CLM_MICROSECONDS ((AVRational){1, 1000000})
#define CLM_MILLISECONDS ((AVRational){1, 1000})

// setup.c: the library as a whole, time, errors.

/// Replaces FFmpeg's log and registers its devices; once, and free of charge afterwards.
void clm_set_up(void);
/// Milliseconds of the monotonic clock.
int64_t clm_now(void);
/// The same as what pthread_cond_timedwait(3) takes.
struct timespec clm_time(int64_t milliseconds);
/// A condition variable that waits by the monotonic clock.
int clm_condition_init(pthread_cond_t *condition);
/// Forgets what FFmpeg has reported on this thread.
void clm_forget_reports(void);
/// The class of an error of opening a connection, with the help of what FFmpeg has reported on this thread.
enum clm_code clm_connect_code(int error);
/// The class of an error of an open connection.
enum clm_code clm_write_code(int error);

/// Ends calls of FFmpeg that block: at a deadline, or at once.
typedef struct clm_watch {
    _Atomic int64_t deadline;
    atomic_bool is_cancelled;
    /// Cancels as well while it is not 0; NULL for none. Only set while the call is made by the thread that sets it.
    const atomic_int *leaving;
} clm_watch;
/// FFmpeg's callback for a watch.
AVIOInterruptCB clm_watch_callback(clm_watch *watch);
/// Whether its time is over.
bool clm_watch_is_over(clm_watch *watch);
/// The deadline from now on, milliseconds.
void clm_watch_for(clm_watch *watch, int64_t milliseconds);

// pattern.c: the test picture and the tone.

/// Smallest size in which the counter survives encoding.
#define CLM_LEAST_WIDTH 176
#define CLM_LEAST_HEIGHT 96
/// Draws picture number `counter` into a writable frame in YUV 4:2:0.
void clm_pattern_draw(AVFrame *frame, uint32_t counter);
/// Fills a frame in YUV 4:2:0 with black.
void clm_pattern_black(AVFrame *frame);
/// Reads luma as the counter.
void clm_pattern_read(const AVFrame *frame, clm_frame *found);
/// Writes a tone into planar floats; `position` counts samples from the start.
void clm_pattern_tone(AVFrame *frame, int64_t position);

// input.c: demuxing and decoding of files and devices.

#define CLM_INPUT_PICTURES 64
typedef struct clm_input clm_input;
/// Opens a file, a device, or the device of the choice's microphone. NULL when that fails.
clm_input *clm_input_open(const clm_source_choice *choice, bool is_microphone, const clm_configuration *configuration);
void clm_input_free(clm_input *input);
/// The picture of a time, in microseconds from the start. EAGAIN when there is none yet, EOF at the end.
int clm_input_picture(clm_input *input, int64_t time, AVFrame *picture);
/// Fills a frame of planar floats, with silence where there is no sound.
int clm_input_sound(clm_input *input, AVFrame *sound);
/// Whether it has sound.
bool clm_input_has_sound(const clm_input *input);
/// Whether a device can be read no more.
bool clm_input_is_over(clm_input *input);

// source.c: one interface over all of them.

typedef struct clm_source {
    enum clm_source_kind kind;
    clm_input *input, *microphone;
    uint32_t counter;
    /// When its first picture is due, microseconds from the start of the broadcast.
    int64_t origin;
    bool has_origin, has_lost_sound;
} clm_source;
enum clm_code clm_source_open(clm_source *source, const clm_source_choice *choice,
                              const clm_configuration *configuration);
void clm_source_close(clm_source *source);
/// A picture for this time, in any size and format: a frame of its own. A source begins with the first one.
int clm_source_picture(clm_source *source, int64_t time, const clm_configuration *configuration, AVFrame *picture);
/// Sound from this sample on, into a frame with its size set.
int clm_source_sound(clm_source *source, int64_t position, AVFrame *sound);
/// Whether the microphone can be read no more; true once.
bool clm_source_has_lost_sound(clm_source *source);
/// An empty frame of the broadcast's size in YUV 4:2:0.
int clm_picture_allocate(AVFrame *picture, int width, int height);

// effects.c: the filter graph.

typedef struct clm_effect_values {
    int32_t zoom; // thousandths
    bool is_mirrored, is_muted;
} clm_effect_values;
typedef struct clm_effects {
    AVFilterGraph *graph;
    AVFilterContext *input, *inset, *output;
    clm_effect_values built;
    /// Of the input and of the inset for which the graph is built.
    int shape[6];
    int width, height;
} clm_effects;
/// Converts a picture, with an inset or NULL, to the broadcast's size in YUV 4:2:0. Both frames are consumed.
int clm_effects_apply(clm_effects *effects, const clm_effect_values *values, AVFrame *picture, AVFrame *inset,
                      AVFrame *result);
void clm_effects_free(clm_effects *effects);
/// Decodes a still image in this size; NULL when it is none.
AVFrame *clm_image_load(const char *path, int width, int height);

// preview.c

/// Takes a reference to a picture in place of the one before. Never waits.
void clm_preview_put(clm_preview *preview, const AVFrame *picture);

// encoder.c

typedef struct clm_encoder {
    AVCodecContext *video, *audio;
} clm_encoder;
enum clm_code clm_encoder_open(clm_encoder *encoder, const clm_configuration *configuration);
void clm_encoder_close(clm_encoder *encoder);
/// Takes effect with the next frame.
void clm_encoder_set_bitrate(clm_encoder *encoder, int32_t bits_per_second);

// queue.c: packets between the encoders and the connection.

#define CLM_QUEUE_CAPACITY 1024
typedef struct clm_queue_entry {
    AVPacket *packet;
    bool is_video, is_key;
    int64_t time; // milliseconds from the connection's first key frame
} clm_queue_entry;
typedef struct clm_queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    clm_queue_entry entries[CLM_QUEUE_CAPACITY];
    int head, count, limit;
    uint64_t bytes;
    /// Of the packet that is being sent, and of the newest; milliseconds.
    int64_t sending, newest;
    /// Microseconds of the first key frame.
    int64_t base;
    bool is_open, needs_key, has_base;
    uint64_t frames_dropped, sounds_dropped;
} clm_queue;
void clm_queue_init(clm_queue *queue, int limit);
void clm_queue_free(clm_queue *queue);
/// Empties it and takes packets from the next key frame on.
void clm_queue_open(clm_queue *queue);
/// Drops everything before the newest key frame, or all of it. True when a key frame is needed to go on.
bool clm_queue_drop(clm_queue *queue);
/// Takes no more packets; what it has can still be taken out.
void clm_queue_close(clm_queue *queue);
/// Counts what is left as dropped.
void clm_queue_discard(clm_queue *queue);
/// Takes a packet over. True when a key frame is needed to go on.
bool clm_queue_push(clm_queue *queue, AVPacket *packet, bool is_video, AVRational unit);
/// Waits for a packet. False when it is closed and empty.
bool clm_queue_pop(clm_queue *queue, clm_queue_entry *entry);
/// The packet that was taken out has been sent.
void clm_queue_sent(clm_queue *queue);
/// The packet that was taken out could not be sent.
void clm_queue_lost(clm_queue *queue, bool is_video);
/// Length in milliseconds, with the packet that is being sent; bytes.
int32_t clm_queue_length(clm_queue *queue, uint64_t *bytes);

// link.c: one connection and its thread.

typedef struct clm_link clm_link;
typedef struct clm_link_counts {
    atomic_uint_fast64_t frames, sounds, keys, bytes;
    /// When the last packet was sent, milliseconds of the monotonic clock.
    _Atomic int64_t last;
} clm_link_counts;
/// Connects and starts to send what is in the queue. NULL with `code` set when that fails: with CLM_STOPPED as soon as
/// `leaving` is not 0.
clm_link *clm_link_open(const char *url, const clm_encoder *encoder, clm_queue *queue, clm_link_counts *counts,
                        const clm_configuration *configuration, const atomic_int *leaving, clm_ended ended,
                        void *context, enum clm_code *code);
/// Sends the rest for at most this time, ends the connection and frees it.
void clm_link_close(clm_link *link, int64_t drain);

// decoder.c

/// Opens the decoder of a stream: the one that FFmpeg found for it, or NULL for the usual one.
int clm_decoder_open(const AVStream *stream, const AVCodec *codec, AVCodecContext **context);

// copy.c: what reads without decoding.

typedef struct clm_copy {
    AVFormatContext *format;
    clm_watch watch;
    int video, audio; // numbers of streams; -1 for none
} clm_copy;
/// Opens media that has a picture. `deadline` in milliseconds.
int clm_copy_open(clm_copy *copy, const char *url, int64_t deadline);
void clm_copy_close(clm_copy *copy);
/// Adds a stream of the same format.
int clm_copy_add_stream(AVFormatContext *output, const AVStream *stream);
/// Reads the next packet of either stream. EOF only at a proper end.
int clm_copy_read(clm_copy *copy, AVPacket *packet);

/// Places packets of inputs that follow each other on one line of time.
typedef struct clm_timeline {
    /// Microseconds: the first key frame of this input, where that is placed, and the end of what was placed.
    int64_t base, offset, end;
    /// Of the last packet of video and audio, in units of the output; and the time of the last picture.
    int64_t last[2], last_picture, step;
    bool has_base, has_packets[2];
} clm_timeline;
/// The next packets are of another input, which follows without a pause.
void clm_timeline_continue(clm_timeline *timeline);
/// Moves a packet. False when it comes before the input's first key frame.
bool clm_timeline_place(clm_timeline *timeline, AVPacket *packet, AVRational from, AVRational to, bool is_video);
#endif
