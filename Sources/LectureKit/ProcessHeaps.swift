import LectureFiles

/// The allocator of a program that consists of this library.
package enum ProcessHeaps {
    /// Bounds its heaps; see `Heaps`. To be called before there are threads.
    ///
    /// - Parameters:
    ///   - processors: how many there are.
    ///   - environment: of the process.
    package static func bound(to processors: Int, environment: [String: String]) {
        Heaps.bound(to: processors, environment: environment)
    }

    /// Returns what only former work has needed to the kernel; see `Heaps`. For a program that begins to rest.
    package static func returnMemory() { Heaps.returnMemory() }
}
