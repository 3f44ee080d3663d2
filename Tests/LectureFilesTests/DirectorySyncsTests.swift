import Foundation
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureFiles

/// A disk whose syncs wait until they are let go, one after the other.
private final class SlowDisk: Sendable {
    private struct State {
        var started = 0
        var errors: [SystemError?] = []
    }

    private let state = Monitor(State())

    /// How many syncs have started.
    var started: Int { state.read { $0.started } }

    /// Waits until this sync is let go.
    func sync() throws(SystemError) {
        let number = state.change { state in
            state.started += 1
            return state.started
        }
        let error: SystemError? = state.wait { $0.errors.count >= number ? .some($0.errors[number - 1]) : nil }
        if let error { throw error }
    }

    /// Lets the next sync go.
    func end(_ error: SystemError? = nil) { state.change { $0.errors.append(error) } }
}

@Suite(.timeLimit(.minutes(1))) struct DirectorySyncsTests {
    private let scratch: Scratch
    private let disk = SlowDisk()
    private let syncs: DirectorySyncs
    private let outcomes = Monitor<[String: Int32]>([:])

    init() throws {
        scratch = try Scratch()
        syncs = DirectorySyncs { [disk] _ throws(SystemError) in try disk.sync() }
    }

    private func directory(_ name: String = "") throws -> Descriptor {
        let path = "\(scratch.path)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return Descriptor(takingOwnership: unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    /// Syncs on a thread of its own; the outcome is the error's number, or 0.
    private func sync(_ directory: Descriptor, as name: String) {
        Thread.detachNewThread { [syncs, outcomes] in
            var number: Int32 = 0
            do throws(SystemError) { try syncs.sync(directory) } catch { number = error.number }
            outcomes.change { $0[name] = number }
        }
    }

    private func outcomes(_ count: Int) async throws -> [String: Int32] {
        try await waitUntil { outcomes.read { $0.count } == count }
        return outcomes.read { $0 }
    }

    @Test func `Those who come during a sync share the next one`() async throws {
        let place = try directory()
        sync(place, as: "first")
        try await waitUntil { disk.started == 1 }
        for number in 1...20 { sync(try directory(), as: "later \(number)") }
        try await waitUntil { syncs.callers == 21 }
        #expect(disk.started == 1)
        disk.end()
        try await waitUntil { disk.started == 2 }
        // None of them returns before a sync that began after its call has ended.
        #expect(try await outcomes(1) == ["first": 0])
        disk.end()
        let all = try await outcomes(21)
        #expect(all.values.allSatisfy { $0 == 0 })
        #expect(disk.started == 2 && syncs.callers == 0)
    }

    @Test func `A sync that fails, fails for those whom it served and for no other`() async throws {
        let place = try directory()
        sync(place, as: "first")
        try await waitUntil { disk.started == 1 }
        for number in 1...3 { sync(place, as: "second \(number)") }
        try await waitUntil { syncs.callers == 4 }
        disk.end()
        try await waitUntil { disk.started == 2 }
        sync(place, as: "third")
        try await waitUntil { syncs.callers == 4 }
        disk.end(SystemError(number: EIO))
        try await waitUntil { disk.started == 3 }
        disk.end()
        #expect(
            try await outcomes(5) == ["first": 0, "second 1": EIO, "second 2": EIO, "second 3": EIO, "third": 0])
    }

    @Test func `Directories do not wait for each other`() async throws {
        sync(try directory("one"), as: "one")
        sync(try directory("two"), as: "two")
        try await waitUntil { disk.started == 2 }
        disk.end()
        disk.end()
        #expect(try await outcomes(2) == ["one": 0, "two": 0])
    }

    @Test func `Without a caller beside it each call is a sync`() async throws {
        let place = try directory()
        for number in 1...3 {
            sync(place, as: "\(number)")
            try await waitUntil { disk.started == number }
            disk.end()
            _ = try await outcomes(number)
        }
        #expect(disk.started == 3 && syncs.callers == 0)
    }
}
