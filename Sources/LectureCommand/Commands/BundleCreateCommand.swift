import LectureBundle
import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl bundle create`.
enum BundleCreateCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        guard !command.texts("for").isEmpty else { throw LectureError(.bundleRecipient) }
        // Before the store is opened.
        for path in command.texts("for") { _ = try BundleFiles.recipient(path) }
        let keys = try command.arguments.dropFirst().map { try ContentKey($0) }
        if !keys.isEmpty, command.text("course") != nil {
            throw UsageError("Option '--course' takes no KEY.", path: command.path)
        }
        CoreDumps.forbid()
        let inventory = try await inventory(command)
        return try await session.withManager { manager in
            var run = BundleCreation(manager: manager, session: session, inventory: inventory)
            return try await run.run(keys)
        }
    }

    private static func inventory(_ command: ParsedCommand) async throws -> BundleInventory {
        var inventory = BundleInventory()
        guard let path = command.text("have") else { return inventory }
        let input = try InputReader(path, failure: .readFile)
        var (rest, number): ([UInt8], Int) = ([], 0)
        func add(_ line: some Sequence<UInt8>) throws {
            number += 1
            let line = Array(line)
            if line.allSatisfy({ $0 <= 0x20 }) { return }
            do throws(LectureError) { try inventory.add(line) } catch {
                throw LectureError(.json, detail: "\(path), line \(number)")
            }
        }
        while let bytes = try await input.next() {
            rest += bytes
            guard let end = rest.lastIndex(of: 0x0A) else { continue }
            for line in rest[..<end].split(separator: 0x0A, omittingEmptySubsequences: false) { try add(line) }
            rest = Array(rest[(end + 1)...])
        }
        try add(rest)
        return inventory
    }
}

/// One bundle that is made.
private struct BundleCreation {
    let manager: LectureManager
    let session: CommandSession
    let inventory: BundleInventory
    private var refused = 0
    private var present = 0
    private var bytes: UInt64 = 0

    private var command: ParsedCommand { session.command }
    private var path: String { command.arguments[0] }

    init(manager: LectureManager, session: CommandSession, inventory: BundleInventory) {
        (self.manager, self.session, self.inventory) = (manager, session, inventory)
    }

    mutating func run(_ keys: [ContentKey]) async throws -> ExitStatus {
        let lectures = try await select(keys)
        if command.flag("dry-run") {
            for lecture in lectures { try report(lecture) }
            try finish(lectures.count, signer: nil)
            return refused > 0 ? .someFailed : .done
        }
        if lectures.isEmpty, refused > 0 { return .someFailed }
        let maker = try BundleMaker(
            path, mayReplace: command.flag("force"), recipients: command.texts("for"),
            device: try BundleCommands.home(session), keyFile: command.text("sign-with"))
        for lecture in lectures {
            try await maker.add(lecture, from: manager)
            try report(lecture)
        }
        try maker.finish(created: session.context.clock.now())
        try finish(lectures.count, signer: maker.signer)
        return refused > 0 ? .someFailed : .done
    }

    /// The lectures that are taken; the others are reported.
    private mutating func select(_ named: [ContentKey]) async throws -> [CarriedLecture] {
        var keys = named
        if named.isEmpty {
            var filter = ContentFilter()
            filter.states = [.completed]
            filter.course = command.text("course")
            keys = try await ContentPages(manager: manager, filter: filter, sort: .added).keys()
            if keys.isEmpty, let course = filter.course {
                filter.states = []
                let isKnown = try await !manager.contents.list(filter, page: ContentPage(limit: 1)).isEmpty
                throw LectureError(isKnown ? .notComplete : .unknownCourse, detail: "'\(course)'")
            }
        }
        var lectures: [CarriedLecture] = []
        for key in keys {
            do {
                let lecture = try await manager.contents.carried(key)
                if inventory.knows(key),
                    inventory.has(key, sha256: try await BundleMaker.sha256(of: lecture, in: manager))
                {
                    present += 1
                    if session.isVerbose { session.report("left out, the other device has it: \(key.text)") }
                    continue
                }
                lectures.append(lecture)
            } catch let error as LectureError where error.code != .closing {
                refused += 1
                try session.report(error, key: key)
            }
        }
        return lectures
    }

    // MARK: Output

    private mutating func report(_ lecture: CarriedLecture) throws {
        let count = lecture.files.reduce(0) { $0 + $1.count }
        bytes += count
        let isDryRun = command.flag("dry-run")
        if session.wantsJSON {
            try session.context.output.write(
                machine: JSONLine.bundled(
                    lecture.content.key, title: lecture.content.title, bytes: count,
                    isLicensed: lecture.licence != nil, isDryRun: isDryRun))
        } else if isDryRun || session.isVerbose {
            try session.context.output.write(
                .row([
                    HumanText.byteCount(Int64(clamping: count)), lecture.content.key.text, lecture.content.title,
                ]))
        }
    }

    private func finish(_ count: Int, signer: String?) throws {
        let totals = BundleTotals(
            path: path, lectures: count, present: present, refused: refused, bytes: bytes, signer: signer)
        if session.wantsJSON { try session.context.output.write(machine: JSONLine.bundle(totals)) }
        for sentence in totals.sentences { session.report(sentence) }
    }
}

/// What became of a bundle.
package struct BundleTotals: Sendable {
    /// The file.
    package let path: String
    /// Lectures in it.
    package let lectures: Int
    /// Lectures that were left out, because the other device has them.
    package let present: Int
    /// Lectures that were left out with an error.
    package let refused: Int
    /// Bytes of the files of these lectures, unsealed.
    package let bytes: UInt64
    /// The thumbprint of the signer's key; nil where nothing was written.
    package let signer: String?

    /// Describes a bundle.
    package init(path: String, lectures: Int, present: Int, refused: Int, bytes: UInt64, signer: String?) {
        (self.path, self.lectures, self.present) = (path, lectures, present)
        (self.refused, self.bytes, self.signer) = (refused, bytes, signer)
    }

    /// Messages for standard error.
    package var sentences: [String] {
        let verb = signer == nil ? "would be written" : "written"
        let size = HumanText.byteCount(Int64(clamping: bytes))
        var sentences = ["\(HumanText.lectures(lectures)) (\(size)) \(verb) to \(path)."]
        if present > 0 { sentences[0] += " \(HumanText.lectures(present)) left out: the other device has them." }
        if let signer { sentences.append("It is signed with the key \(signer).") }
        return sentences
    }
}
