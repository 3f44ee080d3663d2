import LectureEngine
import LectureModel

/// Which files are sealed, and whether they were closed cleanly.
extension ResourceWork {
    /// Decides before the first request for a resource whether its files will be sealed, since the grid of its chunks
    /// depends on it.
    ///
    /// - Parameters:
    ///   - item: its lecture.
    ///   - step: where the keys are.
    /// - Returns: the error that ends the lecture, for lack of a key.
    /// - Throws: what the store throws.
    mutating func decideSeal(for item: ItemRecord, _ step: Step<DownloadMachine>) throws -> LectureError? {
        guard machine.isProbing else { return nil }
        if let error = try lookUpCipher(for: item, step) { return error }
        let grid = RangeBook.grid(total: nil, isSealed: cipher != nil)
        // A transfer that has left a partial chunk behind used the same cipher.
        if book.grid.lead != grid.lead { chunks.book = RangeBook(total: nil, grid: grid, committed: []) }
        return nil
    }

    /// Finds the cipher of a resource that is sealed already.
    ///
    /// - Parameters:
    ///   - item: its lecture.
    ///   - step: where the keys are.
    /// - Returns: the error that ends the lecture, for lack of it.
    /// - Throws: what the store throws.
    mutating func findCipher(for item: ItemRecord, _ step: Step<DownloadMachine>) throws -> LectureError? {
        guard record.seal != .plain, cipher == nil else { return nil }
        // A segment that is sealed stays so, whatever is configured now: what is sealed anew is asked for by role.
        if let error = try lookUpCipher(for: item, as: record.role.isOfStream ? .media : nil, step) { return error }
        return cipher == nil ? LectureError(.sealedElsewhere, detail: item.content.key.text) : nil
    }

    private mutating func lookUpCipher(
        for item: ItemRecord, as role: ResourceRole? = nil, _ step: Step<DownloadMachine>
    ) throws -> LectureError? {
        switch try step.store.cipher(for: item, role ?? record.role) {
        case .success(let found): cipher = found
        case .failure(let error): return error
        }
        return nil
    }

    /// The seal plan of the part file. The same transaction marks the row as possibly having more sealed than
    /// committed, until the file is closed cleanly.
    mutating func sealPlan(_ step: Step<DownloadMachine>) throws -> SealPlan? {
        guard let cipher, record.seal != .plain else { return nil }
        let isClean = record.seal == .clean
        record.seal = .open
        try save(step)
        return SealPlan(cipher: cipher, isClean: isClean, committed: book.committed.indices)
    }

    /// In the transaction that ends the item: a file that was closed without a failure, and whose sealed chunks are all
    /// committed, may be continued under its header.
    mutating func recordClean(_ step: Step<DownloadMachine>) throws {
        guard record.seal == .open, machine.isClosedClean, chunks.isAllCommitted else { return }
        record.seal = .clean
        try save(step)
    }
}

extension DownloadStore {
    /// Errors that end one item; any other error is the store's and affects all items.
    private static let sealFailures: Set<LectureError.Code> = [
        .sealedElsewhere, .sealRequired, .deviceKeyRefused, .cryptography,
    ]

    /// The cipher of a file, nil for one in clear; or the error that ends its lecture.
    func cipher(
        for item: ItemRecord, _ role: ResourceRole
    ) throws -> Result<(any ContentCipher)?, LectureError> {
        do {
            return .success(try seals.cipher(for: item, role: role, in: transaction))
        } catch let error as LectureError where Self.sealFailures.contains(error.code) {
            return .failure(error)
        }
    }
}
