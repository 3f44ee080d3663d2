// Live media over FFmpeg's libraries: broadcasts over RTMP, HLS packaging, joining, and reading of frames.
//
// Plain structs and opaque pointers; no type of FFmpeg appears here. Every function may be called on any thread, unless
// its comment says otherwise. A callback comes on a thread of this library, which must not be the one that ends it.
#ifndef CLECTUREMEDIA_H
#define CLECTUREMEDIA_H
#include <stdbool.h>
#include <stdint.h>

#define CLM_CLOSED_ENUM enum __attribute__((enum_extensibility(closed)))

/// What became of a call, or why something has ended.
typedef CLM_CLOSED_ENUM clm_code {
    CLM_OK,
    /// No server answers, or what answers speaks no RTMP.
    CLM_NO_SERVER,
    /// The server does not accept this publisher.
    CLM_REFUSED,
    /// Another publisher has the key.
    CLM_BUSY,
    /// Nothing was accepted or sent by the other side until the deadline.
    CLM_TIMED_OUT,
    /// The other side has closed the connection.
    CLM_LOST,
    /// Ended by a call of this library.
    CLM_STOPPED,
    /// The source cannot be opened or read.
    CLM_NO_SOURCE,
    /// The microphone beside the source cannot be opened or read.
    CLM_NO_MICROPHONE,
    /// The source is at its end.
    CLM_SOURCE_ENDED,
    /// An encoder is missing or refuses its settings.
    CLM_NO_ENCODER,
    /// A value is outside its bounds.
    CLM_BAD_VALUE,
    /// Connected already, or closed.
    CLM_BAD_STATE,
    /// A file cannot be read as media.
    CLM_UNREADABLE,
    /// A file cannot be written.
    CLM_UNWRITABLE,
    /// Files with different formats cannot be joined.
    CLM_MISMATCH,
    /// No memory, or no thread.
    CLM_NO_RESOURCES,
} clm_code;

/// Where pictures and sound come from.
typedef CLM_CLOSED_ENUM clm_source_kind {
    /// A test picture with a frame counter, and a tone with a beep each second.
    CLM_SOURCE_PATTERN,
    /// A media file.
    CLM_SOURCE_FILE,
    /// An X11 display.
    CLM_SOURCE_SCREEN,
    /// A V4L2 device.
    CLM_SOURCE_CAMERA,
    /// Black pictures and silence.
    CLM_SOURCE_BLACK,
} clm_source_kind;

/// A source. Its texts are copied by whatever takes it.
typedef struct clm_source_choice {
    enum clm_source_kind kind;
    /// Path, display or device; NULL for the test picture.
    const char *_Nullable name;
    /// An ALSA device beside a screen or camera; NULL for silence.
    const char *_Nullable microphone;
    /// Whether a file begins again at its end.
    bool loops;
} clm_source_choice;

/// How a broadcast is encoded and sent.
typedef struct clm_configuration {
    int32_t width, height, frames_per_second;
    /// Bits a second.
    int32_t video_bitrate, audio_bitrate;
    /// Frames from one key frame to the next.
    int32_t key_interval;
    int32_t sample_rate;
    /// How long a connection may accept nothing, milliseconds.
    int32_t write_deadline;
    /// A longer queue is dropped up to a key frame, milliseconds.
    int32_t queue_limit;
    /// Of libx264, for instance "veryfast".
    const char *_Nonnull preset;
    clm_source_choice source;
} clm_configuration;

/// What a broadcast has done so far.
typedef struct clm_statistics {
    /// Pictures by what became of them. After a clean end of the connection, encoded = sent + dropped.
    uint64_t frames_made, frames_encoded, frames_sent, frames_dropped;
    uint64_t key_frames_sent, sounds_sent, sounds_dropped;
    /// Of encoded media, without RTMP's own bytes.
    uint64_t bytes_sent;
    /// From the oldest packet that is not sent to the newest.
    int32_t queue_ms;
    uint64_t queue_bytes;
    /// The target of the video encoder, bits a second.
    int32_t video_bitrate;
    /// Since the last packet was sent, milliseconds; -1 while not connected.
    int64_t idle_ms;
    bool is_connected;
    /// Why the last connection has ended; CLM_OK for none.
    enum clm_code last_error;
} clm_statistics;

/// Reports an end: of the connection with its reason, of the source with CLM_SOURCE_ENDED or CLM_NO_SOURCE, or of the
/// microphone with CLM_NO_MICROPHONE, after which there is silence.
typedef void (*clm_ended)(void *_Nullable context, enum clm_code code);

typedef struct clm_broadcast clm_broadcast;

/// Opens the source and the encoders, and starts the thread of both. NULL with `code` set when that fails.
clm_broadcast *_Nullable clm_broadcast_create(const clm_configuration *_Nonnull configuration,
                                              clm_ended _Nonnull ended, void *_Nullable context,
                                              enum clm_code *_Nonnull code);
