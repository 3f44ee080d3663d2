import Foundation
import Glibc
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// What streams leave on the disk.
@Suite(.timeLimit(.minutes(3)))
struct StreamCacheNetTests {
    private let path = "/media/bytes-5M-31.mp4"

    @Test
    func `no media is stored in clear, and every file has the owner's mode`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let due = try await sandbox.bytes(of: path)
        let manager = try site.streamer { $0.seal = .never }
        let stream = try await manager.streams.open("\(sandbox.http)\(path)")
        #expect(try await stream.data() == due)
        let files = try #require(FileManager.default.enumerator(atPath: site.store)).compactMap { $0 as? String }
        var looked = 0
        for name in files {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(site.store)/\(name)")
            let mode = attributes[.posixPermissions] as? Int
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                #expect(mode == 0o700, "\(name)")
                continue
            }
            #expect(mode == 0o600, "\(name)")
            let bytes = try Data(contentsOf: URL(filePath: "\(site.store)/\(name)"))
            looked += bytes.count
            for place in stride(from: 0, to: due.count - 16, by: 65_536 + 13) {
                #expect(bytes.range(of: due[place..<place + 16]) == nil, "\(name) holds the bytes at \(place)")
            }
        }
        #expect(looked > 5 << 20)
        await manager.close()
        await sandbox.stop()
    }

    @Test(arguments: ["flip", "cut", "empty", "swap", "directory", "link", "longer"])
    func `a block that does not open is fetched again`(damage: String) async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let due = try await sandbox.bytes(of: path)
        let manager = try site.streamer()
        let stream = try await manager.streams.open("\(sandbox.http)\(path)")
        #expect(try await stream.data() == due)
        let name = try #require(site.cacheFiles().keys.first { $0.hasSuffix("/2") })
        let (file, other) = ("\(site.store)/cache/\(name)", "\(site.store)/cache/\(name.dropLast())3")
        var bytes = try Data(contentsOf: URL(filePath: file))
        switch damage {
        case "flip":
            bytes[700_000] ^= 1
            try bytes.write(to: URL(filePath: file))
        case "cut": try bytes.prefix(500_000).write(to: URL(filePath: file))
        case "empty": try Data().write(to: URL(filePath: file))
        case "longer": try (bytes + [0]).write(to: URL(filePath: file))
        case "swap": try Data(contentsOf: URL(filePath: other)).write(to: URL(filePath: file))
        case "directory":
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        default:
            try FileManager.default.moveItem(atPath: file, toPath: "\(site.store)/elsewhere")
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "\(site.store)/elsewhere")
        }
        try await sandbox.reset()
        #expect(try await stream.data() == due)
        #expect(try await sandbox.requests(for: path).map(\.range) == ["bytes=2097080-3145639"])
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `the bound is kept while more is read, and the least recently used goes first`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let manager = try site.streamer()
        #expect(try await manager.streams.cacheLimit() == 512 << 20)
        try await manager.streams.setCacheLimit(3 << 20)
        let other = "/media/bytes-2M-32.mp4"
        for each in [other, path] {
            let due = try await sandbox.bytes(of: each)
            let stream = try await manager.streams.open("\(sandbox.http)\(each)")
            let basket = Basket()
            try await stream.read { bytes in
                basket.take(bytes)
                let taken = try site.cacheFiles().values.reduce(0, +)
                if taken > 3 << 20 { throw LectureError(.quota, detail: "\(taken)") }
            }
            #expect(basket.data == due)
            await stream.end()
        }
        // The first lecture was evicted for the start of the second.
        try await sandbox.reset()
        let again = try await manager.streams.open("\(sandbox.http)\(path)")
        _ = try await again.data(0..<2_000_000)
        #expect(try await sandbox.requests(for: path).count == 1)
        try await manager.streams.setCacheLimit(1)
        #expect(try await manager.streams.cacheBytes() > 1 << 20, "what is being streamed stays")
        await again.end()
        #expect(try await manager.streams.cacheBytes() == 0)
        await #expect(throws: LectureError(.parameter)) { try await manager.streams.setCacheLimit(-1) }
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `without space media is kept until its last stream ends`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let manager = try site.streamer()
        try await manager.streams.setCacheLimit(0)
        let (one, two) = (
            try await manager.streams.open("\(sandbox.http)\(path)"),
            try await manager.streams.open("\(sandbox.http)\(path)")
        )
        let due = try await one.data()
        await one.end()
        try await sandbox.reset()
        #expect(try await two.data() == due)
        #expect(try await sandbox.requests(for: path).isEmpty)
        await two.end()
        #expect(try await manager.streams.cacheBytes() == 0)
        #expect(try site.cacheFiles().isEmpty)
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `blocks that another program streams stay, whatever is requested`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let (reader, cleaner) = (try site.streamer(), try site.streamer())
        let stream = try await reader.streams.open("\(sandbox.http)\(path)")
        let due = try await stream.data()
        let idle = try await cleaner.streams.open("\(sandbox.http)/media/bytes-2M-33.mp4")
        _ = try await idle.data()
        await idle.end()
        #expect(try site.cacheFiles().count == 9)
        try await cleaner.streams.clearCache()
        try await cleaner.streams.setCacheLimit(0)
        #expect(try site.cacheFiles().count == 6)
        try await sandbox.reset()
        #expect(try await stream.data() == due)
        #expect(try await sandbox.requests().isEmpty)
        await reader.close()
        // The other program's limit applies to this one as well.
        #expect(try site.cacheFiles().isEmpty)
        await cleaner.close()
        await sandbox.stop()
    }

    @Test
    func `leftovers of a killed program are used or cleaned up`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let due = try await sandbox.bytes(of: path)
        let (store, device, url) = (site.store, "\(site.directory.path)/device", "\(sandbox.http)\(path)")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [store = store as String, device = device as String, url = url as String] in
            var configuration = LectureConfiguration(storeDirectory: store)
            configuration.deviceDirectory = device
            configuration.reserveBytes = 0
            let stream = try await LectureManager(configuration).streams.open(url)
            let count = Guarded(0)
            try await stream.read { _ in
                let blocks = count.withLock { count in
                    count += 1
                    return count
                }
                if blocks == 3 { kill(getpid(), SIGKILL) }
            }
        }
        #expect(try site.cacheFiles().count >= 3)
        // Leftovers of other moments of a kill: half a block, and files whose rows are gone.
        try Data(repeating: 1, count: 99).write(to: URL(filePath: "\(site.store)/cache/1/4.1.7.new"))
        try Data(repeating: 1, count: 99).write(to: URL(filePath: "\(site.store)/cache/1/77"))
        try FileManager.default.createDirectory(atPath: "\(site.store)/cache/999", withIntermediateDirectories: true)
        try Data(repeating: 1, count: 99).write(to: URL(filePath: "\(site.store)/cache/999/0"))
        let manager = try site.streamer()
        try await sandbox.reset()
        let stream = try await manager.streams.open(url)
        // Cleaned when the cache was opened: only blocks are left.
        let kept = try site.cacheFiles()
        #expect(kept.count >= 3 && !kept.values.contains(99), "\(kept)")
        #expect(!FileManager.default.fileExists(atPath: "\(site.store)/cache/999"))
        #expect(try await stream.data() == due)
        let ranges = try await sandbox.requests(for: path).compactMap(\.range)
        #expect(ranges.count == 1 && !ranges[0].hasPrefix("bytes=0-"), "\(ranges)")
        await stream.end()
        try await manager.streams.clearCache()
        #expect(try site.cacheFiles().isEmpty)
        await manager.close()
        #expect(try StoreTools.check(site.store) == [])
        await sandbox.stop()
    }

    @Test
    func `another device's key opens nothing, and its blocks are replaced`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let first = try site.streamer()
        let due = try await first.streams.open("\(sandbox.http)\(path)").data()
        await first.close()
        let second = try site.streamer { $0.deviceDirectory = "\(site.directory.path)/other" }
        let stream = try await second.streams.open("\(sandbox.http)\(path)")
        #expect(try await stream.data() == due)
        await stream.end()
        #expect(try site.cacheFiles().count == 6)
        await second.close()
        await sandbox.stop()
    }

    @Test
    func `a stalled reader blocks no other, and no more arrives than the bound`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let manager = try site.streamer()
        let large = "/media/bytes-64M-34.mp4"
        let slow = try await manager.streams.open("\(sandbox.http)\(large)")
        let gate = DispatchSemaphore(value: 0)
        let entered = DispatchSemaphore(value: 0)
        let reading = Task {
            try await slow.read { _ in
                entered.signal()
                gate.wait()
            }
        }
        // proof: the stream's own thread signals; nothing else is waited for here.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                entered.wait()
                continuation.resume()
            }
        }
        let other = try await manager.streams.open("\(sandbox.http)\(path)")
        #expect(try await other.data().count == 5 << 20)
        let taken = try await sandbox.requests(for: large).map(\.bytes).reduce(0, +)
        #expect(taken < 32 << 20, "\(taken)")
        for _ in 0..<100 { gate.signal() }
        try await reading.value
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `a released stream frees its slot`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let manager = try site.streamer()
        try await manager.streams.setCacheLimit(0)
        var stream: LectureStream? = try await manager.streams.open("\(sandbox.http)\(path)")
        _ = try await stream?.data()
        #expect(try site.cacheFiles().count == 6)
        stream = nil
        // The cache is released by a task queued before the next query, or soon after it.
        var looks = 0
        while try await manager.streams.cacheBytes() > 0, looks < 100_000 {
            looks += 1
            await Task.yield()
        }
        #expect(try site.cacheFiles().isEmpty)
        await manager.close()
        await sandbox.stop()
    }
}

