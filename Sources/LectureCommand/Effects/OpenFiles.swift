import Glibc

/// How many files this process may have open.
package enum OpenFiles {
    /// What the largest number of jobs needs: 256 lectures with a connection, a file, its directory and its direct
    /// writes each, and twice as much again for everything else: a thousand connections of a server, and its plays.
    private static let enough: rlim_t = 4096

    /// Raises the soft limit as far as it is needed and the hard one permits. A shell's soft limit is 1024 for the sake
    /// of select(2), which nothing here calls.
    package static func raiseLimit() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < enough
        else { return }
        limit.rlim_cur = min(limit.rlim_max, enough)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
