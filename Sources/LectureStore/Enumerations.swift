import LectureModel

// How enumerations get into SQL texts, and those that only the store knows.

extension DefaultStringInterpolation {
    /// Writes a case into an SQL text, as its stored number: `"state = \(sql: ItemState.queued)"` is `state = 0`.
    ///
    /// The number is part of the text and no parameter: SQLite uses a partial index only where it sees that the
    /// statement implies the condition of the index, and that of a parameter is unknown. Nothing but a number can get
    /// into the text this way.
    ///
    /// - Parameter value: a case of an enumeration.
    mutating func appendInterpolation<Value: RawRepresentable<Int> & CaseIterable>(sql value: Value) {
        appendInterpolation(value.rawValue)
    }

    /// Writes cases into an SQL text, as a list of their stored numbers: `"state IN \(sql: [ItemState.queued,
    /// .loading])"` is `state IN (0, 1)`.
    ///
    /// - Parameter values: cases of an enumeration, in the order of the list.
    mutating func appendInterpolation<Value: RawRepresentable<Int> & CaseIterable>(sql values: [Value]) {
        appendLiteral("(")
        for (place, value) in values.enumerated() {
            if place > 0 { appendLiteral(", ") }
            appendInterpolation(value.rawValue)
        }
        appendLiteral(")")
    }
}

/// The state of a version (`version.state`). Raw values are stored: frozen, never reused.
enum VersionState: Int, Sendable, CaseIterable {
    /// Its bytes are being received; at most one of a lecture.
    case building = 0
    /// Playable; at most one of a lecture.
    case current = 1
    /// Another version has become current. Its row stays until its files are deleted.
    case superseded = 2
    /// Discarded while it was being built. Its row stays until its files are deleted.
    case discarded = 3
}

/// The state of a licence in a batch (`renewal.state`). Raw values are stored: frozen, never reused.
enum RenewalState: Int, Sendable, CaseIterable {
    /// Not asked for yet, or to be asked for again.
    case wanted = 0
    /// The run has renewed it.
    case renewed = 1
    /// It has failed for this run.
    case failed = 2
}

extension ReportState {
    /// Follows the column in the condition for reports of which ``holdsSession`` is true: `"state \(isOpen)"`.
    ///
    /// A comparison and no list, because the partial index `report_lane` has it: SQLite does not see that a list means
    /// the same.
    static let isOpen = "< \(sql: delivered)"
}

extension LicenceSuspicion {
    /// What `licence.suspicion` contains for a licence that is trusted.
    static let noneStored = 0
}
