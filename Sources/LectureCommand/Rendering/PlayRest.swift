package import LectureKit

/// What a licence has left, in a few words.
package enum PlayRest {
    /// The words for a terminal.
    ///
    /// - Parameter licence: what the licence says.
    /// - Returns: the play time that is left, else the number of plays, with the date; empty without a limit.
    package static func text(_ licence: LicenceStatus) -> String {
        var words: [String] = []
        if let left = licence.playTimeLeft {
            words.append("\(HumanText.duration(seconds: max(0, left.milliseconds / 1000))) of play time left")
        } else if let left = licence.countLeft {
            words.append(left == 1 ? "1 more play" : "\(left) more plays")
        }
        if let deadline = licence.deadline { words.append("licence until \(HumanText.date(deadline))") }
        return words.joined(separator: ", ")
    }
}
