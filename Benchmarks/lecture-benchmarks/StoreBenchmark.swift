import Glibc
import LectureFormats
import LectureModel
import LectureStore

/// Measures lists and queries inside the process: `lecture-benchmarks [COUNT]`, 100,000 lectures by default.
///
/// The other words serve `Benchmarks/licences.py`: `fill STORE DEVICE COUNT CALLBACK`, `inspect STORE DEVICE [KEY]` and
/// `verify TRUST-DIR`. `details STORE DEVICE [COUNT]` fills a store and measures lists with everything they show.
/// `page DIRECTORY [COUNT]` measures pages of the server.
/// `playlist [COUNT]` reads and writes a playlist of a million segments.
///
/// Prints one JSON object per line; milliseconds are the median and the worst of 50 runs, and the CPU time of one. The
/// ledger of licences comes last: see ``LedgerBenchmark``.
@main
enum StoreBenchmark {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch words.first {
        case "fill" where words.count == 5:
            try LicenceStore.fill(words[1], device: words[2], count: Int(words[3]) ?? 0, callback: words[4])
        case "inspect" where words.count >= 3:
            try await LicenceStore.inspect(words[1], device: words[2], play: words.count > 3 ? words[3] : nil)
        case "stream" where words.count == 3: try await StreamBenchmark.run(words[1], in: words[2])
        case "details" where words.count >= 3:
            let count = words.count > 3 ? Int(words[3]) ?? 0 : 100_000
            try await DetailBenchmark.run(words[1], device: words[2], count: count)
        case "page" where words.count >= 2:
            try await PageBenchmark.run(words[1], count: words.count > 2 ? Int(words[2]) ?? 0 : 100_000)
        case "verify" where words.count == 2: try VerifyBenchmark.run(trustedBy: words[1])
        case "playlist": try PlaylistBenchmark.run(count: words.count > 1 ? Int(words[1]) ?? 0 : 1_000_000)
        default: try run(count: words.first.flatMap(Int.init) ?? 100_000)
        }
    }

    private static func run(count: Int) throws {
        var template = Array("/tmp/lecture-benchmark-XXXXXX".utf8CString)
        guard let made = unsafe mkdtemp(&template) else { return print("no temporary directory") }
        let directory = unsafe String(cString: made)
        defer { _ = try? removeStore(directory) }
        let location = StoreLocation(directory: directory)
        let index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 1))
        let filling = try milliseconds { try fill(index, count: count) }
        report("enqueue", median: filling, worst: filling, note: "\(count) lectures, one transaction per thousand")
        let queries = try SQLiteContentQueries(opening: location)
        for sort in ContentSort.allCases {
            for offset in [0, count / 2, count - 50] {
                try repeated("list \(sort.rawValue) offset \(offset)") {
                    _ = try queries.contents(
                        ContentFilter(), sort: sort, page: ContentPage(offset: offset, limit: 50))
                }
            }
        }
        var filter = ContentFilter()
        filter.states = [.queued]
        try repeated("list queued by title") {
            _ = try queries.contents(filter, sort: .title, page: ContentPage(offset: 0, limit: 50))
        }
        try repeated("status") { _ = try queries.status() }
        try repeated("open and first page") {
            _ = try SQLiteContentQueries(opening: location)
                .contents(ContentFilter(), sort: .added, page: ContentPage(offset: 0, limit: 50))
        }
        try LedgerBenchmark.run(on: index, at: location, count: count)
        for offset in [0, count / 2] {
            try repeated("list expiry offset \(offset), licensed") {
                _ = try queries.contents(
                    ContentFilter(), sort: .expiry, page: ContentPage(offset: offset, limit: 50))
            }
        }
    }

    /// Adds lectures to a store, one transaction per thousand.
    static func fill(_ index: SQLiteDownloadIndex, count: Int) throws {
        for start in stride(from: 0, to: count, by: 1000) {
            try index.transaction { _ in
                for number in start..<min(count, start + 1000) { try add(number, to: index) }
            }
        }
    }

    private static func add(_ number: Int, to index: SQLiteDownloadIndex) throws {
        var request = DownloadRequest(url: "http://127.0.0.1/course-\(number % 40)/lecture-\(number).mp4")
        // Titles that do not come in the order of the rows.
        request.title = "Lecture \(number &* 7919 % count(of: number))"
        request.course = "Course \(number % 40)"
        let identity = (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 8))) }
        _ = try index.requests.enqueue(
            request,
            source: RequestSource(
                derivedKey: ContentKey("lecture-\(number)"), identity: identity, isGateway: false),
            check: .list, now: Timestamp(milliseconds: Int64(number)))
    }

    private static func count(of number: Int) -> Int { max(1, number | 0xFFFF) }

    /// Measures something several times.
    static func repeated(
        _ name: String, times: Int = 50, note: String = "50 rows", _ body: () throws -> Void
    ) throws {
        var samples: [Double] = []
        let begin = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
        for _ in 0..<times { samples.append(try milliseconds(body)) }
        let processor = Double(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e6 / Double(times)
        samples.sort()
        report(name, median: samples[times / 2], worst: samples[times - 1], processor: processor, note: note)
    }

    /// The time that something takes.
    static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let begin = nanoseconds()
        try body()
        return Double(nanoseconds() - begin) / 1e6
    }

    /// The reading of a clock.
    static func nanoseconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// The CPU time of this process.
    static func processorNanoseconds() -> Int { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

    /// Prints one result.
    static func report(
        _ name: String, median: Double, worst: Double, processor: Double? = nil, note: String
    ) {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        print(
            JSONWriter.object { writer in
                writer.member("name", name)
                writer.member("median_ms", (median * 1000).rounded() / 1000)
                writer.member("worst_ms", (worst * 1000).rounded() / 1000)
                if let processor { writer.member("processor_ms", (processor * 1000).rounded() / 1000) }
                writer.member("peak_mib", usage.ru_maxrss / 1024)
                writer.member("note", note)
            })
    }

    private static func removeStore(_ directory: String) throws {
        for name in ["lecturekit.db", "lecturekit.db-wal", "lecturekit.db-shm"] {
            unsafe unlink("\(directory)/\(name)")
        }
        unsafe rmdir(directory)
    }
}
