// A link between two network namespaces: a delay each way, random loss, and a rate with a bounded queue before it, as a
// router has. A kernel without netem can do this, too, and every machine measures with the same link.
//
//   far-network CLIENT SERVER --delay-us N [--loss-ppm N] [--rate-mbit N] [--queue-kib N] [--seed N]
//
// CLIENT and SERVER are files of network namespaces, such as /proc/PID/ns/net. A TUN device `far` is made in each; the
// caller gives them addresses once "ready" is printed. SIGTERM ends the program, which then prints one line of JSON with
// what it did in each direction. The devices end with the program.
//
// Loss is on the way to the client, where the data is: a lost packet is one that was read and never queued. The rate
// counts bytes of IP packets, in both directions. Packets keep their order, since the delay is the same for all.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    PACKET_MAX = 2048,       // above the MTU of 1,500
    READS_AT_ONCE = 64,      // so that neither direction waits long for the other
    TIMER_STEP_NS = 100000,  // packets due within it leave together: fewer wake-ups for 0.1 ms of accuracy
};

// Stands before each packet in a ring; a length of 0 says that the ring continues at its beginning.
struct head {
    uint64_t due;
    uint32_t length;
    uint32_t padding;
};

// One way. The ring is as large as what the queue and the delay can contain.
struct way {
    int from, to;
    uint64_t lossPPM, dice;
    uint64_t freeAt;  // when the link has sent everything queued
    uint8_t *ring;
    size_t capacity, first, last, used;
    uint64_t read, bytes, lost, full, sent, refused;
};

static uint64_t delayNS, rateMbit, queueBytes;

static void fail(const char *what) {
    fprintf(stderr, "far-network: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// xorshift64*: the same seed loses the same packets of the same traffic.
static uint64_t roll(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du;
}

// A device belongs to the namespace in which its file is opened, and stays there.
static int openDevice(const char *space) {
    int file = open(space, O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(space);
    if (setns(file, CLONE_NEWNET) != 0) fail("setns");
    close(file);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0) fail("/dev/net/tun");
    // Without offloads, so that the kernel cuts segments to the MTU before they come here: each can be lost alone.
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strcpy(request.ifr_name, "far");
    if (ioctl(device, TUNSETIFF, &request) != 0) fail("TUNSETIFF");
    return device;
}

static size_t room(size_t length) { return (sizeof(struct head) + length + 15) & ~(size_t)15; }

static void push(struct way *way, const uint8_t *packet, size_t length, uint64_t due) {
    size_t need = room(length), rest = way->capacity - way->last;
    // A packet is not split at the ring's end.
    size_t skipped = rest < need ? rest : 0;
    if (way->used + skipped + need > way->capacity) {
        way->full++;
        return;
    }
    if (skipped) {
        if (rest >= sizeof(struct head)) ((struct head *)(way->ring + way->last))->length = 0;
        way->used += skipped;
        way->last = 0;
    }
    struct head *head = (struct head *)(way->ring + way->last);
    *head = (struct head){.due = due, .length = (uint32_t)length};
    memcpy(head + 1, packet, length);
    way->last = (way->last + need) % way->capacity;
    way->used += need;
}

static struct head *firstOf(struct way *way) {
    if (way->used == 0) return NULL;
    size_t rest = way->capacity - way->first;
    struct head *head = (struct head *)(way->ring + way->first);
    if (rest < sizeof(struct head) || head->length == 0) {
        way->used -= rest;
        way->first = 0;
        head = (struct head *)way->ring;
    }
    return head;
}

// Reads what has come, and decides for each packet whether it is lost, and when it arrives.
static void receive(struct way *way) {
    uint8_t packet[PACKET_MAX];
    for (int count = 0; count < READS_AT_ONCE; count++) {
        ssize_t length = read(way->from, packet, sizeof packet);
        if (length <= 0) return;
        way->read++;
        way->bytes += (uint64_t)length;
        if (way->lossPPM && roll(&way->dice) % 1000000 < way->lossPPM) {
            way->lost++;
            continue;
        }
        uint64_t time = now();
        if (way->freeAt < time) way->freeAt = time;
        if (rateMbit) {
            // bits / (Mbit/s) are microseconds.
            if ((way->freeAt - time) * rateMbit / 8000 + (uint64_t)length > queueBytes) {
                way->full++;
                continue;
            }
            way->freeAt += (uint64_t)length * 8000 / rateMbit;
        }
        push(way, packet, (size_t)length, way->freeAt + delayNS);
    }
}

// Sends what is due.
static void forward(struct way *way, uint64_t time) {
    for (struct head *head = firstOf(way); head && head->due <= time; head = firstOf(way)) {
        if (write(way->to, head + 1, head->length) == (ssize_t)head->length) way->sent++;
        else way->refused++;
        size_t size = room(head->length);
        way->first = (way->first + size) % way->capacity;
        way->used -= size;
    }
}

// Wakes up for the earliest packet; returns whether one waits.
static void arm(int timer, struct way ways[2], uint64_t time) {
    uint64_t due = 0;
    for (int index = 0; index < 2; index++) {
        struct head *head = firstOf(&ways[index]);
        if (head && (due == 0 || head->due < due)) due = head->due;
    }
    if (due && due < time + TIMER_STEP_NS) due = time + TIMER_STEP_NS;
    struct itimerspec when = {.it_value = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)}};
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL) != 0) fail("timerfd_settime");
}

