/// The manual page lecturectl(1) in mdoc(7).
package enum ManualPage {
    /// The page.
    ///
    /// - Returns: the text, ending in a newline.
    package static func text() -> String {
        let root = CommandTable.root
        var lines = [
            ".\\\" Written by 'lecturectl help --man' from the table of commands. Do not edit.",
            ".Dd \(ProgramVersion.manualDate)", ".Dt LECTURECTL 1", ".Os",
            ".Sh NAME", ".Nm \(CommandTable.programName)", ".Nd \(escaped(root.summary))",
            ".Sh SYNOPSIS", ".Nm", ".Op Ar options", ".Ar command", ".Op Ar arguments",
            ".Sh DESCRIPTION",
        ]
        lines += paragraphs(root.discussion)
        lines += [".Ss Global options", "They are accepted before and after the command word."]
        lines += options(CommandTable.globalOptions)
        lines.append(".Sh COMMANDS")
        for (path, spec) in CommandTable.leaves { lines += command(path, spec) }
        lines += environment() + files() + exitStatus() + examples()
        lines += [
            ".Sh SEE ALSO", ".Xr curl 1",
            ".Sh STANDARDS", "Ranges and validators follow RFC 9110, HTTP Semantics.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func command(_ path: [String], _ spec: CommandSpec) -> [String] {
        let words = path.joined(separator: " ")
        var synopsis = ".Nm Cm \(words)"
        if !spec.visibleOptions.isEmpty { synopsis += " Oo Ar options Oc" }
        var arguments = spec.arguments.map { argument in
            let row = "Ar \(argument.name)\(argument.maximum == 1 ? "" : " ...")"
            return argument.minimum == 0 ? "Oo \(row) Oc" : row
        }.joined(separator: " ")
        if let flag = spec.flagInsteadOfArguments { arguments += " | Fl -\(flag)" }
        if !arguments.isEmpty { synopsis += " \(arguments)" }
        var lines = [".Ss \(words)", ".Bd -ragged -compact", synopsis, ".Ed", ".Pp"]
        lines.append(escaped(HelpPage.sentence(spec.summary)))
        for text in spec.discussion { lines += [".Pp", escaped(text)] }
        let items = spec.arguments.map { (".It Ar \($0.name)", $0.help) }
        if !items.isEmpty { lines += list(items) }
        return lines + options(spec.visibleOptions)
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

    private static func examples() -> [String] {
        var lines = [".Sh EXAMPLES"]
        let all = CommandTable.root.examples + CommandTable.leaves.flatMap(\.spec.examples)
        for (position, example) in all.enumerated() {
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
