import LectureModel
import LectureTestSupport
import Testing

@testable import LectureKit

/// The output of `why` in every state, with and without a process that would act on it.
struct DiagnosisTests {
    private static let now = Timestamp(milliseconds: 1_000_000)
    private static let worker = StoreProcess(
        pid: 4711, command: "lecturectl precache", started: now, lectures: 1, isWriting: false)

    private static func situation(
        _ state: ItemState, _ change: (inout Situation) -> Void = { _ in }
    ) throws -> Situation {
        let content = Content(
            key: try ContentKey("a"), sourceURL: "https://h.example/a.mp4", title: "A", state: state, added: now)
        var situation = Situation(content: content, targetState: .fetch, workers: [], now: now)
        change(&situation)
        return situation
    }

    /// Every state and stop reason, each with and without an error, a due attempt, and a process.
    private static func all() throws -> [Situation] {
        var all: [Situation] = []
        for state in ItemState.allCases {
            let reasons: [StopReason?] = state == .stopped ? StopReason.allCases : [nil]
            for reason in reasons {
                for code in [nil, LectureError.Code.status(404), .connect, .damaged, .mediaMissing, .quota] {
                    for next in [nil, now + .seconds(59), now + .seconds(-1)] {
                        for holder in [nil, true, false] {
                            for hasWorker in [false, true] {
                                all.append(
                                    try situation(state) { situation in
                                        situation.content.stopReason = reason
                                        situation.content.error = code.map { LectureError($0, detail: "h.example") }
                                        situation.content.nextAttempt = next
                                        situation.holder = holder.map { .init(process: worker, isAlive: $0) }
                                        situation.workers = hasWorker ? [worker] : []
                                    })
                            }
                        }
                    }
                }
            }
        }
        return all
    }

    @Test func `without a process nothing is promised that needs one`() throws {
        for situation in try Self.all() where situation.workers.isEmpty && situation.holder?.isAlive != true {
            let text = "\(situation.what) \(situation.why) \(situation.next)"
            for promise in [
                "Process 4711 ", "by itself.", "tries again in", "downloads it", "ahead of it", "continues in",
            ] {
                let isDenied = promise == "by itself." && text.contains("not retried by itself.")
                #expect(!text.contains(promise) || isDenied, "\(situation.content.state): \(text)")
            }
            #expect(!text.contains("resolver"), "\(text)")
        }
    }

    @Test func `every message is a sentence, and every situation has a next step or needs none`() throws {
        for situation in try Self.all() {
            for text in [situation.what, situation.why, situation.next, situation.remedy] where !text.isEmpty {
                #expect(text.hasSuffix(".") && text.first?.isUppercase == true || text.hasPrefix("'"), "\(text)")
                #expect(!text.contains("..") && !text.contains("  "), "\(text)")
            }
            #expect(!situation.what.isEmpty)
            let isRunning = situation.holder?.isAlive == true || !situation.workers.isEmpty
            let needsUser = ![.completed, .removing].contains(situation.content.state) && !isRunning
            #expect(!needsUser || !situation.remedy.isEmpty, "\(situation.content.state): \(situation.next)")
        }
    }

    @Test func `a queued lecture names its downloader and the lectures before it`() throws {
        var situation = try Self.situation(.queued)
        #expect(situation.why == "No process is downloading.")
        #expect(situation.remedy == "Run 'lecturectl precache'.")
        situation.workers = [Self.worker]
        #expect(situation.next == "Process 4711 (lecturectl precache) downloads it." && situation.remedy.isEmpty)
        situation.ahead = 1
        #expect(situation.why == "One lecture is ahead of it.")
        situation.ahead = 14
        #expect(situation.why == "14 lectures are ahead of it.")
        situation.content.error = LectureError(.status(500), detail: "h.example")
        situation.content.nextAttempt = Self.now + .seconds(59)
        #expect(situation.why.hasPrefix("H.example: the server answered HTTP 500."))
        #expect(situation.next == "Process 4711 (lecturectl precache) tries again in 59s.")
    }

    @Test func `a killed process is named, and one that takes over as well`() throws {
        var situation = try Self.situation(.downloading) {
            $0.holder = .init(process: Self.worker, isAlive: false)
        }
        #expect(situation.what.hasPrefix("Interrupted: process 4711"))
        #expect(situation.next == "Nothing happens until a process downloads again.")
        situation.workers = [
            StoreProcess(pid: 5, command: "lecturectl precache", started: Self.now, lectures: 0, isWriting: false)
        ]
        #expect(situation.next == "Process 5 (lecturectl precache) takes over." && situation.remedy.isEmpty)
    }

    @Test func `a user's pause shows how to resume, and that a process is needed`() throws {
        var situation = try Self.situation(.stopped) { $0.content.stopReason = .user }
        #expect(situation.what == "Paused by a user." && situation.why.isEmpty)
        #expect(situation.remedy == "Run 'lecturectl resume a', then 'lecturectl precache'.")
        situation.targetState = .cancel
        situation.workers = [Self.worker]
        #expect(situation.what == "Cancelled by a user." && situation.remedy == "Run 'lecturectl resume a'.")
    }

    @Test func `a playable older version is mentioned`() throws {
        let situation = try Self.situation(.failed) { $0.content.isOutdated = true }
        #expect(situation.notes == ["An older version is complete and stays playable until the new one is complete."])
    }
}

extension LectureError.Code {
    fileprivate static var connect: Self { .transfer(7) }
}
