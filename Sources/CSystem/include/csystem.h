// GNU and Linux calls that Swift's Glibc module does not show, because it is built without _GNU_SOURCE.
#ifndef CSYSTEM_H
#define CSYSTEM_H
#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

/// fallocate(2) with mode 0. Returns 0 or an errno value.
int csystem_fallocate(int fd, off_t offset, off_t length);

/// renameat2(2) with RENAME_NOREPLACE. Returns 0 or an errno value.
int csystem_rename_noreplace(int from_dir, const char *_Nonnull from, int to_dir, const char *_Nonnull to);

/// renameat2(2) with RENAME_EXCHANGE, within one directory. Returns 0 or an errno value.
int csystem_rename_exchange(int dir, const char *_Nonnull one, const char *_Nonnull other);

/// Opens the directory that contains `dir`, only to look at it (O_PATH), which needs no permission to read. Returns a
/// descriptor or a negative errno value.
int csystem_open_parent(int dir);

/// Opens the file of a descriptor once more, past the page cache (O_DIRECT); `mode` is O_RDONLY or O_RDWR. Returns a
/// descriptor or a negative errno value.
int csystem_open_direct(int fd, int mode);

/// Tries to take an open-file-description write lock on one byte of fd. Returns 0 or an errno value (EAGAIN: it is
/// held).
int csystem_lock_byte(int fd, off_t byte);

/// Releases the lock on the byte. Returns 0 or an errno value.
int csystem_unlock_byte(int fd, off_t byte);

/// Whether another open file description holds a lock on the byte: 1 yes, 0 no, negative errno on error.
int csystem_byte_is_locked(int fd, off_t byte);

/// ioctl(FICLONE): makes `to` share the blocks of `from`. Returns 0 or an errno value.
int csystem_clone(int from, int to);

/// openat(2) with O_TMPFILE: a file in `dir` without a name, which the kernel deletes unless it is linked. Returns a
/// descriptor or a negative errno value.
int csystem_open_unnamed(int dir, mode_t mode);

/// Names a file made by csystem_open_unnamed. Returns 0 or an errno value.
int csystem_link_unnamed(int fd, int dir, const char *_Nonnull name);

/// posix_spawn_file_actions_addclosefrom_np(3). Returns 0 or an errno value.
int csystem_spawn_closefrom(posix_spawn_file_actions_t *_Nonnull actions, int from);

/// POSIX_SPAWN_SETSID.
short csystem_spawn_setsid(void);

/// pidfd_open(2) with flags 0; close-on-exec by itself. Returns a descriptor or a negative errno value.
int csystem_pidfd_open(pid_t pid);

/// A socket of rtnetlink(7) that gets a message whenever a link, an address or a route changes; it does not block and
/// is close-on-exec. Returns a descriptor or a negative errno value.
int csystem_open_network_changes(void);

/// Returns memory to the kernel that only a start has needed: free pages of the heap (malloc_trim(3)), and pages of code
/// and constants, which come back from the page cache when they are used (madvise(2), MADV_DONTNEED). Only mapped files
/// that this process cannot write are touched.
void csystem_return_memory(void);

/// mallopt(3) with M_ARENA_MAX: how many heaps glibc's allocator may have. Returns 1 or 0.
int csystem_limit_heaps(int count);
#endif
