import LectureCrypto
import LectureFormats
import LectureModel

/// Links to archived lectures: signed, for one member, and for a time, as ``PlaybackLinks`` are, and never mistaken for
/// one of them.
///
/// `/lectures/UUID/MEMBER/EXPIRY/SIGNATURE/si` is what a player loads; the media and the chat are beside it.
struct LectureLinks: Sendable {
    let key: SecretBytes
    /// What is before the path.
    let base: String
    let lifetime: Duration

    /// What a link says.
    struct Claim: Hashable, Sendable {
        let uuid: String
        let member: Int64
        /// Seconds since 1970.
        let expiry: Int64
    }

    /// The link of a member to a lecture.
    ///
    /// - Parameters:
    ///   - uuid: of the room.
    ///   - member: who it is for.
    ///   - archivedAt: when the lecture was made. The link stays the same for half the lifetime, and works for at least
    ///     that long.
    ///   - now: the time.
    /// - Returns: a URL.
    /// - Throws: `LectureError` with `cryptography`.
    func url(uuid: String, member: Int64, archivedAt: Timestamp, now: Timestamp) throws -> String {
        let expiry = PlaybackLinks.expiry(from: archivedAt, now: now, lifetime: lifetime)
        return try url(Claim(uuid: uuid, member: member, expiry: expiry), file: "si")
    }

    /// The URL of a file of a claim.
    ///
    /// - Parameters:
    ///   - claim: of a link.
    ///   - file: the last segment.
    /// - Returns: a URL.
    /// - Throws: `LectureError` with `cryptography`.
    func url(_ claim: Claim, file: String) throws -> String {
        "\(base)/lectures/\(claim.uuid)/\(claim.member)/\(claim.expiry)/\(try signature(claim))/\(file)"
    }

    /// Verifies the segments of a path after `lectures`, without the name of the file.
    ///
    /// - Parameters:
    ///   - segments: uuid, member, expiry, signature.
    ///   - now: the time.
    /// - Returns: nil when it was changed, or has expired.
    /// - Throws: `LectureError` with `cryptography`.
    func claim(_ segments: ArraySlice<String>, now: Timestamp) throws -> Claim? {
        let words = Array(segments)
        guard words.count == 4, let member = Int64(words[1]), let expiry = Int64(words[2]) else { return nil }
        let claim = Claim(uuid: words[0], member: member, expiry: expiry)
        let isSigned = OpenSSLDigests.equal(Array(words[3].utf8), Array(try signature(claim).utf8))
        // Other spellings of a number, such as `+1`, are not what was signed.
        let isPlain = words[1] == "\(member)" && words[2] == "\(expiry)"
        return isSigned && isPlain && now.milliseconds < expiry.multipliedReportingOverflow(by: 1000).partialValue
            ? claim : nil
    }

    private func signature(_ claim: Claim) throws -> String {
        let text = "lecture-live/archive/1\n\(claim.uuid)\n\(claim.member)\n\(claim.expiry)"
        return Base64URL.text(try KeyDerivation.hmac(key, Array(text.utf8)))
    }
}
