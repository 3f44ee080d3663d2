import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureServe

/// What the API changes, and that a second request does what the document says.
@Suite(.timeLimit(.minutes(4))) struct APIChangeNetTests {
    @Test func `a lecture is requested, steered and deleted`() async throws {
        try await APIRig.with { rig in
            try await rig.sandbox.set(fault: "slow:20000", on: "/media/bytes-16M-9.mp4")
            let body = """
                {"url": "\(rig.sandbox.http)/media/bytes-16M-9.mp4", "key": "four", "title": "三", "course": "c", \
                "teacher": "t", "priority": 7.0}
                """
            for _ in 1...2 {
                let made = try await rig.ask("POST", "lectures", body)
                #expect(made.status == 202 && made.json["title"] as? String == "三")
                #expect(made.json["priority"] as? Int == 7 && made.json["teacher"] as? String == "t")
            }
            #expect(try await rig.keys("?state=completed").count == 3)
            try await rig.wait(for: "four") { $0?.state == .downloading }
            // Each twice: the second one changes nothing.
            let steps = [("resume", "downloading"), ("pause", "stopped"), ("resume", ""), ("cancel", "stopped")]
            for (name, state) in steps {
                for _ in 1...2 {
                    let answer = try await rig.ask("POST", "lectures/four/\(name)")
                    #expect(answer.status == 200 && answer.json["key"] as? String == "four", "\(name)")
                }
                guard !state.isEmpty else { continue }
                try await rig.wait(for: "four") { $0?.state.name == state }
            }
            for priority in [-100, 100, 100] {
                let answer = try await rig.ask("PUT", "lectures/four/priority", "{\"priority\": \(priority)}")
                #expect(answer.json["priority"] as? Int == priority)
            }
            #expect(try await rig.ask("POST", "lectures/four/retry").status == 200)
            let gone = try await rig.ask("DELETE", "lectures/four")
            #expect(gone.status == 202 && gone.json["state"] as? String == "removing")
            try await rig.wait(for: "four") { $0 == nil }
            #expect(try await rig.ask("DELETE", "lectures/four").name == "unknown_content")
            #expect(try await rig.keys("").contains("four") == false)
        }
    }

    @Test func `what a state does not permit is a conflict`() async throws {
        try await APIRig.with { rig in
            for name in ["pause", "resume", "cancel", "retry"] {
                let answer = try await rig.ask("POST", "lectures/one/\(name)")
                #expect(answer.status == 409 && answer.name == "already_downloaded", "\(name): \(answer.text)")
            }
            #expect(try await rig.ask("POST", "lectures/one/renew").name == "licence_missing")
            for name in ["pause", "resume", "cancel", "retry", "renew"] {
                #expect(try await rig.ask("POST", "lectures/none/\(name)").name == "unknown_content", "\(name)")
            }
            let priority = try await rig.ask("PUT", "lectures/none/priority", #"{"priority": 1}"#)
            #expect(priority.name == "unknown_content")
            #expect(try await rig.ask("GET", "lectures/one").json["state"] as? String == "completed")
        }
    }

    @Test func `a failed lecture is tried again, by this process where no other one has it`() async throws {
        try await APIRig.with { rig in
            #expect(try await rig.ask("POST", "lectures/three/retry").status == 200)
            let before = try await rig.list("lectures/three/attempts", "attempts").count
            try await rig.wait(for: "three") { $0?.state == .failed }
            let after = try await rig.list("lectures/three/attempts", "attempts").count
            #expect(after >= before && after >= 2)
        }
    }

    @Test func `licences are renewed, one and those of a day`() async throws {
        try await APIRig.with { rig in
            func renewals() async -> Int {
                let (manager, server) = (rig.manager, rig.server)
                _ = server
                for await event in manager.events {
                    if case .renewalEnded(let report) = event { return report.total }
                }
                return 0
            }
            async let first = renewals()
            #expect(try await rig.ask("POST", "lectures/bytes-300K-3/renew").status == 202)
            #expect(await first == 1)
            let day = try #require(try await rig.list("licences/days", "days").first?["day"] as? String)
            async let second = renewals()
            let started = try await rig.ask("POST", "licences/days/\(day)/renew")
            #expect(started.status == 202 && started.json["count"] as? Int == 1)
            #expect(await second == 1)
            for day in ["2001-01-01", "2000-02-29"] {
                #expect(try await rig.ask("POST", "licences/days/\(day)/renew").json["count"] as? Int == 0)
            }
            for day in ["2001-02-29", "today", "2001-1-1", "2001-01-01T00", "9999999999"] {
                #expect(try await rig.ask("POST", "licences/days/\(day)/renew").status == 400, "\(day)")
            }
        }
    }

    @Test func `refused reports are sent again, and counted`() async throws {
        try await APIRig.with { rig in
            try await rig.sandbox.set(fault: "400", on: "/lms/json")
            _ = try await rig.manager.reports.send()
            let dead = try await rig.ask("GET", "reports/summary").json["dead"] as? Int
            #expect(try await rig.list("reports?state=dead", "reports").count == dead)
            #expect(try await rig.ask("POST", "reports/retry").json["count"] as? Int == dead)
            #expect(try await rig.ask("POST", "reports/retry").json["count"] as? Int == 0)
            #expect(try await rig.ask("GET", "reports/summary").json["dead"] as? Int == 0)
        }
    }
}
