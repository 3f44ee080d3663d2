package import LectureModel

/// The states of one file of a lecture while an engine works on it. No input or output, no clock. What is known only in
/// a state is in its case: a digest is computed of an opened part file of known length, never of one that is absent.
///
///                planned            all committed, a digest is due
///     probing ────────────▶ fetching ──────────────────────────────▶ digesting
///                            ▲    │ │ all committed, some by an         │  │
///                            │    │ │ earlier run                differs│  │ matches
///                    damaged │    │ ▼                                   │  │
///                            └──────── checking ◀──────────────────────┘  │
///                                 │      │ intact                          │
///                   all committed │      ▼                                 │
///                                 ├─▶ finalizing ◀─────────────────────────┤
///                                 │      ▲ ends as it should               │
///                                 └─▶ inspecting ◀─────────────────────────┘ the same, of an encrypted segment
///                                        │ (finalizing) has its final name
///                                        ▼
///     every state but finalized         finalized ◀── finished ── fetching (a small file finishes by itself)
///        └── failed ──▶ failed          (an optional file fails alone)
///
/// The part file has states of its own (``Part``), inside the states in which there is one:
///
///     unopened ── opens ──▶ opening ── opened ──▶ open ── closes ──▶ closing ── closed ──▶ closed
///                              └────────────── closes ───────────────▲
///
/// | event | function | legal in | late in |
/// |---|---|---|---|
/// | its path and its chunks are fixed | ``planned()`` | probing | |
/// | the part file is asked to open | ``opens()`` | fetching, with an unopened part file | |
/// | the part file is open | ``opened()`` | every state with an opening part file | a closing or closed one |
/// | every chunk is committed | ``allCommitted(total:needsDigest:isEncrypted:)`` | fetching | later states |
/// | the digest is computed | ``digested(matches:isEncrypted:)`` | digesting | failed |
/// | the chunks were compared with their proofs | ``checked(damaged:isEncrypted:)`` | checking | failed |
/// | it ends as encrypted segments do | ``inspected()`` | inspecting | failed |
/// | it has its final name | ``finalized()`` | finalizing | failed |
/// | it has finished by itself | ``finished()`` | fetching, with an opened part file that is new | failed |
/// | it cannot be downloaded | ``failed()`` | every state but finalized | failed |
/// | the part file is asked to close | ``closes()`` | every state | |
/// | the part file is closed | ``closed(isClean:)`` | every state with a closing part file | an unopened one |
///
/// A late event changes nothing and returns ``Ruling/nothing``. An event that can come neither now nor late is a
/// programming error: it returns ``Ruling/bug``, which fails the lecture and keeps its committed bytes.
package struct ResourceMachine: Sendable, Equatable {
    /// A part file that was asked to open.
    package enum OpenedPart: Sendable, Hashable {
        /// It has not reported that it is open.
        case opening
        /// It is open.
        case open
        /// It was asked to close.
        case closing
        /// It is closed.
        ///
        /// - Parameter isClean: whether it has no sealed chunks other than those it has reported.
        case closed(isClean: Bool)
    }

    /// The part file of a state in which it may never have been asked to open.
    package enum Part: Sendable, Hashable {
        /// It was never asked to open.
        case unopened
        /// It was.
        case opened(OpenedPart)
    }

    /// Why chunks are compared with their proofs.
    package enum CheckReason: Sendable, Hashable {
        /// Nothing else would show that they have changed on the disk.
        case noDigest
        /// The digest of the whole differs, which may be the fault of the disk.
        case digestDiffers
    }

    /// The states. `unchecked` are the chunks that were committed before the part file was opened and were not compared
    /// with their proofs since.
    package enum State: Sendable, Equatable {
        /// Nothing is known of it; the first transfer finds out.
        case probing
        /// Its path is fixed; bytes are being received.
        case fetching(Part, unchecked: ChunkSet)
        /// All chunks are committed; the digest of the whole is computed.
        case digesting(OpenedPart, total: UInt64, unchecked: ChunkSet)
        /// Chunks of an earlier opening are compared with their proofs.
        case checking(OpenedPart, total: UInt64, CheckReason)
        /// Its end is decrypted, to see whether it is whole.
        case inspecting(OpenedPart, total: UInt64)
        /// It is being moved to its final name.
        case finalizing(OpenedPart)
        /// It has its final name.
        case finalized(Part)
        /// It cannot be downloaded.
        case failed(Part)
    }

    /// What the owner of the machine has to do.
    package enum Ruling: Sendable, Equatable {
        /// Nothing: the event came late, or another has to come first.
        case nothing
        /// Have the digest of the whole computed.
        case digest(total: UInt64)
        /// Have these chunks compared with their proofs.
        case check(ChunkSet, total: UInt64)
        /// Have the end of an encrypted segment inspected.
        case inspect(total: UInt64)
        /// Have it moved to its final name.
        case finalize(total: UInt64)
        /// Fetch these chunks again.
        case fetchAgain([Int])
        /// Decide about the bytes that were fetched: their digest is not the one they must have.
        case distrust
        /// Close the part file.
        case close
        /// Report an error of the program.
        case bug
    }

    /// The state.
    package private(set) var state: State

    /// Resumes a resource from its stored state.
    ///
    /// - Parameters:
    ///   - stored: as stored.
    ///   - committed: the chunks that an earlier run has committed.
    package init(_ stored: ResourceRecord.State, committed: ChunkSet = ChunkSet()) {
        state =
            switch stored {
            case .absent: .probing
            case .planned, .committed: .fetching(.unopened, unchecked: committed)
            case .finalized: .finalized(.unopened)
            case .failed: .failed(.unopened)
            }
    }

    /// Continues in any state.
    init(in state: State) { self.state = state }

    // MARK: What the state shows

    /// Whether nothing is known of the resource.
    package var isProbing: Bool { state == .probing }

    /// Whether bytes are being received.
    package var isFetching: Bool { if case .fetching = state { true } else { false } }

    /// Whether chunks of it are compared with their proofs.
    package var isChecking: Bool { if case .checking = state { true } else { false } }

    /// Whether its end is inspected.
    package var isInspecting: Bool { if case .inspecting = state { true } else { false } }

    /// Whether its work is over, well or not.
    package var isOver: Bool {
        switch state {
        case .finalized, .failed: true
        case .probing, .fetching, .digesting, .checking, .inspecting, .finalizing: false
        }
    }

    /// Whether it has its final name.
    package var hasFinalName: Bool { if case .finalized = state { true } else { false } }

    /// Whether only the disk remains to finish.
    ///
    /// - Parameter hasAllBytes: whether all bytes were received, and no transfer runs.
    /// - Returns: false while the bytes may prove wrong.
    package func isReceived(hasAllBytes: Bool) -> Bool {
        switch state {
        case .probing, .digesting, .checking, .inspecting: false
        case .fetching: hasAllBytes
        case .finalizing, .finalized, .failed: true
        }
    }

    /// The part file.
    package var part: Part {
        switch state {
        case .probing: .unopened
        case .fetching(let part, _), .finalized(let part), .failed(let part): part
        case .digesting(let part, _, _), .checking(let part, _, _), .inspecting(let part, _), .finalizing(let part):
            .opened(part)
        }
    }

    /// Whether the part file is to be opened now.
    package var needsOpening: Bool { isFetching && part == .unopened }

    /// Whether what was received may become durable by a sync.
    package var isWriting: Bool {
        switch (isFetching, part) {
        case (true, .opened(.opening)), (true, .opened(.open)): true
        case (true, .unopened), (true, .opened(.closing)), (true, .opened(.closed)), (false, _): false
        }
    }

    /// Whether the part file needs nothing more, so that the work on the lecture may end.
    package var isSettled: Bool {
        switch part {
        case .unopened, .opened(.closed): true
        case .opened(.opening), .opened(.open), .opened(.closing): false
        }
    }

    /// Whether the part file was closed with nothing sealed besides the chunks it has reported, and may be continued.
    package var isClosedClean: Bool {
        switch state {
        case .fetching(let part, _): part == .opened(.closed(isClean: true))
        case .digesting(let part, _, _), .checking(let part, _, _), .inspecting(let part, _), .finalizing(let part):
            part == .closed(isClean: true)
        case .probing, .finalized, .failed: false
        }
    }

    // MARK: From the first answer to the final name

    /// Its path and its chunks are fixed.
    package mutating func planned() -> Ruling {
        guard state == .probing else { return .bug }
        state = .fetching(.unopened, unchecked: ChunkSet())
        return .nothing
    }

    /// Every chunk is committed, and no transfer runs.
    ///
    /// - Parameters:
    ///   - total: the length in bytes.
    ///   - needsDigest: whether the digest of the whole decides.
    ///   - isEncrypted: whether its end has to show that it is whole.
    /// - Returns: what to do; nothing while a part file that resumes has not reported that it is open: it may have to
    ///   rename the file back from its final name first.
    package mutating func allCommitted(total: UInt64, needsDigest: Bool, isEncrypted: Bool = false) -> Ruling {
        switch state {
        case .fetching(.opened(let part), let unchecked):
            switch part {
            case .opening where !unchecked.isEmpty: return .nothing
            case .opening, .open:
                if needsDigest {
                    state = .digesting(part, total: total, unchecked: unchecked)
                    return .digest(total: total)
                }
                if !unchecked.isEmpty {
                    state = .checking(part, total: total, .noDigest)
                    return .check(unchecked, total: total)
                }
                return beginEnding(part, total, isEncrypted: isEncrypted)
            case .closing, .closed: return .nothing
            }
        case .digesting, .checking, .inspecting, .finalizing, .finalized, .failed: return .nothing
        case .probing, .fetching(.unopened, _): return .bug
        }
    }

    /// The bytes are those that were fetched: an encrypted segment is inspected, any other gets its final name.
    private mutating func beginEnding(_ part: OpenedPart, _ total: UInt64, isEncrypted: Bool) -> Ruling {
        guard isEncrypted else {
            state = .finalizing(part)
            return .finalize(total: total)
        }
        state = .inspecting(part, total: total)
        return .inspect(total: total)
    }

    /// The digest of the whole is computed.
    ///
    /// - Parameters:
    ///   - matches: whether it is the one that the resource must have.
    ///   - isEncrypted: whether its end has to show that it is whole.
    /// - Returns: what to do. Before a server is blamed, chunks that may have changed on the disk are checked.
    package mutating func digested(matches: Bool, isEncrypted: Bool = false) -> Ruling {
        switch state {
        case .digesting(let part, let total, let unchecked):
            if matches { return beginEnding(part, total, isEncrypted: isEncrypted) }
            if unchecked.isEmpty { return .distrust }
            state = .checking(part, total: total, .digestDiffers)
            return .check(unchecked, total: total)
        case .failed: return .nothing
        case .probing, .fetching, .checking, .inspecting, .finalizing, .finalized: return .bug
        }
    }

    /// The chunks were compared with their proofs.
    ///
    /// - Parameters:
    ///   - damaged: those that differ.
    ///   - isEncrypted: whether its end has to show that it is whole.
    /// - Returns: what to do. Without damage the bytes are those that were fetched: a digest that differs is the
    ///   server's fault.
    package mutating func checked(damaged: [Int], isEncrypted: Bool = false) -> Ruling {
        switch state {
        case .checking(let part, let total, let reason):
            if !damaged.isEmpty {
                state = .fetching(.opened(part), unchecked: ChunkSet())
                return .fetchAgain(damaged)
            }
            if reason == .digestDiffers { return .distrust }
            return beginEnding(part, total, isEncrypted: isEncrypted)
        case .failed: return .nothing
        case .probing, .fetching, .digesting, .inspecting, .finalizing, .finalized: return .bug
        }
    }

    /// Its end is that of a whole segment. One that is none fails: see ``failed()``.
    package mutating func inspected() -> Ruling {
        switch state {
        case .inspecting(let part, let total):
            state = .finalizing(part)
            return .finalize(total: total)
        case .failed: return .nothing
        case .probing, .fetching, .digesting, .checking, .finalizing, .finalized: return .bug
        }
    }

    /// It has its final name, durably. The part file may have been asked to close meanwhile.
    package mutating func finalized() -> Ruling {
        switch state {
        case .finalizing(let part):
            let (closing, needsClose) = Self.closing(part)
            state = .finalized(.opened(closing))
            return needsClose ? .close : .nothing
        case .failed: return .nothing
        case .probing, .fetching, .digesting, .checking, .inspecting, .finalized: return .bug
        }
    }

    /// All its chunks are durable and it has its final name: the part file has finished by itself, and is closed.
    package mutating func finished() -> Ruling {
        switch state {
        case .fetching(.opened(.opening), let unchecked) where unchecked.isEmpty,
            .fetching(.opened(.open), let unchecked) where unchecked.isEmpty:
            state = .finalized(.opened(.closed(isClean: true)))
            return .nothing
        case .failed: return .nothing
        case .probing, .fetching, .digesting, .checking, .inspecting, .finalizing, .finalized: return .bug
        }
    }

    /// It cannot be downloaded. The part file is given up, so it counts as asked to close.
    package mutating func failed() -> Ruling {
        switch state {
        case .probing, .fetching, .digesting, .checking, .inspecting, .finalizing:
            let ruling = closes()
            state = .failed(part)
            return ruling
        case .failed: return .nothing
        case .finalized: return .bug
        }
    }

    // MARK: The part file

    /// The part file is asked to open.
    package mutating func opens() -> Ruling {
        switch state {
        case .fetching(.unopened, let unchecked):
            state = .fetching(.opened(.opening), unchecked: unchecked)
            return .nothing
        case .probing, .fetching(.opened, _), .digesting, .checking, .inspecting, .finalizing, .finalized, .failed:
            return .bug
        }
    }

    /// The part file is open.
    package mutating func opened() -> Ruling {
        switch part {
        case .opened(.opening):
            replacePart(.open)
            return .nothing
        case .opened(.closing), .opened(.closed): return .nothing
        case .unopened, .opened(.open): return .bug
        }
    }

    /// The part file is asked to close, if it was asked to open and not yet to close.
    package mutating func closes() -> Ruling {
        guard case .opened(let part) = part else { return .nothing }
        let (closing, needsClose) = Self.closing(part)
        replacePart(closing)
        return needsClose ? .close : .nothing
    }

    /// The part file is closed. One that was never asked to open may be closed as well; nothing waits for that.
    ///
    /// - Parameter isClean: whether it has no sealed chunks other than those it has reported.
    /// - Returns: a bug when it was not asked to close: nothing more will be written to it.
    package mutating func closed(isClean: Bool) -> Ruling {
        switch part {
        case .unopened: return .nothing
        case .opened(.closing):
            replacePart(.closed(isClean: isClean))
            return .nothing
        case .opened(.opening), .opened(.open):
            replacePart(.closed(isClean: isClean))
            return .bug
        case .opened(.closed): return .bug
        }
    }

    private static func closing(_ part: OpenedPart) -> (part: OpenedPart, needsClose: Bool) {
        switch part {
        case .opening, .open: (.closing, true)
        case .closing, .closed: (part, false)
        }
    }

    /// Replaces an opened part file, in any state that has one.
    private mutating func replacePart(_ part: OpenedPart) {
        switch state {
        case .probing: return
        case .fetching(_, let unchecked): state = .fetching(.opened(part), unchecked: unchecked)
        case .digesting(_, let total, let unchecked):
            state = .digesting(part, total: total, unchecked: unchecked)
        case .checking(_, let total, let reason): state = .checking(part, total: total, reason)
        case .inspecting(_, let total): state = .inspecting(part, total: total)
        case .finalizing: state = .finalizing(part)
        case .finalized: state = .finalized(.opened(part))
        case .failed: state = .failed(.opened(part))
        }
    }
}
