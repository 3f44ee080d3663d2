// Packets between the encoders and the connection. When more than the limit waits, everything before the newest key
// frame is dropped, or everything when there is none; then a key frame is requested, and what comes before it is
// dropped too. So what is sent can always be decoded.
#include "internal.h"
#include <string.h>

void clm_queue_init(clm_queue *queue, int limit) {
    memset(queue, 0, sizeof *queue);
    pthread_mutex_init(&queue->lock, NULL);
    clm_condition_init(&queue->filled);
    queue->limit = limit;
    queue->sending = -1;
}

void clm_queue_free(clm_queue *queue) {
    clm_queue_discard(queue);
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->lock);
}

static clm_queue_entry *entry_at(clm_queue *queue, int index) {
    return &queue->entries[(queue->head + index) % CLM_QUEUE_CAPACITY];
}

static void count_dropped(clm_queue *queue, bool is_video) {
    if (is_video)
        queue->frames_dropped++;
    else
        queue->sounds_dropped++;
}

/// Drops the oldest packets.
static void drop(clm_queue *queue, int count) {
    for (; count > 0; count--) {
        clm_queue_entry *entry = entry_at(queue, 0);
        count_dropped(queue, entry->is_video);
        queue->bytes -= (uint64_t)entry->packet->size;
        av_packet_free(&entry->packet);
        queue->head = (queue->head + 1) % CLM_QUEUE_CAPACITY;
        queue->count--;
    }
}

/// Drops everything before the newest key frame, or all of it.
static void drop_to_key(clm_queue *queue) {
    for (int index = queue->count - 1; index > 0; index--)
        if (entry_at(queue, index)->is_key) {
            drop(queue, index);
            return;
        }
    drop(queue, queue->count);
    queue->needs_key = true;
}

/// Shortens the queue, if it must be. Afterwards it has room.
static void shorten(clm_queue *queue) {
    bool is_full = queue->count == CLM_QUEUE_CAPACITY;
    if (queue->count == 0 || (!is_full && queue->newest - entry_at(queue, 0)->time <= queue->limit)) return;
    drop_to_key(queue);
}

bool clm_queue_drop(clm_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    if (queue->count > 0) drop_to_key(queue);
    bool needs_key = queue->is_open && queue->needs_key;
    pthread_mutex_unlock(&queue->lock);
    return needs_key;
}

void clm_queue_open(clm_queue *queue) {
    clm_queue_discard(queue);
    pthread_mutex_lock(&queue->lock);
    queue->is_open = queue->needs_key = true;
    queue->has_base = false;
    queue->newest = 0;
    queue->sending = -1;
    pthread_mutex_unlock(&queue->lock);
}

void clm_queue_close(clm_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->is_open = false;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

void clm_queue_discard(clm_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    drop(queue, queue->count);
    queue->sending = -1;
    pthread_mutex_unlock(&queue->lock);
}

void clm_queue_lost(clm_queue *queue, bool is_video) {
    pthread_mutex_lock(&queue->lock);
    count_dropped(queue, is_video);
    queue->sending = -1;
    pthread_mutex_unlock(&queue->lock);
}

/// Puts a packet at the end, or drops it where a key frame must come first.
static void take(clm_queue *queue, AVPacket **packet, bool is_video, AVRational unit) {
    bool is_key = is_video && (*packet)->flags & AV_PKT_FLAG_KEY;
    int64_t time = av_rescale_q((*packet)->dts, unit, CLM_MICROSECONDS);
    if (queue->needs_key && !is_key) {
        if (queue->has_base) count_dropped(queue, is_video);
        return;
    }
    if (!queue->has_base) queue->base = time;
    queue->has_base = true;
    queue->needs_key = queue->needs_key && !is_key;
    if (time < queue->base) return;
    queue->newest = FFMAX(queue->newest, (time - queue->base) / 1000);
    shorten(queue);
    if (queue->needs_key && !is_key) {
        count_dropped(queue, is_video);
        return;
    }
    queue->needs_key = false;
    clm_queue_entry *entry = entry_at(queue, queue->count);
    *entry = (clm_queue_entry){.packet = *packet, .is_video = is_video, .is_key = is_key};
    entry->time = (time - queue->base) / 1000;
    queue->bytes += (uint64_t)(*packet)->size;
    queue->count++;
    *packet = NULL;
    pthread_cond_signal(&queue->filled);
}

bool clm_queue_push(clm_queue *queue, AVPacket *packet, bool is_video, AVRational unit) {
    pthread_mutex_lock(&queue->lock);
    if (queue->is_open)
        take(queue, &packet, is_video, unit);
    else if (is_video)
        queue->frames_dropped++;
    bool needs_key = queue->is_open && queue->needs_key;
    pthread_mutex_unlock(&queue->lock);
    av_packet_free(&packet);
    return needs_key;
}

bool clm_queue_pop(clm_queue *queue, clm_queue_entry *entry) {
    pthread_mutex_lock(&queue->lock);
    while (queue->is_open && queue->count == 0) pthread_cond_wait(&queue->filled, &queue->lock);
    bool has_packet = queue->count > 0;
    if (has_packet) {
        *entry = *entry_at(queue, 0);
        queue->sending = entry->time;
        queue->bytes -= (uint64_t)entry->packet->size;
        queue->head = (queue->head + 1) % CLM_QUEUE_CAPACITY;
        queue->count--;
    }
    pthread_mutex_unlock(&queue->lock);
    return has_packet;
}

void clm_queue_sent(clm_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->sending = -1;
    pthread_mutex_unlock(&queue->lock);
}

int32_t clm_queue_length(clm_queue *queue, uint64_t *bytes) {
    pthread_mutex_lock(&queue->lock);
    int64_t oldest = queue->sending >= 0 ? queue->sending : queue->count > 0 ? entry_at(queue, 0)->time : queue->newest;
    int64_t length = FFMAX(0, queue->newest - oldest);
    *bytes = queue->bytes;
    pthread_mutex_unlock(&queue->lock);
    return (int32_t)length;
}
