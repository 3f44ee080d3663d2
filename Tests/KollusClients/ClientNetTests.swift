import Foundation
import KollusSDK
import KollusTestSupport
import Testing

/// The applications of this directory.
enum Client: String, CaseIterable, Sendable {
    case unwrapped
    case wrapper
    case guide

    func make(_ journal: Journal) async -> any StudyApp {
        switch self {
        case .unwrapped: SampleStorageManager(journal: journal)
        case .wrapper: await OfflineLibrary(journal: journal)
        case .guide: await KollusManager(journal: journal)
        }
    }

    /// Runs a scenario with the application, started on a new device, and ends it as an application ends.
    func play(
        _ options: [String] = [], _ story: (any StudyApp, Academy, Journal) async throws -> Void
    ) async throws {
        let academy = try await Academy.open(options)
        let journal = Journal()
        let app = await make(journal)
        try await app.launch(academy.values)
        try await story(app, academy, journal)
        await app.kollus.finish()
        let reported = journal.entries.count
        await Client.settle()
        #expect(journal.entries.count == reported, "an event was delivered after the end")
        await academy.close()
    }

    /// Returns once everything that was queued for the main queue has run.
    static func settle() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }
}

/// Applications written for the iOS SDK, with a real storage and real servers.
@Suite(.timeLimit(.minutes(3)))
struct ClientNetTests {
    private static let size = 4 << 20

    @Test(arguments: Client.allCases)
    func `a lecture is loaded, downloaded with progress, listed, and removed`(client: Client) async throws {
        try await client.play { app, academy, journal in
            let (path, url) = (Academy.path("4M", 7), academy.media("4M", 7))
            try await academy.sandbox.set(fault: "slow:1500000", on: path)
            let key = try await app.register(url)
            #expect(try await app.register(url) == key, "the same address is the same lecture")
            let storage = await app.kollus
            #expect(try storage.checkContentURL(url) == key)
            #expect(await app.screen(.completed, now: Date()).isEmpty)
            #expect(journal.entries.isEmpty, "it has not been requested yet")
            let asked = try await academy.requests(for: path)

            let begin = ContinuousClock.now
            try await app.fetch(key)
            let again = #expect(throws: NSError.self) { try storage.downloadContent(key) }
            #expect(again?.code == -8631)
            await journal.until { !$0.ends(of: key).isEmpty }
            let seconds = Double((ContinuousClock.now - begin).components.seconds + 1)

            let progress = journal.entries.progress(of: key)
            #expect(progress == progress.sorted(), "a bar never goes back")
            #expect(progress.count > 1)
            #expect(Double(progress.count) <= seconds * 4 + 2, "four a second are enough")
            #expect(
                journal.entries.downloads(of: key).allSatisfy { entry in
                    guard case .download(_, let progress, let downloaded, _, nil) = entry else { return false }
                    return (progress == 100) == downloaded
                }, "100 and downloaded belong together")
            #expect(journal.entries.ends(of: key).count == 1)
            #expect(
                journal.entries.last
                    == .download(key: key, progress: 100, downloaded: true, bytes: Int64(Self.size), error: nil))

            let complete = #expect(throws: NSError.self) { try storage.downloadContent(key) }
            #expect(complete?.code == -9000)
            #expect(await app.screen(.inProgress, now: Date()).isEmpty)
            #expect(await app.screen(.completed, now: Date()) == [key])
            #expect(await app.screen(.recent, now: Date()) == [key])
            #expect(await app.screen(.recent, now: Date().addingTimeInterval(8 * 86_400)).isEmpty)
            #expect(storage.storageSize >= Int64(Self.size))
            #expect(try await academy.sentBytes(path, after: asked) == Self.size)

