import LectureModel

/// Which files are sealed, and whether they were closed cleanly.
extension DownloadEngine {
    /// Decides before the first request for a resource whether its files will be sealed, since the grid of its chunks
    /// depends on it.
    ///
    /// - Returns: false when the item has ended for lack of a key.
    func decideSeal(_ resource: ResourceWork, of item: ItemWork) throws -> Bool {
        guard resource.machine.isProbing else { return true }
        guard try ask(resource, of: item) else { return false }
        let grid = RangeBook.grid(total: nil, isSealed: resource.cipher != nil)
        // A transfer that has left a partial chunk behind used the same cipher.
        if resource.book.grid.lead != grid.lead {
            resource.chunks.book = RangeBook(total: nil, grid: grid, committed: [])
        }
        return true
    }

    /// The cipher of a resource that is sealed already.
    ///
    /// - Returns: false when the item has ended for lack of it.
    func findCipher(_ resource: ResourceWork, of item: ItemWork) throws -> Bool {
        guard resource.record.seal != .plain, resource.cipher == nil else { return true }
        guard try ask(resource, of: item) else { return false }
        if resource.cipher != nil { return true }
        try end(item, item.machine.failed(LectureError(.sealedElsewhere, detail: item.record.content.key.text)))
        return false
    }

    /// Whether the request's own header fields are readable. Without them the server would refuse, or send a page.
    ///
    /// - Returns: false when the item has ended, since another device has sealed them.
    func hasFields(_ item: ItemWork) throws -> Bool {
        guard item.record.headers.values.contains(where: SealedField.isSealed) else { return true }
        try end(item, item.machine.failed(LectureError(.headersSealed, detail: item.record.content.key.text)))
        return false
    }

    private func ask(_ resource: ResourceWork, of item: ItemWork) throws -> Bool {
        do {
            resource.cipher = try ports.seals.cipher(for: item.record, role: resource.record.role)
            return true
        } catch let error as LectureError where Self.sealFailures.contains(error.code) {
            try end(item, item.machine.failed(error))
            return false
        }
    }

    /// Errors that end one item; any other error is the store's and affects all items.
    private static let sealFailures: Set<LectureError.Code> = [
        .sealedElsewhere, .sealRequired, .deviceKeyRefused, .cryptography,
    ]

    /// The seal plan of the part file. The same transaction marks the row as possibly having more sealed than
    /// committed, until the file is closed cleanly.
    func sealPlan(_ resource: ResourceWork, of item: ItemWork) throws -> SealPlan? {
        guard let cipher = resource.cipher, resource.record.seal != .plain else { return nil }
        let isClean = resource.record.seal == .clean
        resource.record.seal = .open
        try index.updateResource(item.lease, resource.record)
        return SealPlan(cipher: cipher, isClean: isClean, committed: resource.book.committed.indices)
    }

    /// In the transaction that ends the item: a file that was closed without a failure, and whose sealed chunks are all
    /// committed, may be continued under its header.
    func recordClean(_ resource: ResourceWork, of item: ItemWork) throws {
        guard resource.record.seal == .open, resource.machine.isClosedClean, resource.chunks.isAllCommitted
        else { return }
        resource.record.seal = .clean
        try index.updateResource(item.lease, resource.record)
    }
}
