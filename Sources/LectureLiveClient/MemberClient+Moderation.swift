import LectureFormats
package import LectureLive

/// What the host of a room may do. Rooms are deleted as the vendor documents it; the others are this project's own.
extension MemberClient {
    /// Deletes a room that is not on the air, with its chat and its recording.
    ///
    /// - Parameter id: its number.
    /// - Throws: `LiveFailure`: 80401.
    package func delete(_ id: UInt64) async throws(LiveFailure) { try await order("DELETE", "video-rooms/\(id)") }

    /// Bans a member from a channel, or permits it again.
    ///
    /// - Parameters:
    ///   - userID: the member's ID with the application.
    ///   - channelID: the channel.
    ///   - isBanned: whether it is banned from now on.
    /// - Throws: `LiveFailure`: 80401.
    package func setBan(_ userID: String, channelID: UInt64, isBanned: Bool) async throws(LiveFailure) {
        let path = "channels/\(channelID)/bans"
        if isBanned {
            return try await order("POST", path, body: JSONWriter.object { $0.member("appUserId", userID) })
        }
        // What is no plain letter of an ID is a part of the path in no form.
        let name = userID.utf8.map { byte in
            let isPlain = "._-@".utf8.contains(byte) || Character(Unicode.Scalar(byte)).isASCIIAlphanumeric
            return isPlain ? String(Unicode.Scalar(byte)) : "%" + Self.hexadecimal(byte)
        }
        try await order("DELETE", "\(path)/\(name.joined())")
    }

    /// Hides a message of a member.
    ///
    /// - Parameters:
    ///   - message: its number.
    ///   - channelID: the channel.
    /// - Throws: `LiveFailure`: 80401.
    package func hide(_ message: UInt64, channelID: UInt64) async throws(LiveFailure) {
        try await order("POST", "channels/\(channelID)/messages/\(message)/hide")
    }

    /// Sets how long members wait between two messages.
    ///
    /// - Parameters:
    ///   - seconds: 0 to 3600; 0 for no slow mode.
    ///   - channelID: the channel.
    /// - Throws: `LiveFailure`: 80401.
    package func setSlowMode(_ seconds: Int, channelID: UInt64) async throws(LiveFailure) {
        let body = JSONWriter.object { $0.member("seconds", seconds) }
        try await order("PUT", "channels/\(channelID)/slow-mode", body: body)
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}

extension Character {
    fileprivate var isASCIIAlphanumeric: Bool { isASCII && (isLetter || isNumber) }
}
