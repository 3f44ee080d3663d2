import Foundation
import KollusSDK
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Licences, learning reports, the streaming cache, the background worker.
@Suite struct ServiceTests {
    @Test func `licences are granted, renewed one by one, and end`() async throws {
        let scene = try await Classroom(["--licensed"])
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        storage.extraDrmParam = "class=7&b"
        try await scene.origin.set(
            policyJSON: #"{"expiration_in": 3600, "expiration_count": 5, "expiration_refresh_popup": 1}"#)
        var keys: [String] = []
        for number in 1...12 {
            let key = try storage.loadContentURL(try await scene.origin.link(key: "bytes-64K-\(number)"))
            try storage.downloadContent(key)
            keys.append(key)
        }
        #expect(
            await witness.finals(12).filter { if case .download(_, 100, true, _, nil) = $0 { true } else { false } }
                .count == 12)
        let content = try #require(try storage.content(keys[0]))
        #expect(content.drmExpireDate != nil && content.DRMExpireDate == content.drmExpireDate)
        #expect(content.drmExpireCountMax == 5 && content.drmExpireCount == 5 && !content.DRMExpired)
        #expect(content.drmExpireRefreshPopup && content.drmCheckDate != nil && content.isPlayableOffline)
        // Kind 1 and kind 2 of each; several may go into one request.
        #expect(
            await witness.wait { reported in
                reported.reduce(0) { sum, one in
                    guard case .exchange(let request, _, _) = one else { return sum }
                    // Each item once in the array, and the first once more beside it.
                    return sum + request.components(separatedBy: #""kind":"#).count - 2
                } >= 24
            })
        guard
            case .exchange(let request, let json, nil) = witness.reported.first(where: {
                if case .exchange = $0 { true } else { false }
            })
        else {
            Issue.record("no exchange")
            return
        }
        #expect(
            request.contains(#""kind":1"#) && request.contains(#""media_content_key""#)
                && !request.contains("session_key"))
        #expect(json.contains(#""result":1"#) && json.contains(#""data":"#))

        try await scene.origin.set(policyJSON: #"{"expiration_in": 7200, "expiration_count": 9}"#)
        storage.updateDownloadDRMInfo(true)
        #expect(await witness.wait { $0.contains { if case .renewal(12, 12, _) = $0 { true } else { false } } })
        let renewals = witness.reported.compactMap {
            if case .renewal(let cur, let count, let code) = $0 { (cur, count, code) } else { nil }
        }
        #expect(renewals.map(\.0) == Array(1...12) && renewals.allSatisfy { $0.1 == 12 && $0.2 == nil })
        #expect(try storage.content(keys[3])?.drmExpireCountMax == 9)
        try await renewsByName(storage, [keys[1], keys[2]])
        #expect(try await storage.renewLicences(of: []).total == 0)
        let items = try await scene.origin.callbackItems()
        #expect(items.contains { $0.kind == 3 && $0.resetReq == 1 })
    }

    /// Two licences by name, with a start and an end.
    private func renewsByName(_ storage: KollusStorage, _ keys: [String]) async throws {
        let events = storage.events
        let report = try await storage.renewLicences(of: keys)
        #expect(report.total == 2 && report.renewed == 2 && report.failed == 0)
        var reported: [String] = []
        for await event in events {
            switch event {
            case .renewalBegan(let total): reported.append("began \(total)")
            case .renewed(let key, let current, let count, nil):
                reported.append("\(current) of \(count)")
                #expect(keys.contains(key))
            case .renewalEnded(let end): reported.append("ended \(end.renewed) of \(end.total)")
            default: break
            }
            if case .renewalEnded = event { break }
        }
        #expect(reported == ["began 2", "1 of 2", "2 of 2", "ended 2 of 2"])
    }

    @Test func `under a new player id licensed lectures are downloaded beside the old ones`() async throws {
        let scene = try await Classroom(["--licensed"])
        for (number, name) in ["bytes-64K-1", "bytes-64K-2"].enumerated() {
            let storage = try scene.storage()
            if number == 0 { try storage.start() } else { try storage.startWithNewPlayerID() }
            let witness = Witness()
            storage.delegate = witness
            let key = try storage.loadContentURL(try await scene.origin.link(key: name))
            try storage.downloadContent(key)
            let finals = await witness.finals(1)
            #expect(finals.count == 1)
            #expect(try storage.content(key)?.downloaded == true, "\(name)")
            storage.close()
        }
    }

    @Test func `a lecture that a licence server orders deleted is gone when that is reported`() async throws {
        let scene = try await Classroom(["--licensed"])
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(try await scene.origin.link(key: "bytes-64K-1"))
        try storage.downloadContent(key)
        #expect(await witness.finals(1).count == 1)
        try await scene.origin.set(
            policyJSON: #"{"result": 1, "content_delete": 1, "message": "The term is over."}"#, kind: 3)
        let gone = Flag()
        witness.also = { reported, _ in
            if case .exchange(_, let json, _) = reported, json.contains(#""content_delete":1"#) {
                gone.set((try? storage.content(key)) == .some(nil) && storage.storageSize == 0)
            }
        }
        storage.updateDownloadDRMInfo(true)
        #expect(
            await witness.wait {
                $0.contains {
                    if case .exchange(_, let json, _) = $0 { json.contains(#""content_delete":1"#) } else { false }
                }
            })
        #expect(await witness.wait { _ in gone.value != nil })
        #expect(gone.value == true)
    }

    @Test func `a refusal has the server's message`() async throws {
        let scene = try await Classroom(["--licensed"])
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        try await scene.origin.set(policyJSON: #"{"result": 0, "message": "Please pay first."}"#)
        let key = try storage.loadContentURL(try await scene.origin.link(key: "bytes-64K-1"))
        try storage.downloadContent(key)
        guard case .download(key, _, false, _, -8655) = await witness.finals(1).first else {
            Issue.record("\(witness.finals)")
            return
        }
        let events = try #require(try storage.content(key)?.error)
        #expect(events.localizedDescription == "Please pay first.")
    }

    @Test func `stored reports are sent, and each call ends once`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let manager = try storage.manager()
        for number in 1...3 {
            var report = LearningReport()
            (report.user, report.session, report.sequence) = ("learner", "s", Int64(number))
            report.target = ReportTarget(url: scene.origin.http + "/lms/json", format: .json)
            try await manager.reports.add(report)
        }
        storage.sendStoredLms()
        #expect(await witness.wait { $0.contains { if case .sent(3, 0) = $0 { true } else { false } } })
        #expect(
            witness.reported.filter {
                if case .report(let data, let json) = $0 { data.hasPrefix("{") && json.contains("ok") } else { false }
            }.count == 3)
        storage.sendStoredLms()
        #expect(await witness.wait { $0.contains { if case .sent(0, 0) = $0 { true } else { false } } })
    }

    @Test func `without a setting reports go out by themselves, and none is left for a call`() async throws {
        let scene = try await Classroom()
        let storage = try scene.storage()
        let text = try String(contentsOfFile: try scene.configuration(), encoding: .utf8)
        let file = scene.place.path + "/plain.json"
        try text.replacing(#""lms": {"delivery": "on_demand"}"#, with: #""lms": {}"#)
            .write(toFile: file, atomically: true, encoding: .utf8)
        storage.settings.configurationFile = file
        try storage.start()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        var report = LearningReport()
        report.target = ReportTarget(url: scene.origin.http + "/lms/json", format: .json)
        try await storage.manager().reports.add(report)
        #expect(await witness.wait { $0.contains { if case .report = $0 { true } else { false } } })
        #expect(!witness.reported.contains { if case .sent = $0 { true } else { false } }, "no call was made")
        storage.sendStoredLms()
        #expect(await witness.wait { $0.contains { if case .sent(0, 0) = $0 { true } else { false } } })
        #expect(try await scene.origin.lmsSummary().once == 1)
    }

    @Test func `a stream leaves its bytes in the cache, and the next one uses them`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        storage.setCacheSize(64)
        let stream = try await storage.stream(scene.media("3M-9"))
        #expect(stream.byteCount == 3 << 20)
        let first = try await stream.read(0..<3 << 20)
        #expect(first.count == 3 << 20)
        let asked = try await scene.origin.requests(for: "/media/bytes-3M-9.mp4").count
        #expect(try await stream.read(100..<2_000_000) == first[100..<2_000_000])
        #expect(try await scene.origin.requests(for: "/media/bytes-3M-9.mp4").count == asked)
        let size = storage.cacheDataSize
        #expect(size >= 3 << 20)
        try storage.removeCache()
        #expect(storage.cacheDataSize == size, "it is being streamed")
        await stream.end()
        try storage.removeCache()
        #expect(storage.cacheDataSize == 0)
        #expect(storage.contents()?.count == 0)
        storage.setCacheSize(-1)
        storage.setCacheSize(0)
    }
}

/// Limited play time of streams.
@Suite struct StreamedPlayTimeTests {
    @Test func `a stream of a lecture with limited play time is charged, and ends with it`() async throws {
        let scene = try await Classroom(["--licensed"])
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        try await scene.origin.set(policyJSON: #"{"expiration_playtime": 60}"#)
        let link = try await scene.origin.link(key: "bytes-9M-3")
        let key = try storage.loadContentURL(link)
        try storage.downloadContent(key)
        _ = await witness.finals(1)
        #expect(try #require(try storage.content(key)).drmExpirePlayTime == 60)
        let stream = try await storage.stream(link)
        #expect(try await stream.read(0..<1_250_000).count == 1_250_000)
        let error = await #expect(throws: NSError.self) { try await stream.read(0..<9_000_000) }
        #expect(error?.code == -8683)
        await stream.end()
        let content = try #require(try storage.content(key))
        #expect(content.drmExpirePlayTime == 0 && content.drmTotalExpirePlayTime == 60 && content.drmExpired)
    }
}

/// Set once, from any thread.
final class Flag: @unchecked Sendable {
    private let lock = NSLock()
    private var kept: Bool?
    var value: Bool? { lock.withLock { kept } }
    func set(_ value: Bool) { lock.withLock { kept = kept ?? value } }
}
