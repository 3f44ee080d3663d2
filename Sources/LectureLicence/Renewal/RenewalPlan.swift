package import LectureModel

/// Which licences are renewed, in which order, and in which requests.
package struct RenewalPlan: Hashable, Sendable {
    /// The licences of one request.
    package struct Group: Hashable, Sendable {
        /// The URL of the request.
        package let callbackURL: String
        /// One to ``RenewalPlan/groupSize`` licences.
        package let candidates: [RenewalCandidate]
    }

    /// The most items of one request, as deployed players send them.
    package static let groupSize = 10

    /// The requests, the most urgent one first.
    package let groups: [Group]
    /// Licences that wait until a later moment, the soonest first.
    package let waiting: [RenewalCandidate]

    /// Makes a plan.
    ///
    /// The most urgent licences share requests, so a group is as urgent as its first one. Licences without an end come
    /// last.
    ///
    /// - Parameters:
    ///   - candidates: in any order; each lecture once.
    ///   - now: the time.
    package init(_ candidates: [RenewalCandidate], now: Timestamp) {
        let (later, due) = (
            candidates.filter { $0.notBefore.map { $0 > now } ?? false },
            candidates.filter { $0.notBefore.map { $0 <= now } ?? true }
        )
        let byURL = Dictionary(grouping: due, by: \.callbackURL)
        var groups: [Group] = []
        for (url, candidates) in byURL {
            let sorted = candidates.sorted(by: Self.isMoreUrgent)
            for start in stride(from: 0, to: sorted.count, by: Self.groupSize) {
                let end = min(start + Self.groupSize, sorted.count)
                groups.append(Group(callbackURL: url, candidates: Array(sorted[start..<end])))
            }
        }
        self.groups = groups.sorted { left, right in
            guard let first = left.candidates.first, let second = right.candidates.first else { return false }
            return Self.isMoreUrgent(first, second)
        }
        waiting = later.sorted { ($0.notBefore ?? now, $0.key) < ($1.notBefore ?? now, $1.key) }
    }

    /// By deadline; the lecture's key breaks ties, so that the same licences make the same plan.
    private static func isMoreUrgent(_ left: RenewalCandidate, _ right: RenewalCandidate) -> Bool {
        switch (left.deadline, right.deadline) {
        case (let one?, let other?) where one != other: one < other
        case (.some, nil): true
        case (nil, .some): false
        case (.some, .some), (nil, nil): left.key < right.key
        }
    }
}
