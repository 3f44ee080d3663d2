import LectureModel

/// The items whose rows a step has changed, in the order of their last change.
///
/// They are read once, at the end of the step and within its transaction: an item that changed twice is reported once,
/// and what is reported of it is what was committed.
package struct ChangedItems {
    private var items: [(id: ContentID, isOutdated: Bool)] = []

    /// None.
    init() {}

    /// An item has a new state.
    mutating func changed(_ id: ContentID) {
        let isOutdated = remove(id)
        items.append((id, isOutdated))
    }

    /// A complete item is not what is requested now, and is queued again.
    mutating func outdated(_ id: ContentID) {
        _ = remove(id)
        items.append((id, true))
    }

    private mutating func remove(_ id: ContentID) -> Bool {
        guard let place = items.firstIndex(where: { $0.id == id }) else { return false }
        return items.remove(at: place).isOutdated
    }

    /// The notices, one for each item that is still there.
    func notices(_ index: any DownloadIndex) throws -> [EngineNotice] {
        try items.compactMap { id, isOutdated in
            try index.contents.item(id).map { isOutdated ? .outdated($0) : .changed($0) }
        }
    }
}
