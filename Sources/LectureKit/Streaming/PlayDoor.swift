import LectureEngine
import LectureFiles
import LectureFormats
import LectureLicence
import LectureModel
import LectureTransport

/// Asks the servers of a stream whether it may be played: its play callback, and its duplicate check.
///
/// It runs on no actor, so that neither a reader of the stream nor the store waits for a server.
struct PlayDoor: Sendable {
    /// Attempts to reach a server before a play starts.
    private static let attempts = 3
    /// The longest answer.
    private static let bodyLimit = CallbackReading.bodyLimit

    /// Which servers, and how their answers are verified.
    let source: PlayCallbackSource
    /// The lecture, the learner and the device, as they are sent.
    let question: PlayQuestion
    /// The scheme, host and port are named by errors; a URL may contain secrets.
    let key: ContentKey
    let session: StoreSession
    let verifier: ConfiguredAnswerVerifier
    let clock: any LectureClock
    let inspector: any MachineInspector
    /// How long without a byte is too long.
    let stallTimeout: Duration
    /// The time that a clock set back does not change.
    let trustedNow: @Sendable () async throws -> Timestamp
    /// Identifies the play at the duplicate check.
    let playID: String

    // MARK: Questions

    /// Kind 1, then the registration of the play.
    func permission(length: Duration?, patience: Duration) async throws(LectureError) -> PlayPermission {
        let end = clock.boot() + patience
        var permission = PlayPermission()
        if let url = source.url {
            permission = try await permitted(url, until: end)
            permission.checkPeriod = source.period(length: length)
        }
        guard let url = source.duplicateURL else { return permission }
        permission.duplicatePeriod = source.duplicatePeriod
        do throws(CallbackFault) { try await registered(url, until: end, attempts: Self.attempts) } catch {
            // An answer may have been lost, and the play registered: that would keep the learner from other devices. In
            // a task of its own, since this one may be cancelled.
            await Task { await unregister(patience: .seconds(1)) }.value
            throw duplicateError(error)
        }
        return permission
    }

    private func permitted(_ url: String, until end: BootInstant) async throws(LectureError) -> PlayPermission {
        let answer: PlayAnswer
        do throws(CallbackFault) {
            answer = try await ask(.permission, url, until: end, attempts: Self.attempts) {
                payload throws(LectureError) in try PlayAnswer(payload)
            }
        } catch { throw named(error.error) }
        guard answer.isPermitted else { throw refusal(.playNotPermitted, answer.message) }
        let now = try await LectureError.only { try await trustedNow() }
        let permission = PlayPermission(answer, now: now)
        if answer.isEnded || permission.timeLeft.map({ $0 <= .zero }) == true {
            throw refusal(.playPermissionExpired, answer.message)
        }
        if answer.forbidsVirtualMachines, inspector.signs().isVirtual { throw refusal(.virtualMachine, answer.message) }
        return permission
    }

    /// Kind 3.
    func check(patience: Duration) async throws(LectureError) {
        guard let url = source.url else { return }
        let answer: PlayAnswer
        do throws(CallbackFault) {
            answer = try await ask(.check, url, until: clock.boot() + patience) { payload throws(LectureError) in
                try PlayAnswer(payload)
            }
        } catch { throw named(error.error) }
        // It ends the permission, whether it is also refused or not.
        if answer.isEnded { throw refusal(.playPermissionExpired, answer.message) }
        guard answer.isPermitted else { throw refusal(.playPermissionRefused, answer.message) }
    }

    /// Registers the play.
    func register(patience: Duration) async throws(LectureError) {
        guard let url = source.duplicateURL else { return }
        do throws(CallbackFault) { try await registered(url, until: clock.boot() + patience) } catch {
            throw duplicateError(error)
        }
    }

    /// Ends the registration.
    func unregister(patience: Duration) async {
        guard let url = source.duplicateURL else { return }
        let subject = PlayQuestion.Subject.play(id: playID, request: newID(), ends: true)
        _ = try? await ask(subject, url, until: clock.boot() + patience) { _ in }
    }

    private func registered(_ url: String, until end: BootInstant, attempts: Int = 1) async throws(CallbackFault) {
        let request = newID()
        let subject = PlayQuestion.Subject.play(id: playID, request: request, ends: false)
        let answer = try await ask(subject, url, until: end, attempts: attempts) { payload throws(LectureError) in
            try DuplicateAnswer(payload, to: request)
        }
        if answer.isPermitted { return }
        throw CallbackFault(refusal(.duplicatePlay, answer.message), .neutral)
    }

