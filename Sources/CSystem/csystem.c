#include "csystem.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

int csystem_rename_exchange(int dir, const char *one, const char *other) {
    return renameat2(dir, one, dir, other, RENAME_EXCHANGE) == 0 ? 0 : errno;
}

int csystem_open_parent(int dir) {
    int fd = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

int csystem_open_direct(int fd, int mode) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int direct = open(path, mode | O_DIRECT | O_CLOEXEC);
    return direct >= 0 ? direct : -errno;
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

int csystem_clone(int from, int to) { return ioctl(to, FICLONE, from) == 0 ? 0 : errno; }

int csystem_open_unnamed(int dir, mode_t mode) {
    int fd;
    do fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd >= 0 ? fd : -errno;
}

int csystem_link_unnamed(int fd, int dir, const char *name) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int csystem_spawn_closefrom(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

short csystem_spawn_setsid(void) { return POSIX_SPAWN_SETSID; }

int csystem_pidfd_open(pid_t pid) {
    long fd = syscall(SYS_pidfd_open, pid, 0);
    return fd >= 0 ? (int)fd : -errno;
}

int csystem_open_network_changes(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -errno;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int error = errno;
    close(fd);
    return -error;
}

static int return_code(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    uintptr_t mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        uintptr_t start = (object->dlpi_addr + part->p_vaddr + ~mask) & mask;
        uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_filesz) & mask;
        if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return *(int *)context;
}

void csystem_return_memory(void) {
    int go_on = 0;
    malloc_trim(0);
    dl_iterate_phdr(return_code, &go_on);
}

int csystem_limit_heaps(int count) { return mallopt(M_ARENA_MAX, count); }
