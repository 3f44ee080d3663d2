import Foundation
import KollusSDK
import LectureTestSupport

/// A sandbox, a directory for stores, and applications that are started there.
final class Classroom: Sendable {
    static let bundle = "com.example.academy"
    let origin: SandboxOrigin
    let place: TemporaryDirectory
    /// The application's key and when it ends.
    let key: String
    let end: Date

    init(_ arguments: [String] = []) async throws {
        origin = try await SandboxOrigin.start(["--no-https"] + arguments)
        place = try TemporaryDirectory()
        (key, end) = try await Self.issue(origin, #"{"app":"\#(Self.bundle)","app_expires_in":864000}"#)
    }

    /// Issues an application's key.
    /// - Returns: the key, and its end.
    /// - Returns: the key, and the end that it names.
    static func issue(_ origin: SandboxOrigin, _ order: String) async throws -> (String, Date) {
        let token = try await origin.issue(order).trimmingCharacters(in: .whitespacesAndNewlines)
        var part = String(token.split(separator: ".")[1]).replacing("-", with: "+").replacing("_", with: "/")
        while part.count % 4 != 0 { part += "=" }
        struct Claims: Decodable {
            struct Application: Decodable { let exp: Double }
            let app: Application
        }
        let claims = try JSONDecoder().decode(Claims.self, from: Data(base64Encoded: part) ?? Data())
        return (token, Date(timeIntervalSince1970: claims.app.exp))
    }

    /// A configuration file with the key of the sandbox's licence server. Reports are sent by calls only.
    func configuration() throws -> String {
        let text = """
            {"drm": {"keys": [{"id": "\(origin.drmKeyID)", "algorithm": "HS256",
             "secret_file": "\(origin.drmKeyFile)"}], "user_key": "\(origin.userKey)"},
             "network": {"retries": 1, "timeout_s": 5}, "lms": {"delivery": "on_demand"}}
            """
        let path = place.path + "/config.json"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// A storage with everything set, not started. Events are delivered on its own queue.
    func storage(_ name: String = "store") throws -> KollusStorage {
        let storage = KollusStorage()
        storage.applicationKey = key
        storage.applicationBundleID = Self.bundle
        storage.applicationExpireDate = end
        _ = storage.setKollusPath(place.path + "/" + name)
        var settings = KollusSettings()
        settings.trustDirectory = origin.directory
        settings.deviceDirectory = place.path + "/device"
        settings.configurationFile = try configuration()
        storage.settings = settings
        storage.delegateQueue = DispatchQueue(label: "events")
        return storage
    }

    /// A started storage.
    func started(_ name: String = "store") throws -> KollusStorage {
        let storage = try storage(name)
        try storage.start()
        return storage
    }

    /// Makes connections for a file stall after so many bytes, each until it is abandoned after five seconds. A
    /// download of more than two such parts runs for at least ten seconds, on any machine.
    ///
    /// - Parameters:
    ///   - name: of generated media, as in ``media(_:_:)``.
    ///   - bytes: how many each connection brings.
    /// - Returns: lets later connections through; stalled ones stay stalled.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    func holding(_ name: String, after bytes: Int) async throws -> () async throws -> Void {
        let path = "/media/bytes-\(name).mp4"
        try await origin.set(fault: "stall:\(bytes)", on: path)
        return { [origin] in try await origin.set(fault: "", on: path) }
    }

    /// The address of generated media.
    func media(_ name: String, _ query: String = "") -> String {
        "\(origin.http)/media/bytes-\(name).mp4\(query.isEmpty ? "" : "?" + query)"
    }
}

/// Records every event, and lets tests wait for what they expect.
final class Witness: NSObject, KollusStorageDelegate, @unchecked Sendable {
    /// The events, in order.
    enum Delivered: Sendable {
        case download(key: String, percent: UInt, downloaded: Bool, bytes: Int64, code: Int?)
        case exchange(request: String, json: String, code: Int?)
        case renewal(Int32, Int32, code: Int?)
        case report(String, String)
        case sent(Int32, Int32)

        var isFinal: Bool {
            if case .download(_, _, let downloaded, _, let code) = self { downloaded || code != nil } else { false }
        }
    }

    private let condition = NSCondition()
    private var all: [Delivered] = []
    /// Called with each, on the delegate's queue.
    var also: (@Sendable (Delivered, KollusContent?) -> Void)?

    var reported: [Delivered] { condition.withLock { all } }
    var finals: [Delivered] { reported.filter(\.isFinal) }

    private func take(_ one: Delivered, _ content: KollusContent? = nil) {
        condition.withLock {
            all.append(one)
            condition.broadcast()
        }
        also?(one, content)
        // What is waited for may be what that has done.
        condition.withLock { condition.broadcast() }
    }

    /// Waits until a condition is true; at most a minute.
    func wait(_ isSo: @escaping @Sendable ([Delivered]) -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                let end = Date() + 60
                condition.lock()
                while !isSo(all), condition.wait(until: end) {}
                let result = isSo(all)
                condition.unlock()
                continuation.resume(returning: result)
            }
        }
    }

    /// Waits for so many final events.
    func finals(_ count: Int) async -> [Delivered] {
        _ = await wait { $0.filter(\.isFinal).count >= count }
        return finals
    }

    private static func text(_ object: [AnyHashable: Any]?) -> String {
        guard let object = object as? [String: Any],
            let data = try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
        else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    func kollusStorage(_ kollusStorage: KollusStorage, downloadContent content: KollusContent, error: (any Error)?) {
        take(
            .download(
                key: content.mediaContentKey, percent: content.downloadProgress, downloaded: content.downloaded,
                bytes: content.downloadSize, code: (error as NSError?)?.code), content)
    }

    func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: (any Error)?
    ) { take(.exchange(request: Self.text(request), json: Self.text(json), code: (error as NSError?)?.code)) }

    func kollusStorage(_ kollusStorage: KollusStorage, cur: Int32, count: Int32, error: (any Error)?) {
        take(.renewal(cur, count, code: (error as NSError?)?.code))
    }

    func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?) {
        take(.report(lmsData, Self.text(resultJson)))
    }

    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) { take(.sent(successCount, failCount)) }
}

/// The number of what an expression throws; nil when it throws nothing.
func code(_ body: () throws -> Void) -> Int? {
    do { try body() } catch {
        let error = error as NSError
        return error.domain == KollusErrorDomain ? error.code : 0
    }
    return nil
}

/// Counts, and lets a task wait for a number.
actor Counter {
    private var count = 0
    private var waiters: [(Int, CheckedContinuation<Void, Never>)] = []

    nonisolated func add() { Task { await self.increase() } }

    private func increase() {
        count += 1
        for (number, waiter) in waiters where count >= number { waiter.resume() }
        waiters.removeAll { count >= $0.0 }
    }

    /// Returns once the count has reached a number.
    func reaches(_ number: Int) async {
        if count >= number { return }
        await withCheckedContinuation { waiters.append((number, $0)) }
    }
}
