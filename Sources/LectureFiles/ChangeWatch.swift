import CSystem
package import Dispatch
import Glibc
package import LectureModel

/// Reports changes of the machine without looking again and again: a descriptor of the kernel becomes readable.
///
/// | of | by |
/// | --- | --- |
/// | the network: links, addresses, routes | rtnetlink(7) |
/// | the files of a directory | inotify(7) |
///
/// What changes within ``pause`` is reported once, at its end: an interface that comes up causes several messages.
///
/// `@unchecked Sendable`: the state is used on the queue only.
package final class ChangeWatch: @unchecked Sendable {
    /// The system does not report changes to this process.
    package struct Refusal: Error {
        /// The system's text.
        package let cause: String
    }

    /// How long changes are collected.
    package static let pause = Duration.milliseconds(100)

    private let source: any DispatchSourceRead
    private let timer: any DispatchSourceTimer
    private let isNews: ([UInt8]) -> Bool
    private let changed: () -> Void
    private var isCollecting = false

    /// Watches a descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: does not block; read until it is empty.
    ///   - queue: where everything happens.
    ///   - isNews: whether what was read is a change; called with at most 64 KiB.
    ///   - changed: called on the queue.
    init(
        _ descriptor: Descriptor, on queue: DispatchQueue, isNews: @escaping ([UInt8]) -> Bool,
        changed: @escaping () -> Void
    ) {
        (self.isNews, self.changed) = (isNews, changed)
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor.number, queue: queue)
        timer = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler { [weak self] in self?.drain(descriptor) }
        // The descriptor is closed once the source does not use it any more.
        source.setCancelHandler { withExtendedLifetime(descriptor) {} }
        timer.setEventHandler { [weak self] in self?.report() }
        timer.schedule(deadline: .distantFuture)
        timer.activate()
        source.activate()
    }

    deinit {
        source.cancel()
        timer.cancel()
    }

    /// Watches the network of this process.
    ///
    /// - Parameters:
    ///   - queue: where everything happens.
    ///   - changed: called on the queue.
    /// - Returns: the watch, until its last reference goes.
    /// - Throws: ``Refusal`` where the process may not: `EAFNOSUPPORT` or `EPERM` under `RestrictAddressFamilies=`
    ///   without `AF_NETLINK`.
    package static func network(
        on queue: DispatchQueue, changed: @escaping () -> Void
    ) throws(Refusal) -> ChangeWatch {
        let number = csystem_open_network_changes()
        guard number >= 0 else { throw Refusal(cause: SystemError(number: -number).text) }
        return ChangeWatch(
            Descriptor(takingOwnership: number), on: queue, isNews: { _ in true }, changed: changed)
    }

    /// Watches the files of a directory, not of those below it: made, written, renamed, deleted.
    ///
    /// - Parameters:
    ///   - directory: its path.
    ///   - suffix: only names that end like this; empty for all, and for what happens to the directory itself.
    ///   - isWriting: whether each write counts; else a file counts when it is closed.
    ///   - queue: where everything happens.
    ///   - changed: called on the queue.
    /// - Returns: the watch, until its last reference goes.
    /// - Throws: ``LectureError`` with `readFile`.
    package static func files(
        in directory: String, named suffix: String = "", isWriting: Bool = false, on queue: DispatchQueue,
        changed: @escaping () -> Void
    ) throws(LectureError) -> ChangeWatch {
        let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else {
            throw FileIntent.read.error(SystemError(number: errno), directory)
        }
        let descriptor = Descriptor(takingOwnership: number)
        var mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ONLYDIR)
        mask |= isWriting ? UInt32(IN_MODIFY) : UInt32(IN_CLOSE_WRITE | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB)
        if suffix.isEmpty { mask |= UInt32(IN_DELETE_SELF | IN_MOVE_SELF) }
        try systemCall(.read, directory) { unsafe inotify_add_watch(number, directory, mask) }
        return ChangeWatch(
            descriptor, on: queue, isNews: { suffix.isEmpty || names($0, endIn: suffix) }, changed: changed)
    }

    /// Whether one of the events of inotify(7) is about such a name. Each is 16 bytes, the last four the length of the
    /// name that follows, which is filled up with NULs. An overflow has no name, and is about any.
    static func names(_ events: [UInt8], endIn suffix: String) -> Bool {
        var rest = events[...]
        while rest.count >= 16 {
            let start = rest.startIndex
            // In the machine's order.
            let length = unsafe rest[(start + 12)..<(start + 16)].withUnsafeBytes { bytes in
                unsafe bytes.loadUnaligned(as: UInt32.self)
            }
            let end = min(start + 16 + Int(length), rest.endIndex)
            let name = rest[(start + 16)..<end].prefix { $0 != 0 }
            if name.isEmpty || name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) { return true }
            rest = rest[end...]
        }
        return false
    }

    private func drain(_ descriptor: Descriptor) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var isChanged = false
        while true {
            let count = unsafe read(descriptor.number, &bytes, bytes.count)
            if count > 0 {
                isChanged = isNews(Array(bytes[..<count])) || isChanged
                continue
            }
            let number = errno
            if count < 0, number == EINTR { continue }
            // ENOBUFS: so many messages that some were lost.
            if count < 0, number == ENOBUFS {
                isChanged = true
                continue
            }
            break
        }
        guard isChanged, !isCollecting else { return }
        isCollecting = true
        timer.schedule(deadline: .now() + .milliseconds(Int(Self.pause.milliseconds)), leeway: .milliseconds(20))
    }

    private func report() {
        isCollecting = false
        timer.schedule(deadline: .distantFuture)
        changed()
    }
}
