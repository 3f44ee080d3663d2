import Foundation
import Testing

@testable import LectureFiles

/// What is known of the directories of outputs counts for a second.
@Suite(.timeLimit(.minutes(1))) struct OutsideDirectoriesTests {
    private let scratch: Scratch
    private let outside = OutsideDirectories()
    private let store: Descriptor
    private let now = ContinuousClock.now

    init() throws {
        scratch = try Scratch()
        store = try Self.directory("\(scratch.path)/store")
    }

    private static func directory(_ path: String) throws -> Descriptor {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return Descriptor(takingOwnership: unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    private func contains(_ directory: Descriptor, after time: Duration = .zero) throws -> Bool {
        try outside.contains(directory, [try store.status()], now: now + time)
    }

    @Test func `A directory that is moved into the store is found out after a second`() throws {
        let output = try Self.directory("\(scratch.path)/output")
        #expect(try contains(output))
        try FileManager.default.moveItem(atPath: "\(scratch.path)/output", toPath: "\(scratch.path)/store/output")
        #expect(try contains(output, after: OutsideDirectories.age - .nanoseconds(1)))
        #expect(try !contains(output, after: OutsideDirectories.age))
    }

    @Test func `The store and what is below it are never outside, however often that is asked`() throws {
        let below = try Self.directory("\(scratch.path)/store/media/0000")
        for _ in 0..<3 { #expect(try !contains(store) && !contains(below)) }
    }

    @Test func `A finding about one store says nothing about another`() throws {
        let output = try Self.directory("\(scratch.path)/output/below")
        #expect(try contains(output))
        let other = try Self.directory("\(scratch.path)/output")
        #expect(try !outside.contains(output, [try other.status()], now: now))
    }

    @Test func `More directories than are kept are each found right`() throws {
        for number in 0..<300 { #expect(try contains(Self.directory("\(scratch.path)/outputs/\(number)"))) }
        #expect(try !contains(Self.directory("\(scratch.path)/store/media")))
    }
}
