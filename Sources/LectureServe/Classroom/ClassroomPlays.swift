import LectureKit
import LectureModel
import LectureServedMedia

/// A play of one person.
struct ClassroomPlay: Sendable {
    let served: ServedPlay
    /// The only one who may read it and report about it.
    let person: SitePerson
    /// Whether it is for a program that comes back for it by the lecture's key.
    let isProgram: Bool
    let diary: ViewingDiary

    /// The path of its media, or of the playlist to begin with.
    var path: String { "/classroom/plays/\(served.path)" }
}

/// The plays of the classroom: opened, found by their token, looked at each second, ended.
final class ClassroomPlays: Sendable {
    private struct State {
        var plays: [ClassroomPlay] = []
        /// Plays that are being opened, by person.
        var opening: [SitePerson] = []
        /// Those of programs: requests that come at the same time are of one play.
        var programs: [Program: Task<Result<ClassroomPlay, ClassroomRefusal>, Never>] = [:]
        var isChecking = false
        var isStopped = false
    }

    private struct Program: Hashable {
        let person: SitePerson
        let key: ContentKey
    }

    private let manager: LectureManager
    private let options: ClassroomOptions
    private let clock: any LectureClock
    private let state = Guarded(State())

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - manager: the store.
    ///   - options: the limits.
    ///   - clock: the clock.
    init(_ manager: LectureManager, _ options: ClassroomOptions, _ clock: any LectureClock) {
        (self.manager, self.options, self.clock) = (manager, options, clock)
    }

    /// Opens a play: evaluates the licence, online where a check is due, and reads the first bytes. Nothing is counted
    /// before a player reads.
    ///
    /// - Parameters:
    ///   - key: a complete lecture.
    ///   - person: who plays.
    ///   - isProgram: whether it is continued by the lecture's key.
    /// - Returns: the play.
    /// - Throws: ``ClassroomRefusal``.
    func open(
        _ key: ContentKey, for person: SitePerson, isProgram: Bool = false
    ) async throws(ClassroomRefusal) -> ClassroomPlay {
        try await makePlace(for: person)
        defer {
            state.withLock { state in
                if let place = state.opening.firstIndex(of: person) { state.opening.remove(at: place) }
            }
        }
        do {
            return try await opened(key, person, isProgram)
        } catch let refusal as ClassroomRefusal {
            throw refusal
        } catch {
            throw ClassroomRefusal(LectureError.known(error))
        }
    }

    private func opened(_ key: ContentKey, _ person: SitePerson, _ isProgram: Bool) async throws -> ClassroomPlay {
        guard let content = try await manager.contents.find(key) else { throw LectureError(.unknownContent) }
        let media = try await ServedMedia.lecture(key, manager, patience: options.patience)
        do {
            try await media.checkRules()
            let served = ServedPlay(media, whole: try await media.beginning(), idleLimit: options.idleLimit) { _ in }
            let play = ClassroomPlay(
                served: served, person: person, isProgram: isProgram,
                diary: ViewingDiary(manager, content, user: person.name, clock))
            let isKept = state.withLock { state in
                if !state.isStopped { state.plays.append(play) }
                return !state.isStopped
            }
            guard isKept else { throw LectureError(.closing) }
            return play
        } catch {
            try? await media.end()
            throw error
        }
    }

    /// Reserves a place, and ends a play of the person that is not being read where there would be too many.
    private func makePlace(for person: SitePerson) async throws(ClassroomRefusal) {
        while true {
            let (isFree, oldest): (Bool, ClassroomPlay?) = state.withLock { state in
                let open = state.plays.filter { !$0.served.isOver }
                let own = open.filter { $0.person == person }
                let ownCount = own.count + state.opening.count { $0 == person }
                let isFree =
                    ownCount < options.mostPlaysPerPerson
                    && open.count + state.opening.count < options.mostPlays && !state.isStopped
                if isFree { state.opening.append(person) }
                let left = own.compactMap { play in play.served.leftAt.map { (play, $0) } }
                return (isFree, isFree ? nil : left.min { $0.1 < $1.1 }?.0)
            }
            if isFree { return }
            guard !state.withLock(\.isStopped) else { throw ClassroomRefusal(LectureError(.closing)) }
            guard let oldest else { throw .manyPlays }
            await end(oldest)
        }
    }

