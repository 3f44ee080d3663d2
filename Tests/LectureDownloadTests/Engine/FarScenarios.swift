import LectureFormats
import LectureModel
import LectureSimulation
import LectureStore
import LectureTestSupport
import Testing

@testable import LectureDownload

/// Many files of a server that is far.
struct FarScenarios {
    /// A server, what was chosen, and how many of its files are fetched at once.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var distance: Duration? = .milliseconds(50)
        var latency: Duration = .milliseconds(55)
        var bytes = 4096
        var hidesLength = false
        /// What the user has chosen; nil for nothing.
        var jobs: Int?
        var perHost: Int?
        var most: Int
    }

    private static let count = 240

    /// A world with a server that has many files, all of them wanted.
    private static func scene(_ row: Case) throws -> (scene: Scene, keys: [ContentKey]) {
        var settings = DownloadSettings()
        (settings.exceedsJobs, settings.exceedsPerHost) = (row.jobs == nil, row.perHost == nil)
        settings.jobs = row.jobs ?? settings.jobs
        settings.connectionsPerHost = row.perHost ?? settings.connectionsPerHost
        let scene = try Scene(seed: 1, settings: settings)
        scene.network.script = { _, _, answer in
            var answer = answer
            (answer.distance, answer.latency) = (row.distance, row.latency)
            return answer
        }
        let keys = try (0..<count).map { number in
            let url = "http://media.example/\(number).mp4"
            scene.network.files[url] = ServedFile(lectureBytes(row.bytes))
            scene.network.files[url]?.hidesLength = row.hidesLength
            return try scene.want(url)
        }
        return (scene, keys)
    }

    static let cases: [Case] = [
        Case(testDescription: "far", most: 48),
        Case(testDescription: "far, with a number of connections", perHost: 8, most: 8),
        Case(testDescription: "far, with one connection", perHost: 1, most: 1),
        Case(testDescription: "far, with a number of lectures", jobs: 4, most: 4),
        Case(testDescription: "far, with one lecture", jobs: 1, most: 1),
        Case(testDescription: "far, with a large number of lectures", jobs: 40, most: 40),
        Case(testDescription: "far, with both numbers", jobs: 40, perHost: 20, most: 20),
        Case(testDescription: "near", distance: .milliseconds(1), latency: .milliseconds(2), most: 4),
        Case(testDescription: "near and slow", distance: .milliseconds(1), most: 4),
        Case(testDescription: "far and slow", latency: .milliseconds(300), most: 4),
        Case(testDescription: "unknown", distance: nil, most: 4),
        Case(testDescription: "far, of unknown length", hidesLength: true, most: 4),
        Case(testDescription: "far, with large files", bytes: 1_100_000, most: 4),
    ]

    @Test(arguments: cases)
    func `small files of a far server are fetched beside the jobs, unless a number was chosen`(row: Case) throws {
        let (scene, keys) = try Self.scene(row)
        try scene.rest()
        #expect(scene.program.transport.mostAtOnce == row.most)
        #expect(scene.network.requests.count == Self.count)
        #expect(try keys.allSatisfy { try scene.content($0)?.state == .completed })
        #expect(try scene.contradictions() == [])
    }

    /// Where many streams share a connection, a header comes after the data of the others that the server sent before
    /// it, and a body between theirs. Of a server with a connection for each, the same shows that it is busy, and
    /// nothing runs beside the jobs until it is as prompt as before.
    @Test(arguments: [true, false])
    func `transfers of a far server that share a connection do not make it look busy`(isHTTP2: Bool) throws {
        var settings = DownloadSettings()
        (settings.exceedsJobs, settings.exceedsPerHost) = (true, true)
        let scene = try Scene(seed: 1, settings: settings)
        // How many others ran when one was asked for, after the beginning.
        var running: [Int] = []
        scene.network.script = { request, _, answer in
            let count = scene.program.transport.runningCount
            if request.id.value > 200 { running.append(count) }
            var answer = answer
            (answer.distance, answer.isHTTP2) = (.milliseconds(50), isHTTP2)
            answer.latency = .milliseconds(55)
            // Five round trips until the header comes, and four more until the 4 KiB are there.
            if count >= 16 { (answer.latency, answer.pace) = (.milliseconds(250), 205) }
            return answer
        }
        let keys = try (0..<Self.count * 2).map { number in
            let url = "https://media.example/\(number).mp4"
            scene.network.files[url] = ServedFile(lectureBytes(4096))
            return try scene.want(url)
        }
        try scene.rest()
        let fewest = try #require(running.min())
        #expect(isHTTP2 ? fewest > 8 : fewest < settings.jobs)
        #expect(scene.program.transport.mostAtOnce <= DownloadSettings.farTransfers + settings.jobs)
        #expect(try keys.allSatisfy { try scene.content($0)?.state == .completed })
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [429, 503])
    func `a far server that refuses some is found out, and gets fewer`(status: Int) throws {
        let (scene, keys) = try Self.scene(Case(testDescription: "", most: 0))
        var refused = 0
        scene.network.script = { _, _, answer in
            guard scene.program.transport.runningCount < 10 else {
                refused += 1
                var answer = Answer(status)
                (answer.distance, answer.latency) = (.milliseconds(50), .milliseconds(55))
                return answer
            }
            var answer = answer
            (answer.distance, answer.latency) = (.milliseconds(50), .milliseconds(55))
            return answer
        }
        try scene.rest()
        #expect(refused > 0 && refused < Self.count / 4)
        #expect(try keys.allSatisfy { try scene.content($0)?.state == .completed })
        #expect(try scene.contradictions() == [])
    }

    /// A row of small files, and then large ones. Those that were asked for beside the jobs wait until they are one: no
    /// more of them are received at once than there are jobs.
    @Test func `a file that is not small after all becomes a job, or waits until it can`() throws {
        let (scene, keys) = try Self.scene(Case(testDescription: "", most: 0))
        let large = "http://media.example/large-"
        let others = try (0..<60).map { number in
            scene.network.files[large + "\(number).mp4"] = ServedFile(lectureBytes(3_000_000))
            return try scene.want(large + "\(number).mp4")
        }
        // Who has received more than what comes before the engine can have cancelled it.
        var received: [TransferID: Int] = [:]
        var most = 0
        scene.network.onBytes = { request, count in
            guard request.url.hasPrefix(large) else { return }
            received[request.id, default: 0] += count
            most = max(most, received.values.count { (1_100_000..<3_000_000).contains($0) })
        }
        try scene.rest()
        #expect(most <= 8)
        #expect(scene.network.requests.count <= Self.count + 60 + 48)
        #expect(try (keys + others).allSatisfy { try scene.content($0)?.state == .completed })
        #expect(try scene.contradictions() == [])
    }

    @Test func `files of a near server are not kept waiting by those of a far one`() throws {
        let (scene, keys) = try Self.scene(Case(testDescription: "", most: 0))
        let near = "http://near.example/"
        let others = try (0..<8).map { number in
            scene.network.files[near + "\(number).mp4"] = ServedFile(lectureBytes(4096))
            return try scene.want(near + "\(number).mp4") { $0.priority = 1 }
        }
        scene.network.script = { request, _, answer in
            guard !request.url.hasPrefix(near) else { return answer }
            var answer = answer
            (answer.distance, answer.latency) = (.milliseconds(50), .milliseconds(55))
            return answer
        }
        try scene.rest()
        #expect(scene.network.requests.prefix(8).allSatisfy { $0.url.hasPrefix(near) })
        #expect(try (keys + others).allSatisfy { try scene.content($0)?.state == .completed })
        #expect(try scene.contradictions() == [])
    }

    @Test func `a killed program loses nothing of what runs beside the jobs`() throws {
        let (scene, keys) = try Self.scene(Case(testDescription: "", most: 0))
        try scene.run { scene.program.transport.runningCount == 48 }
        try scene.crash()
        try scene.rest()
        #expect(try keys.allSatisfy { try scene.content($0)?.state == .completed })
        #expect(try scene.contradictions() == [])
    }
}
