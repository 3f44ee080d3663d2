#include "csystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

int csystem_fallocate(int fd, off_t offset, off_t length) {
    while (fallocate(fd, 0, offset, length) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

int csystem_rename_noreplace(int from_dir, const char *from, int to_dir, const char *to) {
    return renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

static int set_lock(int fd, off_t byte, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

int csystem_lock_byte(int fd, off_t byte) { return set_lock(fd, byte, F_WRLCK); }

int csystem_unlock_byte(int fd, off_t byte) { return set_lock(fd, byte, F_UNLCK); }

int csystem_byte_is_locked(int fd, off_t byte) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    if (fcntl(fd, F_OFD_GETLK, &lock) != 0) return -errno;
    return lock.l_type != F_UNLCK;
}

int csystem_random(void *buffer, size_t length) {
    unsigned char *bytes = buffer;
    while (length > 0) {
        ssize_t count = getrandom(bytes, length, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return errno;
        bytes += count;
        length -= (size_t)count;
    }
    return 0;
}

int csystem_clone(int from, int to) { return ioctl(to, FICLONE, from) == 0 ? 0 : errno; }
