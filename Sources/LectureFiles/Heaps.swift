import CSystem

/// The heaps of glibc's allocator.
package enum Heaps {
    /// Bounds their number by that of the processors, for a program whose memory is its own; a library must not.
    ///
    /// glibc makes up to eight heaps for each processor, and a new thread begins one as long as it may. Each costs
    /// calls while the program starts, and keeps what is free in it from all others. More heaps than processors are no
    /// faster, since no more threads allocate at once. A value that the user has set (`MALLOC_ARENA_MAX`,
    /// `GLIBC_TUNABLES`) stays.
    ///
    /// - Parameters:
    ///   - processors: how many there are.
    ///   - environment: of the process.
    /// - Returns: whether there is a bound now.
    @discardableResult
    package static func bound(to processors: Int, environment: [String: String]) -> Bool {
        let isSet = environment["MALLOC_ARENA_MAX"] != nil || environment["GLIBC_TUNABLES"] != nil
        return !isSet && csystem_limit_heaps(Int32(clamping: processors)) == 1
    }

    /// Returns memory to the kernel that only former work has needed: free pages of the heaps, and pages of code and
    /// constants, which come back from the page cache when they are used again. For a program that begins to rest, or
    /// other work.
    package static func returnMemory() { csystem_return_memory() }
}
