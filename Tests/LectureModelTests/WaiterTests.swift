import LectureModel
import Testing

/// Calls that wait, and the first event to end them.
@Suite struct WaiterTests {
    @Test func `an answer before the call is kept, and later ones are ignored`() async throws {
        let waiter = Waiter<Int>()
        #expect(waiter.answer(1))
        #expect(!waiter.answer(2))
        waiter.fail(LectureError(.closing))
        #expect(try await waiter.value() == 1)
    }

    @Test func `a call fails with the given error`() async {
        let waiter = Waiter<Int>()
        waiter.fail(LectureError(.closing))
        await #expect(throws: LectureError(.closing)) { try await waiter.value() }
    }

    @Test func `a cancelled call ends without an answer, and a later one is refused`() async {
        let waiter = Waiter<Int>()
        let task = Task { try await waiter.value() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!waiter.answer(1))
    }

    @Test func `a call in an already cancelled task ends as well`() async {
        let waiter = Waiter<Int>()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await waiter.value()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `of a simultaneous answer and cancellation one counts, and both sides agree which`() async {
        for _ in 0..<200 {
            let waiter = Waiter<Int>()
            let task = Task { try await waiter.value() }
            async let isAnswered = waiter.answer(7)
            async let _ = task.cancel()
            switch (await isAnswered, await task.result) {
            case (true, .success(let value)): #expect(value == 7)
            case (false, .failure(let error)): #expect(error is CancellationError)
            case (true, .failure(let error)): Issue.record("answered, and yet \(error)")
            case (false, .success): Issue.record("a value without an answer")
            }
        }
    }
}
