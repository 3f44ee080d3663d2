package import Foundation
package import KollusSDK
import LectureKit
import LectureModel
package import LectureTestSupport

/// An academy with its servers, and a person with a device: what an application needs to start for real.
package struct Academy: Sendable {
    /// The values that the academy's web page shows to the developers of an application.
    package struct Values: Sendable {
        /// The application key.
        package var key: String
        /// The bundle id that it is issued for.
        package var bundleID: String
        /// When it ends, `yyyy/MM/dd`.
        package var expires: String
        /// The storage's directory.
        package var path: String
        /// What differs between machines.
        package var settings: KollusSettings
    }

    /// Gateway, media, licence server, LMS, and the issuer of application keys.
    package let sandbox: SandboxOrigin
    /// The directory of the person's files.
    package let home: TemporaryDirectory
    /// The values that applications start with.
    package let values: Values

    /// Starts an academy.
    ///
    /// - Parameters:
    ///   - options: of the sandbox.
    ///   - configure: more members of `config.json`, each with a comma before it.
    /// - Returns: once its servers serve.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox does not start.
    package static func open(_ options: [String] = [], configure: String = "") async throws -> Academy {
        let sandbox = try await SandboxOrigin.start(["--no-https"] + options)
        let home = try TemporaryDirectory()
        let key = #"{"id":"sandbox","algorithm":"HS256","secret_file":"\#(sandbox.drmKeyFile)"}"#
        let file = try home.write(
            // Tests count what a call of `sendStoredLms` sends; by default reports are sent before it.
            #"{"drm":{"keys":[\#(key)],"user_key":"sandbox"},"storage":{"reserve_bytes":1048576},"#
                + #""lms":{"delivery":"on_demand"}\#(configure)}"#,
            to: "config.json")
        var settings = KollusSettings()
        settings.configurationFile = file
        settings.trustDirectory = sandbox.directory
        settings.deviceDirectory = home.file("device")
        let (bundle, expires) = ("com.example.academy", day(after: 30))
        let values = Values(
            key: try await issue(sandbox, bundle, expires), bundleID: bundle, expires: expires,
            path: home.file("store"), settings: settings)
        return Academy(sandbox: sandbox, home: home, values: values)
    }

    /// An application key.
    ///
    /// - Parameters:
    ///   - sandbox: issues it.
    ///   - bundle: the bundle id.
    ///   - day: when it ends, `yyyy/MM/dd`.
    /// - Returns: the key.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package static func issue(_ sandbox: SandboxOrigin, _ bundle: String, _ day: String) async throws -> String {
        let seconds = Int64(formatter.date(from: day)?.timeIntervalSince1970 ?? 0)
        return try await sandbox.issue(
            #"{"app":"\#(bundle)","claims":{"app":{"bundle_id":"\#(bundle)","exp":\#(seconds)}}}"#
        ).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A day, so many days from now, as samples write it.
    package static func day(after days: Double) -> String {
        formatter.string(from: Date().addingTimeInterval(days * 86_400))
    }

    private static var formatter: DateFormatter {
        let formatter = DateFormatter()
        formatter.calendar = Calendar(identifier: .gregorian)
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy/MM/dd"
        return formatter
    }

    /// The address of a generated lecture.
    package func media(_ size: String, _ seed: Int) -> String { "\(sandbox.http)\(Self.path(size, seed))" }

    /// The path of a generated lecture on the sandbox.
    package static func path(_ size: String, _ seed: Int) -> String { "/media/bytes-\(size)-\(seed).mp4" }

    /// A gateway link whose download needs a licence.
    package func licensed(_ size: String, _ seed: Int) async throws -> String {
        try await sandbox.link(key: "bytes-\(size)-\(seed)", query: "licensed")
    }

    /// A storage started as applications start it, for tests that are about something else.
    ///
    /// - Parameter queue: of the delegate.
    /// - Returns: the storage.
    /// - Throws: `KollusError`.
    package func storage(_ queue: DispatchQueue? = nil) throws -> KollusStorage {
        let storage = KollusStorage()
        configure(storage)
        if let queue { storage.delegateQueue = queue }
        try storage.start()
        return storage
    }

    /// Sets a storage's values.
    package func configure(_ storage: KollusStorage) {
        storage.applicationKey = values.key
        storage.applicationBundleID = values.bundleID
        storage.applicationExpireDate = Self.formatter.date(from: values.expires)
        storage.settings = values.settings
        _ = storage.setKollusPath(values.path)
    }

    /// Stores learning reports as a player does, for the sandbox's LMS.
    ///
    /// - Throws: `KollusError`, `LectureError`.
    package func addReports(_ count: Int, to storage: KollusStorage) async throws {
        let manager = try storage.manager()
        for number in 0..<count {
            var report = LearningReport(
                values: #"{"position":\#(number)}"#, user: "learner", session: "session-\(number)")
            report.target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
            try await manager.reports.add(report)
        }
    }

    /// Makes the licence server order the deletion of a lecture with its next answer.
    ///
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func orderAway(_ key: String) async throws {
        var order = CallbackPolicy()
        order.contentDelete = 1
        try await sandbox.set(policy: order, for: [key])
    }

    /// How many requests there were for a lecture.
    ///
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func requests(for path: String) async throws -> Int { try await sandbox.requests(for: path).count }

    /// How many bytes of a lecture the sandbox has sent, without those of the first requests.
    ///
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func sentBytes(_ path: String, after first: Int) async throws -> Int {
        try await sandbox.requests(for: path).dropFirst(first).reduce(0) { $0 + $1.bytes }
    }

    /// Ends the servers.
    package func close() async { await sandbox.stop() }
}