            try await app.erase(key)
            #expect(storage.contents().count == 0)
            #expect(Journal.mediaFiles(of: storage).isEmpty)
            try await app.erase(key)
        }
    }

    @Test(arguments: Client.allCases)
    func `a missing lecture fails with the server's number`(client: Client) async throws {
        try await client.play { app, academy, journal in
            let absent = await #expect(throws: NSError.self) {
                _ = try await app.register("\(academy.sandbox.http)/media/absent.mp4")
            }
            #expect(absent?.code == -8404)
            #expect(absent?.domain == KollusErrorDomain)
            let path = Academy.path("300K", 4)
            let key = try await app.register(academy.media("300K", 4))
            try await academy.sandbox.set(fault: "status:404", on: path)
            try await app.fetch(key)
            await journal.until { !$0.ends(of: key).isEmpty }
            #expect(journal.entries.failures(of: key) == [-8404])
            #expect(await app.screen(.completed, now: Date()).isEmpty)
            let list = await app.kollus.contents() as? [KollusContent]
            #expect(list?.map { $0.mediaContentKey } == [key], "it stays in the list")
            try await academy.sandbox.set(fault: "", on: path)
            try await app.fetch(key)
            await journal.until { $0.ends(of: key).count == 2 }
            #expect(await app.screen(.completed, now: Date()) == [key])
        }
    }

    @Test(arguments: Client.allCases)
    func `a cancelled download resumes after the received bytes`(client: Client) async throws {
        try await client.play { app, academy, journal in
            let (path, size) = (Academy.path("32M", 5), 32 << 20)
            // Slow enough that the machine may be busy for seconds, and fast again for the rest.
            try await academy.sandbox.set(fault: "slow:700000", on: path)
            let key = try await app.register(academy.media("32M", 5))
            try await app.fetch(key)
            // Of three MiB at least one chunk is verified, over any number of connections.
            await journal.until { entries in
                entries.downloads(of: key).contains {
                    if case .download(_, _, _, let bytes, _) = $0 { bytes >= 3 << 20 } else { false }
                }
            }
            try await app.stop(key)
            await journal.until { !$0.ends(of: key).isEmpty }
            #expect(journal.entries.failures(of: key) == [-8615])
            // Until the transfer itself has ended.
            let storage = await app.kollus
            #expect(try await storage.manager().downloads.waitUntilIdle(deadline: .seconds(30)))
            #expect(journal.entries.ends(of: key).count == 1)
            let list = try #require(storage.contents() as? [KollusContent])
            let content = try #require(list.first)
            #expect(list.count == 1)
            #expect(!content.downloaded)
            #expect(content.downloadStopSize >= 1 << 20)
            #expect(content.downloadStopSize < size)
            #expect(await app.screen(.inProgress, now: Date()) == [key])
            #expect(await app.screen(.completed, now: Date()).isEmpty)

            let asked = try await academy.requests(for: path)
            try await academy.sandbox.set(fault: "", on: path)
            try await app.fetch(key)
            await journal.until { $0.ends(of: key).count == 2 }
            #expect(journal.entries.failures(of: key) == [-8615])
            let rest = try await academy.sentBytes(path, after: asked)
            // What was received of the next chunk, which is not counted, is not fetched again either.
            let most = size - Int(content.downloadStopSize)
            #expect((most - (1 << 20)...most).contains(rest), "what was verified is not fetched again")
        }
    }

    @Test(arguments: Client.allCases)
    func `a library shows folders first`(client: Client) async throws {
        try await client.play { app, academy, _ in
            var keys: [String] = []
            for seed in [3, 1, 2] { keys.append(try await app.register(academy.media("64K", seed))) }
            let list = await app.kollus.contents() as? [KollusContent]
            #expect(list?.map { $0.mediaContentKey } == keys, "as registered")
            let shown = await app.screen(.library(folders: [keys[0]: "Algebra"]), now: Date())
            #expect(shown == ["Algebra/", keys[1], keys[2]])
        }
    }
}

/// Licences and reports.
@Suite(.timeLimit(.minutes(3)))
struct ClientLicenceNetTests {
    @Test(arguments: Client.allCases)
    func `a licence is requested before a download, and its completion reported after it`(client: Client) async throws {
        try await client.play { app, academy, journal in
            let key = try await app.register(try await academy.licensed("64K", 1))
            #expect(key == "bytes-64K-1")
            try await app.fetch(key)
            await journal.until { entries in
                !entries.ends(of: key).isEmpty && entries.exchanges.contains { $0.kinds == [2] }
            }
            let exchanges = journal.entries.exchanges
            #expect(exchanges.map(\.kinds) == [[1], [2]])
            #expect(exchanges.allSatisfy { $0.keys == [key] && $0.user == "learner" && $0.answers == 1 })
            #expect(journal.entries.failures(of: key).isEmpty)
        }
    }

