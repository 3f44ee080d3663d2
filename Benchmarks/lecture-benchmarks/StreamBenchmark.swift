import Glibc
import LectureFiles
import LectureKit
import LectureModel

/// Measures a stream: the same media through an empty cache, and through one that has it.
enum StreamBenchmark {
    /// Reads media twice and prints how long it took.
    ///
    /// - Parameters:
    ///   - url: the media.
    ///   - directory: an empty directory for the store and the device's key.
    /// - Throws: `LectureError`.
    static func run(_ url: String, in directory: String) async throws {
        var configuration = LectureConfiguration(storeDirectory: "\(directory)/store")
        configuration.deviceDirectory = "\(directory)/device"
        let manager = try LectureManager(configuration)
        try await manager.streams.setCacheLimit(8 << 30)
        for name in ["empty cache", "warm cache"] {
            let (clock, begin, cpu) = (SystemClock(), SystemClock().boot(), processorSeconds())
            let stream = try await manager.streams.open(url)
            let sum = Guarded(0)
            try await stream.read { bytes in sum.withLock { $0 += bytes.count } }
            await stream.end()
            let seconds = Double((clock.boot() - begin).milliseconds) / 1000
            let size = Double(sum.withLock { $0 }) / 1_048_576
            print(
                "\(name): \(size) MiB, \(seconds) s, \(size / seconds) MiB/s, processor \(processorSeconds() - cpu) s,",
                "peak \(usage().ru_maxrss / 1024) MiB")
        }
        await manager.close()
    }

    private static func usage() -> rusage {
        var usage = rusage()
        _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage
    }

    private static func processorSeconds() -> Double {
        let usage = usage()
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000_000
    }
}
