import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `device show|export|import` through the built program.
@Suite struct DeviceCommandTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func run(_ words: String..., device: String = "d") async throws -> ChildProcess.Ending {
        try await ChildProcess.run(
            BuiltProgram.url.path, ["device"] + words,
            environment: [
                "HOME": home.path, "LECTURE_DEVICE": home.file(device), "XDG_CONFIG_HOME": "", "LECTURE_CONFIG": "",
            ], directory: home.path)
    }

    private func player(_ device: String = "d") async throws -> String {
        let ending = try await run("show", "--json", device: device)
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(try JSONSchema(describing: ending.text).faults(in: ending.output).isEmpty)
        let object = try JSONSerialization.jsonObject(with: ending.output) as? [String: Any]
        return try #require(object?["player_id"] as? String)
    }

    private func put(_ text: String, _ name: String, mode: Int = 0o600) {
        _ = FileManager.default.createFile(
            atPath: home.file(name), contents: Data(text.utf8), attributes: [.posixPermissions: mode])
    }

    private func facts(_ name: String) throws -> (mode: Int, size: Int) {
        let attributes = try FileManager.default.attributesOfItem(atPath: home.file(name))
        return (try #require(attributes[.posixPermissions] as? Int), try #require(attributes[.size] as? Int))
    }

    @Test func `the key is generated once, by whichever process is first`() async throws {
        let processes = try (0..<8).map { _ in
            try ChildProcess(
                BuiltProgram.url.path, ["device", "show", "--json"],
                environment: ["HOME": home.path, "LECTURE_DEVICE": home.file("a/b/d")])
        }
        var texts: Set<String> = []
        for process in processes {
            let ending = await process.ending()
            #expect(ending.status == 0, "\(ending.errorText)")
            texts.insert(ending.text)
        }
        #expect(texts.count == 1)
        let (mode, size) = try facts("a/b/d/device.key")
        #expect(mode == 0o600 && size == 81)
        #expect(try facts("a/b/d").mode == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.file("a/b/d")) == ["device.key"])
    }

    @Test func `a copy moves the key elsewhere, and only with its passphrase`() async throws {
        put("correct horse\n", "right")
        put("correct horse", "same")
        put("wrong horse", "wrong")
        let id = try await player()
        let exported = try await run("export", "--output", "copy", "--passphrase-file", "right")
        #expect(exported.status == 0, "\(exported.errorText)")
        let (mode, size) = try facts("copy")
        #expect(mode == 0o600 && size == 136)
        #expect(try await run("export", "--output", "copy", "--passphrase-file", "right").status == 73)
        #expect(try await run("import", "copy", "--passphrase-file", "wrong", device: "e").status == 64)
        #expect(!FileManager.default.fileExists(atPath: home.file("e/device.key")))
        #expect(try await run("import", "copy", "--passphrase-file", "same", device: "e").status == 0)
        #expect(try await player("e") == id)
        // Importing the same key again loses nothing.
        #expect(try await run("import", "copy", "--passphrase-file", "same", device: "e").status == 0)
    }

    @Test func `an existing key is replaced only on explicit request`() async throws {
        put("p", "p")
        let first = try await player()
        #expect(try await run("export", "-o", "copy", "--passphrase-file", "p").status == 0)
        let second = try await player("e")
        #expect(first != second)
        let refused = try await run("import", "copy", "--passphrase-file", "p", device: "e")
        #expect(refused.status == 73 && refused.errorText.contains("--replace"))
        #expect(try await player("e") == second)
        #expect(try await run("import", "copy", "--passphrase-file", "p", "--replace", device: "e").status == 0)
        #expect(try await player("e") == first)
    }

    @Test func `an untrusted key is refused with its own status`() async throws {
        put("p", "open", mode: 0o644)
        put("\n", "empty")
        put("p", "p")
        put("no copy", "copy")
        #expect(try await run("export", "-o", "c", "--passphrase-file", "open").status == 78)
        #expect(try await run("export", "-o", "c", "--passphrase-file", "empty").status == 64)
        #expect(try await run("export", "-o", "c").status == 64)
        #expect(try await run("export", "--passphrase-file", "p").status == 64)
        #expect(try await run("import", "copy", "--passphrase-file", "p").status == 65)
        #expect(try await run("import", "nowhere", "--passphrase-file", "p").status == 74)
        #expect(!FileManager.default.fileExists(atPath: home.file("c")))
        _ = try await player()
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: home.file("d/device.key"))
        let shown = try await run("show")
        #expect(shown.status == 78 && shown.text.isEmpty)
    }
}
