import LectureCrypto
import LectureFormats
import LectureModel

/// Links to the fragments of a session: signed, for one member, and for a time.
///
/// The signature is in the path before the file's name, `/live/ROOM/SESSION/MEMBER/EXPIRY/SIGNATURE/index.m3u8`, so
/// that the relative links of a playlist have it as well.
struct PlaybackLinks: Sendable {
    let key: SecretBytes
    /// What is before the path.
    let base: String
    let lifetime: Duration

    /// What a link says.
    struct Claim: Hashable, Sendable {
        let room: Int64
        /// 0 for all sessions of the room.
        let session: Int
        let member: Int64
        /// Seconds since 1970.
        let expiry: Int64
    }

    /// The link of a member to a session.
    ///
    /// - Parameters:
    ///   - room: the room.
    ///   - session: the number of the session; 0 for all of them.
    ///   - member: who it is for.
    ///   - playableAt: when the session could be watched first. The link stays the same for half the lifetime, and
    ///     works for at least that long.
    ///   - now: the time.
    /// - Returns: a URL.
    /// - Throws: `LectureError` with `cryptography`.
    func url(room: Int64, session: Int, member: Int64, playableAt: Timestamp, now: Timestamp) throws -> String {
        let expiry = expiry(from: playableAt, now: now)
        let claim = Claim(room: room, session: session, member: member, expiry: expiry)
        return "\(base)/live/\(room)/\(session)/\(member)/\(expiry)/\(try signature(claim, .hls))/index.m3u8"
    }

    /// When a link of now expires: the same moment for half the lifetime, and at least that far away.
    ///
    /// - Parameters:
    ///   - playableAt: when it could be used first.
    ///   - now: the time.
    /// - Returns: seconds since 1970.
    func expiry(from playableAt: Timestamp, now: Timestamp) -> Int64 {
        Self.expiry(from: playableAt, now: now, lifetime: lifetime)
    }

    /// The same for other links.
    static func expiry(from start: Timestamp, now: Timestamp, lifetime: Duration) -> Int64 {
        let half = max(1, lifetime.milliseconds / 2000)
        let passed = max(0, (now - start).milliseconds / 1000)
        return start.milliseconds / 1000 + (passed / half + 2) * half
    }

    /// What a signature is for: one never does for the other.
    enum Purpose: String {
        case hls = "lecture-live/1"
        case rtmp = "lecture-live/rtmp/1"
    }

    /// Verifies the segments of a path after `live`, without the name of the file.
    ///
    /// - Parameters:
    ///   - segments: room, session, member, expiry, signature.
    ///   - purpose: what they were signed for.
    ///   - now: the time.
    /// - Returns: nil when it was changed, or has expired.
    /// - Throws: `LectureError` with `cryptography`.
    func claim(_ segments: ArraySlice<String>, _ purpose: Purpose = .hls, now: Timestamp) throws -> Claim? {
        let words = Array(segments)
        guard words.count == 5, let room = Int64(words[0]), let session = Int(words[1]), let member = Int64(words[2]),
            let expiry = Int64(words[3])
        else { return nil }
        let claim = Claim(room: room, session: session, member: member, expiry: expiry)
        let isSigned = OpenSSLDigests.equal(Array(words[4].utf8), Array(try signature(claim, purpose).utf8))
        // Other spellings of a number, such as `+1`, are not what was signed.
        let isPlain = words.prefix(4) == ["\(room)", "\(session)", "\(member)", "\(expiry)"]
        return isSigned && isPlain && now.milliseconds < expiry * 1000 ? claim : nil
    }

    /// The signature of a claim (HMAC-SHA-256).
    func signature(_ claim: Claim, _ purpose: Purpose) throws -> String {
        let text = "\(purpose.rawValue)\n\(claim.room)\n\(claim.session)\n\(claim.member)\n\(claim.expiry)"
        return Base64URL.text(try KeyDerivation.hmac(key, Array(text.utf8)))
    }
}
