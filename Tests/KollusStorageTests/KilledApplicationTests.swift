import Foundation
import KollusSDK
import LectureTestSupport
import Testing

/// An application that is killed in a download, at every step of it, and started again: whatever it left behind, the
/// list is right and every call that applications make on a restart is accepted.
@Suite(.enabled(if: StruckRun.isPossible, "Tools/strike needs python3 on x86-64"), .timeLimit(.minutes(10)))
struct KilledApplicationTests {
    /// What applications do with what they find after a restart.
    enum Restart: String, CaseIterable, Sendable {
        case downloads
        case cancelsAndDownloads
        case pausesAndResumes
        case loadsAndDownloads
        case removesAndLoads
    }

    @Test(arguments: Restart.allCases)
    func `no state left by a killed run blocks a request`(restart: Restart) async throws {
        let scene = try await Classroom()
        // Slow enough that bytes are committed before the last one arrives.
        let url = scene.media("2500K-7", "fault=slow:2500000")
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "yyyy/MM/dd"
        func environment(_ store: String) throws -> [String: String] {
            [
                "HOME": scene.place.path, "LECTURE_STORE": scene.place.path + "/" + store,
                "LECTURE_DEVICE": scene.place.path + "/device", "LECTURE_CONFIG": try scene.configuration(),
                "LECTURE_TRUST": scene.origin.directory, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "TZ": "UTC",
                "KOLLUS_KEY": scene.key, "KOLLUS_BUNDLE_ID": Classroom.bundle,
                "KOLLUS_EXPIRES": formatter.string(from: scene.end),
            ]
        }
        func application(_ store: String) throws -> StruckRun {
            try StruckRun(
                Places.builtProduct("kollus-guide"), ["download", url], environment: try environment(store))
        }
        let whole = try await application("whole").counted()
        // The store is made in the first calls; from there to the end each part of a download is killed.
        let kills = RunSize.count(5, soak: 24)
        var midway = 0
        // On a busy machine the calls of the transfer are a smaller part: then more moments are tried.
        for kill in 0..<(kills * 4) where kill < kills || midway == 0 {
            let store = "store-\(kill)"
            let (part, round) = (kill % kills, kill / kills)
            let number = whole / 3 + (part * 4 + round) * (whole - whole / 3) / (kills * 4)
            let struck = try await application(store).kill(at: number)
            let what = "\(restart), \(struck ?? "not killed"), of about \(whole)"
            let storage = try scene.started(store)
            let left = (storage.contents() as? [KollusContent]) ?? []
            // No process downloads, and no list says so.
            #expect(left.allSatisfy { $0.state != .downloading }, "\(what)")
            if left.contains(where: { !$0.downloaded && $0.downloadStopSize > 0 }) { midway += 1 }
            try await go(on: storage, restart, url, left, what)
            storage.close()
        }
        #expect(midway > 0, "some kills met bytes on the disk")
        await scene.origin.stop()
    }

    private func go(
        on storage: KollusStorage, _ restart: Restart, _ url: String, _ left: [KollusContent], _ what: String
    ) async throws {
        let witness = Witness()
        storage.delegate = witness
        guard let content = left.first, restart != .loadsAndDownloads else {
            let key = try storage.loadContentURL(url)
            if try storage.content(key)?.downloaded != true { try storage.downloadContent(key) }
            return try await expectComplete(key, storage, witness, what)
        }
        let key = try #require(content.mediaContentKey)
        if content.downloaded { return }
        switch restart {
        case .downloads, .loadsAndDownloads: try storage.downloadContent(key)
        case .cancelsAndDownloads:
            try storage.downloadCancelContent(key)
            try storage.downloadContent(key)
        case .pausesAndResumes:
            try storage.pause(key)
            try storage.resume(key)
        case .removesAndLoads:
            try storage.removeContent(key)
            #expect(storage.contents()?.count == 0, "\(what)")
            #expect(try storage.loadContentURL(url) == key, "\(what)")
            try storage.downloadContent(key)
        }
        try await expectComplete(key, storage, witness, what)
    }

    /// It is complete, and the delegate has received that event, without an error.
    private func expectComplete(
        _ key: String, _ storage: KollusStorage, _ witness: Witness, _ what: String
    ) async throws {
        if try storage.content(key)?.downloaded != true {
            let finals = await witness.finals(1)
            guard case .download(key, 100, true, 2500 << 10, nil) = finals.last else {
                Issue.record("\(what): \(finals)")
                return
            }
        }
        let content = try #require(try storage.content(key))
        #expect(content.downloaded && content.fileSize == 2500 << 10, "\(what)")
    }

    @Test func `a download that a worker continues is accepted and reported`() async throws {
        let scene = try await Classroom()
        let storage = try scene.storage()
        storage.settings.workerProgram = Places.builtProduct("lecturectl")
        storage.setBackgroundDownload(true)
        try storage.start()
        let first = Witness()
        storage.delegate = first
        let key = try storage.loadContentURL(scene.media("16M-9"))
        let passing = try await scene.holding("16M-9", after: 2_000_000)
        try storage.downloadContent(key)
        #expect(
            await first.wait {
                $0.contains { if case .download(_, _, _, let bytes, nil) = $0 { bytes > 1 << 20 } else { false } }
            })
        storage.close()
        let later = try scene.started()
        defer { later.close() }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while clock.now < end, try later.content(key)?.state != .downloading { await Task.yield() }
        #expect(try later.content(key)?.state == .downloading, "the worker has it")
        let witness = Witness()
        later.delegate = witness
        try later.downloadContent(key)
        #expect(code { try later.downloadContent(key) } == KollusError.Code.ERROR_ALREADY_DOWNLOADING.rawValue)
        try await passing()
        guard case .download(key, 100, true, 16 << 20, nil) = await witness.finals(1).first else {
            Issue.record("\(witness.reported)")
            return
        }
        #expect(witness.reported.count > 1, "and its start")
        #expect(witness.finals.count == 1)
    }
}
