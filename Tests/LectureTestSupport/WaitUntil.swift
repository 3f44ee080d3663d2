/// Asks again and again until something is so.
///
/// It ends with its task: a test that exceeds its time limit fails under its own name, and the others go on.
///
/// - Parameters:
///   - isolation: where it asks; that of the caller.
///   - isSo: whether it is so now.
/// - Throws: `CancellationError`, and what `isSo` throws.
package func waitUntil(
    isolation: isolated (any Actor)? = #isolation, _ isSo: () async throws -> Bool
) async throws {
    while try await !isSo() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
