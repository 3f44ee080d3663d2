import LectureFiles

/// The allocator of a program that consists of this library.
package enum ProcessHeaps {
    /// Bounds its heaps; see `Heaps`. To be called before there are threads.
    ///
    /// - Parameter environment: of the process.
    package static func bound(environment: [String: String]) { Heaps.bound(environment: environment) }
}
