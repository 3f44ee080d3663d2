import LectureFiles
package import LectureFormats
package import LectureModel

/// Files with credentials. All of them are secret files: one that others may read is refused.
package enum CredentialFiles {
    private static let longest = 1 << 20

    /// Reads request headers, one per line, for `--header @FILE`. Empty lines and lines that start with `#` are
    /// skipped.
    ///
    /// - Parameter path: the file.
    /// - Returns: the headers in order.
    /// - Throws: ``LectureError``: `secretReadable`, `readFile`, or `headerInvalid` or `headerReserved` with the number
    ///   of the line, never with the line itself.
    package static func headers(_ path: String) throws(LectureError) -> [HeaderField] {
        var fields: [HeaderField] = []
        for (number, line) in try lines(path).enumerated() {
            let text = FieldText.trimmed(line)
            if text.isEmpty || text.utf8.first == UInt8(ascii: "#") { continue }
            do throws(LectureError) {
                fields.append(try HeaderField(line: String(text)))
            } catch {
                throw LectureError(error.code, detail: "\(path), line \(number + 1)", cause: error.detail)
            }
        }
        return fields
    }

    /// Reads headers by origin: `{"https://host": {"headers": {"Authorization": "…"}}}`.
    ///
    /// - Parameter path: the file.
    /// - Returns: the headers of each origin.
    /// - Throws: ``LectureError``: `secretReadable`, `readFile`, `headerReserved`, or `configuration` for an invalid
    ///   file.
    static func byOrigin(_ path: String) throws(LectureError) -> [Origin: [HeaderField]] {
        let bytes = try SecretFile.open(path, limit: longest).bytes()
        do throws(LectureError) {
            guard let members = try JSONScanner.value(of: bytes).members else {
                throw LectureError(.json, detail: "not an object")
            }
            var fields: [Origin: [HeaderField]] = [:]
            for member in members {
                let origin = try origin(member.name)
                guard fields[origin] == nil else {
                    throw LectureError(.json, detail: "\(origin.text) is listed twice")
                }
                fields[origin] = try headers(member)
            }
            return fields
        } catch {
            if error.code == .headerReserved {
                throw LectureError(.headerReserved, detail: path, cause: error.detail)
            }
            let reason = error.detail.isEmpty ? error.code.summary : error.detail
            throw LectureError(.configuration, detail: path, cause: reason)
        }
    }

    private static func origin(_ text: String) throws(LectureError) -> Origin {
        guard let parts = try? URLParts(text), let origin = try? Origin(parts), parts.path.isEmpty || parts.path == "/",
            parts.query == nil, parts.fragment == nil, !parts.authority.utf8.contains(UInt8(ascii: "@"))
        else {
            throw LectureError(.json, detail: "each name must be a server such as https://host or https://host:8443")
        }
        return origin
    }

    private static func headers(_ member: JSONMember) throws(LectureError) -> [HeaderField] {
        let reader = try MemberReader(member.value)
        if let name = reader.unknown(besides: ["headers"]).first {
            let hint = Suggestion.hint(for: name, among: ["headers"])
            throw LectureError(.json, detail: "unknown member '\(name)' of \(member.name)\(hint)")
        }
        var fields: [HeaderField] = []
        for header in try reader.object("headers") ?? [] {
            guard let value = header.value.string else {
                throw LectureError(.json, detail: "a header of \(member.name) is not a text")
            }
            fields.append(try HeaderField(outgoing: header.name, value: value))
        }
        return fields
    }

    /// Reads the hosts of a `.netrc` file, as the value of `Authorization` that each of them gets (RFC 7617). Its
    /// `default` entry is not used: it would send a password to every server that a link or a redirect names.
    ///
    /// - Parameter path: the file.
    /// - Returns: the values by host, in lower case.
    /// - Throws: ``LectureError``: `secretReadable`, `readFile`, or `configuration`.
    static func netrc(_ path: String) throws(LectureError) -> [String: String] {
        var entries: [String: String] = [:]
        var machine: (host: String, login: String, password: String)?
        func keep() {
            guard let entry = machine, entries[entry.host] == nil, !entry.login.isEmpty || !entry.password.isEmpty
            else { return }
            entries[entry.host] = "Basic \(Base64.text(Array("\(entry.login):\(entry.password)".utf8)))"
        }
        var words = try netrcWords(path)[...]
        while let word = words.popFirst() {
            switch word {
            case "machine":
                keep()
                machine = (FieldText.lowercased(words.popFirst() ?? ""), "", "")
            case "default":
                keep()
                machine = nil
            case "login", "password", "account":
                // Read before it is known whether it is used: the default entry has them too.
                let value = words.popFirst() ?? ""
                if word == "login" { machine?.login = value }
                if word == "password" { machine?.password = value }
            default:
                throw LectureError(
                    .configuration, detail: path, cause: "a word other than machine, login, password, account")
            }
        }
        keep()
        return entries
    }

    /// The words of a `.netrc` file: without comments, and without macros, which go up to an empty line.
    private static func netrcWords(_ path: String) throws(LectureError) -> [String] {
        var words: [String] = []
        var isMacro = false
        for line in try lines(path) {
            let text = FieldText.trimmed(line)
            if text.isEmpty { isMacro = false }
            if isMacro || text.utf8.first == UInt8(ascii: "#") { continue }
            for word in text.split(whereSeparator: { $0 == " " || $0 == "\t" }) {
                if word == "macdef" {
                    isMacro = true
                    break
                }
                words.append(String(word))
            }
        }
        return words
    }

    /// Checks a client certificate and its key, which must be a secret file; libcurl reads them.
    ///
    /// - Parameters:
    ///   - certificate: a PEM file.
    ///   - key: the file of its key; nil when it is in `certificate`.
    /// - Throws: ``LectureError``: `secretReadable`, `readFile`.
    static func check(certificate: String, key: String?) throws(LectureError) {
        if key != nil { _ = try SecretFile.open(certificate, limit: longest, .open) }
        _ = try SecretFile.open(key ?? certificate, limit: longest)
    }

    private static func lines(_ path: String) throws(LectureError) -> [Substring] {
        let bytes = try SecretFile.open(path, limit: longest).bytes()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LectureError(.readFile, detail: path, cause: "it is not UTF-8")
        }
        return text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }
}
