import LectureLicence
public import LectureModel

/// What the server of a stream permits before it plays: the answer of its play callback.
///
/// ``LectureStream/permission(patience:)`` asks for it. A player keeps to it, and while it plays asks again every
/// ``checkPeriod``, and registers the play every ``duplicatePeriod``.
public struct PlayPermission: Sendable, Hashable {
    /// When it ends (`expiration_date`); nil for never.
    public var expiresAt: Timestamp?
    /// How long it was valid when it was given, whatever the clock shows later; nil for any time.
    public var timeLeft: Duration?
    /// How much may be played (`expiration_playtime`); nil for any time.
    public var playTimeLeft: Duration?
    /// What counts as play time (`expiration_playtime_type`).
    public var playTimeUnit = LicencePolicy.PlayTimeUnit.media
    /// The only part that may be played (`play_section`); nil for all of it.
    public var section: Range<Duration>?
    /// Whether a picture must not go out to another screen (`disable_tvout`); nil where the server leaves it to the
    /// provider's channel. A player of this library opens a window and sends nothing elsewhere, so it is for
    /// applications that can.
    public var forbidsTVOutput: Bool?
    /// Whether it must not play in a virtual machine (`vmcheck` 1). On one the permission was refused already.
    public var forbidsVirtualMachines = false
    /// What the server says to the learner; empty for nothing. It is as it was received: a program that shows it on a
    /// terminal has to remove control characters.
    public var message = ""
    /// How often ``LectureStream/checkPermission(patience:)`` is due while it plays; nil without a play callback.
    public var checkPeriod: Duration?
    /// How often ``LectureStream/registerPlay(patience:)`` is due; nil without a duplicate check.
    public var duplicatePeriod: Duration?

    /// A permission without limits.
    public init() {}

    init(_ answer: PlayAnswer, now: Timestamp) {
        (expiresAt, timeLeft) = (answer.expiresAt, answer.expiresAt.map { $0 - now })
        (playTimeLeft, playTimeUnit) = (answer.playTimeLimit, answer.playTimeUnit)
        (section, message) = (answer.section, answer.message ?? "")
        (forbidsTVOutput, forbidsVirtualMachines) = (answer.forbidsTVOutput, answer.forbidsVirtualMachines)
    }
}

extension LectureStream {
    /// Asks whether this stream may be played (kind 1 of the play callback), and registers the play where the gateway
    /// names a duplicate check. For a player, before the media is read: the stream itself does not ask, and can be read
    /// without it.
    ///
    /// A server that cannot be reached is asked up to three times, with growing waits or after its `Retry-After`. One
    /// that has answered is asked once, whatever it answered.
    ///
    /// - Parameter patience: how long this may take.
    /// - Returns: the permission; nil where the gateway names neither a play callback nor a duplicate check.
    /// - Throws: ``LectureError``: `playNotPermitted`, `playPermissionExpired`, `virtualMachine`, `duplicatePlay`;
    ///   `duplicateCheckFailed`; `playAnswerEmpty`, `playAnswerUndecodable`, `playAnswerUnreadable`,
    ///   `licenceKeyMissing`, the code of a transfer or of a status of the play callback; `deviceKeyRefused`, or a
    ///   store's code; `cancelled` when the task was cancelled.
    public nonisolated func permission(
        patience: Duration = .seconds(10)
    ) async throws(LectureError) -> PlayPermission? {
        guard let door = parts.door else { return nil }
        return try await door.permission(length: duration, patience: patience)
    }

    /// Asks whether this stream may still be played (kind 3 of the play callback): when the player is ready, and each
    /// ``PlayPermission/checkPeriod`` while it plays. One request, and no other attempt.
    ///
    /// - Parameter patience: how long this may take.
    /// - Throws: ``LectureError``: `playPermissionRefused` and `playPermissionExpired` end a play. Every other error,
    ///   such as that of a server which cannot be reached or an answer that does not verify, takes nothing away, and
    ///   the server is to be asked again. `cancelled` when the task was cancelled.
    public nonisolated func checkPermission(patience: Duration = .seconds(10)) async throws(LectureError) {
        try await parts.door?.check(patience: patience)
    }

    /// Registers at the duplicate check that this stream plays here. One request, and no other attempt.
    ///
    /// - Parameter patience: how long this may take.
    /// - Throws: ``LectureError``: `duplicatePlay` ends a play. `duplicateCheckFailed` when there is no valid answer,
    ///   whose cause is why; the third in a row ends a play. `cancelled` when the task was cancelled.
    public nonisolated func registerPlay(patience: Duration = .seconds(10)) async throws(LectureError) {
        try await parts.door?.register(patience: patience)
    }

    /// Reports to the duplicate check that this stream no longer plays here, so that another device may play at once.
    /// A server that does not take it forgets the play by itself.
    ///
    /// - Parameter patience: how long this may take.
    public nonisolated func unregisterPlay(patience: Duration = .seconds(1)) async {
        await parts.door?.unregister(patience: patience)
    }
}
