import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Reports that no user would write by hand, clocks that are wrong, and disks that are full.
@Suite(.timeLimit(.minutes(5))) struct HostileReportNetTests {
    private static let learners = [
        "'; DROP TABLE report; --", "\"quoted\"\\", "=cmd|' /C calc'!A0", "a\nb\r\nc\td", "one\u{1}\u{1F}\u{7F}",
        "{CLIENT_USER_ID}", "%00%0d%0aX: y&z=1+2", "수강생 가나다 é", "\u{202E}right-to-left\u{2066}", "👩‍🏫🧑🏿‍🎓",
        "../../etc/passwd", String(repeating: "x", count: 512), "<script>alert(1)</script>", "a\u{2028}b\u{FEFF}",
    ]

    private static func id(_ number: Int) -> String {
        "01890000-0000-7000-8000-" + String(repeating: "0", count: 12 - String(number).count) + String(number)
    }

    /// A line of `lms add --batch` with any learner id.
    private static func line(_ number: Int, _ user: String, id: String? = nil) throws -> String {
        let line: [String: Any] = [
            "id": id ?? Self.id(number), "user": user, "session": user, "seq": 1, "content": "c",
            "report": ["n": number],
        ]
        let data = try JSONSerialization.data(withJSONObject: line, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `learners of any name arrive as they are`() async throws {
        let path = SandboxOrigin.lmsPath("xapi")
        try await StatisticsScene.play(path: path) { me in
            try await me.add(try Self.learners.enumerated().map { try Self.line($0, $1) })
            try await me.send()
            try await me.expectOnce(Self.learners.indices.map(Self.id), on: path)
            for (number, learner) in Self.learners.enumerated() {
                let url = "\(me.sandbox.http)\(path)?statementId=\(Self.id(number))"
                let answer = try await ChildProcess.run(Places.command("curl"), ["--silent", "--fail", url])
                let statement = try JSONSerialization.jsonObject(with: answer.output) as? [String: Any]
                let account = (statement?["actor"] as? [String: Any])?["account"] as? [String: Any]
                #expect(account?["name"] as? String == learner)
            }
            #expect(try await me.ids("--user", Self.learners[0]) == [Self.id(0)])
        }
    }

    @Test func `ids with any characters stay distinct and are sent unchanged`() async throws {
        let ids = ["a b", "a%20b", "a+b", "A b", "'", "=1+1", "é{}", String(repeating: "i", count: 256)]
        let lines = try ids.enumerated().map { try Self.line($0, "u\($0)", id: $1) }
        try await StatisticsScene.play { me in
            try await me.add(lines)
            try await me.send()
            try await me.expectOnce(ids)
        }
        // In a form the id is only in a header field; an id that is invalid there is replaced.
        try await StatisticsScene.play(path: "/lms") { me in
            try await me.add(lines)
            try await me.send()
            let taken = Set(try await me.sandbox.lmsEvents("/lms").map(\.id))
            #expect(taken.intersection(ids) == Set(ids.filter { !$0.contains(" ") && !$0.contains("é") }))
            let sums = try await me.sandbox.lmsSummary("/lms")
            #expect(sums.once == ids.count && sums.more == 0 && sums.keyViolations == 0, "\(sums)")
        }
    }

    @Test func `a report of a mebibyte is sent, a larger one is refused with its own code`() async throws {
        try await StatisticsScene.play { me in
            func report(_ count: Int) throws -> String {
                let text = #"{"x":""# + String(repeating: "ä", count: (count - 8) / 2) + #""}"#
                return try me.home.write(text, to: "report-\(count).json")
            }
            let large = try await me.run(["lms", "add", "--id", "large", "--json", try report(1 << 20)])
            #expect(large.text == "ACK large\n", "\(large.errorText)")
            let tooLarge = try await me.run(["lms", "add", "--id", "more", "--json", try report(1 << 20 + 2)])
            #expect(tooLarge.status == 65 && tooLarge.text.isEmpty, "\(tooLarge.errorText)")
            try await me.send()
            try await me.expectOnce(["large"])
            #expect(try await me.sandbox.lmsSummary().largest > 1 << 20)
        }
    }

    @Test func `the same report twice is one, and another under its id is refused`() async throws {
        try await StatisticsScene.play { me in
            let file = try me.home.write(#"{"a":1}"#, to: "a.json")
            let other = try me.home.write(#"{"a":2}"#, to: "b.json")
            for _ in 0..<2 {
                let ending = try await me.run(
                    ["lms", "add", "--id", "x", "--user", "u", "--session", "s", "--seq", "1", "--json", file])
                #expect(ending.text == "ACK x\n", "\(ending.errorText)")
            }
            let conflict = try await me.run(
                ["lms", "add", "--id", "x", "--user", "u", "--session", "s", "--seq", "1", "--json", other])
            #expect(conflict.status == 65 && conflict.text.isEmpty, "\(conflict.errorText)")
            #expect(try await me.account().created == 1)
            try await me.send()
            try await me.expectOnce(["x"])
        }
    }

    @Test func `a bad line is named and stops no other`() async throws {
        try await StatisticsScene.play { me in
            let lines = [
                StatisticsScene.line("a", 1), "{", StatisticsScene.line("b", 2), #"{"id":7}"#, #"{"report":[]}"#, "",
                #"{"user":"\u0000"}"#,
                StatisticsScene.line("c", 3),
            ]
            let file = try me.home.write(lines.joined(separator: "\n"), to: "lines")
            let ending = try await me.start(["lms", "add", "--batch"], input: file).ending()
            me.keep(ending)
            #expect(ending.status == 1)
            #expect(StatisticsScene.acknowledged(ending.text) == ["a", "b", "c"])
            for number in [2, 4, 5, 7] { #expect(ending.errorText.contains("line \(number)"), "\(ending.errorText)") }
            try await me.send()
            try await me.expectOnce(["a", "b", "c"])
        }
    }

    @Test(.enabled(if: FakeClock.isPossible, "libfaketime is not installed"))
    func `clocks that are wrong by years change neither order nor number`() async throws {
        try await StatisticsScene.play { me in
            let clocks = ["+3650d", "-7300d", "+0d", "-1d", "+30d"]
            for (number, clock) in clocks.enumerated() {
                let environment = FakeClock.at(clock)
                let ending = try await me.run(
                    ["lms", "add", "--id", "r\(number)", "--user", "u", "--session", "s"], environment: environment)
                #expect(ending.text == "ACK r\(number)\n", "\(ending.errorText)")
            }
            try await me.sandbox.setLMS(habits: "status:503")
            for clock in ["+3650d", "-7300d"] {
                let environment = FakeClock.at(clock)
                try await me.send(
                    "--max-attempts", "1", "--longest-wait", "1s", expecting: [75], environment: environment)
            }
            try await me.sandbox.setLMS(habits: "")
            try await me.send()
            try await me.expectOnce(clocks.indices.map { "r\($0)" })
        }
    }

    // MARK: Disks

    @Test(.enabled(if: BadDay.mayMount, "only root may mount a small disk"))
    func `a full disk stops storing, and acknowledged reports are there`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let text = String(repeating: "x", count: 8000)
        let lines = (0..<2000).map { #"{"id":"r\#($0)","user":"u","session":"s\#($0)","report":{"x":"\#(text)"}}"# }
        let file = try me.home.write(lines.joined(separator: "\n") + "\n", to: "lines")
        // The freed space holds the requests besides the reports, with their log: the disk is full once, not twice.
        let script = #"""
            mount -t tmpfs -o size=48m none /mnt
            export LECTURE_STORE=/mnt/store
            head -c 32M /dev/zero > /mnt/room
            "$0" lms add --batch < "$1" > "$2/acks" || echo "status $?"
            "$0" lms send --target "$3/lms/json" --format json --quiet || echo "status $?"
            rm /mnt/room
            "$0" lms send --target "$3/lms/json" --format json --quiet
            "$0" lms list --ids > "$2/ids"
            "$0" store check >/dev/null
            "$0" lms list --summary --json | head -n 1
            """#
        let ending = try await me.withMounts(script, file, me.home.path, sandbox.http)
        #expect(ending.status == 0, "\(ending.errorText)")
        let said = ending.text.split(separator: "\n")
        #expect(said.dropLast() == ["status 75", "status 75"], "\(ending.text)")
        #expect(said.last?.contains(#""conserved":true"#) == true, "\(ending.text)")
        let acknowledged = StatisticsScene.acknowledged(
            try String(contentsOfFile: me.home.file("acks"), encoding: .utf8))
        let ids = try String(contentsOfFile: me.home.file("ids"), encoding: .utf8).split(separator: "\n").map(
            String.init)
        #expect(!acknowledged.isEmpty && acknowledged.count < lines.count)
        #expect(Set(acknowledged).isSubset(of: ids))
        let taken = try await sandbox.lmsEvents().filter { $0.effects > 0 }
        #expect(Set(taken.map(\.id)) == Set(ids))
        let sums = try await sandbox.lmsSummary()
        #expect(sums.more == 0 && sums.keyViolations == 0 && sums.contentViolations == 0, "\(sums)")
        await sandbox.stop()
    }
}
