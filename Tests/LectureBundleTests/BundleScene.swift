import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Two people with the built program: one has lectures from a real server, the other has none, and no network.
struct BundleScene {
    let sender: BadDay
    let receiver: BadDay
    let sandbox: SandboxOrigin
    /// The bundle.
    var file: String { sender.home.file("b.tar") }
    /// The public keys of both.
    var senderKey: String { receiver.home.file("sender.jwk") }
    var receiverKey: String { sender.home.file("receiver.jwk") }

    /// Starts the server and exchanges the public keys.
    init(_ options: [String] = [], settings: String = "{}") async throws {
        (sender, receiver) = (try BadDay(), try BadDay())
        sandbox = try await SandboxOrigin.start(["--no-https"] + options)
        for person in [sender, receiver] { _ = try person.home.write(settings, to: ".config/lecturekit/config.json") }
        _ = try receiver.home.write(Array(try await sender("device", "show", "--json").output), to: "sender.jwk")
        _ = try sender.home.write(Array(try await receiver("device", "show", "--json").output), to: "receiver.jwk")
    }

    /// Downloads a generated lecture at the sender's.
    func fetch(_ name: String, key: String, _ more: String...) async throws {
        let ending = try await sender.run(
            ["precache", "-q", "--key", key, "\(sandbox.http)/media/bytes-\(name).mp4"] + more)
        #expect(ending.status == 0, "\(ending.errorText)")
    }

    /// Makes the bundle.
    func create(_ words: String...) async throws {
        let ending = try await sender.run(["bundle", "create", file, "--for", receiverKey, "--json"] + words)
        #expect(ending.status == 0, "\(ending.errorText)")
        _ = try Line.all(ending.text)
    }

    /// Imports it.
    func take(_ words: String...) async throws -> ChildProcess.Ending {
        try await receiver.run(["bundle", "import", file, "--trust", senderKey] + words)
    }

    /// The digest of what a person can play.
    func sha256(_ person: BadDay, _ key: String) async throws -> String {
        let ending = try await ChildProcess.run(
            "/bin/bash", ["-c", #""$0" cat "$1" | sha256sum"#, BuiltProgram.url.path, key],
            environment: person.environment)
        return String(ending.text.prefix(64))
    }

    /// The receiver has nothing that is not right: complete lectures have the sender's bytes.
    func expectSound(_ what: String, keys: [String: String]) async throws {
        guard FileManager.default.fileExists(atPath: receiver.store + "/lecturekit.db") else { return }
        try await receiver.expectSound()
        for line in try await receiver.list() where line.state == "completed" {
            let key = try #require(line.key)
            #expect(try await sha256(receiver, key) == keys[key], "\(what): \(key)")
        }
    }
}
