// An application that is written for Swift 6: it reads the typed events, and has a delegate only for the rest.
import Foundation
import KollusSDK
import KollusTestSupport
import Testing

/// Only in Swift 6 mode, because its checks are what is tested here.
actor Shelf {
    private let storage = KollusStorage()
    private(set) var complete: Set<String> = []

    func open(_ academy: Academy) throws {
        academy.configure(storage)
        try storage.start()
    }

    func fetch(_ urls: [String]) async throws -> Int {
        let events = storage.events
        var missing: Set<String> = []
        for url in urls { missing.insert(try await storage.load(url)) }
        for key in missing { try storage.downloadContent(key) }
        for await event in events {
            switch event {
            case .completed(let content): complete.insert(content.mediaContentKey)
            case .failed(_, let error), .stopped(_, let error): throw error
            default: break
            }
            if complete == missing { break }
        }
        return try storage.contents(.completed.sorted(by: .title)).count
    }

    func close() async { await storage.finish() }
}

@Suite(.timeLimit(.minutes(1)))
struct ModernClientNetTests {
    @Test
    func `an actor follows the events of its storage`() async throws {
        let academy = try await Academy.open()
        let shelf = Shelf()
        try await shelf.open(academy)
        #expect(try await shelf.fetch((1...3).map { academy.media("64K", $0) }) == 3)
        #expect(await shelf.complete.count == 3)
        await shelf.close()
        await academy.close()
    }
}
