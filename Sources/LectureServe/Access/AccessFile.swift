import Glibc
import LectureCrypto
import LectureFiles
import LectureFormats
public import LectureModel

/// The access file: who may use a server of a store. Only its owner may read it, and no token is in it.
public enum AccessFile {
    /// A person or a program that may use the server.
    public struct Person: Sendable, Hashable {
        /// The name.
        public let name: String
        /// `viewer`, `peer` or `operator`.
        public let role: String

        /// Creates a value.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - role: `viewer`, `peer` or `operator`.
        public init(name: String, role: String) { (self.name, self.role) = (name, role) }
    }

    /// The names of all roles.
    public static let roles = SiteRole.allCases.map(\.rawValue)
    /// Bytes of a token.
    private static let tokenLength = 32
    /// A longer file is a mistake.
    private static let longest = 1 << 20

    /// Who may use the server.
    ///
    /// - Parameter path: the access file.
    /// - Returns: the persons in their order.
    /// - Throws: `LectureError` with `readFile`, `secretReadable` or `configuration`.
    public static func people(_ path: String) throws(LectureError) -> [Person] {
        try list(path).entries.map { Person(name: $0.person.name, role: $0.person.role.rawValue) }
    }

    /// Adds a person or a program, durably. A file that is missing is made, with mode 0600, and so is its directory.
    ///
    /// - Parameters:
    ///   - person: their name, which no other line has, and their role.
    ///   - path: the access file.
    /// - Returns: their token, which is nowhere else: 256 bits as base64url.
    /// - Throws: `LectureError` with `parameter` for a name or a role that cannot be used; `readFile`,
    ///   `secretReadable`, `configuration`, `createDirectory`, `createFile` or a disk code for the file;
    ///   `cryptography`.
    public static func add(_ person: Person, to path: String) throws(LectureError) -> String {
        guard isName(person.name) else {
            throw LectureError(.parameter, detail: "a name has no blanks, no ':' and no '#', and 1 to 64 bytes")
        }
        guard SiteRole(rawValue: person.role) != nil else {
            throw LectureError(.parameter, detail: "a role is one of \(roles.joined(separator: ", "))")
        }
        let token = Base64URL.text(try SecureRandom.bytes(tokenLength))
        let digests = try OpenSSLDigests(proofKey: try SecureRandom.bytes(tokenLength))
        let digest = Hexadecimal.text(try digests.sha256(of: Array(token.utf8)))
        try makeDirectory(of: path)
        try change(path, mayBeMissing: true) { text throws(LectureError) in
            guard try !AccessList(text).entries.contains(where: { $0.person.name == person.name }) else {
                throw LectureError(.parameter, detail: "the access file has '\(person.name)' already")
            }
            let end = text.isEmpty || text.hasSuffix("\n") ? "" : "\n"
            return "\(text)\(end)\(person.role) \(person.name) sha256:\(digest)\n"
        }
        return token
    }

    /// Removes a person or a program, durably: the token and its sessions are over once the server has read the file.
    ///
    /// - Parameters:
    ///   - name: their name.
    ///   - path: the access file.
    /// - Throws: `LectureError` with `parameter` for a name that the file does not have; else as ``add(_:to:)``.
    public static func remove(_ name: String, from path: String) throws(LectureError) {
        try change(path, mayBeMissing: false) { text throws(LectureError) in
            guard try AccessList(text).entries.contains(where: { $0.person.name == name }) else {
                throw LectureError(.parameter, detail: "the access file does not have '\(name)'")
            }
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            return lines.filter { line in
                let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "\r" }
                return words.count < 2 || words[1] != name
            }.joined(separator: "\n")
        }
    }

    /// Reads the file.
    static func list(_ path: String) throws(LectureError) -> AccessList {
        do throws(LectureError) { return try AccessList(try text(path)) } catch {
            guard error.code == .configuration else { throw error }
            throw LectureError(.configuration, detail: "\(path), \(error.detail)", cause: error.cause)
        }
    }

    private static func text(_ path: String) throws(LectureError) -> String {
        let bytes = try SecretFile.open(path, limit: longest).bytes()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LectureError(.configuration, detail: "its text", cause: "it must be UTF-8")
        }
        return text
    }

    /// Changes the text of the file, while no other program does.
    private static func change(
        _ path: String, mayBeMissing: Bool, _ change: (String) throws(LectureError) -> String
    ) throws(LectureError) {
        let directory = PathText.directory(of: path)
        let number = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else {
            throw LectureError(.readFile, detail: path, cause: unsafe String(cString: strerror(errno)))
        }
        defer { close(number) }
        // Another program that changes it needs milliseconds.
        while flock(number, LOCK_EX) != 0, errno == EINTR {}
        let bytes = Array(try change(mayBeMissing && !exists(path) ? "" : try text(path)).utf8)
        try SecretFile.create(bytes, at: path, replacing: true)
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy {
                !$0.properties.isWhitespace && $0.value >= 0x20 && $0.value != 0x7F && $0 != ":" && $0 != "#"
            }
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 || errno != ENOENT }

    private static func makeDirectory(of path: String) throws(LectureError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/").dropLast() {
            made += "\(part)/"
            guard unsafe mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            throw LectureError(.createDirectory, detail: made, cause: unsafe String(cString: strerror(errno)))
        }
    }
}
