import LectureFormats
import LectureModel

/// A verb of the video profile.
package enum VideoVerb: String, Sendable, CaseIterable {
    /// The video was opened.
    case initialized
    /// It plays.
    case played
    /// It was paused.
    case paused
    /// The learner went to another position.
    case seeked
    /// It was seen as far as required.
    case completed
    /// It was closed.
    case terminated

    /// The verb's identity.
    package var iri: String {
        switch self {
        case .initialized, .completed, .terminated: "http://adlnet.gov/expapi/verbs/\(rawValue)"
        case .played, .paused, .seeked: "https://w3id.org/xapi/video/verbs/\(rawValue)"
        }
    }
}

/// What the values of a report say about a video; times in milliseconds of media time.
///
/// | fact | first found of |
/// | --- | --- |
/// | verb | `video.verb`; `PLAY_STATUS` (`play`, `pause`, `stop`); `played` when a position is known; `initialized` |
/// | time | `video.time_ms`; end of the last segment; `content_info.last_play_at`; 0 |
/// | from, to | `video.from_ms`, `video.to_ms`; time |
/// | length | `video.duration_ms`; `content_info.duration`; `DURATION`; 0 |
/// | segments | `video.segments_ms` (`[[from,to],…]`); none |
/// | progress | what the segments cover of the length; `playtime_percent` up to 100; 0 |
/// | watched | `content_info.showtime`; `playtime`; `PLAY_TIME`; 0 |
///
/// `content_info` is read from `values` or from its member `JSON_DATA`. Seconds may be texts, as macros are.
struct VideoFacts {
    var verb: VideoVerb
    var time: Int64
    var from: Int64
    var to: Int64
    var length: Int64
    var segments: [(from: Int64, to: Int64)]
    /// In thousandths, 0…1000.
    var progress: Int64
    var watched: Int64

    /// The longest accepted time: a hundred years.
    private static let longest: Int64 = 3_153_600_000_000

    init(_ values: JSONValue) {
        let video = values["video"]
        let content = values["content_info"] ?? values["JSON_DATA"]?["content_info"]
        func milliseconds(_ name: String) -> Int64? {
            video?[name]?.integer.flatMap { (0...Self.longest).contains($0) ? $0 : nil }
        }
        func seconds(_ name: String, macro: String? = nil) -> Int64? {
            Self.thousandths(content?[name]) ?? macro.flatMap { Self.thousandths(values[$0]) }
        }
        segments = (video?["segments_ms"]?.elements ?? []).compactMap(Self.segment)
        let place = milliseconds("time_ms") ?? segments.last?.to ?? seconds("last_play_at")
        time = place ?? 0
        from = milliseconds("from_ms") ?? time
        to = milliseconds("to_ms") ?? time
        length = milliseconds("duration_ms") ?? seconds("duration", macro: "DURATION") ?? 0
        watched = seconds("showtime") ?? seconds("playtime", macro: "PLAY_TIME") ?? 0
        let percent = seconds("playtime_percent", macro: "PLAYTIME_PERCENT") ?? 0
        if segments.isEmpty || length == 0 {
            progress = min(percent / 100, 1000)
        } else {
            progress = min(Self.covered(segments) * 1000 / length, 1000)
        }
        let status = values["PLAY_STATUS"]?.string
        verb = video?["verb"]?.string.flatMap { VideoVerb(rawValue: $0) } ?? Self.verb(status, place)
    }

    private static func verb(_ status: String?, _ place: Int64?) -> VideoVerb {
        switch status {
        case "play": .played
        case "pause": .paused
        case "stop": .terminated
        case .some, .none: place == nil ? .initialized : .played
        }
    }

    private static func segment(_ value: JSONValue) -> (from: Int64, to: Int64)? {
        guard let pair = value.elements, pair.count == 2, let from = pair[0].integer, let to = pair[1].integer,
            from >= 0, from < to, to <= longest
        else { return nil }
        return (from, to)
    }

    private static func thousandths(_ value: JSONValue?) -> Int64? {
        guard let number = value?.double ?? value?.string.flatMap({ Double($0) }), number >= 0,
            number <= Double(longest / 1000)
        else { return nil }
        return Int64((number * 1000).rounded())
    }

    /// How much the segments cover together; overlaps count once.
    private static func covered(_ segments: [(from: Int64, to: Int64)]) -> Int64 {
        var sum: Int64 = 0
        var reached: Int64 = 0
        for (from, to) in segments.sorted(by: { $0.from < $1.from }) where to > reached {
            sum += to - max(from, reached)
            reached = to
        }
        return sum
    }
}