static void watch(int poll, int file, uint32_t number) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, file, &event) != 0) fail("epoll_ctl");
}

static void report(const char *name, const struct way *way, const char *end) {
    printf("\"%s\":{\"read\":%llu,\"bytes\":%llu,\"lost\":%llu,\"queue_full\":%llu,\"sent\":%llu,\"refused\":%llu}%s", name,
           (unsigned long long)way->read, (unsigned long long)way->bytes, (unsigned long long)way->lost,
           (unsigned long long)way->full, (unsigned long long)way->sent, (unsigned long long)way->refused, end);
}

static void run(struct way ways[2], int signals) {
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), poll = epoll_create1(EPOLL_CLOEXEC);
    if (timer < 0 || poll < 0) fail("timerfd_create, epoll_create1");
    watch(poll, ways[0].from, 0);
    watch(poll, ways[1].from, 1);
    watch(poll, timer, 2);
    watch(poll, signals, 3);
    for (;;) {
        struct epoll_event events[4];
        int count = epoll_wait(poll, events, 4, -1);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        for (int index = 0; index < count; index++) {
            uint64_t expirations;
            if (events[index].data.u32 == 3) return;
            if (events[index].data.u32 < 2) receive(&ways[events[index].data.u32]);
            else if (read(timer, &expirations, sizeof expirations) < 0 && errno != EAGAIN) fail("timer");
        }
        uint64_t time = now();
        forward(&ways[0], time);
        forward(&ways[1], time);
        arm(timer, ways, time);
    }
}

int main(int count, char **words) {
    static const struct option names[] = {
        {"delay-us", required_argument, 0, 'd'}, {"loss-ppm", required_argument, 0, 'l'},
        {"rate-mbit", required_argument, 0, 'r'}, {"queue-kib", required_argument, 0, 'q'},
        {"seed", required_argument, 0, 's'}, {0, 0, 0, 0}};
    uint64_t lossPPM = 0, seed = 1;
    queueBytes = 2048 * 1024;
    for (int name; (name = getopt_long(count, words, "", names, NULL)) != -1;) {
        uint64_t number = name == '?' ? 0 : strtoull(optarg, NULL, 10);
        switch (name) {
        case 'd': delayNS = number * 1000; break;
        case 'l': lossPPM = number; break;
        case 'r': rateMbit = number; break;
        case 'q': queueBytes = number * 1024; break;
        case 's': seed = number; break;
        default: return 64;
        }
    }
    if (count - optind != 2) {
        fprintf(stderr, "far-network: needs two network namespaces\n");
        return 64;
    }
    // Ended with the script, also when that is killed.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    // A link does not wait for a processor; without the right to it, it is less exact.
    setpriority(PRIO_PROCESS, 0, -15);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    if (signals < 0) fail("signalfd");

    int client = openDevice(words[optind]), server = openDevice(words[optind + 1]);
    struct way ways[2] = {{.from = server, .to = client, .lossPPM = lossPPM}, {.from = client, .to = server}};
    for (int index = 0; index < 2; index++) {
        // What the delay contains at this rate (without one: at 10 Gbit/s), the queue, and as much for small packets' heads.
        size_t need = queueBytes + delayNS / 8000 * (rateMbit ? rateMbit : 10000);
        ways[index].capacity = (2 * need + (1 << 20)) & ~(size_t)15;
        ways[index].ring = malloc(ways[index].capacity);
        if (!ways[index].ring) fail("malloc");
        // Never 0, from which xorshift does not move.
        ways[index].dice = (seed + (uint64_t)index + 1) * 0x9E3779B97F4A7C15u | 1;
    }
    printf("ready\n");
    fflush(stdout);
    run(ways, signals);
    printf("{");
    report("to_client", &ways[0], ",");
    report("to_server", &ways[1], "}\n");
    return 0;
}
