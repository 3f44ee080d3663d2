import LectureModel

/// The callers of a service that sends: each waits for the result of its own order.
struct OrderWaiters<Result: Sendable> {
    private var last = 0
    private var waiters: [Int: Waiter<Result>] = [:]

    /// A caller begins to wait.
    ///
    /// - Parameter waiter: answered with the result of the order.
    /// - Returns: the number of its order.
    mutating func add(_ waiter: Waiter<Result>) -> Int {
        last += 1
        waiters[last] = waiter
        return last
    }

    /// An order has ended. Without effect if its caller has stopped waiting.
    mutating func answer(_ order: Int, _ result: Result) { waiters.removeValue(forKey: order)?.answer(result) }

    /// The machine has stopped: it has ended all orders that it knew, and the others get this result.
    mutating func answerAll(_ result: Result) { for waiter in takeAll() { waiter.answer(result) } }

    /// No order can be carried out now. Finished work stays, and the next call continues.
    mutating func failAll(_ error: LectureError) { for waiter in takeAll() { waiter.fail(error) } }

    /// A caller stops waiting; its order is still carried out.
    mutating func forget(_ waiter: Waiter<Result>) { waiters = waiters.filter { $0.value !== waiter } }

    /// Empty before the first is answered, which may lead to another call.
    private mutating func takeAll() -> [Waiter<Result>] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}
