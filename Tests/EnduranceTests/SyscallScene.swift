import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// What a program is doing when it is struck.
enum SyscallDeed: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// The first command ever: directories, database, schema.
    case firstOpening
    /// A course from nothing to its outputs.
    case download
    /// A store in the middle of a course, after another crash.
    case recovery
    /// Everything is removed.
    case removal
    /// A damaged file is found and repaired.
    case repair

    var testDescription: String { rawValue }
}

/// Stages of a store, made once and copied for each strike.
struct SyscallStage: Sendable {
    let scene: CrashScene
    let deed: SyscallDeed
    /// The disk on which all of it lies, if its power will be cut.
    let disk: PowerDisk?
    /// A store that no process uses, to be copied; nil for none.
    private let original: String?

    /// Brings a store to where the deed starts, on its own disk if mount options are given. The position of the crash
    /// from which a recovery recovers is random.
    init(_ deed: SyscallDeed, mount: String? = nil, _ random: inout SeededGenerator) async throws {
        self.deed = deed
        let lectures = [("2500K", 2500 << 10, ""), ("90K", 90 << 10, "")]
        let me = try BadDay()
        if let mount { disk = try await PowerDisk(in: me.home, options: mount) } else { disk = nil }
        var scene = try await CrashScene(lectures, me: me, place: disk?.place)
        scene.prefix = disk?.prefix ?? []
        self.scene = scene
        switch deed {
        case .firstOpening, .download:
            original = nil
            return
        case .recovery:
            let calls = try await scene.run(scene.fetch, under: .none).report.calls
            try await scene.clear()
            // In the second half of the calls the store exists and bytes are arriving.
            _ = try await scene.run(
                scene.fetch, under: .kill(Int.random(in: calls / 2...max(calls / 2, calls - 1), using: &random)))
        case .removal, .repair:
            #expect(try await scene.run(scene.fetch).status == 0)
        }
        if deed == .repair { try await scene.damage() }
        original = (disk?.place ?? scene.me.home.path) + "/original"
        _ = try await scene.system("/bin/cp", "-a", scene.store, original ?? "")
    }

    /// What is done.
    var words: [String] {
        switch deed {
        case .firstOpening: ["store", "migrate"]
        case .download, .recovery: scene.fetch
        case .removal: ["remove", "--all"]
        case .repair: ["verify", "--all", "--repair"]
        }
    }

    /// Puts the store back to where the deed begins.
    func rewind() async throws {
        try await scene.clear()
        if let original { _ = try await scene.system("/bin/cp", "-a", original, scene.store) }
        // What was there before the deed is on the disk, as it would be after days.
        if disk != nil { _ = try await scene.system("/bin/sync") }
    }

    /// Status 0 is a promise as well: what was requested is done.
    func expectKept(_ ending: ChildProcess.Ending, _ what: String) async throws {
        guard ending.status == 0 else { return }
        let claim = "\(what): status 0 and \(ending.errorText)"
        let keys = Set(scene.lectures.map(\.key))
        switch deed {
        case .firstOpening: #expect(try await scene.run(["store", "check"]).status == 0, "\(claim)")
        case .download, .recovery: #expect(CrashScene.acknowledged(ending) == keys, "\(claim)")
        case .removal:
            #expect(try await !scene.run(["list", "--json"]).text.contains(#""key""#), "\(claim)")
            #expect(try await scene.storedFiles().isEmpty, "\(claim)")
        case .repair: #expect(try await scene.run(["verify", "--all"]).status == 0, "\(claim)")
        }
    }

    /// What must be true after the strike, and after the next run without one.
    func expectSound(_ ending: ChildProcess.Ending, _ what: String) async throws {
        switch deed {
        case .firstOpening, .download, .recovery:
            try await scene.expectSoundAfterCrash(acknowledged: CrashScene.acknowledged(ending), what)
            try await scene.expectCompletes(what)
        case .removal:
            try await scene.expectSoundAfterCrash(acknowledged: [], what)
            let again = try await scene.run(["remove", "--all"])
            #expect(again.status == 0, "\(what): \(again.errorText)")
            // Nothing of the store's own is left, under any name.
            #expect(try await scene.storedFiles().isEmpty, "\(what)")
            #expect(try await !scene.run(["list", "--json"]).text.contains(#""key""#), "\(what)")
            try await scene.expectCompletes(what)
        case .repair:
            // The damaged file may still have its final name, until the damage is found.
            #expect(try await scene.run(["store", "check"]).status == 0, "\(what)")
            let again = try await scene.run(["verify", "--all", "--repair"])
            #expect(again.status == 0, "\(what): \(again.errorText)")
            try await scene.expectCompletes(what)
            let last = try await scene.run(["verify", "--all"])
            #expect(last.status == 0, "\(what): \(last.errorText)")
        }
    }
}

extension CrashScene {
    /// Every file of the store's media, finished or not.
    func storedFiles() async throws -> [String] {
        let found = try await system("/usr/bin/find", "\(store)/media", "-type", "f")
        return found.text.split(separator: "\n").map(String.init)
    }

    /// Removes store and outputs.
    fileprivate func clear() async throws { _ = try await system("/bin/rm", "-rf", store, outputs) }

    /// Damages bytes of the first lecture in the store. Its output may be the same file; the output is removed, so that
    /// it is not taken for whole.
    fileprivate func damage() async throws {
        let path = try await run(["path", lectures[0].key]).text.trimmingCharacters(in: .newlines)
        _ = try await system("/bin/rm", "-r", outputs)
        let words = ["if=/dev/zero", "of=\(path)", "bs=1000", "seek=1200", "count=1", "conv=notrunc", "status=none"]
        let damaging = try await run(words: ["/bin/dd"] + words)
        try #require(damaging.status == 0, "\(damaging.errorText)")
    }
}
