public import LectureModel

/// A process of its own that goes on with a store's downloads once this one has ended, however it ends.
///
/// It is `lecturectl precache` on the same store, started detached and held back by a pipe that closes with this process.
public final class BackgroundWorker: Sendable {
    /// Starts the worker; it waits.
    ///
    /// - Parameters:
    ///   - configuration: of the store.
    ///   - configurationFile: what the worker reads beside; nil for the environment's.
    ///   - program: the `lecturectl` to run; nil looks beside this program and then along `PATH`.
    /// - Throws: ``LectureError`` with `workerMissing` when there is no `lecturectl`, or `workerFailed`.
    public init(
        _ configuration: LectureConfiguration, configurationFile: String? = nil, program: String? = nil
    ) throws(LectureError) { throw LectureError(.bug) }

    /// Ends the worker while it waits: nothing is to go on.
    public func dismiss() {}

    /// Lets the worker go on now.
    public func release() {}
}
