import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A part file that changes on the disk while no program runs.
@Suite(.timeLimit(.minutes(3))) struct DamagePartNetTests {
    /// What happened to the part file.
    enum Change: String, CaseIterable { case flipped, truncated, missing, directory, link }

    /// A lecture with some verified chunks, as a kill left it.
    private struct Started {
        let scene: DamageScene
        let file: String
        let proven: Int
        /// The same, with pieces of the chunk that the kill came upon.
        let received: Int
        static let path = "/media/bytes-8M-1.mp4"

        init() async throws {
            scene = try await DamageScene()
            try await scene.sandbox.set(fault: "stall:5000000", on: Self.path)
            let me = scene.me
            let process = try me.start(
                "precache", "--connections", "1", "--key", "k", "\(scene.sandbox.http)\(Self.path)")
            // Four chunks are whole; the group of the last ones may still wait.
            while try await me.list().first?.bytes ?? 0 < 4 << 20 {}
            process.send(SIGKILL)
            _ = await process.ending()
            proven = try #require(try await me.list().first?.bytes)
            received = try await me.receivedBytes()
            let path = try await scene.database(#"print(db.execute("SELECT file_path FROM resource").fetchone()[0])"#)
            file = "\(me.store)/\(path).part"
            try await scene.sandbox.reset()
        }
    }

    @Test(arguments: Change.allCases, [false, true])
    func `chunks that changed since they were verified are fetched again, and no wrong file is completed`(
        change: Change, withDigest: Bool
    ) async throws {
        let started = try await Started()
        let (me, sandbox) = (started.scene.me, started.scene.sandbox)
        let files = FileManager.default
        var again = started.proven
        switch change {
        case .flipped:
            try started.scene.flip(started.file, byte: (1 << 20) + 4711, bit: 3)
            try started.scene.flip(started.file, byte: 3 << 20, bit: 0)
            again = 2 << 20
        case .truncated: try FileHandle(forWritingTo: URL(filePath: started.file)).truncate(atOffset: 1 << 20)
        case .missing: try files.removeItem(atPath: started.file)
        case .directory:
            try files.removeItem(atPath: started.file)
            try files.createDirectory(atPath: started.file, withIntermediateDirectories: false)
        case .link:
            try files.moveItem(atPath: started.file, toPath: me.home.file("elsewhere"))
            try files.createSymbolicLink(atPath: started.file, withDestinationPath: me.home.file("elsewhere"))
        }
        let digest = try await sandbox.sha256(of: Started.path)
        let url = "\(sandbox.http)\(Started.path)"
        let ending = try await me.run(
            ["precache", "--key", "k", url] + (withDigest ? ["--sha256", digest] : []))
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(try await me.sha256() == digest)
        let sent = try await sandbox.requests(for: Started.path).reduce(0) { $0 + $1.bytes }
        let due = (8 << 20) - started.received + again
        // A missing file is noticed when it is opened; a transfer that started at the same moment is lost with it.
        #expect(change == .flipped ? sent == due : (due...due + (8 << 20)).contains(sent))
        #expect(try await me("verify", "k").status == 0)
        try await me.expectSound()
    }

    @Test func `an untouched part file is not fetched again`() async throws {
        let started = try await Started()
        let sandbox = started.scene.sandbox
        let ending = try await started.scene.me("precache", "--key", "k", "\(sandbox.http)\(Started.path)")
        #expect(ending.status == 0, "\(ending.errorText)")
        let sent = try await sandbox.requests(for: Started.path).reduce(0) { $0 + $1.bytes }
        #expect(sent == (8 << 20) - started.received)
        #expect(try await started.scene.me.sha256() == (try await sandbox.sha256(of: Started.path)))
    }
}
