public import LectureModel

extension LectureConfiguration {
    /// Opens the store as ``LectureManager/init(_:)`` does, with a stream that misses no event: reports that wait in
    /// the store may be sent, and their events may come, before a caller of the initializer could ask for
    /// ``LectureManager/events``.
    ///
    /// - Returns: the manager, and its events from the first one.
    /// - Throws: ``LectureError``, as the initializer.
    public func open() throws(LectureError) -> (manager: LectureManager, events: AsyncStream<LectureEvent>) {
        var events: AsyncStream<LectureEvent>?
        let manager = try open { events = $0.events }
        return (manager, events ?? manager.events)
    }

    /// Opens the store.
    ///
    /// - Parameter listen: called once, before anything happens by itself.
    /// - Returns: the manager.
    /// - Throws: ``LectureError``, as ``LectureManager/init(_:)``.
    package func open(listen: (LectureManager) -> Void) throws(LectureError) -> LectureManager {
        let manager = LectureManager(try LectureError.only { try StoreCore(self) })
        listen(manager)
        manager.core.followSurroundings(delivering: manager.reports, manager.webhooks)
        return manager
    }
}
