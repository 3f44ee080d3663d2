import LectureModel

/// Which files are sealed, and what is remembered of how they were left.
extension DownloadEngine {
    /// Before anything is asked of a resource: whether its files will be sealed, since that decides where its chunks
    /// lie.
    ///
    /// - Returns: false when the item has ended for want of a key.
    func decideSeal(_ resource: ResourceWork, of item: ItemWork) throws -> Bool {
        guard resource.stage == .asking else { return true }
        guard try ask(resource, of: item) else { return false }
        let grid = RangeBook.grid(total: nil, isSealed: resource.cipher != nil)
        // A transfer that has left a begun chunk behind was asked under the same cipher.
        if resource.book.grid.lead != grid.lead { resource.book = RangeBook(total: nil, grid: grid, proven: []) }
        return true
    }

    /// The cipher of a resource that is sealed already.
    ///
    /// - Returns: false when the item has ended for want of it.
    func findCipher(_ resource: ResourceWork, of item: ItemWork) throws -> Bool {
        guard resource.record.seal != .plain, resource.cipher == nil else { return true }
        guard try ask(resource, of: item) else { return false }
        if resource.cipher != nil { return true }
        try end(item, item.machine.failed(LectureError(.sealedElsewhere, detail: item.record.content.key.text)))
        return false
    }

    /// Whether the request's own header fields are at hand. Without them the server would refuse, or send a page.
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
        } catch let error as LectureError where Self.sealTroubles.contains(error.code) {
            try end(item, item.machine.failed(error))
            return false
        }
    }

    /// What ends an item; anything else is the store's trouble and that of all items.
    private static let sealTroubles: Set<LectureError.Code> = [
        .sealedElsewhere, .sealRequired, .deviceKeyRefused, .cryptography,
    ]

    /// What the part file is told. In the same transaction the row says that more may be sealed than is proven: from
    /// here on, until somebody knows better.
    func sealPlan(_ resource: ResourceWork, of item: ItemWork) throws -> SealPlan? {
        guard let cipher = resource.cipher, resource.record.seal != .plain else { return nil }
        let isClean = resource.record.seal == .clean
        resource.record.seal = .open
        try index.updateResource(item.lease, resource.record)
        return SealPlan(cipher: cipher, isClean: isClean, proven: resource.book.proven.indices)
    }

    /// In the transaction that ends the item: a file that was closed without a failure, and of which everything sealed
    /// is proven, may be gone on with under its header.
    func noteClean(_ resource: ResourceWork, of item: ItemWork) throws {
        guard resource.record.seal == .open, resource.isClosedClean, resource.unproven.isEmpty,
            resource.stage != .failed, resource.record.state != .placed
        else { return }
        resource.record.seal = .clean
        try index.updateResource(item.lease, resource.record)
    }
}