/// Disks that accept no bytes, with file systems mounted for the purpose.
@Suite(
    .enabled(if: TightDisk.isPossible, "this process may not mount; full and read-only disks are NOT tested"),
    .timeLimit(.minutes(2)))
struct StreamDiskNetTests {
    @Test(arguments: ["full", "reserve", "read-only"])
    func `an unwritable disk is reported once, and the stream continues`(failure: String) async throws {
        let site = try Site()
        let disk = try TightDisk("size=6m")
        let sandbox = try await SandboxOrigin.start()
        let path = failure == "read-only" ? "/media/bytes-2M-35.mp4" : "/media/bytes-8M-35.mp4"
        let due = try await sandbox.bytes(of: path)
        let manager = try LectureManager(configuration(site, disk, reserve: failure == "reserve" ? 4 << 20 : 0))
        let failures = StoreFailures(manager)
        let cover = failure == "read-only" ? try TightDisk("ro", at: "\(disk.path)/store/cache") : nil
        let stream = try await manager.streams.open("\(sandbox.http)\(path)")
        if failure != "read-only" { _ = try await stream.data(0..<10) }
        if failure == "full" { _ = try? Data(repeating: 1, count: 6 << 20).write(to: URL(filePath: disk.path + "/x")) }
        #expect(try await stream.data() == due)
        #expect(failures.codes.count == 1, "\(failures.codes)")
        #expect(failures.codes.first == (failure == "read-only" ? .storeReadOnly : .storageFull), "\(failures.codes)")
        if failure == "reserve" { #expect(try await manager.streams.cacheBytes() <= 2 << 20) }
        await stream.end()
        await manager.close()
        withExtendedLifetime(cover) {}
        await sandbox.stop()
    }

    private func configuration(_ site: Site, _ disk: TightDisk, reserve: Int64) -> LectureConfiguration {
        var configuration = LectureConfiguration(storeDirectory: "\(disk.path)/store")
        configuration.deviceDirectory = "\(site.directory.path)/device"
        configuration.reserveBytes = reserve
        return configuration
    }
}

/// A separate small file system; needs the right to mount.
final class TightDisk: Sendable {
    let path: String

    /// Whether this process may mount.
    static let isPossible = getuid() == 0 && (try? TightDisk("size=64k")) != nil

    init(_ options: String, at place: String? = nil) throws {
        path = place ?? "\(FileManager.default.temporaryDirectory.path)/lecturekit-disk-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard try Self.run("mount", "-t", "tmpfs", "-o", options, "lecturekit", path) == 0 else {
            try? FileManager.default.removeItem(atPath: path)
            throw CocoaError(.fileWriteNoPermission)
        }
    }

    deinit {
        _ = try? Self.run("umount", "-l", path)
        try? FileManager.default.removeItem(atPath: path)
    }

    private static func run(_ arguments: String...) throws -> Int32 {
        try ChildProcess.runBlocking("/usr/bin/env", arguments).status
    }
}
