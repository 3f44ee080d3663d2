import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// What happens to stores, keys and boots, for attacks and for bad luck.
extension LicenceScene {
    /// The first lines of a script for ``withMounts(_:_:isMedia:)``: the programs that follow see another boot.
    static let anotherBoot = """
        cat /proc/sys/kernel/random/uuid > "$HOME/boot_id"
        mount --bind "$HOME/boot_id" /proc/sys/kernel/random/boot_id

        """

    /// The anchors of the device, one for each store.
    var anchors: [String] { Self.files("\(device)/anchors") }

    func deleteAnchors() throws {
        for path in anchors { try FileManager.default.removeItem(atPath: path) }
    }

    /// The files of a database: itself, its log, and the log's index.
    private static func parts(_ database: String) -> [String] { ["", "-wal", "-shm"].map { database + $0 } }

    /// Deletes the database of a store, and leaves its media.
    ///
    /// - Parameter store: the store's directory.
    static func deleteDatabase(of store: String) {
        for path in parts("\(store)/lecturekit.db") { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Puts a copy of a database, with its log if there is one, in place of the store's.
    ///
    /// - Parameter copy: the copy's path.
    func restoreDatabase(_ copy: String) {
        Self.deleteDatabase(of: store)
        for (from, to) in zip(Self.parts(copy), Self.parts(database)) {
            try? FileManager.default.copyItem(atPath: from, toPath: to)
        }
    }

    /// Exports the device's key.
    ///
    /// - Parameter name: of the file in the account's home.
    /// - Returns: the command that imports it.
    /// - Throws: what writing a file or running a command throws.
    func exportKey(_ name: String = "key") async throws -> [String] {
        let passphrase = try home.write("a passphrase of many words\n", to: "passphrase")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: passphrase)
        let file = home.file(name)
        let ending = try await run(["device", "export", "--output", file, "--passphrase-file", passphrase])
        #expect(ending.status == 0, "\(ending.errorText)")
        return ["device", "import", file, "--passphrase-file", passphrase]
    }

    /// Plays a lecture; where that is refused, runs the commands that the message names, and plays again.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: whether it was played in the end, and what was done.
    /// - Throws: what running a command throws.
    func playAsAdvised(_ key: String) async throws -> (isPlayed: Bool, commands: [String], log: [String]) {
        var (commands, log): ([String], [String]) = ([], [])
        for _ in 0..<3 {
            let ending = try await run(["cat", key])
            if ending.status == 0 { return (true, commands, log) }
            log.append("  \(key): \(ending.errorText)")
            for command in ending.errorText.matches(of: /'lecturectl ([^']+)'/).map({ String($0.1) }) {
                let done = try await run(command.split(separator: " ").map(String.init))
                commands.append(command)
                log.append("  advised: \(command): \(done.status) \(done.errorText)")
                if try await licence(key).verdict == "playable" { break }
            }
        }
        return (false, commands, log)
    }
}
