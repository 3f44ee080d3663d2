import LectureBundle
import LectureKit
package import LectureModel
import LectureRecords

/// `lecturectl bundle list|verify|import`.
enum BundleCommands {
    @Sendable static func list(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let bundle = try BundleReader(path: command.arguments[0])
        let trusted = try trusted(session)
        if !command.texts("trust").isEmpty { try bundle.requireTrust(in: trusted) }
        for lecture in bundle.contents.lectures { try write(lecture, session) }
        let facts = BundleFacts(
            bundle, isTrusted: trusted.contains(bundle.signer), device: known(session))
        if session.wantsJSON {
            try context.output.write(machine: JSONLine.bundle(facts))
        } else {
            for sentence in facts.sentences { session.report(sentence) }
        }
        return .done
    }

    @Sendable static func verify(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let bundle = try BundleReader(path: command.arguments[0])
        let trusted = try trusted(session)
        if !command.texts("trust").isEmpty { try bundle.requireTrust(in: trusted) }
        var (chunks, damaged) = (0, 0)
        for index in bundle.contents.lectures.indices {
            var errors: [LectureError] = []
            chunks += try bundle.verify(lecture: index) { error in
                errors.append(error)
                return true
            }
            damaged += errors.count
            for error in errors { try session.report(error, key: bundle.contents.lectures[index].key) }
        }
        let count = bundle.contents.lectures.count
        if session.wantsJSON {
            let line = JSONLine.bundleVerified(lectures: count, chunks: chunks, damaged: damaged, signer: bundle.signer)
            try context.output.write(machine: line)
        }
        session.report("\(HumanText.lectures(count)), \(chunks) chunks, \(damaged) damaged.")
        session.report(BundleFacts.sentence(signer: bundle.signer, isTrusted: trusted.contains(bundle.signer)))
        return damaged > 0 ? .data : .done
    }

    @Sendable static func importFile(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        CoreDumps.forbid()
        let only = Set(try command.arguments.dropFirst().map { try ContentKey($0) })
        let source = try BundleImport(
            command.arguments[0], trusting: command.texts("trust"), device: try home(session),
            only: only.isEmpty ? nil : only)
        if command.flag("dry-run") { return try await dryRun(source, session) }
        let manager = try session.manager { source.apply(to: &$0) }
        var run = PrecacheRun(manager: manager, session: session, readyBy: nil)
        do {
            let status = try await run.run(BundleSources(requests: source.requests))
            await manager.close()
            for error in source.failures { try session.report(error) }
            return status
        } catch {
            await manager.close()
            throw error
        }
    }

    private static func dryRun(_ source: BundleImport, _ session: CommandSession) async throws -> ExitStatus {
        let wanted = Set(source.requests.compactMap(\.key))
        return try await session.withManagerOrNone { manager in
            for lecture in source.bundle.contents.lectures where wanted.contains(lecture.key) {
                let known = try await manager.contents.find(lecture.key)
                if known?.isPlayable == true, known?.sha256 == lecture.sha256 { continue }
                try write(lecture, session)
            }
            return .done
        }
    }

    private static func write(_ lecture: BundledLecture, _ session: CommandSession) throws {
        let bytes = lecture.files.filter { ![.details, .description].contains($0.role) }.reduce(0) { $0 + $1.count }
        if session.wantsJSON {
            return try session.context.output.write(machine: JSONLine.bundledLecture(lecture, bytes: bytes))
        }
        try session.context.output.write(
            .row([
                HumanText.byteCount(Int64(clamping: bytes)), lecture.key.text, lecture.title,
                lecture.isLicensed ? "licensed" : "",
            ]))
    }

    /// Where this device's key is.
    static func home(_ session: CommandSession) throws -> DeviceHome {
        guard let directory = session.configuration.deviceDirectory.value else {
            throw LectureError(.parameter, detail: "no LECTURE_DEVICE and no HOME")
        }
        return DeviceHome(directory: directory)
    }

    /// The thumbprints of the keys that are trusted: those that were named, and this device's own.
    private static func trusted(_ session: CommandSession) throws -> Set<String> {
        var names: Set<String> = []
        for path in session.command.texts("trust") { names.formUnion(try BundleFiles.trusted(path)) }
        if let own = known(session) { names.insert(own) }
        return names
    }

    /// The player id of this device; nil where it has no key yet, which is not made to look at a bundle.
    private static func known(_ session: CommandSession) -> String? {
        guard let home = try? home(session), ConfigurationFile.exists("\(home.directory)/device.key") else {
            return nil
        }
        return try? home.identity().playerID
    }
}

/// The lectures of a bundle as the source of a run.
private struct BundleSources: RunSources {
    /// How many lectures are registered in one transaction.
    private static let groupSize = 500
    let requests: [DownloadRequest]
    var listNames: [String] { [] }

    func forEachGroup(
        of manager: LectureManager, _ body: (PrecacheSources.Group) async throws -> Void
    ) async throws {
        for start in stride(from: 0, to: requests.count, by: Self.groupSize) {
            let end = min(start + Self.groupSize, requests.count)
            try await body(PrecacheSources.Group(Array(requests[start..<end])))
        }
    }

    func makeDirectories(_ group: PrecacheSources.Group) throws(LectureError) {}
}

/// What is said about a bundle.
package struct BundleFacts: Sendable {
    /// How many lectures are in it.
    package let lectures: Int
    /// When it was made.
    package let created: Timestamp
    /// The thumbprint of the signer's key.
    package let signer: String
    /// Whether that key is trusted.
    package let isTrusted: Bool
    /// The devices that it is for.
    package let recipients: [String]
    /// Whether this device is one of them.
    package let isForThisDevice: Bool

    init(_ bundle: BundleReader, isTrusted: Bool, device: String?) {
        self.init(
            lectures: bundle.contents.lectures.count, created: bundle.manifest.created, signer: bundle.signer,
            isTrusted: isTrusted, recipients: bundle.manifest.recipients.map(\.thumbprint), device: device)
    }

    /// Describes a bundle.
    package init(
        lectures: Int, created: Timestamp, signer: String, isTrusted: Bool, recipients: [String], device: String?
    ) {
        (self.lectures, self.created, self.signer) = (lectures, created, signer)
        (self.isTrusted, self.recipients) = (isTrusted, recipients)
        isForThisDevice = device.map { recipients.contains($0) } ?? false
    }

    static func sentence(signer: String, isTrusted: Bool) -> String {
        "It is signed with the key \(signer), which is \(isTrusted ? "trusted" : "not trusted here")."
    }

    /// Messages for standard error.
    package var sentences: [String] {
        [
            "\(HumanText.lectures(lectures)).", Self.sentence(signer: signer, isTrusted: isTrusted),
            isForThisDevice ? "It is for this device." : "It is not for this device.",
        ]
    }
}
