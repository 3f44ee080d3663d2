import LectureFormats
import LectureLicence
import LectureModel
import Testing

struct CallbackTests {
    private func answer(_ members: String) throws -> CallbackAnswer {
        let text = #"{"media_content_key":"k",\#(members)}"#
        return try CallbackAnswer(try JSONScanner.value(of: Array(text.utf8)))
    }

    private func granted(_ change: (inout LicenceRecord) -> Void = { _ in }) -> LicenceRecord {
        var licence = LicenceRecord(form: .callback, policy: LicencePolicy(), isVerified: true)
        change(&licence)
        return licence
    }

    // MARK: Reading

    @Test func `a complete answer is read`() throws {
        let answer = try answer(
            #"""
            "kind":1,"result":1,"message":"ok","expiration_date":1800000000,"expiration_count":5,
            "expiration_playtime":3600,"expiration_playtime_type":1,"expiration_refresh_popup":1,"check_abuse":1,
            "offline_bookmark":{"download":2,"readonly":1},"check_expiration_date":1790000000,"vmcheck":1,"iat":1
            """#)
        #expect(answer.kind == .grant && answer.isPermitted && answer.message == "ok")
        #expect(answer.expiresAt == .some(Timestamp(milliseconds: 1_800_000_000_000)))
        #expect(answer.countLimit == .some(5) && answer.playTimeLimit == .some(.seconds(3600)))
        #expect(answer.playTimeUnit == .running && answer.asksBeforeRenewal == true && answer.checksEveryPlay == true)
        #expect(answer.bookmarks == .all && answer.bookmarksAreReadOnly == true)
        #expect(answer.checkAt == .some(Timestamp(milliseconds: 1_790_000_000_000)))
        #expect(!answer.deletes && !answer.expires && !answer.resets)
    }

    @Test func `zero is no limit, and missing members change nothing`() throws {
        let said = try answer(
            #"""
            "kind":1,"result":1,"expiration_date":0,"expiration_count":0,"expiration_playtime":0,
            "check_expiration_date":0
            """#)
        #expect(said.expiresAt == .some(nil) && said.countLimit == .some(nil))
        #expect(said.playTimeLimit == .some(nil) && said.checkAt == .some(nil))
        let silent = try answer(#""kind":1,"result":1"#)
        #expect(silent.expiresAt == nil && silent.countLimit == nil && silent.playTimeLimit == nil)
        #expect(silent.checkAt == nil && silent.checksEveryPlay == nil && silent.bookmarks == nil)
    }

    @Test(arguments: [
        #""kind":0,"result":1"#, #""kind":4,"result":1"#, #""kind":"1","result":1"#, #""result":1"#, #""kind":1"#,
        #""kind":1,"result":2"#, #""kind":1,"result":true"#, #""kind":1,"result":"1""#, #""kind":1,"result":1.0"#,
        #""kind":1,"result":1,"expiration_date":-1"#, #""kind":1,"result":1,"expiration_date":1893456000"#,
        #""kind":1,"result":1,"expiration_date":"1800000000""#, #""kind":1,"result":1,"expiration_count":1001"#,
        #""kind":1,"result":1,"expiration_playtime":59"#, #""kind":1,"result":1,"expiration_playtime":604801"#,
        #""kind":1,"result":1,"expiration_playtime_type":2"#, #""kind":1,"result":1,"check_abuse":2"#,
        #""kind":1,"result":1,"offline_bookmark":1"#, #""kind":1,"result":1,"offline_bookmark":{"download":3}"#,
        #""kind":3,"result":1,"content_expired":"0""#, #""kind":3,"result":1,"session_key":1"#,
    ])
    func `an invalid value is refused`(members: String) {
        #expect(throws: LectureError(.json)) { try answer(members) }
    }

    @Test func `a payload may be one object, and a bad element spoils only itself`() throws {
        func all(_ text: String) throws -> [CallbackItemAnswer] {
            try CallbackAnswers(try JSONScanner.value(of: Array(text.utf8))).answers(about: nil)
        }
        let one = #"{"kind":1,"media_content_key":"a","result":1}"#
        #expect(try all(#"{"data":\#(one),"iat":1}"#).count == 1)
        let two = try all(#"{"data":[\#(one),{"kind":1}]}"#)
        guard case .answer(let answer) = two[0], case .unreadable(let error) = two[1] else {
            Issue.record("not read as an answer and an unreadable one")
            return
        }
        #expect(answer.mediaContentKey == "a" && error.code == .answerInvalid)
        #expect(throws: LectureError(.answerUnreadable)) { try all(#"{"exp":1}"#) }
    }

    @Test(arguments: [
        "expiration_date", "expiration_count", "expiration_playtime", "expiration_playtime_type",
        "check_expiration_date", "check_abuse", "expiration_refresh_popup", "offline_bookmark", "content_delete",
        "content_expired", "content_expire_reset",
    ])
    func `null is no limit, neither in an answer nor in a licence file`(member: String) throws {
        let answers = try CallbackAnswers(
            try JSONScanner.value(
                of: Array(#"{"data":[{"kind":1,"media_content_key":"a","result":1,"\#(member)":null}]}"#.utf8)))
        guard case .unreadable(let error) = answers.answers(for: ["a"], .grant)[0] else {
            Issue.record("null was read")
            return
        }
        #expect(error.code == .answerInvalid && error.cause.contains(member))
        // A file has nothing to reset.
        if member == "content_expire_reset" { return }
        let file = LicenceFile(
            try JSONScanner.value(of: Array(#"{"mck":"a","policy":{"\#(member)":null}}"#.utf8)))
        #expect(file.faults.map(\.name) == ["policy_out_of_range"])
    }

    // MARK: Rules

    @Test func `a grant creates a licence, and a refusal neither creates nor removes one`() throws {
        let yes = CallbackRules.apply(
            try answer(#""kind":1,"result":1,"expiration_count":3"#), to: nil, sessionKey: nil)
        #expect(yes.licence?.policy.countLimit == 3 && yes.refusal == nil)
        let refused = try answer(#""kind":1,"result":0,"message":"no""#)
        #expect(CallbackRules.apply(refused, to: nil, sessionKey: nil).licence == nil)
        let old = granted { $0.countUsed = 2 }
        let outcome = CallbackRules.apply(refused, to: old, sessionKey: nil)
        #expect(outcome.licence == old && outcome.refusal?.code.number == -8655 && outcome.refusal?.cause == "no")
    }

    @Test func `a completion may order the file deleted, and may set a day for a check`() throws {
        let outcome = CallbackRules.apply(
            try answer(#""kind":2,"result":1,"content_delete":1,"check_expiration_date":1800000000"#), to: granted(),
            sessionKey: nil)
        #expect(outcome.deletes && outcome.licence?.isDeleted == true && outcome.refusal == nil)
        #expect(outcome.licence?.policy.checkAt != nil)
        let refused = CallbackRules.apply(try answer(#""kind":2,"result":0"#), to: granted(), sessionKey: nil)
        #expect(refused.refusal?.code.number == -8656 && refused.licence == granted())
    }

    @Test func `a refused check leaves the licence as it is`() throws {
        let old = granted { ($0.policy.countLimit, $0.countUsed) = (3, 1) }
        let outcome = CallbackRules.apply(
            try answer(#""kind":3,"result":0,"expiration_count":1,"expiration_date":1"#), to: old, sessionKey: "s")
        #expect(outcome.licence == old && outcome.refusal?.code.number == -8657)
    }

    @Test func `a check replaces the limits it names and leaves the others`() throws {
        let old = granted {
            ($0.policy.countLimit, $0.countUsed) = (3, 2)
            $0.policy.expiresAt = Timestamp(milliseconds: 5)
            $0.policy.checkAt = Timestamp(milliseconds: 5)
        }
        let licence = CallbackRules.apply(
            try answer(#""kind":3,"result":1,"expiration_date":1800000000"#), to: old, sessionKey: "s"
        ).licence
        #expect(licence?.policy.expiresAt == Timestamp(milliseconds: 1_800_000_000_000))
        #expect(licence?.countLeft == 1)
        #expect(licence?.policy.checkAt == nil, "the server was asked: nothing is due")
    }

    @Test func `a forced end wins over a reset and over a refusal, and no later answer revives it`() throws {
        for members in [#""result":1"#, #""result":0"#] {
            let text = #""kind":3,\#(members),"content_expired":1,"content_expire_reset":1,"session_key":"s""#
            let ended = CallbackRules.apply(try answer(text), to: granted(), sessionKey: "s").licence
            #expect(ended?.isForceExpired == true)
            let later = CallbackRules.apply(
                try answer(#""kind":3,"result":1,"content_expired":0"#), to: ended, sessionKey: "s")
            #expect(later.licence?.isForceExpired == true)
        }
    }

    @Test func `only a reset with the session key that was sent revives`() throws {
        let ended = granted { licence in
            (licence.isForceExpired, licence.wasSeenExpired) = (true, true)
            (licence.policy.countLimit, licence.countUsed) = (2, 2)
            licence.playTimeUsed = .seconds(99)
        }
        let reset = #""kind":3,"result":1,"content_expire_reset":1,"#
        for (members, sent) in [(#""session_key":"other""#, "s"), (#""message":"""#, "s")] {
            let outcome = CallbackRules.apply(try answer(reset + members), to: ended, sessionKey: sent)
            #expect(outcome.refusal?.code.number == -8681 && outcome.licence == ended && !outcome.wasReset)
        }
        let unsent = CallbackRules.apply(try answer(reset + #""session_key":"s""#), to: ended, sessionKey: nil)
        #expect(unsent.refusal?.code.number == -8681)
        let outcome = CallbackRules.apply(try answer(reset + #""session_key":"s""#), to: ended, sessionKey: "s")
        #expect(outcome.wasReset && outcome.licence?.isForceExpired == false && outcome.licence?.countLeft == 2)
        #expect(outcome.licence?.wasSeenExpired == false && outcome.licence?.playTimeUsed == .zero)
    }

    @Test func `a check without a licence grants none`() throws {
        let outcome = CallbackRules.apply(try answer(#""kind":3,"result":1"#), to: nil, sessionKey: "s")
        #expect(outcome.licence == nil && outcome.refusal != nil)
    }

    @Test(arguments: [LicenceSuspicion.rolledBack, .forged, .copied])
    func `a rejected licence is cleared only by an answer that leaves nothing to count`(doubt: LicenceSuspicion)
        throws
    {
        func left(_ members: String, _ licence: LicenceRecord?) throws -> LicenceSuspicion? {
            CallbackRules.apply(try answer(members), to: licence, suspicion: doubt, sessionKey: "s").suspicion
        }
        let counted = granted { $0.policy.countLimit = 3 }
        let timed = granted { $0.policy.playTimeLimit = .seconds(60) }
        let free = granted { $0.policy.expiresAt = Timestamp(milliseconds: 1) }
        #expect(try left(#""kind":1,"result":1"#, counted) == nil)
        #expect(try left(#""kind":1,"result":0"#, counted) == doubt)
        #expect(try left(#""kind":2,"result":1"#, free) == doubt)
        #expect(try left(#""kind":3,"result":1"#, free) == nil)
        #expect(try left(#""kind":3,"result":0"#, free) == doubt)
        #expect(try left(#""kind":3,"result":1"#, counted) == doubt)
        #expect(try left(#""kind":3,"result":1"#, timed) == doubt)
        #expect(try left(#""kind":3,"result":1,"expiration_count":5"#, free) == doubt)
        #expect(try left(#""kind":3,"result":1,"expiration_count":0"#, counted) == nil)
        let reset = #""kind":3,"result":1,"content_expire_reset":1,"session_key":"#
        #expect(try left(reset + #""s""#, counted) == nil)
        #expect(try left(reset + #""other""#, counted) == doubt)
    }

    @Test func `a refused completion ends the licence only where the configuration is strict`() throws {
        let refused = try answer(#""kind":2,"result":0"#)
        let lenient = CallbackRules.apply(refused, to: granted(), sessionKey: nil)
        #expect(lenient.licence?.isForceExpired == false)
        let strict = CallbackRules.apply(refused, to: granted(), sessionKey: nil, isStrict: true)
        #expect(strict.licence?.isForceExpired == true && strict.refusal?.code == .completionRefused)
    }

    @Test func `a permitted check verifies a licence with an unverified token`() throws {
        let unverified = granted { $0.isVerified = false }
        let yes = try answer(#""kind":3,"result":1"#)
        #expect(CallbackRules.apply(yes, to: unverified, sessionKey: "s").licence?.isVerified == true)
        let no = try answer(#""kind":3,"result":0"#)
        #expect(CallbackRules.apply(no, to: unverified, sessionKey: "s").licence?.isVerified == false)
        let file = LicenceRecord(form: .file, policy: LicencePolicy(), isVerified: false)
        #expect(CallbackRules.apply(yes, to: file, sessionKey: "s").licence?.isVerified == false)
    }

    // MARK: Asking

    @Test func `the body is a form that any server can read, and the shown one has no session key`() throws {
        var question = CallbackQuestion(
            .check, mediaContentKey: "k&=+% é", clientUserID: "u", playerID: "p", deviceName: "d",
            localTime: Timestamp(milliseconds: 0))
        question.sessionKey = "secret-session"
        let body = CallbackQuestion.form([question])
        #expect(body.mediaType == "application/x-www-form-urlencoded")
        let text = String(decoding: body.bytes, as: UTF8.self)
        #expect(text.hasPrefix("items=%5B%7B%22kind%22%3A3%2C%22session_key%22%3A%22secret-session%22"))
        #expect(text.contains("k%26%3D%2B%25+%C3%A9") && text.utf8.allSatisfy { $0 < 0x80 })
        #expect(!CallbackQuestion.items([question], withSecrets: false).contains("secret-session"))
    }

    @Test func `application parameters are a field of their own, and in no item`() throws {
        let question = CallbackQuestion(
            .grant, mediaContentKey: "k", clientUserID: "u", playerID: "p", deviceName: "d",
            localTime: Timestamp(milliseconds: 0))
        let plain = CallbackQuestion.form([question]).bytes
        let text = { (extra: String) in
            String(decoding: CallbackQuestion.form([question], extra: extra).bytes, as: UTF8.self)
        }
        let start = String(decoding: plain, as: UTF8.self)
        #expect(!start.contains("extra_drm_param") && !start.contains("&"))
        #expect(text("") == "\(start)&extra_drm_param=")
        #expect(text("a b&=+%é\0\n*-._~") == "\(start)&extra_drm_param=a+b%26%3D%2B%25%C3%A9%00%0A*-._%7E")
    }

    @Test func `a request has the fields of its kind`() throws {
        var question = CallbackQuestion(
            .check, mediaContentKey: "k-1", clientUserID: #"u"1"#, playerID: "p", deviceName: "Linux",
            localTime: Timestamp(milliseconds: 1_750_000_000_999))
        question.sessionKey = "s"
        question.isRenewal = true
        question.userValues = ["uservalue1": "b", "uservalue0": "a"]
        question.expiresAt = Timestamp(milliseconds: 1_800_000_000_000)
        #expect(
            CallbackQuestion.items([question])
                == #"""
                [{"kind":3,"session_key":"s","client_user_id":"u\"1","player_id":"p","device_name":"Linux",
                "media_content_key":"k-1","uservalues":{"uservalue0":"a","uservalue1":"b"},"localtime":1750000000,
                "start_at":"1750000000","content_expired":0,"check_expired":0,"reset_req":1,
                "expiration_date":1800000000}]
                """#.split(separator: "\n").joined())
        question.kind = .grant
        #expect(!CallbackQuestion.items([question]).contains("session_key"))
    }
}
