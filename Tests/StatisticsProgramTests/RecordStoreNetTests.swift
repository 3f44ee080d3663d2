import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// An independent learning record store accepts the program's reports.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: RalphServer.isInstalled, "Tools/lrs could not install Ralph: PyPI was not reachable"))
struct RecordStoreNetTests {
    private static let ids = (0..<30).map { "01890000-0000-7000-8000-0000000000" + ($0 < 10 ? "0\($0)" : "\($0)") }

    private func configure(_ me: StatisticsScene, _ url: String, _ authorization: String) async throws {
        me.addSecret(String(authorization.dropFirst(6)))
        let file = try me.home.write(authorization, to: "authorization")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let rule = #"{"url":"\#(url)","batch":10,"rate":100,"authorization_file":"\#(file)"}"#
        try me.home.write(#"{"lms":{"url":"\#(url)","format":"xapi","targets":[\#(rule)]}}"#, to: "config.json")
    }

    @Test func `statements are accepted, found, and the same however often they come`() async throws {
        let lrs = try await RalphServer.start()
        try await StatisticsScene.play { me in
            try await configure(me, lrs.url, lrs.authorization)
            try await me.add(
                Self.ids.enumerated().map { number, id in
                    #"{"id":"\#(id)","user":"learner \#(number % 3)","session":"\#(number % 5)","seq":\#(number),"#
                        + #""content":"course/é \#(number % 2)","report":{"PLAY_TIME":\#(number),"DURATION":60,"#
                        + #""PLAY_STATUS":"\#(["play", "pause", "stop"][number % 3])"}}"#
                })
            let file = me.home.file("export.jsonl")
            let export = try await me.run(["lms", "export", "--format", "jsonl", "--output", file])
            #expect(export.status == 0, "\(export.errorText)")
            try await me.send()
            #expect(try await me.account().delivered == Self.ids.count)
            #expect(Set(try lrs.stored().compactMap { $0["id"] as? String }) == Set(Self.ids))
            for id in [Self.ids[0], Self.ids[29]] {
                let statement = try #require(try await lrs.statement(id))
                let account = (statement["actor"] as? [String: Any])?["account"] as? [String: Any]
                #expect((account?["name"] as? String)?.hasPrefix("learner ") == true)
            }
            try await sendAgain(file, me, lrs)
        }
        await lrs.stop()
    }

    /// The same reports from a store without a record of the first time: the statements are known already.
    private func sendAgain(_ file: String, _ me: StatisticsScene, _ lrs: RalphServer) async throws {
        let stored = try lrs.stored().count
        let other = ["LECTURE_STORE": me.home.file("other")]
        let imported = try await me.run(["lms", "import", file], environment: other)
        #expect(imported.status == 0, "\(imported.errorText)")
        try await me.send(environment: other)
        #expect(try lrs.stored().count == stored)
    }

    @Test func `a statement that differs under a known id is a dead letter`() async throws {
        let lrs = try await RalphServer.start()
        try await StatisticsScene.play { me in
            try await configure(me, lrs.url, lrs.authorization)
            let first = #"{"id":"\#(Self.ids[0])","user":"a","session":"s","seq":1,"content":"c","report":{}}"#
            try await me.add([first])
            try await me.send()
            let other = ["LECTURE_STORE": me.home.file("other")]
            for (id, user) in [(Self.ids[0], "b"), (Self.ids[1], "c"), (Self.ids[2], "d")] {
                let ending = try await me.run(
                    ["lms", "add", "--id", id, "--user", user, "--session", "s", "--content", "c"], environment: other)
                #expect(ending.status == 0, "\(ending.errorText)")
            }
            try await me.send(expecting: [0, 1], environment: other)
            // The poisoned batch was divided, and its new statements were accepted.
            let stored = try lrs.stored()
            #expect(Set(stored.compactMap { $0["id"] as? String }) == Set(Self.ids.prefix(3)))
            let kept = stored.first { $0["id"] as? String == Self.ids[0] }
            let account = (kept?["actor"] as? [String: Any])?["account"] as? [String: Any]
            #expect(account?["name"] as? String == "a")
        }
        await lrs.stop()
    }
}
