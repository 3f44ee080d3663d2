import Foundation
import LectureTestSupport
import Testing

/// The sandbox's play callback and its duplicate check on the wire.
@Suite(.timeLimit(.minutes(2))) struct PlayCallbackNetTests {
    private static let common = [
        "client_user_id": "lee", "player_id": "p", "hardware_id": "", "device_name": "d", "media_content_key": "a",
        "uservalues": "{}", "localtime": "1700000000",
    ]

    /// The status, and the member `data` of the token.
    private static func ask(
        _ url: String, _ more: [String: String], without name: String = ""
    ) async throws -> (status: Int, data: [String: Any]) {
        let fields = common.merging(more) { $1 }.filter { $0.key != name }
        let answer = try await Answer.get(url, fields.flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] })
        let parts = String(decoding: answer.body, as: UTF8.self).split(separator: ".")
        guard answer.status == 200, parts.count == 3 else { return (answer.status, [:]) }
        var text = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        let payload = try JSONSerialization.jsonObject(with: try #require(Data(base64Encoded: text)))
        return (200, (payload as? [String: [String: Any]])?["data"] ?? [:])
    }

    @Test func `a form is read strictly`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let url = "\(sandbox.http)/play/callback"
        #expect(try await Self.ask(url, ["kind": "1"]).status == 200)
        #expect(try await Self.ask(url, ["kind": "3", "extra_drm_param": "x"]).status == 200)
        for (field, value) in [
            ("kind", "2"), ("kind", ""), ("uservalues", "[]"), ("uservalues", #"{"uservalue0": 1}"#),
            ("localtime", "now"), ("player_id", ""), ("media_content_key", ""), ("items", "[]"),
        ] {
            let fields = ["kind": "1"].merging([field: value]) { $1 }
            #expect(try await Self.ask(url, fields).status == 400, "\(field)=\(value)")
        }
        for name in Self.common.keys {
            #expect(try await Self.ask(url, ["kind": "1"], without: name).status == 400, "\(name)")
        }
        #expect(try await Answer.get(url).status == 400)
        await sandbox.stop()
    }

    @Test func `policies are sent with the kinds that have them`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let url = "\(sandbox.http)/play/callback"
        try await sandbox.set(playPolicy: #"{"expiration_date": 5, "play_section": {"start_time": 1, "end_time": 2}}"#)
        let first = try await Self.ask(url, ["kind": "1"]).data
        #expect(first["expiration_date"] as? Int == 5 && first["result"] as? Int == 1)
        #expect((first["play_section"] as? [String: Int]) == ["start_time": 1, "end_time": 2])
        try await sandbox.set(playHabits: "expired;after=1")
        #expect(try await Self.ask(url, ["kind": "3"]).data["content_expired"] as? Int == 0)
        #expect(try await Self.ask(url, ["kind": "3"]).data["content_expired"] as? Int == 1)
        await sandbox.stop()
    }

    @Test func `a learner is permitted one device until its play ends`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let url = "\(sandbox.http)/play/duplicate"
        func register(_ device: String, _ state: String = "play", user: String = "lee") async throws -> Int? {
            let fields = [
                "player_id": device, "play_id": "of \(device)", "request_id": "r", "state": state,
                "client_user_id": user,
            ]
            let answer = try await Self.ask(url, fields)
            #expect(answer.data["request_id"] as? String == "r")
            return answer.data["result"] as? Int
        }
        #expect(try await register("one") == 1)
        #expect(try await register("one") == 1)
        #expect(try await register("two") == 0)
        #expect(try await register("two", user: "kim") == 1)
        // Only a play that was permitted can end one.
        #expect(try await register("two", "end") == 1)
        #expect(try await register("two") == 0)
        #expect(try await register("one", "end") == 1)
        #expect(try await register("two") == 1)
        await sandbox.stop()
    }
}
