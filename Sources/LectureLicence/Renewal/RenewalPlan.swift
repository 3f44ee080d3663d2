package import LectureModel

/// Which licences are renewed, in which order, and in which requests.
package struct RenewalPlan: Hashable, Sendable {
    /// A licence that could be renewed.
    package struct Candidate: Hashable, Sendable {
        /// The content.
        package let content: ContentID
        /// Its key.
        package let key: ContentKey
        /// Where its licence comes from.
        package let callbackURL: String
        /// When it ends or has to be checked, whichever is sooner; `nil` for never.
        package let deadline: Timestamp?
        /// No attempt before this moment.
        package let notBefore: Timestamp?

        /// A licence that could be renewed.
        ///
        /// - Parameters:
        ///   - content: the content.
        ///   - key: its key.
        ///   - callbackURL: where its licence comes from.
        ///   - deadline: when it ends or has to be checked.
        ///   - notBefore: no attempt before this moment.
        package init(
            content: ContentID, key: ContentKey, callbackURL: String, deadline: Timestamp?, notBefore: Timestamp?
        ) {
            (self.content, self.key, self.callbackURL) = (content, key, callbackURL)
            (self.deadline, self.notBefore) = (deadline, notBefore)
        }
    }

    /// What goes into one request.
    package struct Group: Hashable, Sendable {
        /// Where it goes.
        package let callbackURL: String
        /// One to ``RenewalPlan/groupSize`` licences.
        package let candidates: [Candidate]
    }

    /// The most items of one request, as the players of the field send them.
    package static let groupSize = 10

    /// The requests, the most urgent one first.
    package let groups: [Group]
    /// Licences that wait until a later moment, the soonest first.
    package let waiting: [Candidate]

    /// Plans.
    ///
    /// The most urgent licences share requests, so a group is as urgent as its first one. Licences without an end come
    /// last.
    ///
    /// - Parameters:
    ///   - candidates: in any order; each content once.
    ///   - now: the time.
    package init(_ candidates: [Candidate], now: Timestamp) {
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
        waiting = later.sorted { ($0.notBefore ?? now, $0.content) < ($1.notBefore ?? now, $1.content) }
    }

    /// By deadline; the content's number breaks ties, so that the same licences make the same plan.
    private static func isMoreUrgent(_ left: Candidate, _ right: Candidate) -> Bool {
        switch (left.deadline, right.deadline) {
        case (let one?, let other?) where one != other: one < other
        case (.some, nil): true
        case (nil, .some): false
        case (.some, .some), (nil, nil): left.content < right.content
        }
    }
}
