/// A call that waits. It is resumed exactly once: by its result, or by the cancellation of its task, whichever comes
/// first. Later results have no effect.
///
/// The resuming side keeps the waiter in a list; the caller removes it when ``value(isolation:)`` throws. Thread-safe.
package final class Waiter<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var end: Result<Value, any Error>?
    }

    private let state = Guarded(State())

    /// Creates a waiter; a result that arrives before the wait is kept.
    package init() {}

    /// Resumes the call.
    ///
    /// - Parameter value: what the call returns.
    /// - Returns: false when the call had already ended; then the value was not delivered.
    @discardableResult
    package func answer(_ value: Value) -> Bool { end(.success(value)) }

    /// Ends the call with an error.
    ///
    /// - Parameter error: what the call throws.
    package func fail(_ error: any Error) { _ = end(.failure(error)) }

    private func end(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            guard state.end == nil else { return (false, nil) }
            state.end = result
            defer { state.continuation = nil }
            return (true, state.continuation)
        }
        continuation?.resume(with: result)
        return isFirst
    }

    /// Waits for the result; to be called once.
    ///
    /// - Parameter isolation: the caller's own, which it keeps until it is suspended.
    /// - Returns: the result.
    /// - Throws: the error passed to ``fail(_:)``, or `CancellationError` as soon as the task is cancelled.
    package func value(isolation: isolated (any Actor)? = #isolation) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let end = state.withLock { state in
                    if state.end == nil { state.continuation = continuation }
                    return state.end
                }
                if let end { continuation.resume(with: end) }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }
}
