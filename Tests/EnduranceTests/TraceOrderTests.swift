import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A call of the log of `Tools/strike`.
private struct TracedCall: Decodable {
    let call: String
    let files: [String]
    /// Whether it creates a name that was not there.
    let makes: Bool
}

/// A disk that keeps no more than POSIX guarantees: bytes once their file is synced, names once their directory is.
///
/// No real disk available to tests is so strict. ext4, for one, writes all names when any file is synced, so that a
/// power cut on it never shows a directory that was not synced.
private struct MeanDisk {
    private(set) var unsyncedNames: Set<String> = []
    private(set) var unsyncedBytes: Set<String> = []
    /// Names given to files whose bytes were not synced.
    private(set) var rashRenames: [String] = []

    mutating func take(_ call: TracedCall) {
        guard let last = call.files.last else { return }
        switch call.call {
        case "fsync", "fdatasync":
            unsyncedBytes.remove(last)
            unsyncedNames = unsyncedNames.filter { parent($0) != last }
        case "pwrite64", "pwritev", "ftruncate", "fallocate": unsyncedBytes.insert(last)
        case "rename", "renameat", "renameat2":
            if unsyncedBytes.remove(call.files[0]) != nil { rashRenames.append(last) }
            unsyncedNames.remove(call.files[0])
            unsyncedNames.insert(last)
        case "unlink", "unlinkat":
            unsyncedNames.remove(last)
            unsyncedBytes.remove(last)
        default: if call.makes { unsyncedNames.insert(last) }
        }
    }

    private func parent(_ path: String) -> String { URL(filePath: path).deletingLastPathComponent().path }
}

/// The order of syncs, read from the calls themselves.
@Suite(.serialized, .enabled(if: Strike.isPossible, Strike.reason), .timeLimit(.minutes(15)))
struct TraceOrderNetTests {
    /// A store in a directory that has to be created as well.
    private func scene() async throws -> (scene: CrashScene, place: String) {
        let me = try BadDay()
        let place = me.home.file("made")
        return (try await CrashScene([("1200K", 1200 << 10, "")], me: me, place: "\(place)/too"), place)
    }

    private func words(_ scene: CrashScene) -> [String] { ["precache", "--acks", "--key", "k", scene.lectures[0].url] }

    private func calls(_ path: String) throws -> [TracedCall] {
        // The last line of a killed tracer may be cut; this one is never killed itself.
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(TracedCall.self, from: Data($0.utf8))
        }
    }

    /// Everything that an acknowledgement needs is synced: the bytes of the file, and each name from the directory
    /// above the store down to it.
    private func expectDurable(_ disk: MeanDisk, below place: String, _ what: String) {
        #expect(disk.rashRenames.isEmpty, "\(what): \(disk.rashRenames) got names before their bytes were synced")
        // The index of the log is recreated after a crash, the locks at each start.
        let needless = ["-shm", "owners.lock", "-journal", ".part"]
        let names = disk.unsyncedNames.filter { name in
            name.hasPrefix(place) && !needless.contains { name.hasSuffix($0) }
                && FileManager.default.fileExists(atPath: name)
        }
        #expect(names.isEmpty, "\(what): names that no sync covers: \(names.sorted())")
        let bytes = disk.unsyncedBytes.filter {
            $0.hasPrefix(place) && ($0.contains("/media/") || $0.hasSuffix("-wal"))
        }
        #expect(bytes.isEmpty, "\(what): bytes that no sync covers: \(bytes.sorted())")
    }

    @Test func `when a lecture is acknowledged every byte and name it needs has been synced`() async throws {
        let (scene, place) = try await scene()
        let log = scene.me.home.file("log.jsonl")
        let (ending, _) = try await scene.run(words(scene), under: .none, log: log)
        #expect(CrashScene.acknowledged(ending) == ["k"])
        var disk = MeanDisk()
        for call in try calls(log) { disk.take(call) }
        expectDurable(disk, below: place, "one run")
    }

    @Test func `what a killed run created but did not sync is synced by the next run`() async throws {
        let (pattern, _) = try await scene()
        let (whole, first, second) = ("whole.jsonl", "first.jsonl", "second.jsonl")
        _ = try await pattern.run(words(pattern), under: .none, log: pattern.me.home.file(whole))
        // In place of the call after each one that creates a name.
        let moments = try calls(pattern.me.home.file(whole)).enumerated().filter { $0.element.makes }.map {
            $0.offset + 2
        }
        try #require(moments.count > 8)
        for moment in moments {
            let (scene, place) = try await scene()
            let home = scene.me.home
            let (_, report) = try await scene.run(words(scene), under: .kill(moment), log: home.file(first))
            let (ending, _) = try await scene.run(words(scene), under: .none, log: home.file(second))
            #expect(CrashScene.acknowledged(ending) == ["k"], "killed at \(moment)")
            var disk = MeanDisk()
            // The call that was struck is in the log and was not made.
            for call in try calls(home.file(first)).dropLast() { disk.take(call) }
            for call in try calls(home.file(second)) { disk.take(call) }
            expectDurable(disk, below: place, "killed at \(report.described)")
        }
    }
}