/// Publishes to an RTMP address; blocks until the server has accepted or refused it, at most for the write deadline.
enum clm_code clm_broadcast_connect(clm_broadcast *_Nonnull broadcast, const char *_Nonnull url);
/// Sends what is queued for at most `drain` milliseconds, and ends the connection. Source and encoders stay.
void clm_broadcast_disconnect(clm_broadcast *_Nonnull broadcast, int32_t drain);
/// Ends all threads. No callback comes afterwards; other calls are refused.
void clm_broadcast_close(clm_broadcast *_Nonnull broadcast);
/// Closes and frees.
void clm_broadcast_free(clm_broadcast *_Nonnull broadcast);
/// Changes the target of the video encoder from the next frame on.
enum clm_code clm_broadcast_set_bitrate(clm_broadcast *_Nonnull broadcast, int32_t bits_per_second);
/// Makes the next frame a key frame.
void clm_broadcast_request_key(clm_broadcast *_Nonnull broadcast);
/// Enlarges the middle of the picture, in thousandths from 1000 to 16000.
enum clm_code clm_broadcast_set_zoom(clm_broadcast *_Nonnull broadcast, int32_t thousandths);
/// Mirrors the picture.
void clm_broadcast_set_mirrored(clm_broadcast *_Nonnull broadcast, bool is_mirrored);
/// Sends black pictures.
void clm_broadcast_mute_video(clm_broadcast *_Nonnull broadcast, bool is_muted);
/// Sends silence.
void clm_broadcast_mute_audio(clm_broadcast *_Nonnull broadcast, bool is_muted);
/// Sends a picture from a file in place of the source's; NULL ends that.
enum clm_code clm_broadcast_show_image(clm_broadcast *_Nonnull broadcast, const char *_Nullable path);
/// Takes pictures and sound from another source. Opens it on this thread, and closes the one before; counters, times and
/// effects go on. When it cannot be opened, nothing changes.
enum clm_code clm_broadcast_set_source(clm_broadcast *_Nonnull broadcast, const clm_source_choice *_Nonnull source);
/// Drops what waits to be sent, up to the newest key frame, or all of it and requests one.
void clm_broadcast_drop(clm_broadcast *_Nonnull broadcast);
/// Shows a second source small in the corner; NULL ends that.
enum clm_code clm_broadcast_show_inset(clm_broadcast *_Nonnull broadcast, const clm_source_choice *_Nullable source);
/// Reads the counters.
clm_statistics clm_broadcast_statistics(clm_broadcast *_Nonnull broadcast);

typedef struct clm_preview clm_preview;

/// Makes room for the newest picture of broadcasts of this size. NULL without memory, or for a size that is none.
clm_preview *_Nullable clm_preview_create(int32_t width, int32_t height);
/// Shows what this broadcast makes, before it is encoded; NULL ends that. A preview has to live until then.
void clm_broadcast_set_preview(clm_broadcast *_Nonnull broadcast, clm_preview *_Nullable preview);
/// Reads pictures of YUV 4:2:0, plane after plane, without gaps. Waits for the next one, and leaves out those that came
/// while it did not. 0 when the preview was closed. One reader at a time.
int64_t clm_preview_read(clm_preview *_Nonnull preview, void *_Nonnull buffer, int64_t count);
/// Ends reading, now and from now on.
void clm_preview_close(clm_preview *_Nonnull preview);
/// Frees it. No broadcast and no reader may have it.
void clm_preview_free(clm_preview *_Nonnull preview);

/// What a packager has done so far.
typedef struct clm_packager_statistics {
    uint64_t frames, bytes;
    /// From the first frame to the last, milliseconds.
    int64_t duration_ms;
} clm_packager_statistics;

typedef struct clm_packager clm_packager;

/// Reads RTMP or a file on a thread of its own and writes HLS into a directory. NULL with `code` set when that fails.
/// `deadline` is how long the input may send nothing, milliseconds.
clm_packager *_Nullable clm_packager_create(const char *_Nonnull url, const char *_Nonnull directory,
                                            int32_t deadline, clm_ended _Nonnull ended, void *_Nullable context,
                                            enum clm_code *_Nonnull code);
/// Ends reading, and waits until the playlist is complete.
void clm_packager_stop(clm_packager *_Nonnull packager);
/// Stops and frees.
void clm_packager_free(clm_packager *_Nonnull packager);
/// Reads the counters.
clm_packager_statistics clm_packager_read(clm_packager *_Nonnull packager);

/// What joining has made.
typedef struct clm_joined {
    uint64_t frames;
    int64_t duration_ms;
    /// The input at fault, from 0; -1 for none.
    int32_t fault;
    /// Of the picture, in pixels.
    int32_t width, height;
} clm_joined;

/// What joining has taken from an input.
typedef struct clm_joined_input {
    uint64_t frames;
    /// Before its first key frame, which is left out; and what it has added to the output. Milliseconds.
    int64_t skipped_ms, duration_ms;
} clm_joined_input;

/// Joins files and playlists by stream copy into one MP4, which appears under its name when it is complete.
enum clm_code clm_join(const char *_Nonnull const *_Nonnull paths, int32_t count, const char *_Nonnull output,
                       clm_joined *_Nonnull joined);
/// The same into an open file, which is not synced. `inputs` has an element for each path.
enum clm_code clm_join_descriptor(const char *_Nonnull const *_Nonnull paths, int32_t count, int descriptor,
                                  clm_joined *_Nonnull joined, clm_joined_input *_Nonnull inputs);

/// A decoded picture.
typedef struct clm_frame {
    /// Presentation time, microseconds.
    int64_t time;
    bool has_counter, is_mirrored, is_key;
    uint32_t counter;
    /// Mean luma of eight columns of the lowest quarter, the leftmost in the lowest byte.
    uint64_t columns;
} clm_frame;

/// Decoded sound.
typedef struct clm_sound {
    /// Presentation time, microseconds.
    int64_t time;
    /// Root of the mean square of the first channel, 0 to 1.
    float loudness;
} clm_sound;

typedef void (*clm_on_frame)(void *_Nullable context, const clm_frame *_Nonnull frame);
typedef void (*clm_on_sound)(void *_Nullable context, const clm_sound *_Nonnull sound);

/// Decodes a file or playlist to its end on this thread, and reports every picture and sound in order.
enum clm_code clm_read_frames(const char *_Nonnull path, clm_on_frame _Nonnull on_frame,
                              clm_on_sound _Nonnull on_sound, void *_Nullable context);
#endif