    /// Opens the play of a program, or continues the one that the person has.
    ///
    /// - Parameters:
    ///   - key: a complete lecture.
    ///   - person: who plays.
    /// - Returns: the play.
    /// - Throws: ``ClassroomRefusal``.
    func program(_ key: ContentKey, for person: SitePerson) async throws(ClassroomRefusal) -> ClassroomPlay {
        let program = Program(person: person, key: key)
        let task = state.withLock { state in
            if let task = state.programs[program] { return task }
            let known = state.plays.first { play in
                play.isProgram && play.person == person && play.served.media.key == key && !play.served.isOver
            }
            if let known { return Task { .success(known) } }
            let task = Task { () -> Result<ClassroomPlay, ClassroomRefusal> in
                defer { self.state.withLock { $0.programs[program] = nil } }
                do throws(ClassroomRefusal) {
                    return .success(try await open(key, for: person, isProgram: true))
                } catch { return .failure(error) }
            }
            state.programs[program] = task
            return task
        }
        return try await task.value.get()
    }

    /// The play with this token, of this person only.
    ///
    /// - Parameters:
    ///   - token: of a URL.
    ///   - person: who asks.
    /// - Returns: the play.
    /// - Throws: ``SiteRefusal/notPermitted`` for another person's, ``ClassroomRefusal/unknownPlay``, and why a play
    ///   that is over could not go on.
    func find(_ token: String, of person: SitePerson) throws -> ClassroomPlay {
        let plays = state.withLock(\.plays)
        var found: ClassroomPlay?
        // Each is compared, so that the time does not depend on which one it is.
        for play in plays where PlayToken.isSame(play.served.token, token) { found = play }
        guard let found else { throw ClassroomRefusal.unknownPlay }
        guard found.person == person else { throw SiteRefusal.notPermitted }
        if let failure = found.served.failure { throw ClassroomRefusal(failure) }
        guard !found.served.isOver else { throw ClassroomRefusal.unknownPlay }
        return found
    }

    /// Looks at the plays, unless the last look is under way: licences, plays that are left, and those that are over.
    func tick() {
        let plays: [ClassroomPlay] = state.withLock { state in
            guard !state.isChecking, !state.isStopped, !state.plays.isEmpty else { return [] }
            state.isChecking = true
            return state.plays
        }
        guard !plays.isEmpty else { return }
        Task {
            var closed: Set<String> = []
            for play in plays {
                if !play.served.isOver { await play.served.check() }
                guard play.served.isOver else { continue }
                // What the store has not taken yet it gets at the next look.
                guard (try? await play.diary.close()) != nil else { continue }
                // One that has failed stays for a while, so that its viewer learns why.
                let left = play.served.leftAt?.duration(to: .now) ?? .zero
                if play.served.failure == nil || left > .seconds(60) { closed.insert(play.served.token) }
            }
            state.withLock { [closed] state in
                state.isChecking = false
                state.plays.removeAll { closed.contains($0.served.token) }
            }
        }
    }

    private func end(_ play: ClassroomPlay) async {
        await play.served.end(.closed)
        try? await play.diary.close()
    }

    /// Ends all plays; what was watched is stored then.
    func stop() async {
        let plays = state.withLock { state in
            state.isStopped = true
            return state.plays
        }
        for play in plays { await end(play) }
        for play in plays {
            do throws(ClassroomRefusal) { try await play.diary.close() } catch {
                // The viewer's script has had no answer either; what an earlier report said is in the store.
                ViewerPlaces.report(LectureError(error.code.map(LectureError.Code.stored) ?? .bug), to: manager)
            }
        }
    }
}

extension LectureClock {
    /// The clock that only runs forward.
    var elapsed: Duration { .nanoseconds(boot().nanoseconds) }
}
