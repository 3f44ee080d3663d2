import Glibc
import LectureAdaptive
import LectureFormats

/// Reads and writes a playlist of a million segments: seconds, and the most memory that the process had.
enum PlaylistBenchmark {
    static func run(count: Int) throws {
        let text = playlist(count: count)
        report("text", 0, bytes: text.count)
        var playlist: Playlist?
        let reading = try seconds { playlist = try PlaylistReader.playlist(text) }
        report("read", reading, bytes: text.count)
        guard let playlist else { return }
        var written: [UInt8] = []
        let writing = try seconds { written = try PlaylistWriter.bytes(playlist) }
        report("write", writing, bytes: written.count)
    }

    private static func playlist(count: Int) -> [UInt8] {
        var text = Array("#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:6\n#EXT-X-MAP:URI=\"init.mp4\"\n".utf8)
        text.reserveCapacity(count * 40)
        for number in 0..<count {
            text += "#EXTINF:6.00600,\nsegment-".utf8
            DecimalText.append(Int64(number), to: &text)
            text += ".m4s\n".utf8
        }
        text += "#EXT-X-ENDLIST\n".utf8
        return text
    }

    private static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let begin = StoreBenchmark.nanoseconds()
        try work()
        return Double(StoreBenchmark.nanoseconds() - begin) / 1e9
    }

    private static func report(_ name: String, _ seconds: Double, bytes: Int) {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        print(
            JSONWriter.object { writer in
                writer.member("name", name)
                writer.member("milliseconds", Int(seconds * 1000))
                writer.member("bytes", bytes)
                writer.member("peak_mib", Int(usage.ru_maxrss) / 1024)
            })
    }
}
