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

    /// The notices of the items that are still there. One that is outdated is also queued.
    func notices(_ index: any DownloadIndex) throws -> [EngineNotice] {
        try items.flatMap { id, isOutdated -> [EngineNotice] in
            guard let item = try index.contents.item(id) else { return [] }
            if !isOutdated { return [.changed(item, LectureEvent(item.content))] }
            return [.changed(item, .outdated(item.content)), .event(.queued(item.content))]
        }
    }
}
