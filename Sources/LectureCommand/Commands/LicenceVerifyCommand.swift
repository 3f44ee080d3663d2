import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl licence verify`.
enum LicenceVerifyCommand {
    /// The longest file that is read, in bytes: a token of 1 MiB and white space around it.
    private static let longestFile = 2 << 20

    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        if command.flag("batch") { return try await batch(command, context) }
        if command.text("trust-dir") != nil {
            throw UsageError("--trust-dir needs --batch.", path: command.path)
        }
        let trust = try trust(command, context)
        if let fault = trust.faults.first { throw fault }
        let token = try await token(in: command.arguments[0])
        let verdict = try LicenceVerifier(trust: trust).verify(
            token: token, context: question(command, now: context.clock.now()))
        if command.flag("json") {
            try context.output.write(machine: JSONLine.verdict(verdict))
        } else {
            try context.output.write(LicenceVerdictText.text(verdict))
        }
        if !verdict.isAccepted, !command.flag("json"), !context.outputIsTerminal {
            context.say("\(command.arguments[0]): the licence file is refused.")
        }
        return verdict.isAccepted ? .done : .data
    }

    // MARK: One file

    /// The keys on the command line, else those of the configuration.
    private static func trust(_ command: ParsedCommand, _ context: CommandContext) throws -> LicenceTrust {
        if let named = namedTrust(command, context) { return named }
        if command.text("crl") != nil { throw UsageError("--crl needs --trust.", path: command.path) }
        let rights = try CommandSession(command, context).configuration.rights.value
        if rights.keys.isEmpty { throw LectureError(.licenceKeyMissing) }
        return try LicenceTrust(rights)
    }

    /// The keys on the command line; nil when there are none.
    static func namedTrust(_ command: ParsedCommand, _ context: CommandContext) -> LicenceTrust? {
        let (roots, keys, secret) = (command.text("trust"), command.text("jwks"), command.text("hmac-key-file"))
        if roots == nil, keys == nil, secret == nil { return nil }
        return show(
            LicenceTrust(
                hmacKeyFile: secret, keySetFile: keys, rootsFile: roots, revocationFile: command.text("crl")),
            context)
    }

    /// Warns about secrets that others may read. They are still used: verifying a file puts nothing at risk.
    private static func show(_ trust: LicenceTrust, _ context: CommandContext) -> LicenceTrust {
        for path in trust.exposedFiles { context.say("\(path): this secret is readable by other users.", .warning) }
        return trust
    }

    /// The claims that the command line requires.
    private static func question(_ command: ParsedCommand, now: Timestamp) -> LicenceFileContext {
        var question = LicenceFileContext(now: command.text("at").flatMap(Quantity.moment) ?? now)
        question.audience = command.text("audience")
        question.issuer = command.text("issuer")
        question.user = command.text("user")
        question.content = command.text("content")
        question.device = command.text("device")
        question.needsContent = true
        return question
    }

    /// The token in a file, without the white space that editors leave around it.
    static func token(in path: String) async throws -> String {
        let reader = try InputReader(path, failure: .readFile)
        var bytes: [UInt8] = []
        while bytes.count <= longestFile, let piece = try await reader.next() { bytes += piece }
        let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let trimmed = bytes.drop(while: isSpace)
        let end = trimmed.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? trimmed.startIndex
        return String(decoding: trimmed[..<end], as: UTF8.self)
    }

    // MARK: Many lines

    /// Answers every line, in order. Only a reader that has gone away ends it early.
    private static func batch(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let trust = show(try batchTrust(command), context)
        for fault in trust.faults { context.say(fault.message, about: fault) }
        let clock = context.clock
        let at = command.text("at").flatMap(Quantity.moment)
        let batch = LicenceBatch(trust: trust) { at ?? clock.now() }
        let reader = try InputReader("-", failure: .readFile)
        let workers = LineWorkers(longestLine: LicenceBatch.longestLine) { batch.answers($0) }
        try await workers.run {
            try await reader.next()
        } writing: { answers in
            try context.output.write(answers)
        }
        return .done
    }

    private static func batchTrust(_ command: ParsedCommand) throws -> LicenceTrust {
        let questions = ["audience", "issuer", "user", "content", "device"].filter { command.text($0) != nil }
        if let name = questions.first {
            throw UsageError("--\(name) cannot be used with --batch; each line has its own value.", path: command.path)
        }
        guard let directory = command.text("trust-dir") else {
            return LicenceTrust(
                hmacKeyFile: command.text("hmac-key-file"), keySetFile: command.text("jwks"),
                rootsFile: command.text("trust"), revocationFile: command.text("crl"))
        }
        if let name = ["trust", "jwks", "hmac-key-file", "crl"].first(where: { command.text($0) != nil }) {
            throw UsageError("Options '--trust-dir' and '--\(name)' cannot be used together.", path: command.path)
        }
        return LicenceTrust(directory: directory)
    }
}

/// A verdict as readable text.
enum LicenceVerdictText {
    /// The verdict, its reasons, and the claims, one per line.
    static func text(_ verdict: LicenceFileVerdict) -> SafeText {
        var lines = [verdict.isAccepted ? "accept" : "reject"]
        lines += verdict.reasons.map { "  \($0.name): \($0.sentence)" }
        if let algorithm = verdict.algorithm { lines.append("signature  \(algorithm), valid") }
        lines += verdict.claims.map { "\(TerminalText.padded($0.name, to: 10)) \(value($0.name, $0.value))" }
        return .lines(lines)
    }

    private static func value(_ name: String, _ value: String) -> String {
        guard ["iat", "nbf", "exp"].contains(name), let seconds = Int64(value), (0...253_402_300_799).contains(seconds)
        else { return value }
        return "\(value) (\(HumanText.date(Timestamp(milliseconds: seconds * 1000))))"
    }
}
