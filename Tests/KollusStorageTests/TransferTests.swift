import Foundation
import KollusSDK
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

/// Loading, downloading, cancelling, removing: one final event each, nothing after a removal, nothing lost.
@Suite struct TransferTests {
    @Test func `nil, empty and unknown arguments`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let parameter = KollusError.Code.ERROR_PARAM_VALUE.rawValue
        for nothing in [nil, ""] as [String?] {
            #expect(code { _ = try storage.loadContentURL(nothing) } == parameter)
            #expect(code { _ = try storage.checkContentURL(nothing) } == parameter)
            #expect(code { try storage.downloadContent(nothing) } == parameter)
            #expect(code { try storage.downloadCancelContent(nothing) } == parameter)
            #expect(code { try storage.removeContent(nothing) } == parameter)
        }
        #expect(code { try storage.downloadContent("unknown") } == KollusError.Code.ERROR_NOT_LOAD.rawValue)
        #expect(code { try storage.downloadCancelContent("unknown") } == KollusError.Code.ERROR_NOT_FOUND_ID.rawValue)
        #expect(code { try storage.removeContent("unknown") } == nil)
        #expect(try storage.content("unknown") == nil)
        #expect(code { _ = try storage.why("unknown") } == KollusError.Code.ERROR_NOT_FOUND_ID.rawValue)
        for address in ["ftp://example/a", "no address", "kollus://list?folder=a", "file:///etc/passwd"] {
            #expect(
                code { _ = try storage.loadContentURL(address) } == KollusError.Code.ERROR_NO_USE_CONTENT_URL.rawValue,
                "\(address)")
        }
        #expect(
            code { _ = try storage.checkContentURL(scene.media("64K-1")) }
                == KollusError.Code.ERROR_NOT_FOUND_ID.rawValue)
    }

    @Test func `a lecture is loaded, downloaded, and reported once`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let url = scene.media("3M-1", "fault=slow:4000000")
        let key = try storage.loadContentURL(url)
        #expect(try storage.loadContentURL(url) == key)
        #expect(try storage.checkContentURL(url) == key)
        let loaded = try #require(try storage.content(key))
        #expect(loaded.state == .registered)
        #expect(loaded.fileSize == 3 << 20, "an application checks the space before it downloads")
        #expect(loaded.downloadProgress == 0 && !loaded.downloaded)
        #expect((storage.contents() as? [KollusContent])?.map(\.mediaContentKey) == [key])
        // Bytes that a server sends before it sees that the client has stopped reading depend on the network.
        #expect(try await scene.origin.requests().allSatisfy { $0.bytes < 3 << 20 }, "loading does not fetch the file")
        #expect(storage.storageSize == 0)

        try storage.downloadContent(key)
        #expect(code { try storage.downloadContent(key) } == KollusError.Code.ERROR_ALREADY_DOWNLOADING.rawValue)
        let finals = await witness.finals(1)
        guard case .download(key, 100, true, 3 << 20, nil) = finals.first else {
            Issue.record("\(finals)")
            return
        }
        var percent: UInt = 0
        for case .download(_, let now, let downloaded, _, let code) in witness.reported {
            #expect(now >= percent && (now == 100) == downloaded && code == nil)
            percent = now
        }
        let done = try #require(try storage.content(key))
        #expect(done.downloaded && done.downloadedTime > 0 && done.fileSize == 3 << 20 && done.downloadStopSize == 0)
        #expect(storage.storageSize == 3 << 20)
        #expect(code { try storage.downloadContent(key) } == KollusError.Code.ERROR_ALREADY_DOWNLOADED.rawValue)
        // Without a network it counts as loaded.
        await scene.origin.stop()
        #expect(try storage.loadContentURL(url) == key)
        #expect(finals.count == 1 && witness.finals.count == 1)
        storage.settings.completedDownload = .completesAgain
        try storage.downloadContent(key)
        #expect(await witness.finals(2).count == 2)
    }

    @Test func `a cancelled download keeps its bytes and resumes after them`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(scene.media("8M-2"))
        let passing = try await scene.holding("8M-2", after: 3_000_000)
        try storage.downloadContent(key)
        #expect(
            await witness.wait {
                $0.contains { if case .download(_, _, _, let bytes, nil) = $0 { bytes > 2 << 20 } else { false } }
            })
        try await passing()
        try storage.downloadCancelContent(key)
        guard case .download(key, _, false, _, -8615) = await witness.finals(1).first else {
            Issue.record("\(witness.finals)")
            return
        }
        // Cancelling what does not run changes nothing.
        try storage.downloadCancelContent(key)
        #expect(await settled(storage, key) { $0.state == .paused })
        let stopped = try #require(try storage.content(key))
        #expect(stopped.downloadStopSize > 0 && stopped.downloadStopSize < 8 << 20)
        let before = try await scene.origin.requests().map(\.bytes).reduce(0, +)
        try storage.downloadContent(key)
        guard case .download(key, 100, true, 8 << 20, nil) = await witness.finals(2).last else {
            Issue.record("\(witness.finals)")
            return
        }
        let after = try await scene.origin.requests().map(\.bytes).reduce(0, +)
        #expect(Int64(after - before) <= (8 << 20) - stopped.downloadStopSize + 65_536)
    }

    @Test func `right after a cancel its bytes are on disk, and no count has gone back`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(scene.media("8M-21"))
        let passing = try await scene.holding("8M-21", after: 3_500_000)
        try storage.downloadContent(key)
        #expect(
            await witness.wait {
                $0.contains { if case .download(_, _, _, let bytes, nil) = $0 { bytes > 3 << 20 } else { false } }
            })
        try storage.downloadCancelContent(key)
        let stopped = try #require(try storage.content(key))
        #expect(stopped.downloadStopSize >= 3 << 20, "received data is on the disk when the call returns")
        #expect(stopped.state == .paused)
        guard case .download(key, let percent, false, let bytes, -8615) = await witness.finals(1).first else {
            Issue.record("\(witness.finals)")
            return
        }
        #expect(percent == 41 || percent == 42)
        #expect(bytes >= stopped.downloadStopSize)
        try await passing()
        try storage.downloadContent(key)
        #expect(await witness.finals(2).count == 2)
        // Two downloads: the numbers of each only increase.
        var last: UInt = 0
        for case .download(_, let now, _, _, let code) in witness.reported {
            #expect(now >= last, "\(witness.reported)")
            last = code == nil ? now : 0
        }
    }

    @Test func `a cancel may be silent, as on iOS`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        storage.settings.cancelledDownload = .isSilent
        let events = storage.events
        let key = try storage.loadContentURL(scene.media("8M-22"))
        let passing = try await scene.holding("8M-22", after: 2_000_000)
        try storage.downloadContent(key)
        #expect(await witness.wait { !$0.isEmpty })
        try await storage.cancel(key)
        for await event in events { if case .cancelled(let content) = event, content.mediaContentKey == key { break } }
        try await passing()
        try storage.downloadContent(key)
        guard case .download(key, 100, true, _, nil) = await witness.finals(1).first else {
            Issue.record("\(witness.finals)")
            return
        }
        #expect(witness.finals.count == 1)
    }

    @Test func `even the shortest download reports progress before its end`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        for number in 31...40 {
            let key = try storage.loadContentURL(scene.media("4K-\(number)"))
            try storage.downloadContent(key)
            let reported = await witness.wait { $0.contains { one in Self.isEnd(one, of: key) } }
            #expect(reported)
            let own = witness.reported.filter { if case .download(key, _, _, _, _) = $0 { true } else { false } }
            guard case .download(_, 0, false, 0, nil) = own.first, own.count >= 2 else {
                Issue.record("\(own)")
                continue
            }
        }
    }

    private static func isEnd(_ reported: Witness.Delivered, of key: String) -> Bool {
        if case .download(key, _, true, _, nil) = reported { true } else { false }
    }

    @Test func `a cancel that the store refuses does not prevent completion`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(scene.media("4M-9"))
        let passing = try await scene.holding("4M-9", after: 2_000_000)
        try storage.downloadContent(key)
        #expect(await witness.wait { !$0.isEmpty })
        try await passing()
        // Another program writes for longer than any caller waits.
        let other = try Connection(path: scene.place.path + "/store/lecturekit.db", access: .readWrite)
        try other.execute("BEGIN IMMEDIATE")
        #expect(code { try storage.downloadCancelContent(key) } == LectureError.Code.storeBusy.number)
        try other.execute("ROLLBACK")
        guard case .download(key, 100, true, _, nil) = await witness.finals(1).first else {
            Issue.record("\(witness.finals)")
            return
        }
    }

    @Test func `cancelling and requesting again at once yields one completion`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(scene.media("2M-3", "fault=slow:6000000"))
        for _ in 0..<20 {
            try storage.downloadContent(key)
            try storage.downloadCancelContent(key)
        }
        try storage.downloadContent(key)
        let finals = await witness.finals(21)
        #expect(finals.count == 21)
        guard case .download(key, 100, true, _, nil) = finals.last else {
            Issue.record("\(finals)")
            return
        }
    }

    @Test func `a failed download is reported once and can be requested again`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(scene.media("1M-4"))
        try await scene.origin.set(fault: "404", on: "/media/bytes-1M-4.mp4")
        try storage.downloadContent(key)
        guard case .download(key, _, false, _, -8404) = await witness.finals(1).first else {
            Issue.record("\(witness.finals)")
            return
        }
        #expect(await settled(storage, key) { $0.state == .failed })
        let failed = try #require(try storage.content(key))
        #expect(failed.error?.code == -8404 && !failed.downloaded)
        try await scene.origin.set(fault: "", on: "/media/bytes-1M-4.mp4")
        try storage.downloadContent(key)
        guard case .download(key, 100, true, _, nil) = await witness.finals(2).last else {
            Issue.record("\(witness.finals)")
            return
        }
        #expect(try storage.content(key)?.error == nil)
    }

    @Test func `an unreachable server ends a download until it is requested again`() async throws {
        let scene = try await Classroom()
        let storage = try scene.storage()
        storage.setNetworkTimeOut(1, retry: 0)
        try storage.start()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let url = scene.media("1M-5")
        let key = try storage.loadContentURL(url)
        await scene.origin.stop()
        try storage.downloadContent(key)
        guard case .download(key, _, false, _, -8007) = await witness.finals(1).first else {
            Issue.record("\(witness.finals)")
            return
        }
        #expect(await settled(storage, key) { $0.error?.code == -8007 && $0.state == .paused })
        #expect(try storage.why(key).why.isEmpty == false)
        #expect(code { _ = try storage.loadContentURL(url) } == KollusError.Code.ERROR_REQUEST_CONTENT_URL.rawValue)
    }

    @Test func `nothing is reported after a removal`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(scene.media("16M-6"))
        // However busy the machine is, it is not complete before it is removed.
        let passing = try await scene.holding("16M-6", after: 2_000_000)
        try storage.downloadContent(key)
        #expect(await witness.wait { !$0.isEmpty })
        try storage.removeContent(key)
        let reported = witness.reported.count
        #expect(storage.contents()?.count == 0)
        #expect(try storage.content(key) == nil)
        #expect(storage.storageSize == 0)
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: scene.place.path + "/store/media").filter {
                $0.contains(".")
            }.isEmpty)
        try storage.removeContent(key)
        // A whole other download later there is still no event.
        let other = try storage.loadContentURL(scene.media("1M-7"))
        try storage.downloadContent(other)
        #expect(await witness.finals(1).count == 1)
        let late = witness.reported.dropFirst(reported).filter {
            if case .download(key, _, _, _, _) = $0 { true } else { false }
        }
        #expect(late.isEmpty)
        // And it can be downloaded again.
        try await passing()
        let again = try storage.loadContentURL(scene.media("16M-6"))
        try storage.downloadContent(again)
        #expect(await witness.finals(2).count == 2)
    }

    @Test func `pause and resume do not report completion`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let events = storage.events
        let key = try storage.loadContentURL(scene.media("6M-8"))
        let passing = try await scene.holding("6M-8", after: 3_000_000)
        try storage.downloadContent(key)
        #expect(await witness.wait { !$0.isEmpty })
        try await passing()
        try storage.pause(key)
        for await event in events {
            if case .paused(let content) = event, content.mediaContentKey == key { break }
        }
        #expect(witness.finals.isEmpty)
        #expect(try storage.content(key)?.state == .paused)
        try storage.resume(key)
        guard case .download(key, 100, true, _, nil) = await witness.finals(1).last else {
            Issue.record("\(witness.finals)")
            return
        }
    }

    /// Waits until a lecture is as expected, checking after every event.
    private func settled(
        _ storage: KollusStorage, _ key: String, _ isSo: @escaping @Sendable (KollusContent) -> Bool
    ) async -> Bool {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(30)
        while clock.now < end {
            if let content = try? storage.content(key), isSo(content) { return true }
            await Task.yield()
        }
        return false
    }
}
