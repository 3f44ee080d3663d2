// The library as a whole: FFmpeg's log, time, classes of errors, and the end of calls that block.
#include "internal.h"
#include <errno.h>
#include <string.h>
#include <time.h>

/// What FFmpeg has reported on this thread, of what its error numbers do not say. Texts are not kept: they contain
/// addresses, and an address contains the stream key.
static _Thread_local bool reported_busy, reported_no_server;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/// FFmpeg's log. It writes nothing.
static void listen_to_log(void *context, int level, const char *format, va_list values) {
    (void)context;
    if (level > AV_LOG_ERROR) return;
    if (strncmp(format, "Server error", 12) == 0) {
        char text[256];
        vsnprintf(text, sizeof text, format, values);
        if (av_stristr(text, "already publishing")) reported_busy = true;
    }
    if (av_stristr(format, "resolve hostname") || av_stristr(format, "handshake")) reported_no_server = true;
}

/// Listens to the log, also after another library of this process has taken it: libmpv does when a player is made, and
/// gives it back to FFmpeg's own function afterwards, which writes to standard error unless its level is none.
static void take_log(void) {
    av_log_set_level(AV_LOG_QUIET);
    av_log_set_callback(listen_to_log);
}

static void set_up(void) {
    take_log();
    avdevice_register_all();
    avformat_network_init();
}

void clm_set_up(void) { pthread_once(&once, set_up); }

int64_t clm_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

struct timespec clm_time(int64_t milliseconds) {
    return (struct timespec){.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
}

int clm_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int result = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return result;
}

void clm_forget_reports(void) {
    take_log();
    reported_busy = reported_no_server = false;
}

enum clm_code clm_connect_code(int error) {
    if (error == AVERROR_EXIT || error == AVERROR(ETIMEDOUT)) return CLM_TIMED_OUT;
    if (error == AVERROR_PROTOCOL_NOT_FOUND || error == AVERROR(EINVAL)) return CLM_BAD_VALUE;
    if (error == AVERROR(ENOMEM)) return CLM_NO_RESOURCES;
    if (reported_busy) return CLM_BUSY;
    if (reported_no_server) return CLM_NO_SERVER;
    switch (error) {
    case AVERROR(ECONNREFUSED):
    case AVERROR(EHOSTUNREACH):
    case AVERROR(ENETUNREACH):
    case AVERROR(EADDRNOTAVAIL):
        return CLM_NO_SERVER;
    default:
        // The server answers with an error (EPERM), or closes the connection as nginx does (EIO, EOF).
        return CLM_REFUSED;
    }
}

enum clm_code clm_write_code(int error) {
    if (error == AVERROR_EXIT || error == AVERROR(ETIMEDOUT)) return CLM_TIMED_OUT;
    return error == AVERROR(ENOMEM) ? CLM_NO_RESOURCES : CLM_LOST;
}

bool clm_watch_is_over(clm_watch *watch) {
    bool is_left = watch->leaving && atomic_load(watch->leaving) != 0;
    return is_left || atomic_load(&watch->is_cancelled) || clm_now() > atomic_load(&watch->deadline);
}

/// Called again and again while a call blocks.
static int is_over(void *watch) {
    av_log_set_callback(listen_to_log);
    return clm_watch_is_over(watch);
}

AVIOInterruptCB clm_watch_callback(clm_watch *watch) {
    return (AVIOInterruptCB){.callback = is_over, .opaque = watch};
}

void clm_watch_for(clm_watch *watch, int64_t milliseconds) {
    atomic_store(&watch->deadline, clm_now() + milliseconds);
}
