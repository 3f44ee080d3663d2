import Foundation
import LectureLicence
import LectureTestSupport
import Testing

/// Playing times in containers.
struct MediaDurationTests {
    /// Searches bytes, which may be spread over a longer file.
    private static func search(
        _ pieces: [(at: UInt64, bytes: [UInt8])], total: UInt64, reads: Int = 500
    ) -> (demand: MediaDurationSearch.Demand, reads: Int) {
        var search = MediaDurationSearch(byteCount: total)
        for count in 0... {
            guard case .bytes(let range) = search.demand, count < reads else { return (search.demand, count) }
            #expect(!range.isEmpty && range.upperBound <= total)
            var bytes = [UInt8](repeating: 0, count: range.count)
            for (start, piece) in pieces {
                for (place, byte) in piece.enumerated() where range.contains(start + UInt64(place)) {
                    bytes[Int(start + UInt64(place) - range.lowerBound)] = byte
                }
            }
            search.take(bytes)
        }
        return (search.demand, reads)
    }

    private static func search(_ bytes: [UInt8]) -> MediaDurationSearch.Demand {
        search([(0, bytes)], total: UInt64(bytes.count)).demand
    }

    private static func big(_ number: UInt64, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64(width - 1 - $0))) }
    }

    private static func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
        big(UInt64(body.count + 8), 4) + Array(type.utf8) + body
    }

    private static func movieHeader(_ units: UInt64, per second: UInt64, isLong: Bool = false) -> [UInt8] {
        let width = isLong ? 8 : 4
        let dates = [UInt8](repeating: 7, count: 2 * width)
        return box(
            "mvhd",
            [isLong ? 1 : 0, 0, 0, 0] + dates + big(second, 4) + big(units, width) + [UInt8](repeating: 0, count: 80))
    }

    private static let type = box("ftyp", Array("isom".utf8) + big(512, 4))

    @Test(arguments: [
        ("durable-on-the-disk", 70_247), ("ranges-and-resuming", 102_047), ("what-a-digest-proves", 75_447),
    ])
    func `the lectures of the course`(name: String, milliseconds: Int) throws {
        let path = Places.repository() + "/Tools/lecture-sandbox/Fixtures/\(name).mp4"
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        #expect(Self.search(bytes) == .found(.milliseconds(milliseconds)))
    }

    @Test func `a movie header before the media, behind it, in both versions, and behind a box of 64-bit length`() {
        for isLong in [false, true] {
            let movie = Self.box("moov", Self.movieHeader(90_500, per: 1000, isLong: isLong))
            let media = Self.box("mdat", [UInt8](repeating: 0xFF, count: 300))
            #expect(Self.search(Self.type + movie + media) == .found(.milliseconds(90_500)))
            #expect(Self.search(Self.type + media + movie) == .found(.milliseconds(90_500)))
            // Six gigabytes of media in between: only headers are read.
            let length = UInt64(6) << 30
            let head = Self.type + Self.big(1, 4) + Array("mdat".utf8) + Self.big(length, 8)
            let place = UInt64(Self.type.count) + length
            let found = Self.search([(0, head), (place, movie)], total: place + UInt64(movie.count))
            #expect(found.demand == .found(.milliseconds(90_500)) && found.reads <= 5)
        }
    }

    @Test func `a fragmented file has its duration in the extends header, or none`() {
        let header = Self.movieHeader(0, per: 500)
        let extends = Self.box("mvex", Self.box("mehd", [0, 0, 0, 0] + Self.big(30_000, 4)))
        let track = Self.box("trak", [UInt8](repeating: 1, count: 700))
        #expect(Self.search(Self.type + Self.box("moov", header + track + extends)) == .found(.seconds(60)))
        #expect(Self.search(Self.type + Self.box("moov", header + track)) == .unknown)
        let unknown = Self.movieHeader(UInt64(UInt32.max), per: 500)
        #expect(Self.search(Self.type + Self.box("moov", unknown)) == .unknown)
        #expect(Self.search(Self.type + Self.box("moov", Self.movieHeader(5, per: 0))) == .unknown)
    }

    @Test func `Matroska and WebM as FFmpeg writes them`() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../LectureDownloadTests/Containers/heads.tsv")
        var found: [String: Duration] = [:]
        for line in try String(contentsOf: path, encoding: .utf8).split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            let bytes = Array(Data(base64Encoded: String(fields.last ?? "")) ?? Data())
            // Only the head is there; the rest reads as zeros, where every search ends.
            if case .found(let time) = Self.search([(0, bytes)], total: 1 << 20).demand {
                found[String(fields[0])] = time
            }
        }
        for name in ["matroska", "webm", "mkv-vp9-opus", "webm-audio", "mp4-faststart"] {
            let time = try #require(found[name], "\(name) of \(found.keys.sorted())")
            #expect((.milliseconds(100)...(.seconds(5))).contains(time), "\(name) \(time)")
        }
    }

    @Test func `Matroska with its own scale, of unknown length, and without a duration`() {
        func element(_ identity: [UInt8], _ body: [UInt8]) -> [UInt8] {
            identity + [0x40, UInt8(body.count)] + body
        }
        let head = element([0x1A, 0x45, 0xDF, 0xA3], [UInt8](repeating: 0x80, count: 20))
        let scale = element([0x2A, 0xD7, 0xB1], [0x1E, 0x84, 0x80])  // 2 ms
        let duration = element([0x44, 0x89], Self.big(Double(45_000).bitPattern, 8))
        let open = [0x18, 0x53, 0x80, 0x67, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] as [UInt8]
        let skipped = element([0x11, 0x4D, 0x9B, 0x74], [1, 2, 3])
        let rest = [UInt8](repeating: 0x80, count: 200)
        let info = element([0x15, 0x49, 0xA9, 0x66], scale + duration)
        #expect(Self.search(head + open + skipped + info + rest) == .found(.seconds(90)))
        #expect(Self.search(head + open + skipped + element([0x15, 0x49, 0xA9, 0x66], scale) + rest) == .unknown)
        let nonsense = element([0x44, 0x89], Self.big(Double.nan.bitPattern, 8))
        #expect(Self.search(head + open + element([0x15, 0x49, 0xA9, 0x66], nonsense)) == .unknown)
    }

    @Test func `no file makes the search endless, trap, or read outside of it`() {
        var randomness = SeededGenerator(seed: 81)
        let seeds = [
            Self.type + Self.box("moov", Self.movieHeader(90_500, per: 1000)),
            [
                0x1A, 0x45, 0xDF, 0xA3, 0x80, 0x18, 0x53, 0x80, 0x67, 0x84, 0x15, 0x49, 0xA9, 0x66, 0x80, 0x44, 0x89,
                0x84,
            ],
        ]
        for round in 0..<20_000 {
            var bytes = seeds[round % 2]
            for _ in 0..<Int.random(in: 0...6, using: &randomness) {
                bytes[Int.random(in: bytes.indices, using: &randomness)] = UInt8.random(in: 0...255, using: &randomness)
            }
            if round % 3 == 0 { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &randomness))) }
            let total =
                round % 5 == 0 ? UInt64.max : UInt64(bytes.count) + UInt64.random(in: 0...99, using: &randomness)
            #expect(Self.search([(0, bytes)], total: total).reads <= 401)
        }
        #expect(Self.search([]) == .unknown)
        // A file of empty boxes is not read to its end.
        let boxes = (0..<1000).flatMap { _ in Self.box("free", []) }
        #expect(Self.search([(0, boxes)], total: UInt64(boxes.count)).reads == 401)
    }

    @Test func `the container counts, then the record within bounds, then a nominal rate`() {
        func time(_ contained: Duration?, _ recorded: Duration?) -> Duration {
            PlayingTime.of(byteCount: 10_000_000, contained: contained, recorded: recorded)
        }
        #expect(time(.seconds(70), .milliseconds(1)) == .seconds(70))
        #expect(time(nil, .seconds(70)) == .seconds(70))
        #expect(time(nil, .milliseconds(1)) == .seconds(10), "a record can be edited")
        #expect(time(nil, nil) == .seconds(80) && time(nil, .zero) == .seconds(80))
        #expect(time(.milliseconds(1), .seconds(70)) == .seconds(70), "more than 100 Mbit/s")
        #expect(time(.seconds(1_000_000), .seconds(70)) == .seconds(70), "less than 8 kbit/s")
        #expect(PlayingTime.of(byteCount: 0, contained: nil, recorded: nil) > .zero)
        #expect(PlayingTime.of(byteCount: .max, contained: nil, recorded: nil) > .zero)
    }
}