    private func newID() -> String { UUIDv7.text(at: clock.now(), random: SystemRandom()) }

    // MARK: Errors

    private func refusal(_ code: LectureError.Code, _ message: String?) -> LectureError {
        LectureError(code, detail: key.text, cause: message ?? "")
    }

    private func named(_ error: LectureError) -> LectureError {
        LectureError(error.code, detail: error.detail.isEmpty ? key.text : error.detail, cause: error.cause)
    }

    private func duplicateError(_ fault: CallbackFault) -> LectureError {
        switch fault.error.code {
        case .duplicatePlay, .cancelled, .licenceKeyMissing: named(fault.error)
        default:
            LectureError(
                .duplicateCheckFailed, detail: key.text,
                cause: fault.error.code.summary + (fault.error.cause.isEmpty ? "" : ": \(fault.error.cause)"))
        }
    }

    // MARK: Exchanges

    /// Asks until there is an answer.
    ///
    /// - Parameters:
    ///   - subject: what is asked.
    ///   - url: the server.
    ///   - end: the boot clock at the end of the patience.
    ///   - attempts: the most requests.
    ///   - read: reads the payload of the verified token.
    /// - Returns: what was read.
    /// - Throws: the failure of the last attempt.
    private func ask<Answer: Sendable>(
        _ subject: PlayQuestion.Subject, _ url: String, until end: BootInstant, attempts: Int = 1,
        _ read: (JSONValue) throws(LectureError) -> Answer
    ) async throws(CallbackFault) -> Answer {
        var failures = 0
        while true {
            do throws(CallbackFault) {
                let payload = try await payload(of: subject, url, until: end)
                do throws(LectureError) { return try read(payload) } catch { throw CallbackFault(error, .unusable) }
            } catch {
                failures += 1
                let backoff = Backoff().delay(failures: failures, random: SystemRandom().next())
                let wait = max(error.wait ?? .zero, backoff)
                guard failures < attempts, error.mayPass, clock.boot() + wait < end, !Task.isCancelled else {
                    throw error
                }
                // proof: no thread is blocked; it is the pause before the next attempt.
                try? await Task.sleep(for: wait)
            }
        }
    }

    /// One request, and the payload of its verified answer.
    private func payload(
        of subject: PlayQuestion.Subject, _ url: String, until end: BootInstant
    ) async throws(CallbackFault) -> JSONValue {
        let reply = try await reply(to: subject, url, until: end)
        do throws(CallbackFault) {
            let token = try reply.token()
            do throws(LectureError) {
                let now = try await LectureError.only { try await trustedNow() }
                return try verifier.payload(
                    of: token, keyID: source.keyID, userKey: reply.head?.fields["X-KOLLUS-USERKEY"], at: now
                ).payload
            } catch { throw CallbackFault(error, error.code == .licenceKeyMissing ? .neutral : .unusable) }
        } catch {
            var fault = error
            fault.error = error.error.ofPlayCallback
            throw fault
        }
    }

    private func reply(
        to subject: PlayQuestion.Subject, _ url: String, until end: BootInstant
    ) async throws(CallbackFault) -> ExchangeReply {
        var question = question
        (question.subject, question.localTime) = (subject, clock.now())
        var request = ExchangeRequest(id: session.numbers.next(), url: url, bodyLimit: Self.bodyLimit)
        request.body = question.form
        request.stallTimeout = stallTimeout
        request.totalTimeout = max(.milliseconds(1), end - clock.boot())
        let waiter = Waiter<ExchangeReply>()
        let exchanges = ExchangePerformer(session.transport, clock: clock) { _, reply in waiter.answer(reply) }
        if Task.isCancelled { throw CallbackFault(LectureError(.cancelled), .neutral) }
        exchanges.perform(.send(request))
        do { return try await waiter.value() } catch {
            exchanges.perform(.cancel([request.id]))
            throw CallbackFault(LectureError(.cancelled), .neutral)
        }
    }
}

extension CallbackFault {
    /// Whether another attempt may succeed: there was no answer, or the server asks to come back.
    fileprivate var mayPass: Bool {
        if isFinal { return false }
        switch outcome {
        case .failed, .timedOut, .overloaded: return true
        case .unusable: return (10_500...10_599).contains(-error.code.number)
        case .served, .neutral: return false
        }
    }
}
