// Publishes a file in a loop for some seconds with LectureLiveMedia's C half, and prints what that took: frames that
// were sent and dropped, processor time in seconds, memory at its highest in KiB. live_media.py compiles and runs it.
#include "CLectureMedia.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void ended(void *context, enum clm_code code) {
    (void)context;
    fprintf(stderr, "ended: %d\n", code);
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

int main(int count, char **arguments) {
    if (count != 4) return 64;
    clm_configuration values = {
        .width = 1280, .height = 720, .frames_per_second = 30, .video_bitrate = 2048000, .audio_bitrate = 128000,
        .key_interval = 60, .sample_rate = 44100, .write_deadline = 5000, .queue_limit = 1500, .preset = "veryfast",
        .source = {.kind = CLM_SOURCE_FILE, .name = arguments[2], .loops = true}};
    enum clm_code code;
    clm_broadcast *broadcast = clm_broadcast_create(&values, ended, NULL, &code);
    if (!broadcast || clm_broadcast_connect(broadcast, arguments[1]) != CLM_OK) return 1;
    sleep((unsigned)atoi(arguments[3]));
    clm_broadcast_disconnect(broadcast, 1000);
    clm_statistics statistics = clm_broadcast_statistics(broadcast);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%llu %llu %.2f %ld\n", (unsigned long long)statistics.frames_sent,
           (unsigned long long)statistics.frames_dropped, seconds(usage.ru_utime) + seconds(usage.ru_stime),
           usage.ru_maxrss);
    clm_broadcast_free(broadcast);
    return 0;
}
