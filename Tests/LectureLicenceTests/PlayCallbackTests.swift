import LectureFormats
import LectureLicence
import LectureModel
import Testing

/// What is sent to play callbacks, and how their answers are read.
@Suite struct PlayCallbackTests {
    private static func json(_ text: String) throws -> JSONValue { try JSONScanner.value(of: Array(text.utf8)) }

    private static func answer(_ data: String) throws -> PlayAnswer {
        try PlayAnswer(try json("{\"data\":{\(data)}}"))
    }

    // MARK: Where the permission comes from

    @Test func `a descriptor names the callback, its key and its periods`() throws {
        let source = try PlayCallbackSource(
            descriptor: Self.json(
                """
                {"play_callback_url": "http://a/1", "drm": {"key_id": "old"}, "play": {"callback_url": "http://a/2",
                "key_id": "new", "check_period_s": 90, "duplicate_check": {"url": "https://b/3", "period_s": 10}}}
                """))
        #expect(source.url == "http://a/2" && source.keyID == "new" && source.duplicateURL == "https://b/3")
        #expect(source.checkPeriod == .seconds(90) && source.duplicatePeriod == .seconds(10))
        let short = try PlayCallbackSource(
            descriptor: Self.json(#"{"play_callback_url": "http://a/1", "drm": {"key_id": "old"}}"#))
        #expect(short.url == "http://a/1" && short.keyID == "old" && short.duplicateURL == nil)
        #expect(short.duplicatePeriod == .seconds(30))
        #expect(try PlayCallbackSource(descriptor: Self.json("{}")) == PlayCallbackSource())
    }

    @Test(arguments: [
        #"{"play": 1}"#, #"{"play_callback_url": 1}"#, #"{"play": {"callback_url": "ftp://a/"}}"#,
        #"{"play": {"duplicate_check": {}}}"#, #"{"play": {"check_period_s": 0}}"#,
        #"{"play": {"check_period_s": "9"}}"#,
        #"{"play": {"duplicate_check": {"url": "http://a/", "period_s": 86401}}}"#,
    ])
    func `a callback that cannot be understood is not ignored`(descriptor: String) throws {
        let value = try Self.json(descriptor)
        #expect(throws: LectureError(.descriptorUnreadable)) { try PlayCallbackSource(descriptor: value) }
    }

    @Test func `it is asked again every 300 s or half the length, at least every 30 s, or as the gateway says`() {
        var source = PlayCallbackSource()
        for (length, due) in [(nil, 300), (7200, 300), (600, 300), (240, 120), (60, 30), (4, 30)] as [(Int?, Int)] {
            #expect(source.period(length: length.map { .seconds($0) }) == .seconds(due), "\(length ?? -1)")
        }
        source.checkPeriod = .seconds(2)
        #expect(source.period(length: .seconds(7200)) == .seconds(2))
    }

    // MARK: What is sent

    @Test func `each value is a field of its own, and those of the learner are JSON`() {
        var question = PlayQuestion(
            .permission, mediaContentKey: "k&1", playerID: "p", deviceName: "Linux x86_64",
            localTime: Timestamp(milliseconds: 1_700_000_000_999))
        (question.clientUserID, question.userValues) = ("김", ["uservalue1": "b\"", "uservalue0": "a"])
        #expect(
            String(decoding: question.form.bytes, as: UTF8.self)
                == "kind=1&client_user_id=%EA%B9%80&player_id=p&hardware_id=&device_name=Linux+x86_64"
                + "&media_content_key=k%261"
                + "&uservalues=%7B%22uservalue0%22%3A%22a%22%2C%22uservalue1%22%3A%22b%5C%22%22%7D"
                + "&localtime=1700000000")
        #expect(question.form.mediaType == "application/x-www-form-urlencoded")
        (question.subject, question.extra) = (.check, "x=1")
        let check = String(decoding: question.form.bytes, as: UTF8.self)
        #expect(check.hasPrefix("kind=3&") && check.hasSuffix("&extra_drm_param=x%3D1"))
        question.subject = .play(id: "i", request: "r", ends: true)
        #expect(String(decoding: question.form.bytes, as: UTF8.self).hasPrefix("state=end&play_id=i&request_id=r&"))
    }

    // MARK: What is answered

    @Test func `a permission without limits has none`() throws {
        let answer = try Self.answer(#""result": 1"#)
        #expect(answer.isPermitted && !answer.isEnded && answer.message == nil)
        #expect(answer.expiresAt == nil && answer.playTimeLimit == nil && answer.section == nil)
        #expect(answer.forbidsTVOutput == nil && !answer.forbidsVirtualMachines)
        let zeros = try Self.answer(#""result": 1, "expiration_date": 0, "expiration_playtime": 0, "vmcheck": 0"#)
        #expect(zeros.expiresAt == nil && zeros.playTimeLimit == nil && !zeros.forbidsVirtualMachines)
    }

    @Test func `every member is read`() throws {
        let answer = try Self.answer(
            """
            "result": 0, "message": "no", "content_expired": 1, "expiration_date": 1893455999, "vmcheck": 1,
            "play_section": {"start_time": 10, "end_time": 20.5}, "disable_tvout": 1, "expiration_playtime": 30,
            "expiration_playtime_type": 1, "other": []
            """)
        #expect(!answer.isPermitted && answer.isEnded && answer.message == "no")
        #expect(answer.expiresAt == Timestamp(milliseconds: 1_893_455_999_000))
        #expect(answer.section == .seconds(10) ..< .milliseconds(20_500))
        #expect(answer.playTimeLimit == .seconds(30) && answer.playTimeUnit == .running)
        #expect(answer.forbidsTVOutput == true && answer.forbidsVirtualMachines)
    }

    @Test(arguments: [
        "", #""result": "1""#, #""result": true"#, #""result": 2"#, #""result": 1, "message": 5"#,
        #""result": 1, "expiration_date": "0""#, #""result": 1, "expiration_date": null"#,
        #""result": 1, "expiration_date": 1893456000"#, #""result": 1, "expiration_date": -1"#,
        #""result": 1, "expiration_playtime": 604801"#, #""result": 1, "expiration_playtime_type": 2"#,
        #""result": 1, "play_section": [1, 2]"#, #""result": 1, "play_section": {"start_time": 5, "end_time": 5}"#,
        #""result": 1, "play_section": {"start_time": 5}"#, #""result": 1, "vmcheck": 2"#,
        #""result": 1, "disable_tvout": "1""#, #""result": 1, "content_expired": 9"#,
    ])
    func `a value of another type or range is no answer`(data: String) {
        #expect(throws: LectureError(.playAnswerUnreadable)) { try Self.answer(data) }
    }

    @Test(arguments: ["[]", "{}", #"{"data": [{"result": 1}]}"#, #"{"data": 1}"#])
    func `a payload without the object data is no answer`(payload: String) throws {
        let value = try Self.json(payload)
        #expect(throws: LectureError(.playAnswerUnreadable)) { try PlayAnswer(value) }
    }

    @Test func `an answer of a duplicate check counts only for its request`() throws {
        let value = try Self.json(#"{"data": {"result": 1, "request_id": "r"}}"#)
        #expect(try DuplicateAnswer(value, to: "r").isPermitted)
        #expect(throws: LectureError(.playAnswerUnreadable)) { try DuplicateAnswer(value, to: "s") }
        let other = try Self.json(#"{"data": {"result": 0, "request_id": "r", "message": "elsewhere"}}"#)
        #expect(try DuplicateAnswer(other, to: "r").message == "elsewhere")
    }

    @Test func `failures of an answer have the numbers of play callbacks`() {
        let numbers: [(LectureError.Code, Int)] = [
            (.answerEmpty, -8670), (.answerUndecodable, -8671), (.answerUnreadable, -8672), (.answerInvalid, -8672),
            (.callbackTransfer(7), -10_007), (.callbackTransfer(28), -10_028), (.callbackStatus(503), -10_503),
            (.licenceKeyMissing, -20_109), (.cancelled, -8615),
        ]
        for (code, number) in numbers {
            let error = LectureError(code, detail: "d", cause: "c").ofPlayCallback
            #expect(error.code.number == number && error.detail == "d" && error.cause == "c", "\(code.name)")
            #expect(LectureError.Code.stored(number).name == error.code.name)
        }
    }

    // MARK: Virtual machines

    @Test func `a machine is virtual by its firmware, its processor, its kernel or its container`() {
        var signs = MachineSigns()
        #expect(!signs.isVirtual)
        signs.firmwareNames = ["20XW", "LENOVO", "LENOVO", "LENOVO"]
        signs.processorFlags = ["fpu", "vmx"]
        #expect(!signs.isVirtual)
        for name in ["KVM", "QEMU", "VirtualBox", "VMware Virtual Platform", "innotek GmbH", "Google Compute Engine"] {
            var other = signs
            other.firmwareNames[0] = name
            #expect(other.isVirtual, "\(name)")
        }
        var other = signs
        other.processorFlags.insert("hypervisor")
        #expect(other.isVirtual)
        (other, other.hypervisor) = (signs, "xen")
        #expect(other.isVirtual)
        (other, other.container) = (signs, "docker")
        #expect(other.isVirtual)
    }
}
