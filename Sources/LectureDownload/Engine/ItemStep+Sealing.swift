import LectureEngine
import LectureModel

/// Which files are sealed, and whether they were closed cleanly.
extension ItemStep {
    /// Decides before the first request for a resource whether its files will be sealed, since the grid of its chunks
    /// depends on it.
    ///
    /// - Returns: false when the item has ended for lack of a key.
    mutating func decideSeal(_ resource: PartToken) throws -> Bool {
        guard item[resource].machine.isProbing else { return true }
        guard try ask(resource) else { return false }
        let grid = RangeBook.grid(total: nil, isSealed: item[resource].cipher != nil)
        // A transfer that has left a partial chunk behind used the same cipher.
        if item[resource].book.grid.lead != grid.lead {
            item[resource].chunks.book = RangeBook(total: nil, grid: grid, committed: [])
        }
        return true
    }

    /// The cipher of a resource that is sealed already.
    ///
    /// - Returns: false when the item has ended for lack of it.
    mutating func findCipher(_ resource: PartToken) throws -> Bool {
        guard item[resource].record.seal != .plain, item[resource].cipher == nil else { return true }
        guard try ask(resource) else { return false }
        if item[resource].cipher != nil { return true }
        try end(item.machine.failed(LectureError(.sealedElsewhere, detail: item.record.content.key.text)))
        return false
    }

    /// Whether the request's own header fields are readable. Without them the server would refuse, or send a page.
    ///
    /// - Returns: false when the item has ended, since another device has sealed them.
    mutating func hasFields() throws -> Bool {
        guard item.record.headers.values.contains(where: SealedField.isSealed) else { return true }
        try end(item.machine.failed(LectureError(.headersSealed, detail: item.record.content.key.text)))
        return false
    }

    private mutating func ask(_ resource: PartToken) throws -> Bool {
        do {
            item[resource].cipher = try step.store.seals.cipher(for: item.record, role: item[resource].record.role)
            return true
        } catch let error as LectureError where Self.sealFailures.contains(error.code) {
            try end(item.machine.failed(error))
            return false
        }
    }

    /// Errors that end one item; any other error is the store's and affects all items.
    private static let sealFailures: Set<LectureError.Code> = [
        .sealedElsewhere, .sealRequired, .deviceKeyRefused, .cryptography,
    ]

    /// The seal plan of the part file. The same transaction marks the row as possibly having more sealed than
    /// committed, until the file is closed cleanly.
    mutating func sealPlan(_ resource: PartToken) throws -> SealPlan? {
        guard let cipher = item[resource].cipher, item[resource].record.seal != .plain else { return nil }
        let isClean = item[resource].record.seal == .clean
        item[resource].record.seal = .open
        try index.updateResource(item.lease, item[resource].record)
        return SealPlan(cipher: cipher, isClean: isClean, committed: item[resource].book.committed.indices)
    }

    /// In the transaction that ends the item: a file that was closed without a failure, and whose sealed chunks are all
    /// committed, may be continued under its header.
    mutating func recordClean(_ resource: PartToken) throws {
        guard item[resource].record.seal == .open, item[resource].machine.isClosedClean,
            item[resource].chunks.isAllCommitted
        else { return }
        item[resource].record.seal = .clean
        try index.updateResource(item.lease, item[resource].record)
    }
}
