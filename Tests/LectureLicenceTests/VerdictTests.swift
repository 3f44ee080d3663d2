import LectureLicence
import LectureModel
import LectureTestSupport
import Testing

/// The table of the verdict: what may be played now.
struct VerdictTests {
    static let now = Timestamp(milliseconds: 1_750_000_000_000)
    static let device: [UInt8] = Array(repeating: 7, count: 32)

    static func facts(
        at time: TrustedTime = .known(now), _ change: (inout LicenceRecord) -> Void = { _ in }
    ) -> LicenceVerdict.Facts {
        var licence = LicenceRecord(form: .callback, policy: LicencePolicy(), isVerified: true)
        change(&licence)
        return LicenceVerdict.Facts(
            licence: licence, isMediaComplete: true, time: time, deviceThumbprint: device)
    }

    /// A row of the table.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let facts: LicenceVerdict.Facts
        let reasons: [LicenceReason]

        init(_ words: String, _ facts: LicenceVerdict.Facts, _ reasons: LicenceReason...) {
            (testDescription, self.facts, self.reasons) = (words, facts, reasons)
        }
    }

    static let doubtful = TrustedTime.doubtful(noEarlierThan: now, .setBack)
    static let lost = TrustedTime.doubtful(noEarlierThan: nil, .neverSet)

    static let rows: [Row] = [
        Row("no bounds", facts()),
        Row("deleted by the server", facts { $0.isDeleted = true }, .deleted),
        Row("ended by the server", facts { $0.isForceExpired = true }, .forceExpired),
        Row("media incomplete", with(facts()) { $0.isMediaComplete = false }, .mediaIncomplete),
        Row("no licence", with(facts()) { $0.licence = nil }, .missing),
        Row(
            "no licence, and none is needed",
            with(facts()) {
                $0.licence = nil
                $0.isLicensed = false
            }),
        Row("a token that did not verify", facts { $0.isVerified = false }, .unverified),
        Row("bound to this device", facts { $0.deviceThumbprint = device }),
        Row("bound to another device", facts { $0.deviceThumbprint = [1] }, .otherDevice),
        Row("a bound and a doubtful clock", facts(at: doubtful) { $0.policy.expiresAt = later }, .clockUntrusted),
        Row("no bound and a doubtful clock", facts(at: doubtful)),
        Row("a bound and no time at all", facts(at: lost) { $0.policy.expiresAt = sooner }, .clockUntrusted),
        Row(
            "a bound that has passed for certain, and a doubtful clock",
            facts(at: doubtful) { $0.policy.expiresAt = sooner }, .clockUntrusted, .expired),
        Row("a start and a doubtful clock", facts(at: doubtful) { $0.policy.startsAt = later }, .clockUntrusted),
        Row("a check that is due", facts { $0.policy.checkAt = sooner }, .checkDue),
        Row("a check that is due at this moment", facts { $0.policy.checkAt = now }, .checkDue),
        Row("a check that is due later", facts { $0.policy.checkAt = later }),
        Row(
            "a check just made", with(facts { $0.policy.checkAt = sooner }) { $0.isCheckedForThisPlay = true }),
        Row("a check for every play", facts { $0.policy.checksEveryPlay = true }, .checkDue),
        Row(
            "a check for every play, just made",
            with(facts { $0.policy.checksEveryPlay = true }) { $0.isCheckedForThisPlay = true }),
        Row("begins later", facts { $0.policy.startsAt = later }, .notYetValid),
        Row("begins at this moment", facts { $0.policy.startsAt = now }),
        Row("ends later", facts { $0.policy.expiresAt = later }),
        Row("ends at this moment", facts { $0.policy.expiresAt = now }, .expired),
        Row("has ended", facts { $0.policy.expiresAt = sooner }, .expired),
        Row(
            "was once seen ended, and the end is later now",
            facts {
                $0.policy.expiresAt = later
                $0.wasSeenExpired = true
            }, .expired),
        Row("one play left", facts { ($0.policy.countLimit, $0.countUsed) = (3, 2) }),
        Row("no play left", facts { ($0.policy.countLimit, $0.countUsed) = (3, 3) }, .countUsedUp),
        Row("more plays taken than there are", facts { ($0.policy.countLimit, $0.countUsed) = (2, 3) }, .countUsedUp),
        Row("play time left", facts { ($0.policy.playTimeLimit, $0.playTimeUsed) = (.seconds(60), .seconds(59)) }),
        Row(
            "no play time left",
            facts { ($0.policy.playTimeLimit, $0.playTimeUsed) = (.seconds(60), .seconds(60)) }, .playTimeUsedUp),
        Row("a copied store", with(facts()) { $0.suspicion = .copied }, .storeCopied),
        Row("media that another device has sealed", with(facts()) { $0.isSealedElsewhere = true }, .storeCopied),
        Row("media bound to other keys", with(facts()) { $0.isGrantedElsewhere = true }, .otherKey),
        Row("a forged ledger", with(facts()) { $0.suspicion = .forged }, .ledgerForged),
        Row(
            "an older store, and a check just made",
            with(facts()) { ($0.suspicion, $0.isCheckedForThisPlay) = (.rolledBack, true) }, .storeRolledBack),
        Row(
            "a pending completion callback, and a check just made",
            with(facts()) { ($0.owesCompletion, $0.isCheckedForThisPlay) = (true, true) }, .checkDue),
        Row(
            "a device whose directory cannot be written", with(facts()) { $0.isAnchorUnwritable = true },
            .anchorUnwritable),
        Row(
            "everything at once, in its order", everything, .deleted, .forceExpired, .mediaIncomplete, .unverified,
            .otherDevice, .storeRolledBack, .clockUntrusted, .checkDue, .expired, .countUsedUp, .playTimeUsedUp),
    ]

    static let (sooner, later) = (now + .seconds(-1), now + .seconds(1))

    static var everything: LicenceVerdict.Facts {
        let facts = facts(at: doubtful) { licence in
            (licence.isDeleted, licence.isForceExpired, licence.isVerified) = (true, true, false)
            licence.deviceThumbprint = [1]
            (licence.policy.checkAt, licence.policy.expiresAt) = (sooner, sooner)
            (licence.policy.countLimit, licence.countUsed) = (1, 1)
            (licence.policy.playTimeLimit, licence.playTimeUsed) = (.seconds(60), .seconds(61))
        }
        return with(facts) { ($0.isMediaComplete, $0.suspicion) = (false, .rolledBack) }
    }

    static func with(
        _ facts: LicenceVerdict.Facts, _ change: (inout LicenceVerdict.Facts) -> Void
    ) -> LicenceVerdict.Facts {
        var facts = facts
        change(&facts)
        return facts
    }

    @Test(arguments: rows) func `the table holds`(row: Row) {
        let verdict = LicenceVerdict.judge(row.facts)
        #expect(verdict.reasons == row.reasons)
        #expect(verdict.isPlayable == row.reasons.isEmpty)
    }

    @Test func `every reason is in the table, with its own code and name`() {
        #expect(Set(Self.rows.flatMap(\.reasons)) == Set(LicenceReason.allCases))
        #expect(Set(LicenceReason.allCases.map(\.code.number)).count == LicenceReason.allCases.count)
        #expect(Set(LicenceReason.allCases.map(\.name)).count == LicenceReason.allCases.count)
    }

    @Test func `as time passes no reason disappears except that the licence has not started`() {
        var randomness = SeededGenerator(seed: 41)
        for _ in 0..<20_000 {
            let licence = Self.randomLicence(&randomness)
            let first = Int64.random(in: -10...10, using: &randomness)
            let second = first + Int64.random(in: 0...10, using: &randomness)
            let verdicts = [first, second].map { offset in
                LicenceVerdict.judge(Self.facts(at: .known(Self.now + .seconds(offset))) { $0 = licence })
            }
            let gone = Set(verdicts[0].reasons).subtracting(verdicts[1].reasons)
            #expect(gone.isSubset(of: [.notYetValid]))
        }
    }

    @Test func `a doubt about the time never makes a licence playable`() {
        var randomness = SeededGenerator(seed: 42)
        for _ in 0..<20_000 {
            let licence = Self.randomLicence(&randomness)
            let time = Self.now + .seconds(Int64.random(in: -10...10, using: &randomness))
            let known = LicenceVerdict.judge(Self.facts(at: .known(time)) { $0 = licence })
            let doubt = ClockDoubt.allCases.randomElement(using: &randomness) ?? .setBack
            for floor in [time, nil] {
                let doubtful = LicenceVerdict.judge(
                    Self.facts(at: .doubtful(noEarlierThan: floor, doubt)) { $0 = licence })
                #expect(!doubtful.isPlayable || known.isPlayable)
            }
        }
    }

    @Test func `more use of a licence never makes it playable`() {
        var randomness = SeededGenerator(seed: 43)
        for _ in 0..<20_000 {
            let licence = Self.randomLicence(&randomness)
            var used = licence
            used.countUsed += Int.random(in: 0...3, using: &randomness)
            used.playTimeUsed += .seconds(Int64.random(in: 0...60, using: &randomness))
            let before = LicenceVerdict.judge(Self.facts { $0 = licence })
            let after = LicenceVerdict.judge(Self.facts { $0 = used })
            #expect(Set(before.reasons).isSubset(of: after.reasons))
        }
    }

    private static func randomLicence(_ randomness: inout SeededGenerator) -> LicenceRecord {
        func moment(_ randomness: inout SeededGenerator) -> Timestamp? {
            Bool.random(using: &randomness) ? nil : now + .seconds(Int64.random(in: -10...10, using: &randomness))
        }
        var policy = LicencePolicy()
        (policy.startsAt, policy.expiresAt, policy.checkAt) = (
            moment(&randomness), moment(&randomness), moment(&randomness)
        )
        policy.countLimit = Bool.random(using: &randomness) ? nil : Int.random(in: 1...3, using: &randomness)
        policy.playTimeLimit = Bool.random(using: &randomness) ? nil : .seconds(60)
        policy.checksEveryPlay = Int.random(in: 0..<8, using: &randomness) == 0
        var licence = LicenceRecord(
            form: .callback, policy: policy, isVerified: Int.random(in: 0..<8, using: &randomness) > 0)
        licence.countUsed = Int.random(in: 0...3, using: &randomness)
        licence.playTimeUsed = .seconds(Int64.random(in: 0...70, using: &randomness))
        licence.wasSeenExpired = Int.random(in: 0..<8, using: &randomness) == 0
        return licence
    }
}
