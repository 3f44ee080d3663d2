import LectureFormats
import LectureKit
import LecturePlayer

extension JSONLine {
    /// What a player does.
    ///
    /// - Parameter shown: its lecture, state, position and speed.
    /// - Returns: the line.
    package static func player(_ shown: PlayerDisplay) -> String {
        line { writer in
            writer.member("event", "player")
            writer.member("key", shown.key?.text)
            writer.member("state", shown.state.name)
            switch shown.state {
            case .playing(let activity), .paused(let activity): writer.member("activity", activity.rawValue)
            case .stopped(let ending):
                writer.member("ending", ending.name)
                if case .failed(let error) = ending { problem(error, &writer) }
            case .idle, .preparing, .prepared: break
            }
            if shown.isIntro { writer.member("intro", true) }
            writer.member("position_ms", shown.position.milliseconds)
            writer.member("duration_ms", shown.duration?.milliseconds)
            writer.member("buffered_ms", shown.buffered?.milliseconds)
            writer.member("speed_percent", Int64((shown.rate * 100).rounded()))
        }
    }
}
