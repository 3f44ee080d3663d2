import LectureCommand
import LectureDoctor
import LectureKit
import LectureModel
import Testing

/// What follows from the facts about an installation.
@Suite struct ExaminationTests {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    /// Facts with an open store.
    static func examination(_ change: (inout StoreMetrics) -> Void = { _ in }) -> Examination {
        var examination = Examination(now: now)
        var metrics = StoreMetrics(read: now)
        (metrics.space.free, metrics.space.size, metrics.space.reserve) = (100 << 30, 500 << 30, 150 << 20)
        change(&metrics)
        examination.storeDirectory = "/s"
        examination.store = .open(Examination.Figures(metrics: metrics))
        return examination
    }

    static func contact(
        _ url: String, _ result: Result<ServerAnswer, LectureError>, use: StoreServer.Use = .media, count: Int = 0
    ) throws -> Examination.Contact {
        Examination.Contact(try StoreServer(use: use, url: url, count: count), result, at: now)
    }

    static func finding(_ subject: Finding.Subject, _ examination: Examination) throws -> Finding {
        let found = examination.findings.filter { $0.subject == subject }
        try #require(found.count == 1)
        return found[0]
    }

    @Test func `nothing is wrong with a new installation`() {
        let findings = Examination(now: Self.now).findings
        #expect(findings.map(\.subject) == [.configuration, .store, .deviceKey, .clock, .server])
        #expect(findings.allSatisfy { $0.grade <= .note && $0.error == nil })
    }

    @Test func `each mistake of the configuration is a finding`() {
        var examination = Examination(now: Self.now)
        examination.configurationFile = "/c.json"
        #expect(examination.findings[0].grade == .ok && examination.findings[0].name == "/c.json")
        examination.mistakes = [LectureError(.configuration, detail: "a"), LectureError(.secretReadable, detail: "b")]
        let found = examination.findings.filter { $0.subject == .configuration }
        #expect(found.map(\.error) == examination.mistakes && found.allSatisfy { $0.grade == .failed })
    }

    @Test func `a store is missing, old, refused or open`() throws {
        var examination = Self.examination {
            $0.groups = [.init(course: "", state: .completed, contents: 1, committedBytes: 5)]
        }
        #expect(try Self.finding(.store, examination).message == "It can be used: 1 lecture.")
        let figures = Examination.Figures(
            metrics: StoreMetrics(read: Self.now), readOnly: LectureError(.storeReadOnly, detail: "/s"))
        examination.store = .open(figures)
        let readOnly = try Self.finding(.store, examination)
        #expect(readOnly.grade == .failed && readOnly.error?.code == .storeReadOnly)
        examination.store = .old(["a", "b"])
        #expect(try Self.finding(.store, examination).message.contains("(2 steps are missing)"))
        #expect(try Self.finding(.store, examination).grade == .warning)
        examination.store = .refused(LectureError(.storeNewer))
        #expect(try Self.finding(.store, examination) == Finding(.store, LectureError(.storeNewer), name: "/s"))
        #expect(!examination.findings.contains { [.disk, .lectures, .reports].contains($0.subject) })
    }

    static let space: [(free: Int64?, size: Int64?, quota: Int64?, used: Int64, grade: Finding.Grade, text: String)] = [
        (100 << 30, 500 << 30, nil, 0, .ok, "100 GiB free, of which downloads leave 150 MiB."),
        (151 << 20, 500 << 30, nil, 0, .warning, "151 MiB free, of which downloads leave 150 MiB."),
        (9 << 30, 500 << 30, nil, 0, .warning, "9.00 GiB free, of which downloads leave 150 MiB."),
        (3 << 30, nil, nil, 0, .ok, "3.00 GiB free, of which downloads leave 150 MiB."),
        (150 << 20, 500 << 30, nil, 0, .failed, "150 MiB free, of which downloads leave 150 MiB: they stop."),
        (0, 1, nil, 0, .failed, "0 B free, of which downloads leave 150 MiB: they stop."),
        (100 << 30, 500 << 30, 1 << 40, 1 << 40, .failed, "The quota is used up: 1.00 TiB of 1.00 TiB."),
        (100 << 30, 500 << 30, 1 << 40, 5, .ok, "100 GiB free, of which downloads leave 150 MiB."),
        (nil, nil, nil, 0, .note, "The free space is unknown."),
    ]

    @Test(arguments: space)
    func `space is enough, short, or used up`(
        free: Int64?, size: Int64?, quota: Int64?, used: Int64, grade: Finding.Grade, text: String
    ) throws {
        let finding = try Self.finding(
            .disk,
            Self.examination { metrics in
                (metrics.space.free, metrics.space.size) = (free, size)
                (metrics.space.quota, metrics.space.used) = (quota, used)
            })
        #expect(finding.grade == grade && finding.message == text)
        #expect(finding.remedy.isEmpty == (grade < .warning))
    }

