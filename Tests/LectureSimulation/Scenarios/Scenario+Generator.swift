import LectureTestSupport

/// Draws a scenario from a seed.
///
/// **A change here makes other scenarios of the same seeds**: then ``Scenario/generation`` is incremented, and recorded
/// seeds mean something else. Regressions are kept as scenarios, not as seeds.
extension Scenario {
    /// The scenario of a seed.
    ///
    /// - Parameter seed: any number.
    package init(seed: UInt64) {
        var draw = Draw(seed: seed)
        self.init(plain: seed)
        draw.lectures(&self)
        draw.work(&self)
        draw.weather(&self)
        // Some runs have only one kind of disturbance, so that the strict rules apply to them.
        if draw.chance(55) { draw.troubles(&self) }
        if draw.chance(15) { draw.changes(&self) }
        if draw.chance(18) { draw.diskFaults(&self) }
        if draw.chance(18) { draw.storeFaults(&self) }
        if draw.chance(70) { draw.deaths(&self) }
        if draw.chance(35) { draw.requests(&self) }
        if draw.chance(8) { draw.clockSteps(&self) }
    }
}

/// The random choices of one scenario.
private struct Draw {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ 77) }

    mutating func chance(_ percent: Int) -> Bool { some(0...99) < percent }
    mutating func some(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    mutating func one<Element>(of elements: [Element]) -> Element { elements[some(0...elements.count - 1)] }

    mutating func work(_ scenario: inout Scenario) {
        scenario.work.programs = chance(15) ? some(2...3) : 1
        scenario.work.jobs = some(1...4)
        scenario.work.connections = one(of: [nil, nil, 1, 2, 3])
        if chance(30) { scenario.work.groupBytes = one(of: [1 << 20, 2 << 20]) }
        if chance(20) { scenario.work.groupMilliseconds = some(20...1000) }
        if chance(3) { scenario.work.closesAfter = some(0...2) }
        if chance(10) { scenario.work.rateLimit = 4 << 20 }
    }

    mutating func lectures(_ scenario: inout Scenario) {
        let count = chance(25) ? some(2...4) : 1
        let servers = some(1...2)
        for _ in 0..<count {
            var lecture = Lecture()
            lecture.size =
                switch some(0...19) {
                case 0: 0
                case 1: some(1...3)
                case 2: (1 << 20) * some(1...3)
                case 3...8: some(1...900_000)
                case 9...17: some(900_000...2_800_000)
                default: some(2_800_000...5_500_000)
                }
            if count > 2 { lecture.size /= 2 }
            lecture.server = some(0...servers - 1)
            lecture.source = one(of: [.direct, .direct, .direct, .direct, .gateway, .gateway, .resolver])
            lecture.hasTag = !chance(20)
            lecture.hasDate = chance(30)
            lecture.hasRanges = !chance(20)
            lecture.hidesLength = !lecture.hasRanges && chance(40)
            lecture.knowsDigest = chance(45)
            lecture.knowsSize = chance(20)
            if chance(20) {
                for _ in 0..<some(1...2) { lecture.mirrors.append(one(of: Lecture.Mirror.allCases)) }
                lecture.mirrors = lecture.mirrors.map { !lecture.knowsDigest && $0 == .otherBytes ? .agrees : $0 }
            }
            lecture.hasPicture = lecture.source == .gateway && chance(30)
            if lecture.source != .direct, chance(40) { lecture.urlRequests = some(1...4) }
            lecture.hasOutput = chance(15)
            scenario.lectures.append(lecture)
        }
    }

    mutating func weather(_ scenario: inout Scenario) {
        scenario.weather.latency = one(of: [5, 80, 80, 400])
        let slowest = one(of: [32, 128, 256])
        scenario.weather.pace = [slowest, one(of: [256, 1024, 2048])]
        if chance(50) {
            scenario.weather.breaks = some(5...50)
            scenario.weather.losses = some(0...8)
        }
        scenario.weather.untilRequest = some(5...25)
    }

    mutating func troubles(_ scenario: inout Scenario) {
        let faults = Fault.allCases
        // One kind of fault again and again, or a few of all kinds.
        let favourite = one(of: faults)
        for _ in 0..<some(1...4) {
            let lecture = some(0...scenario.lectures.count - 1)
            var trouble = Trouble(
                lecture: lecture, request: some(1...6), fault: chance(50) ? favourite : one(of: faults))
            trouble.count = chance(75) ? 1 : some(2...9)
            trouble.value =
                switch trouble.fault {
                case .waitSeconds, .waitDate, .tooMany: chance(80) ? some(0...9) : some(10...45)
                default: some(0...100)
                }
            if trouble.fault == .shiftedBytes, !scenario.lectures[lecture].knowsDigest { trouble.fault = .shiftedRange }
            scenario.troubles.append(trouble)
        }
    }

    mutating func changes(_ scenario: inout Scenario) {
        let lecture = some(0...scenario.lectures.count - 1)
        for _ in 0..<some(1...2) {
            let change = Lecture.Change(
                request: some(1...4), keepsValidators: chance(25), grows: chance(50) ? 0 : some(-1...1) * 1000)
            scenario.lectures[lecture].changes.append(change)
        }
    }

    mutating func diskFaults(_ scenario: inout Scenario) {
        for _ in 0..<some(1...2) {
            var fault = DiskFault(operation: one(of: DiskOperation.allCases), number: some(1...4))
            fault.count = chance(60) ? 1 : some(2...6)
            fault.isFull = chance(40)
            scenario.diskFaults.append(fault)
        }
    }

    mutating func storeFaults(_ scenario: inout Scenario) {
        for _ in 0..<some(1...2) {
            var fault = StoreFault(
                kind: one(of: StoreFault.Kind.allCases), at: some(0...1500), lasts: some(1...3000))
            fault.count = chance(60) ? 1 : some(2...5)
            scenario.storeFaults.append(fault)
        }
    }

    mutating func deaths(_ scenario: inout Scenario) {
        for _ in 0..<one(of: [1, 1, 1, 2, 2, 3, 4]) {
            let longest = one(of: [30, 80, 80, 200, 400])
            var death = Death(action: some(1...longest), isAfter: chance(50), cutsPower: chance(50))
            death.pause = chance(70) ? 0 : some(1...5000)
            scenario.deaths.append(death)
        }
    }

    mutating func requests(_ scenario: inout Scenario) {
        var at = 0
        for _ in 0..<some(1...5) {
            at += some(0...900)
            let lecture = some(0...scenario.lectures.count - 1)
            let kinds: [Request.Kind] = [
                .pause, .pause, .resume, .resume, .resume, .cancel, .remove, .first, .again, .again, .otherDigest,
                .wrongDigest, .pauseAll, .resumeAll,
            ]
            scenario.requests.append(Request(at: at, lecture: lecture, kind: one(of: kinds), isReported: chance(60)))
        }
    }

    mutating func clockSteps(_ scenario: inout Scenario) {
        for _ in 0..<some(1...2) {
            let step = one(of: [nil, -86_400, -3600, 3600, 86_400 * 400, -5, 5])
            scenario.clockSteps.append(ClockStep(at: some(0...2000), by: step))
        }
    }
}
