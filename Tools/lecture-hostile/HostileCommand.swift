import FoundationEssentials
import Glibc
import HostileSuite

/// `lecture-hostile`: the hostile suite for any client.
@main
struct HostileCommand {
    private static let usage = """
        Usage: lecture-hostile list [CASE…]
               lecture-hostile serve CASE
               lecture-hostile run [--client NAME]… [--jobs N] [--lecturectl FILE] [--table FILE] [CASE…]

        list    prints the cases, what their servers do, and what clients must do.
        serve   serves one case on 127.0.0.1 until standard input closes, for your own client: prints its URL, the
                lecture's SHA-256 and length, and the authority to trust.
        run     runs clients against cases and prints a line for each run, then the totals. Clients: lecturectl,
                curl, aria2, wget2; all of them by default. --table writes the whole table as Markdown.

        A CASE that ends in * selects all cases with that prefix. Exit status: 0 done, 1 when lecturectl failed a
        case, 64 usage, 69 when a program is not installed.

        """

    static func main() async {
        var words = Array(CommandLine.arguments.dropFirst())
        let verb = words.isEmpty ? "" : words.removeFirst()
        do {
            switch verb {
            case "list": try list(words)
            case "serve": try serve(words)
            case "run": exit(try await run(words))
            case "--help", "-h": say(usage)
            default: throw Misuse(words: verb.isEmpty ? "a command is required" : "there is no '\(verb)'")
            }
        } catch let misuse as Misuse {
            complain("\(misuse.words); see --help")
            exit(64)
        } catch {
            complain("\(error)")
            exit(69)
        }
    }

    private struct Misuse: Error {
        let words: String
    }

    private static func complain(_ text: String) { write("lecture-hostile: \(text)\n", to: STDERR_FILENO) }

    /// Unbuffered, so that a reader of a pipe gets every line at once.
    private static func say(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    private static func list(_ names: [String]) throws {
        for hostileCase in try cases(names) {
            let words = [hostileCase.name, hostileCase.family.rawValue, hostileCase.due.rawValue, hostileCase.summary]
            say(words.joined(separator: "\t"))
        }
    }

    private static func serve(_ names: [String]) throws {
        let found = try cases(names)
        guard names.count == 1, found.count == 1, let hostileCase = found.first else {
            throw Misuse(words: "serve takes the name of one case")
        }
        let origin = try HostileOrigin(hostileCase)
        for base in origin.bases { say("url\t\(base)\(hostileCase.path)") }
        say("sha256\t\(origin.media.sha256)\nbytes\t\(origin.media.bytes.count)")
        if !origin.authorityPEM.isEmpty { say(origin.authorityPEM) }
        while readLine() != nil {}
        // Used here to keep the origin alive.
        say("requests\t\(origin.journal.all.count)")
    }

    private static func run(_ words: [String]) async throws -> Int32 {
        var (names, clients, jobs, table, program) = ([String](), [String](), 6, String?.none, String?.none)
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--client": clients.append(try value(&rest, of: word))
            case "--jobs": jobs = try number(&rest, of: word)
            case "--table": table = try value(&rest, of: word)
            case "--lecturectl": program = try value(&rest, of: word)
            case _ where word.hasPrefix("-"): throw Misuse(words: "there is no option '\(word)'")
            default: names.append(word)
            }
        }
        // Each run of the program has its own directory.
        let here = FileManager.default.currentDirectoryPath
        let all = try program.map { try Client.all($0.hasPrefix("/") ? $0 : "\(here)/\($0)") } ?? Client.all()
        if let stranger = clients.first(where: { name in !all.contains { $0.name == name } }) {
            throw Misuse(words: "there is no client '\(stranger)'")
        }
        var comparison = Comparison(
            try cases(names), all.filter { clients.isEmpty || clients.contains($0.name) })
        try await comparison.run(jobs: jobs) { say($0) }
        say(comparison.sums)
        if let table {
            try (comparison.markdown + "\n" + comparison.sums).write(toFile: table, atomically: true, encoding: .utf8)
        }
        return comparison.isKept(by: "lecturectl") ? 0 : 1
    }

    private static func value(_ rest: inout ArraySlice<String>, of option: String) throws -> String {
        guard let value = rest.popFirst() else { throw Misuse(words: "\(option) needs a value") }
        return value
    }

    private static func number(_ rest: inout ArraySlice<String>, of option: String) throws -> Int {
        let text = try value(&rest, of: option)
        guard let number = Int(text), number > 0 else { throw Misuse(words: "\(option) needs a number above 0") }
        return number
    }

    private static func cases(_ names: [String]) throws -> [HostileCase] {
        if names.isEmpty { return HostileCase.all }
        return try names.flatMap { name in
            let found = HostileCase.all.filter { hostileCase in
                name.hasSuffix("*") ? hostileCase.name.hasPrefix(name.dropLast()) : hostileCase.name == name
            }
            if found.isEmpty { throw Misuse(words: "there is no case '\(name)'") }
            return found
        }
    }
}
