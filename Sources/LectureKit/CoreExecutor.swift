import Dispatch

/// The one place where the store's writer, the engine and the manager run: a serial dispatch queue as the manager's
/// executor. SQLite blocks, so it may not run on the cooperative pool.
final class CoreExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "lecturekit.core", qos: .userInitiated)

    func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        queue.async { unsafe unowned.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
