import LectureFormats
package import LectureModel

/// One item of a request to a DRM callback, before it is written as JSON.
package struct CallbackQuestion: Hashable, Sendable {
    /// The kind of the request.
    package var kind: CallbackAnswer.Kind
    /// The lecture.
    package var mediaContentKey: String
    /// The learner (`cuid` of the link's token).
    package var clientUserID: String
    /// The installation.
    package var playerID: String
    /// The device's model.
    package var deviceName: String
    /// Values of the link that are passed on (`uservalue0`…`uservalue99`).
    package var userValues: [String: String] = [:]
    /// The device's time, UTC.
    package var localTime: Timestamp
    /// Kind 3: made for each question, and must be returned for a reset.
    package var sessionKey = ""
    /// Kind 3: whether the licence has ended on this device.
    package var isExpired = false
    /// Kind 3: whether its date for a check has passed.
    package var isCheckDue = false
    /// Kind 3: whether it is a renewal and not a play.
    package var isRenewal = false
    /// Kind 3: the stored end; `nil` for no bound.
    package var expiresAt: Timestamp?

    /// A question about a lecture.
    ///
    /// - Parameters:
    ///   - kind: the kind of the request.
    ///   - mediaContentKey: the lecture's key.
    ///   - clientUserID: the learner.
    ///   - playerID: the installation.
    ///   - deviceName: the device's model.
    ///   - localTime: the device's time.
    package init(
        _ kind: CallbackAnswer.Kind, mediaContentKey: String, clientUserID: String, playerID: String,
        deviceName: String, localTime: Timestamp
    ) {
        (self.kind, self.mediaContentKey, self.clientUserID) = (kind, mediaContentKey, clientUserID)
        (self.playerID, self.deviceName, self.localTime) = (playerID, deviceName, localTime)
    }

    /// The value of the form field `items`: an array, even for one question.
    ///
    /// - Parameters:
    ///   - questions: at most ten.
    ///   - withSecrets: false leaves out the session keys, for what is shown.
    /// - Returns: JSON text.
    package static func items(_ questions: [CallbackQuestion], withSecrets: Bool = true) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            for question in questions { writer.object { question.write(to: &$0, withSecrets: withSecrets) } }
        }
        return writer.text
    }

    /// The body of the request: the form field `items`, and `extra_drm_param` if the application adds something
    /// (`application/x-www-form-urlencoded`, WHATWG URL section 5.2).
    ///
    /// - Parameters:
    ///   - questions: at most ten.
    ///   - extra: what the application adds (`extraDrmParam`); nil adds no field. It is in no record of the request.
    /// - Returns: the body.
    package static func form(_ questions: [CallbackQuestion], extra: String? = nil) -> RequestBody {
        var bytes = Array("items=".utf8)
        FormEncoding.append(items(questions), to: &bytes)
        if let extra {
            bytes += Array("&extra_drm_param=".utf8)
            FormEncoding.append(extra, to: &bytes)
        }
        return RequestBody(bytes, mediaType: "application/x-www-form-urlencoded")
    }

    private func write(to writer: inout JSONWriter, withSecrets: Bool) {
        writer.member("kind", kind.rawValue)
        if kind == .check, withSecrets { writer.member("session_key", sessionKey) }
        writer.member("client_user_id", clientUserID)
        writer.member("player_id", playerID)
        writer.member("device_name", deviceName)
        writer.member("media_content_key", mediaContentKey)
        writer.object("uservalues") { writer in
            for (name, value) in userValues.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
        }
        writer.member("localtime", localTime.milliseconds / 1000)
        if kind == .check {
            // A text: the vendor's sample servers read it as one and fail on a number.
            writer.member("start_at", "\(localTime.milliseconds / 1000)")
            writer.member("content_expired", isExpired ? 1 : 0)
            writer.member("check_expired", isCheckDue ? 1 : 0)
            writer.member("reset_req", isRenewal ? 1 : 0)
            writer.member("expiration_date", (expiresAt?.milliseconds ?? 0) / 1000)
        }
    }
}
