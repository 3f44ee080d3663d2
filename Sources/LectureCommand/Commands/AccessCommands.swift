import LectureModel
import LectureRecords
import LectureServe

/// `lecturectl access`.
enum AccessCommands {
    @Sendable static func add(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        guard let role = command.text("role") else {
            throw UsageError("'--role' is missing: viewer, peer or operator.", path: command.path)
        }
        let session = try CommandSession(command, context)
        let path = try ServePlace.accessFile(session)
        let person = AccessFile.Person(name: command.arguments.first ?? "", role: role)
        let token = try AccessFile.add(person, to: path)
        if session.wantsJSON {
            try context.output.write(machine: JSONLine.accessAdded(person, token: token))
        } else {
            try context.writeData(token)
        }
        session.report("\(person.name) may use the server as \(role). The token is shown only now.")
        return .done
    }

    @Sendable static func list(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let people = try AccessFile.people(try ServePlace.accessFile(session))
        if session.wantsJSON {
            try context.output.write(machine: people.map(JSONLine.access).joined())
            return .done
        }
        guard !people.isEmpty else {
            session.report("The access file has no lines.")
            return .done
        }
        let table = TableRenderer(columns: [.init("NAME", mayShrink: true), .init("ROLE")])
        let width = context.outputIsTerminal ? context.terminalSize().columns : nil
        let lines = table.lines(people.map { [$0.name, $0.role] }, width: width, style: session.outputStyle)
        try context.output.write(.lines(lines))
        return .done
    }

    @Sendable static func remove(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let name = command.arguments.first ?? ""
        try AccessFile.remove(name, from: try ServePlace.accessFile(session))
        session.report("\(name) may no longer use the server.")
        return .done
    }
}
