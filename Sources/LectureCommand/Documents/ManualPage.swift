/// The manual pages in mdoc(7): lecturectl(1), and one for each command, such as lecturectl-licence-renew(1).
package enum ManualPage {
    /// The page of the program.
    ///
    /// - Returns: the text, ending in a newline.
    package static func text() -> String {
        let root = CommandTable.root
        var lines = head([], root.summary)
        lines += [
            ".Sh SYNOPSIS", ".Nm", ".Op Ar options", ".Ar command", ".Op Ar arguments",
            ".Sh DESCRIPTION",
        ]
        lines += paragraphs(root.discussion)
        lines += [".Ss Global options", "They are accepted before and after the command word."]
        lines += options(CommandTable.globalOptions)
        lines.append(".Sh COMMANDS")
        for (path, spec) in CommandTable.leaves { lines += command(path, spec) }
        lines += environment() + files() + exitStatus() + [".Sh EXAMPLES"]
        lines += examples(root.examples + CommandTable.leaves.flatMap(\.spec.examples))
        lines += [
            ".Sh SEE ALSO", ".Xr curl 1 ,", ".Xr lecturectl.conf 5",
            ".Sh STANDARDS", "Ranges and validators follow RFC 9110, HTTP Semantics.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The page of a command.
    ///
    /// - Parameters:
    ///   - path: its words.
    ///   - spec: what it does.
    /// - Returns: the text, ending in a newline.
    package static func text(of path: [String], _ spec: CommandSpec) -> String {
        var lines = head(path, spec.summary)
        if spec.subcommands.isEmpty {
            lines += [".Sh SYNOPSIS", synopsis(path, spec, name: CommandTable.programName), ".Sh DESCRIPTION"]
        } else {
            lines += [".Sh SYNOPSIS", ".Nm \(CommandTable.programName) Cm \(words(path)) Ar command"]
            lines.append(".Sh DESCRIPTION")
        }
        lines.append(escaped(HelpPage.sentence(spec.summary)))
        for text in spec.discussion { lines += [".Pp", escaped(text)] }
        if !spec.subcommands.isEmpty {
            lines += list(
                spec.subcommands.map { (".It Xr \(name(path + [$0.name])) 1", HelpPage.sentence($0.summary)) })
        }
        lines += arguments(spec) + options(spec.visibleOptions)
        lines += [".Pp", "Global options, the environment and the exit status are those of", ".Xr lecturectl 1 ."]
        if !spec.examples.isEmpty { lines += [".Sh EXAMPLES"] + examples(spec.examples) }
        lines += [".Sh SEE ALSO", ".Xr lecturectl 1"]
        return lines.joined(separator: "\n") + "\n"
    }

    /// What `man` finds the page of a command by.
    ///
    /// - Parameter path: its words; none for the program.
    /// - Returns: `lecturectl-licence-renew`.
    package static func name(_ path: [String]) -> String { ([CommandTable.programName] + path).joined(separator: "-") }

    private static func head(_ path: [String], _ summary: String) -> [String] {
        [
            ".\\\" Written by 'lecturectl help --man' from the table of commands. Do not edit.",
            ".Dd \(ProgramVersion.manualDate)", ".Dt \(name(path).uppercased()) 1", ".Os",
            ".Sh NAME", ".Nm \(name(path))", ".Nd \(escaped(summary))",
        ]
    }

    private static func words(_ path: [String]) -> String { path.joined(separator: " ") }

    private static func command(_ path: [String], _ spec: CommandSpec) -> [String] {
        var lines = [".Ss \(words(path))", ".Bd -ragged -compact", synopsis(path, spec, name: ""), ".Ed", ".Pp"]
        lines.append(escaped(HelpPage.sentence(spec.summary)))
        for text in spec.discussion { lines += [".Pp", escaped(text)] }
        return lines + arguments(spec) + options(spec.visibleOptions)
    }

    /// How a command is called; with the name of the program, where the page has another one.
    private static func synopsis(_ path: [String], _ spec: CommandSpec, name: String) -> String {
        var synopsis = ".Nm \(name.isEmpty ? "" : "\(name) ")Cm \(words(path))"
        if !spec.visibleOptions.isEmpty { synopsis += " Oo Ar options Oc" }
        var arguments = spec.arguments.map { argument in
            let row = "Ar \(argument.name)\(argument.maximum == 1 ? "" : " ...")"
            return argument.minimum == 0 ? "Oo \(row) Oc" : row
        }.joined(separator: " ")
        if let flag = spec.flagInsteadOfArguments { arguments += " | Fl -\(flag)" }
        if !arguments.isEmpty { synopsis += " \(arguments)" }
        return synopsis
    }

    private static func arguments(_ spec: CommandSpec) -> [String] {
        let items = spec.arguments.map { (".It Ar \($0.name)", $0.help) }
        return items.isEmpty ? [] : list(items)
    }

    private static func options(_ options: [OptionSpec]) -> [String] {
        guard !options.isEmpty else { return [] }
        return list(
            options.map { option in
                var names = option.short.map { ".It Fl \($0) , Fl -\(option.long)" } ?? ".It Fl -\(option.long)"
                // A value's name may contain blanks and quotes ('NAME: VALUE').
                if !option.valueName.isEmpty { names += " Ar \"\(escaped(option.valueName))\"" }
                return (names, option.fullHelp)
            })
    }

    private static func list(_ items: [(head: String, text: String)]) -> [String] {
        [".Bl -tag -width Ds"] + items.flatMap { [$0.head, escaped($0.text)] } + [".El"]
    }

    private static func paragraphs(_ texts: [String]) -> [String] {
        texts.enumerated().flatMap { ($0.offset == 0 ? [] : [".Pp"]) + [escaped($0.element)] }
    }

    private static func environment() -> [String] {
        var seen: Set<String> = []
        var items: [(String, String)] = []
        for option in CommandTable.globalOptions + CommandTable.leaves.flatMap(\.spec.options) {
            guard let name = option.environment, seen.insert(name).inserted else { continue }
            items.append((".It Ev \(name)", "Used when --\(option.long) is not given."))
        }
        items.append((".It Ev LECTURE_LMS_URL", "Used instead of lms.url of the configuration."))
        items.append((".It Ev LECTURE_LMS_FORMAT", "The format for LECTURE_LMS_URL; json by default."))
        items.append((".It Ev LECTURE_DEVICE", "The directory of the device key."))
        items.append((".It Ev LECTURE_GROUP", "Stands in for storage.group of the configuration."))
        items.append(
            (".It Ev LECTURE_TRUST", "The directory with the certificates that verify application keys."))
        items.append((".It Ev LECTURE_FULL_STATUS", "The exit status when the disk is full, 1 to 125, instead of 75."))
        items.append((".It Ev STATE_DIRECTORY", "Set by systemd: the store and the device key are in it."))
        items.append((".It Ev CONFIGURATION_DIRECTORY", "Set by systemd: config.json is in it."))
        items.append(
            (
                ".It Ev CREDENTIALS_DIRECTORY",
                "Set by systemd: secrets named credentials, netrc, client-cert, client-key and lms-token, and those "
                    + "that the configuration names without a directory."
            ))
        items.append(
            (
                ".It Ev JOURNAL_STREAM",
                "Set by systemd: if it names standard error, messages begin with their priority for the journal."
            ))
        items.append((".It Ev NO_COLOR", "Turns colours off when it is set and not empty."))
        items.append((".It Ev SWIFT_BACKTRACE", "When set, a crash prints a backtrace, which may show secrets."))
        return [".Sh ENVIRONMENT"] + list(items)
    }

    private static func files() -> [String] {
        let items = [
            (".It Pa ~/.config/lecturekit/config.json", "The configuration."),
            (".It Pa ~/.local/share/lecturekit", "The store: a database and the files it refers to."),
        ]
        return [".Sh FILES"] + list(items)
    }

    private static func exitStatus() -> [String] {
        let items = ExitStatus.meanings.map { (".It \($0.code)", HelpPage.sentence($0.meaning)) }
        let text = "SIGINT and SIGTERM stop cleanly: verified data is kept. A second SIGINT ends at once."
        return [".Sh EXIT STATUS"] + list(items) + [".Pp", escaped(text)]
    }

    private static func examples(_ examples: [ExampleSpec]) -> [String] {
        var lines: [String] = []
        for (position, example) in examples.enumerated() {
            if position > 0 { lines.append(".Pp") }
            lines.append("\(escaped(HelpPage.sentence(example.meaning).dropLast() + ":"))")
            lines.append(".Dl \(escapedWord(example.line))")
        }
        return lines
    }

    /// A text for the page: every sentence begins a line (mdoc(7), "Sentence spacing"), lines stay below 80 bytes,
    /// nothing is interpreted as a request, and the source is ASCII.
    ///
    /// - Parameter text: plain text.
    /// - Returns: one or more lines.
    static func escaped(_ text: String) -> String {
        var words = text.split(separator: " ").map { escapedWord(String($0)) }[...]
        var lines: [String] = []
        while let first = words.popFirst() {
            var line = first
            while let next = words.first, !endsSentence(line), line.utf8.count + next.utf8.count < 78 {
                line += " \(next)"
                words = words.dropFirst()
            }
            lines.append(line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line)
        }
        return lines.joined(separator: "\n")
    }

    private static func escapedWord(_ word: String) -> String {
        var result = ""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "\"": result += "\\(dq"
            case _ where !scalar.isASCII: result += "\\[u\(fourHexDigits(scalar.value))]"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func endsSentence(_ line: String) -> Bool { line.hasSuffix(".") || line.hasSuffix(".)") }

    private static func fourHexDigits(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
