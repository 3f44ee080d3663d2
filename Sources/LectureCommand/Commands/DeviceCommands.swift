import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl device show|export|import`.
enum DeviceCommands {
    @Sendable static func show(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let home = try home(session)
        try report(try home.identity(), home, session)
        return .done
    }

    @Sendable static func export(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let home = try home(session)
        guard let path = command.text("output") else {
            throw UsageError("Option '--output' is required.", path: command.path)
        }
        // Checked before asking for the passphrase, so that it is not typed in vain.
        if ConfigurationFile.exists(path) {
            throw LectureError(.createFile, detail: path, cause: "the file already exists")
        }
        let passphrase = try await passphrase(command, context, repeats: true)
        try home.exportKey(to: path, passphrase: passphrase)
        session.report("The copy is in \(path).")
        return .done
    }

    @Sendable static func `import`(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let home = try home(session)
        let passphrase = try await passphrase(command, context, repeats: false)
        let identity = try home.importKey(
            from: command.arguments[0], passphrase: passphrase, replacing: command.flag("replace"))
        session.report("This device is now \(identity.playerID).")
        if session.wantsJSON { try report(identity, home, session) }
        return .done
    }

    private static func home(_ session: CommandSession) throws -> DeviceHome {
        guard let directory = session.configuration.deviceDirectory.value else {
            throw LectureError(.parameter, detail: "no LECTURE_DEVICE and no HOME")
        }
        CoreDumps.forbid()
        return DeviceHome(directory: directory)
    }

    private static func report(_ identity: DeviceIdentity, _ home: DeviceHome, _ session: CommandSession) throws {
        if session.wantsJSON {
            try session.context.output.write(machine: JSONLine.device(identity, directory: home.directory))
            return
        }
        let lines = [
            "player id   \(identity.playerID)", "public key  \(identity.publicJWK)", "directory   \(home.directory)",
        ]
        try session.context.output.write(.lines(lines))
    }

    private static func passphrase(
        _ command: ParsedCommand, _ context: CommandContext, repeats: Bool
    ) async throws -> Passphrase {
        if let path = command.text("passphrase-file") { return try Passphrase(file: path) }
        guard context.diagnosticsIsTerminal, let prompt = PassphrasePrompt() else {
            throw UsageError("Option '--passphrase-file' is required without a terminal.", path: command.path)
        }
        let first = try await prompt.ask("Passphrase: ")
        if repeats {
            let second = try await prompt.ask("Repeat the passphrase: ")
            guard first == second else { throw UsageError("The two passphrases differ.", path: command.path) }
        }
        if first.isEmpty { throw UsageError("The passphrase is empty.", path: command.path) }
        return try Passphrase(first)
    }
}
