import Foundation
import Glibc
import LectureModel
import LectureSQLite
import LectureTestSupport
import SchemaMigrations
import Testing

@testable import LectureStore

/// Several real processes on one store at the same time. Each exit test is a process of its own.
@Suite struct ProcessTests {
    @Test func manyProcessesMakeOneStore() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String] in
                        let location = StoreLocation(directory: path)
                        let index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 0))
                        _ = try index.owners.registerOwner(
                            pid: Int(getpid()), bootID: "", command: "", now: Timestamp(milliseconds: 0))
                    }
                }
            }
            try await group.waitForAll()
        }
        let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: Timestamp(milliseconds: 0))
        #expect(try index.owners.all().count == 6)
        let applied = try StoreMaintenance.info(StoreLocation(directory: path)).applied
        #expect(applied.count == MigrationCatalogue.entries.count)
    }

    @Test func twoProcessesLoseNoChangeOfEachOther() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: Timestamp(milliseconds: 0))
        try index.settings.set("count", "0")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String] in
                        let location = StoreLocation(directory: path)
                        let index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 0))
                        for _ in 0..<300 {
                            try index.transaction { _ in
                                let count = try #require(Int(try index.settings.value(of: "count") ?? ""))
                                try index.settings.set("count", String(count + 1))
                            }
                        }
                    }
                }
            }
        }
        #expect(try index.settings.value(of: "count") == "600")
    }

    @Test func noContentIsClaimedByTwoProcesses() async throws {
        try await withClaims { path, file in
            await #expect(processExitsWith: .success) { [path = path as String, file = file as String] in
                let location = StoreLocation(directory: path)
                let now = Timestamp(milliseconds: 0)
                let index = try SQLiteDownloadIndex(opening: location, now: now)
                let owner = try index.owners.registerOwner(pid: Int(getpid()), bootID: "", command: "", now: now)
                let run = try index.owners.beginRun(owner: owner, command: "", now: now)
                _ = try index.owners.joinUnfinished(run)
                var claimed: [String] = []
                while true {
                    let items = try index.owners.claim(run: run, owner: owner, limit: 3, now: now)
                    if items.isEmpty { break }
                    claimed += items.map { "\($0.id.value) \($0.fence)" }
                }
                try claimed.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
            }
        }
    }

    private func withClaims(_ process: @escaping @Sendable (String, String) async -> Void) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let now = Timestamp(milliseconds: 0)
        let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: now)
        try index.transaction { _ in
            for number in 0..<200 {
                _ = try index.requests.enqueue(
                    DownloadRequest(url: "http://127.0.0.1/\(number)"),
                    source: RequestSource(
                        derivedKey: try ContentKey("\(number)"), identity: Array("\(number)".utf8), isGateway: false),
                    check: .list, now: now)
            }
        }
        let files = (0..<3).map { directory.file("claims\($0)") }
        await withTaskGroup(of: Void.self) { group in
            for file in files { group.addTask { await process(path, file) } }
        }
        let claims = try files.flatMap { file in
            try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        #expect(claims.count == 200)
        #expect(Set(claims) == Set((1...200).map { "\($0) 1" }))
    }
}