    @Test func `the device's key is there, missing or refused`() throws {
        var examination = Self.examination()
        #expect(try Self.finding(.deviceKey, examination).grade == .note)
        examination.deviceDirectory = "/d"
        examination.device = .failure(LectureError(.deviceKeyRefused))
        #expect(
            try Self.finding(.deviceKey, examination)
                == Finding(.deviceKey, LectureError(.deviceKeyRefused), name: "/d"))
    }

    // MARK: The clock

    static let clocks: [(ahead: [Int64], grade: Finding.Grade, text: String)] = [
        ([0], .ok, "agrees with https://h0"), ([59], .ok, "agrees"), ([60], .warning, "60 seconds ahead of https://h0"),
        ([-299], .warning, "4 minutes behind"), ([300], .failed, "5 minutes ahead"),
        ([-7200], .failed, "2 hours behind"), ([500_000], .failed, "5 days ahead"),
        // One server is wrong itself.
        ([86_400, 2, -400], .ok, "agrees with https://h1"), ([], .note, "was compared with no server"),
    ]

    @Test(arguments: clocks)
    func `the clock is compared with servers over https`(ahead: [Int64], grade: Finding.Grade, text: String) throws {
        var examination = Self.examination()
        examination.contacts = try ahead.enumerated().map { place, seconds in
            let date = Timestamp(milliseconds: Self.now.milliseconds - seconds * 1000)
            return try Self.contact(
                "https://h\(place)/", .success(ServerAnswer(status: 200, elapsed: .zero, date: date)))
        }
        // What anyone on the way can forge is not asked.
        let old = Timestamp(milliseconds: 0)
        examination.contacts.append(
            try Self.contact("http://p", .success(ServerAnswer(status: 200, elapsed: .zero, date: old))))
        let finding = try Self.finding(.clock, examination)
        #expect(finding.grade == grade && finding.message.contains(text), "\(finding)")
    }

    @Test func `a clock that was set back is noticed without a network`() throws {
        for (seconds, grade) in [(61, Finding.Grade.failed), (59, .note)] {
            var examination = Self.examination()
            examination.store = .open(
                Examination.Figures(metrics: StoreMetrics(read: Self.now), judged: Self.now + .seconds(seconds)))
            #expect(try Self.finding(.clock, examination).grade == grade)
        }
    }

    // MARK: Contents

    @Test func `licences are judged as a whole`() throws {
        var licences = StoreMetrics.Licences()
        licences.granted = 5
        #expect(try Self.finding(.licences, Self.examination { $0.licences = licences }).grade == .ok)
        licences.ending = [7: 2]
        let due = try Self.finding(.licences, Self.examination { $0.licences = licences })
        #expect(due.grade == .warning && due.message == "5 granted, 0 ended or to be checked, 2 end within 7 days.")
        #expect(try Self.finding(.licences, Self.examination()).grade == .failed)
        #expect(!Self.examination { $0.licences = .init() }.findings.contains { $0.subject == .licences })
        var examination = Self.examination()
        let figures = Examination.Figures(metrics: StoreMetrics(read: Self.now), objection: LectureError(.storeCopied))
        examination.store = .open(figures)
        #expect(try Self.finding(.licences, examination).error == LectureError(.storeCopied))
    }

    @Test func `webhooks have a line if there are some, and say what to do`() throws {
        var metrics = StoreMetrics(read: Timestamp(milliseconds: 1_790_000_000_000))
        func finding() -> Finding? {
            var examination = Examination(now: metrics.read)
            examination.store = .open(Examination.Figures(metrics: metrics))
            return examination.findings.first { $0.subject == .webhooks }
        }
        #expect(finding() == nil)
        metrics.webhooks = [StoreMetrics.Webhook(number: 1, host: "a.example")]
        metrics.webhooks.append(StoreMetrics.Webhook(number: 2, host: "b.example"))
        #expect(finding()?.grade == .ok && finding()?.remedy == "")
        metrics.webhooks[0].waiting = 3
        metrics.webhooks[0].oldestWaiting = metrics.read + .seconds(-60)
        #expect(finding()?.grade == .ok)
        metrics.webhooks[0].oldestWaiting = metrics.read + .seconds(-7200)
        #expect(finding()?.grade == .warning && finding()?.remedy.contains("webhooks test") == true)
        metrics.webhooks[1].dead = 2
        #expect(finding()?.message == "3 events wait to be sent, 2 were refused for good.")
        #expect(finding()?.remedy.contains("webhooks retry") == true)
        (metrics.webhooks[1].dead, metrics.webhooks[1].isGone) = (0, true)
        #expect(finding()?.grade == .warning && finding()?.message.contains("b.example") == true)
    }

    @Test func `lectures that failed and reports that were refused need attention`() throws {
        let examination = Self.examination { metrics in
            metrics.groups = [
                .init(course: "", state: .failed, contents: 2, committedBytes: 0),
                .init(course: "a", state: .failed, contents: 1, committedBytes: 0),
                .init(course: nil, state: .completed, contents: 9, committedBytes: 0),
            ]
            metrics.targets = [.init(number: 1, format: .json, host: "h")]
            (metrics.targets[0].waiting, metrics.targets[0].dead) = (4, 1)
        }
        let (lectures, reports) = (try Self.finding(.lectures, examination), try Self.finding(.reports, examination))
        #expect(lectures.grade == .warning && lectures.message == "9 complete, 0 stopped, 3 failed.")
        #expect(reports.grade == .warning && reports.message == "4 wait to be sent, 1 were refused for good.")
    }

    // MARK: Servers

    static let answers: [(status: Int, redirect: String?, grade: Finding.Grade)] = [
        (200, nil, .ok), (401, nil, .ok), (404, nil, .ok), (405, nil, .ok), (302, "https://login.example", .note),
        (301, nil, .ok), (407, nil, .failed), (511, nil, .failed), (500, nil, .warning), (503, nil, .warning),
    ]

    @Test(arguments: answers)
    func `a server that answers is reachable, whatever it answers`(
        status: Int, redirect: String?, grade: Finding.Grade
    ) throws {
        var examination = Self.examination()
        let answer = ServerAnswer(status: status, elapsed: .milliseconds(12), redirect: redirect)
        examination.contacts = [try Self.contact("https://u:pw@h.example/a?token=1", .success(answer), count: 2)]
        let finding = try Self.finding(.server, examination)
        #expect(finding.grade == grade && finding.name == "https://h.example")
        #expect(finding.message.hasPrefix("It answers (2 unfinished lectures): HTTP \(status) after 12 ms, with a"))
        #expect(finding.message.contains(redirect ?? "It answers"))
    }

    @Test func `servers are named with what needs them`() throws {
        var examination = Self.examination()
        let answer = ServerAnswer(status: 200, elapsed: .zero)
        examination.contacts = [
            try Self.contact("http://a", .success(answer)), try Self.contact("http://a", .success(answer), count: 1),
            try Self.contact("http://a", .success(answer), use: .licences, count: 7),
            try Self.contact("http://a", .success(answer), use: .reports),
            try Self.contact("http://a", .success(answer), use: .reports, count: 3),
            try Self.contact("http://a", .failure(LectureError(.transfer(6), detail: "a"))),
        ]
        let words = ["named", "1 unfinished lecture", "7 licences", "the LMS", "3 waiting reports", "resolved"]
        let servers = examination.findings.filter { $0.subject == .server }
        #expect(zip(servers, words).allSatisfy { $0.message.contains($1) } && servers.count == words.count)
        #expect(servers[0].message.contains("ms.") && servers.last?.grade == .failed)
        for word in ["ftp://h", "nothing", ""] {
            #expect(throws: LectureError.self) { try StoreServer(use: .media, url: word) }
        }
    }

    @Test func `without a server the command that asks one is named`() throws {
        var examination = Self.examination()
        #expect(try Self.finding(.server, examination).remedy.contains("lecturectl doctor https://HOST"))
        examination.asksServers = false
        #expect(try Self.finding(.server, examination).message == "No server was asked.")
    }

    /// A remedy is a command that exists; `DoctorProgramTests` does what they say.
    @Test func `every command in a remedy is one`() throws {
        var bad = Self.examination { metrics in
            metrics.space.free = 0
            var licences = StoreMetrics.Licences()
            (licences.granted, licences.ended) = (1, 1)
            metrics.licences = licences
            metrics.groups = [.init(course: "", state: .failed, contents: 2, committedBytes: 0)]
            metrics.targets = [.init(number: 1, format: .json, host: "h")]
            metrics.targets[0].dead = 1
        }
        var all = bad.findings + Examination(now: Self.now).findings
        bad.store = Examination.Store.old(["a"])
        all +=
            bad.findings
            + Self.examination { metrics in
                metrics.targets = [.init(number: 1, format: .json, host: "h")]
                metrics.targets[0].waiting = 1
            }.findings
        let commands = all.flatMap { $0.remedy.split(separator: "'").filter { $0.hasPrefix("lecturectl ") } }
        #expect(Set(commands).count == 11)
        for command in Set(commands) where command != "lecturectl precache" {
            let words = command.split(separator: " ").dropFirst().map(String.init)
            _ = try ArgumentParser.parse(words)
        }
    }
}
