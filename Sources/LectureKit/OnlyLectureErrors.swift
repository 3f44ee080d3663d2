import LectureModel

extension LectureError {
    /// Runs work that throws nothing but ``LectureError``: the ports of the store promise it without a type.
    ///
    /// - Parameter work: the work.
    /// - Returns: what it returns.
    /// - Throws: what it throws; `bug` for an error that breaks the promise.
    static func only<Result>(_ work: () throws -> Result) throws(LectureError) -> Result {
        do { return try work() } catch {
            throw error as? LectureError ?? LectureError(.bug, cause: "\(type(of: error))")
        }
    }

    /// As ``only(_:)``, for work that waits. It must not throw `CancellationError`: a call that can be cancelled stays
    /// untyped.
    ///
    /// - Parameters:
    ///   - isolation: the actor of the caller, on which the work runs.
    ///   - work: the work.
    /// - Returns: what it returns.
    /// - Throws: what it throws; `bug` for an error that breaks the promise.
    static func only<Result>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Result
    ) async throws(LectureError) -> Result {
        do { return try await work() } catch {
            throw error as? LectureError ?? LectureError(.bug, cause: "\(type(of: error))")
        }
    }
}
