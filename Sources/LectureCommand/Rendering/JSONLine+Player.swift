import LectureFormats
import LectureKit
import LecturePlayer
package import LectureRecords

extension JSONLine {
    /// What a player does.
    ///
    /// - Parameters:
    ///   - shown: its lecture, state, position and speed.
    ///   - url: where another player reads it; nil without one that was asked for.
    /// - Returns: the line.
    package static func player(_ shown: PlayerDisplay, url: String? = nil) -> String {
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
            writer.member("url", url)
            if let permission = shown.permission { write(permission, &writer) }
        }
    }

    private static func write(_ permission: PlayPermission, _ writer: inout JSONWriter) {
        writer.object("permission") { writer in
            writer.member("expires_ms", permission.expiresAt?.milliseconds)
            writer.member("playtime_left_s", permission.playTimeLeft.map { $0.milliseconds / 1000 })
            let unit = permission.playTimeUnit == .media ? "media" : "running"
            writer.member("playtime_unit", permission.playTimeLeft == nil ? nil : unit)
            writer.member("section_from_ms", permission.section?.lowerBound.milliseconds)
            writer.member("section_to_ms", permission.section?.upperBound.milliseconds)
            writer.member("forbids_tv_output", permission.forbidsTVOutput)
            writer.member("message", permission.message.isEmpty ? nil : permission.message)
        }
    }
}
