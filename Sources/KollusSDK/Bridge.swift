import Dispatch
import Foundation
import LectureModel

/// Runs asynchronous work for callers that wait for it.
///
/// The waiting caller may be one of the few threads of Swift's own pool; if the work needed that pool as well, enough
/// callers at once would wait forever. So it runs on its own threads.
final class BridgeExecutor: TaskExecutor {
    static let shared = BridgeExecutor()
    private let queue = DispatchQueue(label: "kollussdk.bridge", qos: .userInitiated, attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        queue.async { unsafe unowned.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Waits for asynchronous work. Every error is thrown as a ``KollusError``.
func waiting<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
    let box = Guarded<Result<Value, KollusError>?>(nil)
    // proof: the work runs on the bridge's own threads, so it ends even when waiting callers hold all of Swift's pool.
    let done = DispatchSemaphore(value: 0)
    Task(executorPreference: BridgeExecutor.shared) {
        let result: Result<Value, KollusError>
        do { result = .success(try await work()) } catch { result = .failure(KollusError.of(error)) }
        box.withLock { $0 = result }
        done.signal()
    }
    // proof: as above; every path of the task signals it.
    done.wait()
    guard let result = box.withLock({ $0 }) else { throw KollusError(LectureError(.bug)) }
    return try result.get()
}

/// Starts asynchronous work that no caller waits for.
func beginning(_ work: @escaping @Sendable () async -> Void) {
    Task(executorPreference: BridgeExecutor.shared) { await work() }
}

/// Translates errors into the SDK's own.
func translating<Value>(_ work: () throws -> Value) throws -> Value {
    do { return try work() } catch { throw KollusError.of(error) }
}

extension KollusError {
    /// The same error when it is the SDK's own, else a translation.
    static func of(_ error: any Error) -> KollusError { error as? KollusError ?? KollusError(wrapping: error) }

    /// The same for a call that waits, except that the cancellation of its task is not translated.
    static func ofWaiting(_ error: any Error) -> any Error { error is CancellationError ? error : of(error) }
}

extension Timestamp {
    /// As a Foundation value.
    var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// From a Foundation value.
    init(_ date: Date) { self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded(.down))) }
}

extension Duration {
    /// As a Foundation value.
    var seconds: TimeInterval { Double(milliseconds) / 1000 }
}

extension String {
    /// The members of a JSON object; nil for anything else.
    var jsonObject: [AnyHashable: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(utf8))) as? [String: Any]
    }

    /// The objects of a JSON array; empty for anything else.
    var jsonObjects: [[String: Any]] {
        ((try? JSONSerialization.jsonObject(with: Data(utf8))) as? [Any])?.compactMap { $0 as? [String: Any] } ?? []
    }
}

extension KollusExchange {
    /// As a delegate gets them: the members of the first item and all `items`, and those of the first answer.
    var dictionaries: (request: [AnyHashable: Any], json: [AnyHashable: Any]?) {
        let items = items.jsonObjects
        var request: [AnyHashable: Any] = items.first ?? [:]
        request["items"] = items
        request["server"] = server
        var json = answer?.jsonObject
        // One answer object, or an array of them: servers send both.
        let answers = json?["data"] as? [[String: Any]] ?? (json?["data"] as? [String: Any]).map { [$0] } ?? []
        if answers.count == 1, let answer = answers.first { json?.merge(answer) { old, _ in old } }
        return (request, json)
    }

    /// The contents that it is about.
    var keys: [String] { items.jsonObjects.compactMap { $0["media_content_key"] as? String } }
}
