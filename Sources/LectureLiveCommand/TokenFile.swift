import Glibc
import LectureCommand
import LectureFiles
import LectureFormats
import LectureModel

/// Files with secrets: the member's access token, and the application's key and secret. One that others may read is
/// refused, and what is in it is in no message.
enum TokenFile {
    /// A token is far shorter.
    private static let limit = 65_536

    /// Where the token is.
    ///
    /// - Throws: ``UsageError`` when nothing names a place.
    static func path(_ command: ParsedCommand, _ environment: [String: String]) throws(UsageError) -> String {
        if let path = command.text("token-file") { return path }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/lecturekit/live-token" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw UsageError("No '--token-file', no XDG_STATE_HOME and no HOME says where the token is.")
        }
        return "\(home)/.local/state/lecturekit/live-token"
    }

    /// Reads the one line of a file.
    ///
    /// - Parameter path: the file.
    /// - Returns: the line without its end.
    /// - Throws: `LectureError`: `secretReadable`, `readFile`.
    static func line(_ path: String) throws(LectureError) -> String {
        let bytes = try SecretFile.open(path, limit: limit).bytes()
        return String(FieldText.trimmed(String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline }))
    }

    /// Stores a token: beside, and then renamed.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - path: the file; its directories are made, for the user alone.
    /// - Throws: `LectureError`.
    static func store(_ token: String, at path: String) throws(LectureError) {
        makeDirectories(above: path)
        try SecretFile.create(Array("\(token)\n".utf8), at: path, replacing: true)
    }

    /// What cannot be made is reported by the file that cannot be made in it.
    private static func makeDirectories(above path: String) {
        for index in path.indices.dropFirst() where path[index] == "/" {
            _ = unsafe mkdir(String(path[..<index]), 0o700)
        }
    }
}
