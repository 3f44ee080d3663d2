import LectureKit

/// How this process uses memory.
package enum ProcessMemory {
    /// Makes no more heaps than there are processors. To be called first, while there is one thread.
    ///
    /// - Parameter environment: of the process.
    package static func boundHeaps(environment: [String: String]) {
        ProcessHeaps.bound(to: LineWorkers.processors, environment: environment)
    }
}
