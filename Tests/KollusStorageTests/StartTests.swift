import Foundation
import KollusSDK
import LectureTestSupport
import Testing

/// Key, bundle id and date; the player id; what is reported before a start and after the end.
@Suite struct StartTests {
    @Test func `before a start there is nothing, and every call says so`() throws {
        let storage = KollusStorage()
        #expect(storage.contents() == nil)
        #expect(storage.storageSize == 0 && storage.cacheDataSize == 0)
        #expect(storage.applicationDeviceID == nil)
        #expect(!storage.isStarted)
        let calls: [() throws -> Void] = [
            { _ = try storage.loadContentURL("http://127.0.0.1/i/a") },
            { _ = try storage.checkContentURL("http://x/") },
            { try storage.downloadContent("a") }, { try storage.downloadCancelContent("a") },
            { try storage.removeContent("a") }, { try storage.removeCache() }, { try storage.pause("a") },
            { try storage.resume("a") }, { _ = try storage.content("a") }, { _ = try storage.contents(.all) },
            { _ = try storage.why("a") }, { _ = try storage.folders() }, { _ = try storage.manager() },
        ]
        for (index, call) in calls.enumerated() {
            #expect(code(call) == KollusError.Code.ERROR_NOT_LOAD.rawValue, "call \(index)")
        }
        // Calls that cannot throw do nothing.
        storage.updateDownloadDRMInfo(true)
        storage.sendStoredLms()
        storage.setCacheSize(10)
        storage.setNetworkTimeOut(30, retry: 3)
        storage.setBackgroundDownload(false)
        storage.close()
        for call in calls { #expect(code(call) == KollusError.Code.ERROR_CANNOT_CALL_API.rawValue) }
        #expect(code { try storage.start() } == KollusError.Code.ERROR_CANNOT_CALL_API.rawValue)
    }

    @Test func `a start needs key, bundle id and date`() async throws {
        let scene = try await Classroom()
        let changes: [(KollusStorage) -> Void] = [
            { $0.applicationKey = nil }, { $0.applicationKey = "" }, { $0.applicationBundleID = nil },
            { $0.applicationBundleID = "" }, { $0.applicationExpireDate = nil },
        ]
        for change in changes {
            let storage = try scene.storage()
            change(storage)
            #expect(code { try storage.start() } == KollusError.Code.NOT_ENOUGH_AUTH_INFO.rawValue)
            #expect(storage.contents() == nil)
        }
        #expect(!FileManager.default.fileExists(atPath: scene.place.path + "/store"))
    }

    @Test func `the settings name the bundle id of a program that has none`() async throws {
        let scene = try await Classroom()
        let storage = try scene.storage()
        storage.applicationBundleID = Bundle.main.bundleIdentifier
        #expect(storage.applicationBundleID == nil, "a program is no bundle on Linux")
        storage.settings.bundleIdentifier = Classroom.bundle
        #expect(storage.applicationBundleID == Classroom.bundle)
        try storage.start()
        storage.close()
        let other = try scene.storage("other")
        other.settings.bundleIdentifier = "com.example.other"
        #expect(other.applicationBundleID == Classroom.bundle, "the storage's own setting overrides it")
        try other.start()
        other.close()
    }

    @Test func `a start refuses values that the key does not contain`() async throws {
        let scene = try await Classroom()
        let (expired, when) = try await Classroom.issue(
            scene.origin, #"{"app":"\#(Classroom.bundle)","app_expires_in":-86400}"#)
        let changes: [(KollusError.Code, (KollusStorage) -> Void)] = [
            (.INCORRECT_AUTH_KEY, { $0.applicationKey = "no key" }),
            (.INCORRECT_AUTH_KEY, { $0.applicationKey = String($0.applicationKey.dropLast(8)) + "AAAAAAAA" }),
            (.INCORRECT_AUTH_KEY, { $0.settings.trustDirectory = scene.place.path }),
            (.INCORRECT_BUNDLE_ID, { $0.applicationBundleID = "com.example.other" }),
            (.INCORRECT_AUTH_DATE, { $0.applicationExpireDate = scene.end.addingTimeInterval(-3 * 86_400) }),
            (
                .EXPIRED_AUTH_DATE,
                {
                    $0.applicationKey = expired
                    $0.applicationExpireDate = when
                }
            ),
        ]
        for (expected, change) in changes {
            let storage = try scene.storage()
            change(storage)
            #expect(code { try storage.start() } == expected.rawValue, "\(expected)")
            #expect(storage.contents() == nil)
        }
        let storage = try scene.storage()
        storage.applicationBundleID = "com.example.other"
        #expect(code { try storage.start() } != nil)
        // Wrong values can be corrected on the same object.
        storage.applicationBundleID = Classroom.bundle
        try storage.start()
        try storage.start()
        #expect(storage.contents()?.count == 0)
        storage.close()
    }

    @Test func `a date built from year, month and day is the day of the key`() async throws {
        let scene = try await Classroom()
        let storage = try scene.storage()
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.calendar = Calendar(identifier: .gregorian)
        format.dateFormat = "yyyy/MM/dd"
        storage.applicationExpireDate = format.date(from: format.string(from: scene.end))
        try storage.start()
        storage.close()
    }

    @Test func `the path is chosen before the start`() async throws {
        let scene = try await Classroom()
        let storage = try scene.storage()
        #expect(!storage.setKollusPath(nil) && !storage.setKollusPath(""))
        let file = scene.place.path + "/file"
        try Data().write(to: URL(filePath: file))
        #expect(!storage.setKollusPath(file))
        #expect(storage.setKollusPath(scene.place.path + "/a/b"))
        #expect(storage.storagePath == scene.place.path + "/a/b")
        try storage.start()
        #expect(!storage.setKollusPath(scene.place.path + "/c"))
        #expect(FileManager.default.fileExists(atPath: scene.place.path + "/a/b/lecturekit.db"))
        storage.close()
    }

    @Test func `a directory that cannot be created, and another program's database`() async throws {
        let scene = try await Classroom()
        let foreign = scene.place.path + "/foreign"
        try FileManager.default.createDirectory(atPath: foreign, withIntermediateDirectories: true)
        try Data("not a database at all, by no means".utf8).write(to: URL(filePath: foreign + "/lecturekit.db"))
        let storage = try scene.storage("foreign")
        let error = #expect(throws: KollusError.self) { try storage.start() }
        #expect((error?.code ?? 0) < -20_000)
        #expect(error?.localizedDescription.contains("lecturectl") == false)
        #expect(storage.setKollusPath("/proc/none/here"))
        #expect(code { try storage.start() } == KollusError.Code.ERROR_CREATE_DIRECTORY.rawValue)
    }

    @Test func `the player id stays, and a new one is drawn on request`() async throws {
        let scene = try await Classroom()
        func id(_ start: (KollusStorage) throws -> Void, _ name: String = "store") throws -> String {
            let storage = try scene.storage(name)
            try start(storage)
            defer { storage.close() }
            return try #require(storage.applicationDeviceID)
        }
        let first = try id { try $0.startWithCheck() }
        #expect(try id { try $0.start() } == first)
        #expect(try id { try $0.start(withFirst: false) } == first)
        #expect(try id({ try $0.start(withFirst: true) }, "second") == first)
        let next = try id { try $0.startWithNewPlayerID() }
        #expect(next != first)
        #expect(try id { try $0.startWithCheck() } == next)
        #expect(try id { try $0.startWithNewPlayerID() } != next)
        // A storage with its own group has its own id.
        let grouped = try id {
            $0.keychainGroup = "group.academy"
            try $0.start()
        }
        #expect(grouped != next)
        #expect(
            code {
                let storage = try scene.storage()
                storage.keychainGroup = "../else"
                try storage.start()
            } == KollusError.Code.ERROR_PARAM_VALUE.rawValue)
    }

    @Test func `a missing player id is not silently replaced`() async throws {
        let scene = try await Classroom()
        let storage = try scene.storage()
        try storage.startWithCheck()
        storage.close()
        try FileManager.default.removeItem(atPath: scene.place.path + "/device")
        let later = try scene.storage()
        #expect(throws: KollusError.self) { try later.startWithCheck() }
        #expect(throws: KollusError.self) { try later.start(withFirst: false) }
        #expect(later.contents() == nil)
        try later.start(withFirst: true)
        later.close()
    }

    @Test func `settings keep the values they were set to`() async throws {
        let scene = try await Classroom()
        let storage = try scene.storage()
        #expect(storage.deviceType == "kp-mobile")
        storage.settings.deviceType = "kp-tablet"
        #expect(storage.deviceType == "kp-tablet")
        storage.serverPort = 7586
        #expect(storage.serverPort == 7586)
        storage.extraDrmParam = "a=b"
        #expect(storage.extraDrmParam == "a=b")
        #expect(storage.applicationVersion?.isEmpty == false)
        try storage.start()
        let key = try storage.loadContentURL(scene.media("64K-3"))
        #expect(key.isEmpty == false)
        storage.close()
    }
}