    @Test(arguments: Client.allCases)
    func `a refusal ends a download with the server's message`(client: Client) async throws {
        try await client.play { app, academy, journal in
            let key = try await app.register(try await academy.licensed("64K", 1))
            try await academy.sandbox.set(policy: .refusal("Not yours."), kind: 1)
            try await app.fetch(key)
            await journal.until { !$0.ends(of: key).isEmpty }
            #expect(journal.entries.failures(of: key) == [-8655])
            let storage = await app.kollus
            #expect(try storage.content(key)?.error?.localizedDescription == "Not yours.")
        }
    }

    @Test(arguments: Client.allCases)
    func `a batch renewal counts from one to the total`(client: Client) async throws {
        try await client.play { app, academy, journal in
            var keys: [String] = []
            for seed in 1...12 {
                let key = try await app.register(try await academy.licensed("4K", seed))
                try await app.fetch(key)
                keys.append(key)
            }
            let all = keys
            await journal.until { entries in all.allSatisfy { !entries.ends(of: $0).isEmpty } }
            #expect(all.allSatisfy { journal.entries.failures(of: $0).isEmpty })
            try await academy.sandbox.set(policy: .refusal("The course is over."), for: [keys[3]], kind: 3)
            await app.renew(all: true)
            await journal.until { $0.renewals.contains { $0.cur == $0.count } }
            let steps = journal.entries.renewals
            #expect(steps.map(\.cur) == Array(1...12))
            #expect(steps.allSatisfy { $0.count == 12 })
            #expect(steps.compactMap(\.error) == ["The course is over."])
            let renewals = journal.entries.exchanges.filter { $0.kinds.contains(3) }
            #expect(renewals.map(\.keys.count).sorted() == [2, 10])
            #expect(Set(renewals.flatMap(\.keys)) == Set(keys))
        }
    }

    @Test(arguments: Client.allCases)
    func `a file that the server orders deleted is gone before that is reported`(client: Client) async throws {
        try await client.play { app, academy, journal in
            let keys = [
                try await app.register(try await academy.licensed("64K", 1)),
                try await app.register(try await academy.licensed("64K", 2)),
            ]
            for key in keys { try await app.fetch(key) }
            // Until both were reported to the server, so that its order comes with the renewal.
            await journal.until { entries in
                let completions = entries.exchanges.filter { $0.kinds.contains(2) }.flatMap(\.keys)
                return keys.allSatisfy { !entries.ends(of: $0).isEmpty && completions.contains($0) }
            }
            let before = Journal.mediaFiles(of: await app.kollus)
            try await academy.orderAway(keys[0])
            await app.renew(all: true)
            await journal.until { $0.exchanges.contains { $0.kinds.contains(3) } }
            let reported = try #require(journal.entries.exchanges.first { $0.kinds.contains(3) })
            #expect(reported.deletes)
            #expect(reported.listed == [keys[1]], "the list is refreshed at once")
            #expect(reported.files.count == before.count / 2, "the file is gone already")
            await journal.until { $0.renewals.contains { $0.cur == $0.count } }
            #expect(await app.screen(.completed, now: Date()) == [keys[1]])
        }
    }

    @Test(arguments: Client.allCases)
    func `stored reports are sent, reported, and counted`(client: Client) async throws {
        try await client.play { app, academy, journal in
            await app.sendReports()
            await journal.until { $0.sendings.count == 1 }
            #expect(journal.entries.sendings == [.sent(success: 0, fail: 0)], "an empty queue ends as well")
            try await academy.addReports(3, to: await app.kollus)
            await app.sendReports()
            await journal.until { $0.sendings.count == 2 }
            #expect(journal.entries.sendings.last == .sent(success: 3, fail: 0))
            let reports = journal.entries.reports
            #expect(reports.count == 3)
            for number in 0..<3 {
                #expect(
                    reports.contains {
                        guard case .report(let data, true) = $0 else { return false }
                        return data.contains(#""position":\#(number)"#)
                    })
            }
            #expect(try await academy.sandbox.lmsSummary().once == 3)
            try await academy.sandbox.setLMS(habits: "status:400")
            try await academy.addReports(2, to: await app.kollus)
            await app.sendReports()
            await journal.until { $0.sendings.count == 3 }
            #expect(journal.entries.sendings.last == .sent(success: 0, fail: 2))
        }
    }
}
