import LectureKit
import LectureModel

/// `lecturectl licence verify`.
enum LicenceVerifyCommand {
    /// The longest file that is read, in bytes: a token of 1 MiB and space around it.
    private static let longestFile = 2 << 20

    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        if command.flag("batch") { return try await batch(command, context) }
        if command.text("trust-dir") != nil {
            throw UsageError("--trust-dir is for --batch.", path: command.path)
        }
        let trust = try trust(command, context)
        if let fault = trust.faults.first { throw fault }
        let token = try await token(in: command.arguments[0])
        let verdict = try LicenceVerifier(trust: trust).verify(
            token: token, context: question(command, now: context.clock.now()))
        try context.output.write(
            command.flag("json") ? JSONLine.verdict(verdict) : LicenceVerdictText.text(verdict))
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

    /// The keys on the command line; nil when it names none.
    static func namedTrust(_ command: ParsedCommand, _ context: CommandContext) -> LicenceTrust? {
        let (roots, keys, secret) = (command.text("trust"), command.text("jwks"), command.text("hmac-key-file"))
        if roots == nil, keys == nil, secret == nil { return nil }
        return tell(
            LicenceTrust(
                hmacKeyFile: secret, keySetFile: keys, rootsFile: roots, revocationFile: command.text("crl")),
            context)
    }

    /// Says which secrets are none. They still judge: who only verifies a file has nothing to lose by it.
    private static func tell(_ trust: LicenceTrust, _ context: CommandContext) -> LicenceTrust {
        for path in trust.exposedFiles { context.say("\(path): others may read this secret.") }
        return trust
    }

    /// What the command line asks for.
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

    /// Answers line by line. Only a reader that went away ends it early.
    private static func batch(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let trust = tell(try batchTrust(command), context)
        for fault in trust.faults { context.say(fault.message) }
        let clock = context.clock
        let at = command.text("at").flatMap(Quantity.moment)
        let batch = LicenceBatch(trust: trust) { at ?? clock.now() }
        let reader = try InputReader("-", failure: .readFile)
        var lines = LineAssembler(limit: LicenceBatch.longestLine)
        while let piece = try await reader.next() {
            try lines.take(piece) { line throws(OutputError) in try context.output.write(batch.answer(line) + "\n") }
        }
        if let line = lines.finish() { try context.output.write(batch.answer(line) + "\n") }
        return .done
    }

    private static func batchTrust(_ command: ParsedCommand) throws -> LicenceTrust {
        let questions = ["audience", "issuer", "user", "content", "device"].filter { command.text($0) != nil }
        if let name = questions.first {
            throw UsageError("With --batch each line says what --\(name) would say.", path: command.path)
        }
        guard let directory = command.text("trust-dir") else {
            return LicenceTrust(
                hmacKeyFile: command.text("hmac-key-file"), keySetFile: command.text("jwks"),
                rootsFile: command.text("trust"), revocationFile: command.text("crl"))
        }
        if let name = ["trust", "jwks", "hmac-key-file", "crl"].first(where: { command.text($0) != nil }) {
            throw UsageError("--trust-dir stands for --\(name).", path: command.path)
        }
        return LicenceTrust(directory: directory)
    }
}

/// A verdict for people.
enum LicenceVerdictText {
    /// The verdict, its reasons, and the claims, a line each.
    static func text(_ verdict: LicenceFileVerdict) -> String {
        var lines = [verdict.isAccepted ? "accept" : "reject"]
        lines += verdict.reasons.map { "  \($0.name): \($0.sentence)" }
        if let algorithm = verdict.algorithm { lines.append("signature  \(algorithm), right") }
        lines += verdict.claims.map { "\(TerminalText.padded($0.name, to: 10)) \(value($0.name, $0.value))" }
        return lines.map { "\(TerminalText.neutralised($0))\n" }.joined()
    }

    private static func value(_ name: String, _ value: String) -> String {
        guard ["iat", "nbf", "exp"].contains(name), let seconds = Int64(value), (0...253_402_300_799).contains(seconds)
        else { return value }
        return "\(value) (\(HumanText.date(Timestamp(milliseconds: seconds * 1000))))"
    }
}
