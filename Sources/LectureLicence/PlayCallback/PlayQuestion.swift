import LectureFormats
package import LectureModel

/// A request to a play callback or to the server of a duplicate check, before it is written as a form.
package struct PlayQuestion: Hashable, Sendable {
    /// What is asked.
    package enum Subject: Hashable, Sendable {
        /// Kind 1: may it be played?
        case permission
        /// Kind 3: may it still be played?
        case check
        /// A duplicate check: this player plays, or no longer does.
        case play(id: String, request: String, ends: Bool)
    }

    /// What is asked.
    package var subject: Subject
    /// The lecture.
    package var mediaContentKey: String
    /// The learner (`cuid` of the link's token).
    package var clientUserID = ""
    /// The installation.
    package var playerID: String
    /// The device's model.
    package var deviceName: String
    /// Values of the link that are passed on (`uservalue0`…`uservalue99`).
    package var userValues: [String: String] = [:]
    /// The device's time, UTC.
    package var localTime: Timestamp
    /// What the application adds (`extraDrmParam`); nil adds no field.
    package var extra: String?

    /// A request about a lecture.
    ///
    /// - Parameters:
    ///   - subject: what is asked.
    ///   - mediaContentKey: the lecture's key.
    ///   - playerID: the installation.
    ///   - deviceName: the device's model.
    ///   - localTime: the device's time.
    package init(
        _ subject: Subject, mediaContentKey: String, playerID: String, deviceName: String, localTime: Timestamp
    ) {
        (self.subject, self.mediaContentKey, self.playerID) = (subject, mediaContentKey, playerID)
        (self.deviceName, self.localTime) = (deviceName, localTime)
    }

    /// The body (`application/x-www-form-urlencoded`, WHATWG URL section 5.2): each value is a field of its own, and
    /// `uservalues` a JSON object as text. `hardware_id` is empty, as there is none on Linux.
    package var form: RequestBody {
        let values = JSONWriter.object { writer in
            for (name, value) in userValues.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
        }
        var fields: [(String, String)]
        switch subject {
        case .permission: fields = [("kind", "1")]
        case .check: fields = [("kind", "3")]
        case .play(let id, let request, let ends):
            fields = [("state", ends ? "end" : "play"), ("play_id", id), ("request_id", request)]
        }
        fields += [
            ("client_user_id", clientUserID), ("player_id", playerID), ("hardware_id", ""),
            ("device_name", deviceName), ("media_content_key", mediaContentKey), ("uservalues", values),
            ("localtime", "\(localTime.milliseconds / 1000)"),
        ]
        if let extra { fields.append(("extra_drm_param", extra)) }
        var bytes: [UInt8] = []
        for (name, value) in fields {
            bytes += Array("\(bytes.isEmpty ? "" : "&")\(name)=".utf8)
            FormEncoding.append(value, to: &bytes)
        }
        return RequestBody(bytes, mediaType: "application/x-www-form-urlencoded")
    }
}
