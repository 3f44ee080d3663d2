/// How many filled blocks may wait for the disk, in one file and in the process. It is the back-pressure of the whole
/// download: a disk that is slower than the network makes the transport's thread wait here, and TCP does the rest.
package final class DiskBudget: Sendable {
    /// Names a file to the budget.
    package struct Account: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// The place of a block that has entered: it is left when the last of those that use the block drops the ticket.
    final class Ticket: Sendable {
        private let budget: DiskBudget
        private let account: Account
        private let bytes: Int

        /// Makes the ticket of a block.
        ///
        /// - Parameters:
        ///   - budget: where it entered.
        ///   - account: its file.
        ///   - bytes: its length, as when it entered.
        init(_ budget: DiskBudget, _ account: Account, bytes: Int) {
            (self.budget, self.account, self.bytes) = (budget, account, bytes)
        }

        deinit { budget.leave(account, bytes: bytes) }
    }

    /// The state of a file, which submitters and workers must see at once and not only in queue order.
    enum Stage {
        /// Blocks are taken.
        case open
        /// No new blocks; waiting ones are written.
        case closing
        /// No new blocks; waiting ones are dropped.
        case deleting
        /// As ``deleting``, because a call failed.
        case failed
    }

    private struct File {
        var waiting = 0
        /// Bytes of whole chunks that are written but not yet durable.
        var unsynced: UInt64 = 0
        var stage = Stage.open
        var isClosing = false
    }

    private struct State {
        var files: [UInt64: File] = [:]
        var lastNumber: UInt64 = 0
        var waiting = 0
        var waitingBytes = 0
        var blocked = 0
        /// Since when a caller has been waiting without a break; nil when none is.
        var blockedSince: ContinuousClock.Instant?
        /// How long callers waited before that.
        var blockedTime = Duration.zero

        mutating func callerWaits() {
            blocked += 1
            if blockedSince == nil { blockedSince = .now }
        }

        mutating func callerGoesOn() {
            blocked -= 1
            guard blocked == 0, let since = blockedSince else { return }
            blockedTime += since.duration(to: .now)
            blockedSince = nil
        }
    }

    /// How many bytes of one file may be written but not yet durable, besides those waiting to be written.
    ///
    /// It bounds what a kill costs: without it a disk that buffers quickly and syncs slowly would let a fast network
    /// run far ahead of the journal.
    package static let unsyncedBytes: UInt64 = 16 << 20

    /// How many written bytes are synced together: this many at once, or fewer when they arrive in more than
    /// ``groupTime``.
    static let groupBytes = (fast: unsyncedBytes / 2, slow: unsyncedBytes / 4)
    /// How long a group may be filled beyond what is worth a sync.
    let groupTime: Duration

    private let blocksPerFile: Int
    private let blocks: Int
    private let bytes: Int
    private let state = Monitor(State())

    /// Makes a budget. A process needs one.
    ///
    /// - Parameters:
    ///   - blocksPerFile: how many blocks of one file may wait.
    ///   - blocks: how many blocks of all files may wait.
    ///   - bytes: how many bytes all of them may have. This bounds the memory of a process with many files: a disk is
    ///     busy with less.
    ///   - groupTime: how long a group may be filled beyond what is worth a sync.
    package init(
        blocksPerFile: Int = 4, blocks: Int = 48, bytes: Int = 8 << 20, groupTime: Duration = .milliseconds(100)
    ) {
        self.groupTime = groupTime
        self.blocksPerFile = max(1, blocksPerFile)
        self.blocks = max(1, blocks)
        self.bytes = bytes
    }

    /// How many callers are waiting for the disk.
    package var blockedCallers: Int { state.read { $0.blocked } }

    /// How long at least one caller has waited for the disk until now. Two that wait at once count once, so that it
    /// never grows faster than time does.
    package var blockedTime: Duration {
        state.read { $0.blockedTime + ($0.blockedSince?.duration(to: .now) ?? .zero) }
    }

    /// How many blocks are waiting for the disk.
    package var waitingBlocks: Int { state.read { $0.waiting } }

    /// Opens an account for a file.
    ///
    /// - Returns: its name, to be closed with ``close(_:)``.
    func open() -> Account {
        state.change { state in
            state.lastNumber += 1
            state.files[state.lastNumber] = File()
            return Account(number: state.lastNumber)
        }
    }

    /// Closes the account of a file. Its last block has been released before.
    func close(_ account: Account) {
        state.change { $0.files[account.number] = nil }
    }

    /// Waits until one more block of the file may wait for the disk.
    ///
    /// - Parameters:
    ///   - account: the file.
    ///   - count: the length of the block in bytes. One that is longer than the budget enters alone.
    /// - Returns: false when the file takes no more blocks; then nothing was taken from the budget.
    func enter(_ account: Account, bytes count: Int = 0) -> Bool {
        var counted = false
        return state.wait { state in
            guard let file = state.files[account.number], file.stage == .open else {
                if counted { state.callerGoesOn() }
                return false
            }
            guard file.waiting < blocksPerFile, state.waiting < blocks, file.unsynced < Self.unsyncedBytes,
                state.waitingBytes == 0 || state.waitingBytes + count <= bytes
            else {
                if !counted { state.callerWaits() }
                counted = true
                return nil
            }
            if counted { state.callerGoesOn() }
            state.files[account.number]?.waiting += 1
            state.waiting += 1
            state.waitingBytes += count
            return true
        }
    }

    /// Releases a block's place.
    ///
    /// - Parameters:
    ///   - account: the file.
    ///   - count: the length of the block in bytes, as when it entered.
    func leave(_ account: Account, bytes count: Int = 0) {
        state.change { state in
            state.files[account.number]?.waiting -= 1
            state.waiting -= 1
            state.waitingBytes -= count
        }
    }

    /// Records bytes of chunks that were written whole.
    ///
    /// - Parameters:
    ///   - count: how many bytes.
    ///   - account: the file.
    func wrote(_ count: UInt64, _ account: Account) {
        state.change { $0.files[account.number]?.unsynced += count }
    }

    /// Records that as many of these bytes are durable, or never will be.
    func settled(_ count: UInt64, _ account: Account) {
        state.change { state in
            let unsynced = state.files[account.number]?.unsynced ?? 0
            state.files[account.number]?.unsynced = unsynced - min(unsynced, count)
        }
    }

    /// The state of the file.
    func stage(_ account: Account) -> Stage { state.read { $0.files[account.number]?.stage ?? .deleting } }

    /// Records that a call failed: waiting blocks are dropped, waiting callers return.
    ///
    /// - Parameter account: the file.
    /// - Returns: whether this is the file's first failure.
    func fail(_ account: Account) -> Bool {
        state.change { state in
            let isFirst = state.files[account.number].map { $0.stage != .failed } ?? false
            state.files[account.number]?.stage = .failed
            return isFirst
        }
    }

    /// Records that the file is to be closed: no new blocks are taken.
    ///
    /// - Parameters:
    ///   - account: the file.
    ///   - deleting: whether waiting blocks are dropped; otherwise they are written.
    /// - Returns: whether this is the first request to close it.
    func beginClosing(_ account: Account, deleting: Bool) -> Bool {
        state.change { state in
            guard var file = state.files[account.number], !file.isClosing else { return false }
            file.isClosing = true
            if file.stage == .open { file.stage = deleting ? .deleting : .closing }
            state.files[account.number] = file
            return true
        }
    }
}
